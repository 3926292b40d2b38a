package app_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/fx"
	"holdfast/internal/money"
	"holdfast/internal/store"
	"holdfast/internal/dbtest"
	"holdfast/internal/travel"
)

// world is a service with one site in it, whose clock the test moves.
type world struct {
	t      testing.TB
	app    *app.App
	core   *app.Core
	site   travel.Site
	actor  auth.Actor // an operator on the site
	micros atomic.Int64
	url    string // of the database
}

// histories is on how many random histories a property is tried: on a few, each the same at each run, or on as many as
// `make test-long` asks for.
func histories(t testing.TB, few uint64) uint64 {
	t.Helper()
	text := os.Getenv("HOLDFAST_TEST_HISTORIES")
	if text == "" {
		return few
	}
	many, err := strconv.ParseUint(text, 10, 32)
	if err != nil || many < few {
		t.Fatalf("HOLDFAST_TEST_HISTORIES is %q, and not a number from %d up", text, few)
	}
	return many
}

// began is when the clock of every world starts.
var began = time.Date(2024, 6, 3, 9, 0, 0, 0, time.UTC)

// onBoth runs one test on each engine.
func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	dbtest.OnBoth(t, func(t *testing.T, url string) { test(t, newWorld(t, url)) })
}

func newWorld(t testing.TB, url string) *world {
	t.Helper()
	w := &world{t: t, url: url}
	w.setClock(began)
	db := dbtest.Open(t, url, w.now)
	w.core = &app.Core{
		Store: db, Clock: w.now, Random: rand.Reader, NewUUID: uuid.NewString, Log: slog.New(slog.DiscardHandler),
		Cost: auth.PasswordCost{MemoryKiB: 8, Iterations: 1, Parallelism: 1},
	}
	w.app = app.New(w.core)
	err := db.Write(t.Context(), func(tx *store.Tx) error {
		var err error
		w.site, err = dbtest.InsertSite(tx, travel.Site{Path: "demo", Name: "Demo", Sandbox: true, Policy: travel.DefaultPolicy("GBP")})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.actor = auth.System(w.site.ID)
	return w
}

func (w *world) now() time.Time          { return time.UnixMicro(w.micros.Load()).UTC() }
func (w *world) setClock(at time.Time)   { w.micros.Store(at.UnixMicro()) }
func (w *world) advance(d time.Duration) { w.micros.Add(d.Microseconds()) }

func (w *world) channel(mode travel.AccountMode, currency money.Currency) travel.Channel {
	w.t.Helper()
	name := fmt.Sprintf("%s %s", mode, currency)
	c, err := w.app.Channels.Create(w.t.Context(), w.actor, travel.ChannelFields{Name: &name, Currency: &currency, Mode: &mode})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *world) booking(c travel.Channel, total int64, end string) travel.Booking {
	w.t.Helper()
	day, err := civil.ParseDay(end)
	if err != nil {
		w.t.Fatal(err)
	}
	content, first, last, email, country := "A week", "Ada", "Byron", "ada@example.org", "PT"
	b, err := w.app.Bookings.Create(w.t.Context(), w.actor, travel.BookingFields{
		ChannelID: &c.ID, Content: &content, Firstname: &first, Surname: &last, Email: &email, End: &day, Total: &total,
		Currency: &c.Currency, Country: &country,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// report is a transaction in the base currency of the booking, for that one booking.
func report(kind travel.TransactionType, b travel.Booking, total int64) travel.NewTransaction {
	return travel.NewTransaction{
		ChannelID: &b.ChannelID, Currency: &b.Currency, Total: &total, Type: &kind, CardType: "visa",
		Items: &[]travel.Item{{BookingID: b.ID, Currency: b.Currency, Total: total}},
	}
}

// linked is report for what adjusts an earlier transaction.
func linked(kind travel.TransactionType, of travel.Transaction, b travel.Booking, total int64) travel.NewTransaction {
	in := report(kind, b, total)
	in.LinkedID = of.ID
	return in
}

func (w *world) must(in travel.NewTransaction) travel.Transaction {
	w.t.Helper()
	t, _, err := w.app.Payments.Create(w.t.Context(), w.actor, in)
	if err != nil {
		w.t.Fatalf("%s: %v", *in.Type, err)
	}
	return t
}

// refused expects a refusal of a kind, and for NotPossible its reason or for Invalid a field.
func (w *world) refused(in travel.NewTransaction, kind fault.Kind, detail string) {
	w.t.Helper()
	_, _, err := w.app.Payments.Create(w.t.Context(), w.actor, in)
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != kind {
		w.t.Fatalf("%s: %v, want kind %d", *in.Type, err, kind)
	}
	if kind == fault.NotPossible && f.Reason != detail || kind == fault.Invalid && f.Params[detail] == "" {
		w.t.Fatalf("%s: reason %q, fields %v, want %q", *in.Type, f.Reason, f.Params, detail)
	}
}

func (w *world) readBooking(id int64) travel.Booking {
	w.t.Helper()
	b, err := w.app.Bookings.Get(w.t.Context(), w.actor, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

func (w *world) readTransaction(id int64) travel.Transaction {
	w.t.Helper()
	t, err := w.app.Payments.Get(w.t.Context(), w.actor, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

func (w *world) fix(day string, rates map[money.Currency]string) {
	w.t.Helper()
	d, err := civil.ParseDay(day)
	if err != nil {
		w.t.Fatal(err)
	}
	var list []fx.Fixing
	for c, text := range rates {
		r, err := money.ParseRate(text)
		if err != nil {
			w.t.Fatal(err)
		}
		list = append(list, fx.Fixing{Provider: fx.ECB, Day: d, Currency: c, Rate: r})
	}
	if _, err := w.app.Rates.Add(w.t.Context(), w.actor, list); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) exposure(q app.ExposureQuery) app.ExposureReport {
	w.t.Helper()
	r, err := w.app.Exposure.Report(w.t.Context(), w.actor, q)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}
