package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"holdfast/bench/book"
	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/catalog"
	"holdfast/internal/civil"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// pattern is the rows that one request of the product inserts: what the limits insert with no other work. The product says itself
// what they are: learn has it work on a small book and looks which rows are new.
type pattern []patternRows

type patternRows struct {
	table catalog.Table
	rows  [][]any
}

// learnt is what learn found out.
type learnt struct {
	booking, payment pattern
	find             reading // the statement that reads one booking
}

// reading is a statement with its arguments; the id of the booking is the argument at.
type reading struct {
	query   string
	args    []any
	at      int
	columns int
}

// The ids of what the sample requests make begin at firstID, apart for each table, so that a number is known as an id by its size.
const (
	firstID = 1_000_000_000_000
	apart   = 1_000_000_000
	stride  = 16 // from the id of one request to that of the next
	sample  = "SAMPLE-REFERENCE"
)

// open opens a database with the product's own code on top. sealKey encrypts the secrets in it.
func open(ctx context.Context, database, sealKey string) (*db.DB, *app.App, error) {
	store, err := db.Open(ctx, database, time.Now)
	if err != nil {
		return nil, nil, err
	}
	if err := store.Migrate(ctx); err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return store, app.New(&core.Core{
		Store: store, Clock: time.Now, Random: rand.Reader, NewUUID: uuid.NewString, Log: slog.New(slog.DiscardHandler),
		Rulepacks: protection.ShippedRulepacks(), Profile: travel.ProtectionOnlyProfile, Cost: auth.DefaultPasswordCost,
		Keys: func() (auth.SealKeys, error) { return auth.ParseSealKeys(sealKey) },
	}), nil
}

// learn has the product make a booking and log a payment on a small book of its own, and looks which rows that inserts.
func learn(ctx context.Context) (l learnt, err error) {
	dir, err := os.MkdirTemp("", "holdfast-bench-rows-")
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	key, err := auth.NewSealKey(rand.Reader)
	if err != nil {
		return l, err
	}
	store, service, err := open(ctx, "sqlite:"+filepath.Join(dir, "holdfast.db"), key)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	defer service.Close()
	b, err := book.Make(ctx, store, service, civil.DayOf(time.Now()), book.Size{Bookings: 100, Payments: 1}, func(int64) {})
	if err == nil {
		err = book.Fold(ctx, service, b.SiteID)
	}
	if err != nil {
		return l, err
	}
	actor := auth.System(b.SiteID)
	paid, err := service.Bookings.Create(ctx, actor, sampleBooking(&b)) // exists in every larger book, too, with this id
	if err != nil {
		return l, err
	}
	var seen map[string]bool
	if seen, err = prepared(ctx, store); err != nil {
		return l, err
	}
	if _, err := service.Bookings.Create(ctx, actor, sampleBooking(&b)); err != nil {
		return l, err
	}
	if l.booking, err = fresh(ctx, store, seen); err != nil {
		return l, err
	}
	if _, _, err := service.Payments.Create(ctx, actor, samplePayment(&b, paid.ID)); err != nil {
		return l, err
	}
	if l.payment, err = fresh(ctx, store, seen); err != nil {
		return l, err
	}
	l.find, err = findStatement(ctx, store, service, actor, paid.ID)
	return l, err
}

func sampleBooking(b *book.Book) travel.BookingFields {
	channel, currency, total, country, words, reference := b.FirstChannel, b.Currency(0), int64(1_000_000_000), "FR", "Ada", sample
	email, content, language, suppliers, pax := "traveller1@example.org", "Seven nights, half board", "enGB", []int64{1}, int64(2)
	today := civil.DayOf(time.Now())
	start, end := today+90, today+100
	return travel.BookingFields{
		ChannelID: &channel, Currency: &currency, Total: &total, Country: &country, Firstname: &words, Surname: &words, Email: &email,
		Content: &content, Start: &start, End: &end, Language: &language, Suppliers: &suppliers, Pax: &pax, Reference: &reference,
	}
}

func samplePayment(b *book.Book, booking int64) travel.NewTransaction {
	channel, currency, total, purchase := b.FirstChannel, b.Currency(0), int64(50_000), travel.Purchase
	return travel.NewTransaction{
		ChannelID: &channel, Currency: &currency, Total: &total, Type: &purchase,
		Items:     &[]travel.Item{{BookingID: booking, Currency: currency, Total: total}},
		PayeeName: "Ada", PayeeSurname: "Lovelace", PayeeEmail: "ada@example.org", Country: "FR", Reference: sample, CardType: "visa",
		BIN: "424242", LastFour: "4242", AuthCode: "083219",
	}
}

// prepared lets the ids of what comes now be known by their size, and returns the rows that are there.
func prepared(ctx context.Context, store *db.DB) (map[string]bool, error) {
	seen := map[string]bool{}
	err := store.Write(ctx, func(tx *db.Tx) error {
		clear(seen)
		tables, err := tx.Tables()
		for i, t := range tables {
			if err == nil && t.Counter != "" {
				err = tx.SetCounter(t, firstID+int64(i)*apart)
			}
		}
		return err
	})
	if err == nil {
		_, err = fresh(ctx, store, seen)
	}
	return seen, err
}

// fresh gives the rows whose keys were not seen yet, and notes them as seen.
func fresh(ctx context.Context, store *db.DB, seen map[string]bool) (p pattern, err error) {
	err = store.Read(ctx, func(tx *db.Tx) error {
		p = nil
		tables, err := tx.Tables()
		if err != nil {
			return err
		}
		for _, t := range tables {
			found := patternRows{table: t}
			err := tx.EachRow(t, func(values []any) error {
				key := t.Name
				for i, c := range t.Columns {
					for _, k := range t.Key {
						if k == c.Name {
							key += fmt.Sprintf("|%v", values[i])
						}
					}
				}
				if !seen[key] {
					found.rows = append(found.rows, append([]any(nil), values...))
				}
				seen[key] = true
				return nil
			})
			if err != nil {
				return err
			}
			if len(found.rows) > 0 {
				p = append(p, found)
			}
		}
		return nil
	})
	return p, err
}

var uuidText = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// another is the rows of one more request: with the ids, references and UUIDs of the request number n.
func (p patternRows) another(n int64) [][]any {
	list := make([][]any, len(p.rows))
	for i, row := range p.rows {
		list[i] = make([]any, len(row))
		for j, value := range row {
			switch v := value.(type) {
			case int64:
				if v > firstID && v < firstID+1000*apart {
					v += n * stride
				}
				value = v
			case string:
				if uuidText.MatchString(v) {
					value = uuid.NewString()
				} else if strings.Contains(v, sample) {
					value = strings.ReplaceAll(v, sample, "S-"+strconv.FormatInt(n, 10))
				}
			}
			list[i][j] = value
		}
	}
	return list
}

// insert inserts the rows of the requests with some numbers.
func (p pattern) insert(tx *db.Tx, first, last int64) error {
	for _, t := range p {
		var rows [][]any
		for n := first; n <= last; n++ {
			rows = append(rows, t.another(n)...)
		}
		if err := tx.Put(t.table, rows); err != nil {
			return fmt.Errorf("%s: %w", t.table.Name, err)
		}
	}
	return nil
}

// String names the tables with the numbers of their rows.
func (p pattern) String() string {
	var list []string
	for _, t := range p {
		list = append(list, fmt.Sprintf("%s %d", t.table.Name, len(t.rows)))
	}
	return strings.Join(list, ", ")
}

// findStatement watches the product read one booking, and keeps the statement that reads its row.
func findStatement(ctx context.Context, store *db.DB, service *app.App, actor auth.Actor, id int64) (s reading, err error) {
	var list []reading
	store.Watch(func(query string, args []any) {
		if strings.Contains(query, "FROM bookings") {
			list = append(list, reading{query: query, args: append([]any(nil), args...)})
		}
	})
	_, err = service.Bookings.Get(ctx, actor, id)
	store.Watch(nil)
	if err != nil {
		return s, err
	}
	for _, s := range list {
		for at, arg := range s.args {
			if arg == any(id) {
				s.at = at
				s.columns, err = columnsOf(ctx, store, s)
				return s, err
			}
		}
	}
	return s, errors.New("no statement of the product reads a booking by its id")
}

// columnsOf counts the columns of a statement's answer by trying.
func columnsOf(ctx context.Context, store *db.DB, s reading) (n int, err error) {
	for n = 1; n < 100; n++ {
		s.columns = n
		if err = store.Read(ctx, func(tx *db.Tx) error { return s.run(tx, s.args[s.at].(int64)) }); err == nil {
			return n, nil
		}
	}
	return 0, err
}

// run reads the row of one booking.
func (s reading) run(tx *db.Tx, id int64) error {
	args := append([]any(nil), s.args...)
	args[s.at] = id
	values, dest := make([]any, s.columns), make([]any, s.columns)
	for i := range values {
		dest[i] = &values[i]
	}
	return tx.Row(s.query, args, dest...)
}
