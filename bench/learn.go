package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"holdfast/bench/book"
	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
	"holdfast/internal/store/catalog"

	"github.com/google/uuid"
)

// learnt is what a student has learnt.
type learnt struct {
	bookings samples // of all channels
	payments samples // of the first channel, each for a different booking that also exists in every larger book
	imports  samples // bookings of ten channels with their payments, as in the rows of a file
	find     reading // the statement that reads one booking
}

// sampleRequests is the number of sample requests of each kind.
const sampleRequests = 100

// sampleBookings is the size of the small book. The bookings that receive payments come after these.
const sampleBookings = 100

// student learns from the product which rows a request inserts: it runs the product on a small book and looks for new
// rows. Its clock is stopped: consecutive requests have times in order, and so do the samples.
type student struct {
	store   *store.DB
	service *app.App
	book    book.Book
	now     time.Time
	seen    int // requests so far
}

// open opens a database and builds the product's service on it. sealKey encrypts its secrets.
func open(ctx context.Context, database, sealKey string, clock func() time.Time) (*store.DB, *app.App, error) {
	store, err := store.Open(ctx, database, clock)
	if err != nil {
		return nil, nil, err
	}
	if err := store.Migrate(ctx); err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return store, app.New(app.Config{
		Store: store, Clock: clock, Random: rand.Reader, NewUUID: uuid.NewString, Log: slog.New(slog.DiscardHandler),
		Rulepacks: protection.ShippedRulepacks(), Profile: merchant.ProtectionOnlyProfile, Cost: secrets.DefaultPasswordCost,
		Keys: func() (secrets.SealKeys, error) { return secrets.ParseSealKeys(sealKey) },
	}), nil
}

// learn learns from this many requests of each kind.
func learn(ctx context.Context, requests int) (l learnt, err error) {
	dir, err := os.MkdirTemp("", "holdfast-bench-rows-")
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	key, err := secrets.NewSealKey(rand.Reader)
	if err != nil {
		return l, err
	}
	s := student{now: time.Now().Truncate(time.Second)}
	clock := func() time.Time { return s.now }
	if s.store, s.service, err = open(ctx, "sqlite:"+filepath.Join(dir, "holdfast.db"), key, clock); err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, s.store.Close()) }()
	defer s.service.Close()
	size := book.Size{Bookings: sampleBookings, Payments: 1}
	if s.book, err = book.Make(ctx, s.store, s.service, civil.DayOf(s.now), size, func(int64) {}); err != nil {
		return l, err
	}
	if err := book.Fold(ctx, s.service, s.book.SiteID); err != nil {
		return l, err
	}
	return s.learn(ctx, requests)
}

func (s *student) learn(ctx context.Context, requests int) (l learnt, err error) {
	paid := make([]int64, requests)
	for n := range paid {
		if paid[n], err = s.makeBooking(ctx, 0, n); err != nil {
			return l, err
		}
	}
	l.bookings, err = s.watch(ctx, requests, anyWords, func(n int) error {
		_, err := s.makeBooking(ctx, n%book.Channels, n)
		return err
	})
	if err != nil {
		return l, err
	}
	if l.payments, err = s.watch(ctx, requests, wordsInTurn, func(n int) error { return s.pay(ctx, 0, paid[n]) }); err != nil {
		return l, err
	}
	l.imports, err = s.watch(ctx, requests, wordsInTurn, func(n int) error {
		id, err := s.makeBooking(ctx, n%importChannels, n)
		if err != nil {
			return err
		}
		return s.pay(ctx, n%importChannels, id)
	})
	if err != nil {
		return l, err
	}
	l.find, err = findStatement(ctx, s.store, s.service, access.System(s.book.SiteID), paid[0])
	return l, err
}

// makeBooking creates a booking in a channel, with the days and supplier of request n.
func (s *student) makeBooking(ctx context.Context, channel, n int) (int64, error) {
	id, currency, total, country, name := s.book.FirstChannel+int64(channel), s.book.Currency(channel), int64(1_000_000_000), "FR", "Ada"
	reference, surname, email := s.reference(), marks[1], marks[2]+"@example.org"
	content, language, suppliers, pax := "Seven nights, half board", "enGB", []int64{1 + int64(n%book.Suppliers)}, int64(2)
	today := civil.DayOf(s.now)
	// The steps are coprime to 100, so that neither day depends on the channel.
	start, end := today+30+civil.Day(n*37%100), today+140+civil.Day(n*61%100)
	made, err := s.service.Bookings.Create(ctx, access.System(s.book.SiteID), booking.BookingFields{
		ChannelID: &id, Currency: &currency, Total: &total, Country: &country, Firstname: &name, Surname: &surname, Email: &email,
		Content: &content, Start: &start, End: &end, Language: &language, Suppliers: &suppliers, Pax: &pax, Reference: &reference,
	})
	return made.ID, err
}

// reference is the reference of the next request: two payments cannot share one.
func (s *student) reference() string { return fmt.Sprintf("%s-%d-", marks[0], s.seen) }

// pay logs a payment for a booking of a channel.
func (s *student) pay(ctx context.Context, channel int, booking int64) error {
	id, currency, total, purchase := s.book.FirstChannel+int64(channel), s.book.Currency(channel), int64(50_000), payment.Purchase
	_, _, err := s.service.Payments.Create(ctx, access.System(s.book.SiteID), payment.NewTransaction{
		ChannelID: &id, Currency: &currency, Total: &total, Type: &purchase,
		Items:     &[]payment.Item{{BookingID: booking, Currency: currency, Total: total}},
		PayeeName: "Ada", PayeeSurname: "Lovelace", PayeeEmail: "ada@example.org", Country: "FR", Reference: s.reference(), CardType: "visa",
		BIN: "424242", LastFour: "4242", AuthCode: "083219",
	})
	return err
}

// watch runs requests and collects the rows that are new afterwards. Each request has a separate range of ids, which
// shows which request inserted a row.
func (s *student) watch(ctx context.Context, requests int, w func(n int64) words, request func(n int) error) (samples, error) {
	before := map[string]bool{}
	if err := s.look(ctx, func(_ catalog.Table, key string, _ []any) error {
		before[key] = true
		return nil
	}); err != nil {
		return samples{}, err
	}
	first := s.seen
	for n := range requests {
		if err := s.count(ctx); err != nil {
			return samples{}, err
		}
		if err := request(n); err != nil {
			return samples{}, err
		}
	}
	found := samples{words: w, requests: make([]sampleRows, requests)}
	err := s.look(ctx, func(t catalog.Table, key string, values []any) error {
		if before[key] {
			return nil
		}
		return found.add(t, values, first)
	})
	return found, err
}

// count reserves a range of ids in each table for the next request.
func (s *student) count(ctx context.Context) error {
	err := s.store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		tables, err := tx.Catalog().Tables()
		for i, t := range tables {
			if err == nil && t.Counter != "" {
				err = tx.Catalog().Whole(t).SetCounter(firstID + int64(i)*apart + int64(s.seen)*stride)
			}
		}
		return err
	})
	s.seen++
	return err
}

// look visits all rows, each with a unique key.
func (s *student) look(ctx context.Context, row func(t catalog.Table, key string, values []any) error) error {
	return s.store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		tables, err := tx.Catalog().Tables()
		for _, t := range tables {
			if err == nil {
				err = tx.Catalog().Whole(t).Each(func(values []any) error {
					key := t.Name
					for i, c := range t.Columns {
						if slices.Contains(t.Key, c.Name) {
							key += fmt.Sprintf("|%v", values[i])
						}
					}
					return row(t, key, values)
				})
			}
		}
		return err
	})
}
