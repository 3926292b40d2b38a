package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// api is the path prefix of the demo's site, and channel its open channel in EUR.
const (
	api     = "/demo/rest/svc/v2/"
	channel = 3
)

// place is a site with an open channel in EUR. The zero place is the demo's.
type place struct {
	api     string
	channel int64
	token   string // of somebody who may write there; "" for the book's
}

// orDemo is the place, or the demo's site.
func (p place) orDemo() place {
	if p.api == "" {
		return place{api: api, channel: channel}
	}
	return p
}

// writer is a client that writes without pause and remembers what was acknowledged.
type writer struct {
	caller   *caller
	name     string
	place    place
	random   *rand.Rand
	mu       sync.Mutex // for readers while it writes
	asked    []*write
	bookings []*write // acknowledged
	payments []*write // acknowledged purchases without a refund
	goesOn   bool     // also after a write with an unknown outcome
}

func newWriter(b *book, name string, random *rand.Rand) *writer {
	return &writer{
		caller: b.server.caller(b.token), name: name, random: rand.New(rand.NewPCG(random.Uint64(), random.Uint64())),
	}
}

// write is one request of a writer.
type write struct {
	place     place
	path      string // bookings or transactions
	reference string
	key       string // "" for none: then only the reference identifies a repeat
	body      []byte
	booking   *write
	payment   *write // of a refund
	amount    int64  // of money; negative for a refund
	id        int64  // 0 if it was not acknowledged
	refused   string // an unexpected response
	began     time.Time
	took      time.Duration
}

// write keeps writing until stop is closed or the server does not respond.
func (w *writer) write(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		asked := w.next()
		w.mu.Lock()
		w.asked = append(w.asked, asked)
		w.mu.Unlock()
		asked.began = time.Now()
		id, err := asked.ask(w.caller)
		asked.took = time.Since(asked.began)
		if err == nil {
			w.mu.Lock()
			asked.id = id
			w.mu.Unlock()
			w.noted(asked)
			continue
		}
		if final, ok := errors.AsType[refusedError](err); ok {
			asked.refused = final.Error()
		}
		if !w.goesOn {
			return
		}
		// Failed writes are repeated at the end. Clients that retry immediately are a different test.
		select {
		case <-stop:
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// next chooses the next write: a booking, payment or refund.
func (w *writer) next() *write {
	n := len(w.asked)
	asked := &write{place: w.place.orDemo(), path: "transactions", reference: fmt.Sprintf("%s-%d", w.name, n)}
	asked.key = "key-" + asked.reference
	fields := map[string]any{"channels": asked.place.channel, "currencies": "EUR", "reference": asked.reference}
	choice := w.random.IntN(10)
	switch {
	case len(w.bookings) == 0 || choice < 4:
		asked.path = "bookings"
		for name, value := range map[string]any{
			"total": 1_000_000, "date": "2030-08-31", "countries": "PT", "firstname": "Ada", "surname": "Byron",
			"email": "ada@example.org", "content": "A week",
		} {
			fields[name] = value
		}
	case len(w.payments) > 0 && choice < 6:
		last := len(w.payments) - 1
		asked.payment, w.payments = w.payments[last], w.payments[:last]
		asked.booking = asked.payment.booking
		asked.amount = -(1 + w.random.Int64N(asked.payment.amount))
		fields["transaction_types"], fields["total"], fields["linked_id"] = "refund", -asked.amount, asked.payment.id
		fields["bookings"] = split(asked.booking, -asked.amount)
	default:
		asked.booking = w.bookings[w.random.IntN(len(w.bookings))]
		asked.amount = 1 + w.random.Int64N(5000)
		fields["transaction_types"], fields["total"], fields["card_types"] = "purchase", asked.amount, "visa"
		fields["bookings"] = split(asked.booking, asked.amount)
		// The reference alone also identifies a repeated payment.
		if w.random.IntN(3) == 0 {
			asked.key = ""
		}
	}
	asked.body, _ = json.Marshal(fields) // these values can always be encoded
	return asked
}

func split(booking *write, amount int64) []map[string]any {
	return []map[string]any{{"id": booking.id, "currencies": "EUR", "total": amount}}
}

// noted remembers an acknowledged write for later ones to build on.
func (w *writer) noted(asked *write) {
	switch {
	case asked.path == "bookings":
		w.bookings = append(w.bookings, asked)
	case asked.amount > 0:
		w.payments = append(w.payments, asked)
	}
}

// refusedError is a response that rejects the write as invalid, which none of them is.
type refusedError struct{ text string }

func (e refusedError) Error() string { return e.text }

// errUnknown means that the outcome is unknown and the client must retry.
var errUnknown = errors.New("unknown outcome")

// ask makes the request and returns the id of the created object.
func (a *write) ask(c *caller) (int64, error) {
	headers := map[string]string{}
	if a.key != "" {
		headers["Idempotency-Key"] = a.key
	}
	answer, err := c.ask(http.MethodPost, a.place.api+a.path, headers, a.body)
	switch {
	case err != nil:
		return 0, err
	case answer.status == http.StatusServiceUnavailable, answer.status == http.StatusTooManyRequests,
		answer.status == http.StatusConflict && strings.Contains(string(answer.body), "idempotency_in_flight"):
		return 0, fmt.Errorf("%w: %d %s", errUnknown, answer.status, lastOf(string(answer.body)))
	case answer.status != http.StatusCreated && answer.status != http.StatusOK:
		return 0, refusedError{fmt.Sprintf("%d %s", answer.status, lastOf(string(answer.body)))}
	}
	var made struct{ ID int64 }
	if err := answer.as(&made); err != nil {
		return 0, err
	}
	return made.ID, nil
}

// again repeats the same request until there is a response, like a client that does not know the outcome.
func (a *write) again(r *run, c *caller) (id int64, err error) {
	_, late := r.until(patience, "the write is answered", func() bool {
		id, err = a.ask(c)
		if err == nil {
			a.id = id
			return true
		}
		_, final := errors.AsType[refusedError](err)
		return final
	})
	if late != nil {
		return 0, errors.Join(late, err)
	}
	return id, err
}

// stored returns the ids stored in the book for the reference.
func (a *write) stored(c *caller) ([]int64, error) {
	answer, err := c.ask(http.MethodGet, a.place.api+a.path+"?per_page=10&reference="+url.QueryEscape(a.reference), nil, nil)
	if err != nil {
		return nil, err
	}
	var list []struct{ ID int64 }
	if err := answer.as(&list); err != nil {
		return nil, err
	}
	var ids []int64
	for _, one := range list {
		ids = append(ids, one.ID)
	}
	return ids, nil
}

// sums compares the amount paid of each booking with the writer's payments, all of which are known by now.
func (w *writer) sums(c *caller) error {
	paid := map[int64]int64{}
	for _, asked := range w.asked {
		if asked.booking != nil && asked.id != 0 {
			paid[asked.booking.id] += asked.amount
		}
	}
	for booking, sum := range paid {
		answer, err := c.ask(http.MethodGet, w.place.orDemo().api+"bookings/"+strconv.FormatInt(booking, 10), nil, nil)
		if err != nil {
			return err
		}
		var shown struct {
			Total       int64 `json:"total"`
			TotalUnpaid int64 `json:"total_unpaid"`
		}
		if err := answer.as(&shown); err != nil {
			return err
		}
		if shown.Total-shown.TotalUnpaid != sum {
			return fmt.Errorf("booking %d shows %d paid, but its payments add up to %d", booking, shown.Total-shown.TotalUnpaid, sum)
		}
	}
	return nil
}

// importFile is an import that is killed with the server and then repeated.
type importFile struct {
	book *book
	name string
	cmd  *exec.Cmd
	stop context.CancelFunc
}

// begin writes the file and starts the import, which is killed at a separate random moment.
func (f *importFile) begin(random *rand.Rand) error {
	var text strings.Builder
	text.WriteString("booking_reference,channel_id,countries,currencies,date,total,firstname,surname,email,content," +
		"payment_reference,transaction_types,paid_at,payment_currencies,payment_total,booking_total\n")
	for i := range importedRows {
		fmt.Fprintf(&text, "%s-%d,%d,PT,EUR,2030-07-08,100000,Ana,Sousa,ana@example.org,A week,%s-%d-P,purchase,"+
			"2026-01-10 09:30:00,EUR,36000,36000\n", f.name, i, channel, f.name, i)
	}
	if err := os.WriteFile(filepath.Join(f.book.house.dir, f.name), []byte(text.String()), 0o600); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(f.book.r.ctx)
	var err error
	if f.cmd, err = f.book.house.command(ctx, f.args()...); err == nil {
		err = f.cmd.Start()
	}
	if err != nil {
		stop()
		return err
	}
	timer := time.AfterFunc(time.Duration(random.IntN(800))*time.Millisecond, stop)
	f.stop = func() { timer.Stop(); stop() }
	return nil
}

func (f *importFile) args() []string {
	return []string{"import", "payments", f.name, "--site", "demo", "--mode", "protection-only", "--cover-start", "effective"}
}

// again waits for the killed import and then repeats it to completion.
func (f *importFile) again() error {
	_ = f.cmd.Wait() // it was killed, lost its database, or finished in time
	f.stop()
	f.book.imported += importedRows
	_, err := f.book.house.must(f.args()...)
	return err
}
