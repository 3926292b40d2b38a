package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// uploadedRows is the number of rows in an uploaded file: enough for a kill to interrupt its import.
const uploadedRows = 1000

// importAgain is how long an import may take after the last kill. The job of a killed process is leased for two minutes,
// and no other process takes it over before that.
const importAgain = 4 * time.Minute

// upload is a file that is imported over HTTP. Its server is killed during the upload or in the middle of the import, and
// perhaps again in later rounds.
type upload struct {
	book *book
	name string
	id   int64 // of the import; 0 if not known yet
}

// imported is the service's description of an import.
type imported struct {
	ID       int64
	State    string
	Problem  string
	Done     int `json:"rows_done"`
	Bookings int `json:"bookings_created"`
	Payments int `json:"payments_created"`
	There    int `json:"payments_already_there"`
	Refused  int
}

// upload starts to send a file. It waits until its import is running, or returns at once so that the kill interrupts the
// upload.
func (b *book) upload(round int, random *rand.Rand) error {
	u := &upload{book: b, name: fmt.Sprintf("upload-%d-%d", b.r.seed, round)}
	b.uploads = append(b.uploads, u)
	c := b.server.caller(b.token)
	if random.IntN(3) == 0 {
		go func() { _, _ = u.send(c) }() // whether or not the kill interrupts it, finish sends it again
		return nil
	}
	made, err := u.send(c)
	if err != nil {
		return err
	}
	u.id = made.ID
	_, err = b.r.until(importAgain, "the import runs", func() bool {
		now, err := u.now(c)
		return err == nil && now.Done > 0
	})
	return err
}

// send sends the file. With its idempotency key it is one import, however often it is sent.
func (u *upload) send(c *caller) (made imported, err error) {
	var text strings.Builder
	text.WriteString("booking_reference,channel_id,countries,currencies,date,total,firstname,surname,email,content," +
		"payment_reference,transaction_types,paid_at,payment_currencies,payment_total,booking_total\n")
	for i := range uploadedRows {
		fmt.Fprintf(&text, "%s-%d,%d,PT,EUR,2030-07-08,100000,Ana,Sousa,ana@example.org,A week,%s-%d-P,purchase,"+
			"2026-01-10 09:30:00,EUR,36000,36000\n", u.name, i, channel, u.name, i)
	}
	headers := map[string]string{"Content-Type": "text/csv", "Idempotency-Key": u.name}
	a, err := c.ask(http.MethodPost, api+"imports", headers, []byte(text.String()))
	if err != nil {
		return made, err
	}
	if a.status != http.StatusAccepted {
		return made, fmt.Errorf("%s: %d %s", u.name, a.status, lastOf(string(a.body)))
	}
	return made, a.as(&made)
}

func (u *upload) now(c *caller) (is imported, err error) {
	a, err := c.ask(http.MethodGet, fmt.Sprintf("%simports/%d", api, u.id), nil, nil)
	if err != nil {
		return is, err
	}
	if a.status != http.StatusOK {
		return is, fmt.Errorf("%s: %d %s", u.name, a.status, lastOf(string(a.body)))
	}
	return is, a.as(&is)
}

// finish sends the file again and waits for the end of its import: each row must be imported once. whole counts the
// stored rows.
func (u *upload) finish(c *caller) error {
	again, err := u.send(c)
	if err != nil {
		return err
	}
	if u.id != 0 && again.ID != u.id {
		u.book.r.fail("%s: %s was acknowledged as import %d, but is now %d", u.book.name, u.name, u.id, again.ID)
	}
	u.id = again.ID
	var is imported
	_, err = u.book.r.until(importAgain, u.name+" is imported", func() bool {
		is, err = u.now(c)
		return err == nil && is.State != "queued"
	})
	if err != nil {
		return err
	}
	if is.State != "done" || is.Done != uploadedRows || is.Bookings != uploadedRows || is.Payments != uploadedRows || is.There != 0 || is.Refused != 0 {
		u.book.r.fail("%s: %s has %d rows, but its import reports %+v", u.book.name, u.name, uploadedRows, is)
	}
	u.book.imported += uploadedRows
	return nil
}
