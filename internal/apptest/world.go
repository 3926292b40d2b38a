// Package apptest gives tests a whole service over a database of its own: a world with one site, whose clock the test
// moves. Only tests import it. Begin reading at World.
package apptest

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

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/fault"
	"holdfast/internal/fx"
	"holdfast/internal/money"
	"holdfast/internal/reports"
	"holdfast/internal/travel"

	"github.com/google/uuid"
)

// World is a service with one site in it, whose clock the test moves.
type World struct {
	t      testing.TB
	App    *app.App
	Core   *core.Core
	Site   travel.Site
	Actor  auth.Actor // an operator on the site
	micros atomic.Int64
	URL    string // of the database
}

// Histories is on how many random histories a property is tried: on a few, each the same at each run, or on as many as
// `make test-long` asks for.
func Histories(t testing.TB, few uint64) uint64 {
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

// Began is when the clock of every world starts.
var Began = time.Date(2024, 6, 3, 9, 0, 0, 0, time.UTC)

// OnBoth runs one test on each engine.
func OnBoth(t *testing.T, test func(t *testing.T, w *World)) {
	t.Helper()
	dbtest.OnBoth(t, func(t *testing.T, url string) { test(t, NewWorld(t, url)) })
}

func NewWorld(t testing.TB, url string) *World {
	t.Helper()
	w := &World{t: t, URL: url}
	w.SetClock(Began)
	database := dbtest.Open(t, url, w.Now)
	w.Core = &core.Core{
		Store: database, Clock: w.Now, Random: rand.Reader, NewUUID: uuid.NewString, Log: slog.New(slog.DiscardHandler),
		Cost: auth.PasswordCost{MemoryKiB: 8, Iterations: 1, Parallelism: 1},
	}
	w.App = app.New(w.Core)
	err := database.Write(t.Context(), func(tx *db.Tx) error {
		var err error
		w.Site, err = dbtest.InsertSite(tx, travel.Site{Path: "demo", Name: "Demo", Sandbox: true, Policy: travel.DefaultPolicy("GBP")})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Actor = auth.System(w.Site.ID)
	return w
}

func (w *World) Now() time.Time { return time.UnixMicro(w.micros.Load()).UTC() }

func (w *World) SetClock(at time.Time) { w.micros.Store(at.UnixMicro()) }

func (w *World) Advance(d time.Duration) { w.micros.Add(d.Microseconds()) }

func (w *World) Channel(mode travel.AccountMode, currency money.Currency) travel.Channel {
	w.t.Helper()
	name := fmt.Sprintf("%s %s", mode, currency)
	c, err := w.App.Channels.Create(w.t.Context(), w.Actor, travel.ChannelFields{Name: &name, Currency: &currency, Mode: &mode})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *World) Booking(c travel.Channel, total int64, end string) travel.Booking {
	w.t.Helper()
	day, err := civil.ParseDay(end)
	if err != nil {
		w.t.Fatal(err)
	}
	content, first, last, email, country := "A week", "Ada", "Byron", "ada@example.org", "PT"
	b, err := w.App.Bookings.Create(w.t.Context(), w.Actor, travel.BookingFields{
		ChannelID: &c.ID, Content: &content, Firstname: &first, Surname: &last, Email: &email, End: &day, Total: &total,
		Currency: &c.Currency, Country: &country,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// Report is a transaction in the base currency of the booking, for that one booking.
func Report(kind travel.TransactionType, b travel.Booking, total int64) travel.NewTransaction {
	return travel.NewTransaction{
		ChannelID: &b.ChannelID, Currency: &b.Currency, Total: &total, Type: &kind, CardType: "visa",
		Items: &[]travel.Item{{BookingID: b.ID, Currency: b.Currency, Total: total}},
	}
}

// Linked is report for what adjusts an earlier transaction.
func Linked(kind travel.TransactionType, of travel.Transaction, b travel.Booking, total int64) travel.NewTransaction {
	in := Report(kind, b, total)
	in.LinkedID = of.ID
	return in
}

func (w *World) Must(in travel.NewTransaction) travel.Transaction {
	w.t.Helper()
	t, _, err := w.App.Payments.Create(w.t.Context(), w.Actor, in)
	if err != nil {
		w.t.Fatalf("%s: %v", *in.Type, err)
	}
	return t
}

// Refused expects a refusal of a kind, and for NotPossible its reason or for Invalid a field.
func (w *World) Refused(in travel.NewTransaction, kind fault.Kind, detail string) {
	w.t.Helper()
	_, _, err := w.App.Payments.Create(w.t.Context(), w.Actor, in)
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != kind {
		w.t.Fatalf("%s: %v, want kind %d", *in.Type, err, kind)
	}
	if kind == fault.NotPossible && f.Reason != detail || kind == fault.Invalid && f.Params[detail] == "" {
		w.t.Fatalf("%s: reason %q, fields %v, want %q", *in.Type, f.Reason, f.Params, detail)
	}
}

func (w *World) ReadBooking(id int64) travel.Booking {
	w.t.Helper()
	b, err := w.App.Bookings.Get(w.t.Context(), w.Actor, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

func (w *World) ReadTransaction(id int64) travel.Transaction {
	w.t.Helper()
	t, err := w.App.Payments.Get(w.t.Context(), w.Actor, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

func (w *World) Fix(day string, rates map[money.Currency]string) {
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
	if _, err := w.App.Rates.Add(w.t.Context(), w.Actor, list); err != nil {
		w.t.Fatal(err)
	}
}

func (w *World) Exposure(q reports.ExposureQuery) reports.ExposureReport {
	w.t.Helper()
	r, err := w.App.Exposure.Report(w.t.Context(), w.Actor, q)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}
