// Command benchexposure measures how long reports of exposure take over a large made-up book. It loads the book past the
// API, lets the same code as in production fold it into the buckets, and prints the least and the median times. With
// -dir the databases stay, and the next run measures them again without loading. `make bench-exposure` runs it.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"holdfast/internal/bookings"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/ledger"
	"holdfast/internal/merchants"
	"holdfast/internal/reports"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fx"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// Sizes of the book besides its payments.
const (
	channels   = 100
	suppliers  = 20
	days       = 900
	perWrite   = 200 // bookings
	patience   = 20  // times that a write is tried which the machine was too busy for
	repeatedly = 21
)

const sitePath = "bench"

func main() {
	large := flag.Bool("large", false, "also ten times as many payments, and the ratio")
	payments := flag.Int64("payments", 1_000_000, "how many payments the smaller book has")
	folder := flag.String("dir", "", "where the databases are kept for the next run (default: a temporary folder, removed afterwards)")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *folder, *payments, *large); err != nil {
		fmt.Fprintln(os.Stderr, "benchexposure:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, folder string, payments int64, large bool) error {
	if folder == "" {
		var err error
		if folder, err = os.MkdirTemp("", "holdfast-bench"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(folder) }() // nothing in it is worth keeping
	}
	small, err := measure(ctx, out, folder, payments)
	if err != nil || !large {
		return err
	}
	ten, err := measure(ctx, out, folder, 10*payments)
	if err != nil {
		return err
	}
	for i, r := range measured {
		fmt.Fprintf(out, "%-24s %6.2f times as long over ten times as many\n", r.name, ten[i].Seconds()/small[i].Seconds())
	}
	return nil
}

// world is a service over one database with one loaded site.
type world struct {
	app   *app.App
	actor auth.Actor
}

// report is one that is measured.
type report struct {
	name string
	ask  func(ctx context.Context, w world, asOf civil.Day) error
}

func exposure(by, across protection.Dimension, in reports.ExposureQuery) func(context.Context, world, civil.Day) error {
	return func(ctx context.Context, w world, asOf civil.Day) error {
		q := in
		q.AsOf, q.By, q.Across = &asOf, by, across
		_, err := w.app.Exposure.Report(ctx, w.actor, q)
		return err
	}
}

// runOff is a run-off from so many days ago.
func runOff(ago civil.Day) func(context.Context, world, civil.Day) error {
	return func(ctx context.Context, w world, asOf civil.Day) error {
		asOf -= ago
		_, err := w.app.Exposure.RunOff(ctx, w.actor, reports.ExposureQuery{Moment: ledger.Moment{AsOf: &asOf}})
		return err
	}
}

var (
	spot   = reports.ExposureQuery{}
	locked = reports.ExposureQuery{Valuation: protection.Locked}
)

var measured = []report{
	{"by channel", exposure(protection.ByChannel, "", spot)},
	{"by channel, locked", exposure(protection.ByChannel, "", locked)},
	{"by month", exposure(protection.ByMonth, "", spot)},
	{"by scheme", exposure(protection.ByScheme, "", spot)},
	{"by supplier", exposure(protection.BySupplier, "", spot)},
	{"by channel and month", exposure(protection.ByChannel, protection.ByMonth, spot)},
	{"by channel and supplier", exposure(protection.ByChannel, protection.BySupplier, spot)},
	{"run-off", runOff(0)},
	{"run-off from 90 days ago", runOff(90)},
	{"ageing", func(ctx context.Context, w world, asOf civil.Day) error {
		_, err := w.app.Exposure.Ageing(ctx, w.actor, reports.ExposureQuery{Moment: ledger.Moment{AsOf: &asOf}})
		return err
	}},
}

// measure prints how long each report of a book of that many payments takes, and answers the medians. A book that an
// earlier run has left in the folder is not loaded again, only what is not folded of it is.
func measure(ctx context.Context, out io.Writer, folder string, payments int64) ([]time.Duration, error) {
	path := filepath.Join(folder, strconv.FormatInt(payments, 10)+".db")
	_, err := os.Stat(path)
	kept := err == nil
	db, err := db.Open(ctx, "sqlite:"+path, time.Now)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }() // whatever failed has been said
	if err := db.Migrate(ctx); err != nil {
		return nil, err
	}
	service := app.New(&core.Core{
		Store: db, Clock: time.Now, Random: rand.Reader, NewUUID: uuid.NewString,
		Log: slog.New(slog.DiscardHandler), Rulepacks: protection.ShippedRulepacks(),
	})
	defer service.Close()
	began, w := time.Now(), world{app: service}
	if kept {
		err = w.reopen(ctx, db, payments)
	} else {
		w, err = load(ctx, db, service, payments)
	}
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "%d payments: loaded in %s\n", payments, time.Since(began).Round(time.Second))
	if err := w.fold(ctx, out); err != nil {
		return nil, err
	}
	var medians []time.Duration
	for _, r := range measured {
		took, err := times(ctx, w, r)
		if err != nil {
			return nil, err
		}
		medians = append(medians, took[repeatedly/2])
		fmt.Fprintf(out, "  %-25s median %9s   least %9s\n", r.name, took[repeatedly/2].Round(10*time.Microsecond),
			took[0].Round(10*time.Microsecond))
	}
	return medians, nil
}

// fold lets the job work until it has nothing to do.
func (w world) fold(ctx context.Context, out io.Writer) error {
	began := time.Now()
	for more := true; more; {
		var err error
		if more, err = w.app.Buckets.Fold(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "  folded in %s\n", time.Since(began).Round(time.Second))
	return nil
}

// times asks for a report again and again; it answers how long each took, the shortest first.
func times(ctx context.Context, w world, r report) (took []time.Duration, err error) {
	today := civil.DayOf(time.Now())
	for range repeatedly {
		start := time.Now()
		if err := r.ask(ctx, w, today); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took, nil
}

// reopen finds the site of a book that is loaded already. Bookings are loaded in order, so the last one tells whether all
// are there.
func (w *world) reopen(ctx context.Context, database *db.DB, payments int64) error {
	err := database.Read(ctx, func(tx *db.Tx) error {
		site, err := merchants.SiteAt(tx, sitePath)
		if err == nil {
			w.actor = auth.System(site.ID)
			_, err = bookings.Alone(tx, site.ID, payments/PaymentsPerBooking)
		}
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return errors.New("the book in that folder was not loaded to its end: remove it")
	}
	return err
}

// load makes a site with channels, rates and a book whose payments end yesterday.
func load(ctx context.Context, database *db.DB, service *app.App, payments int64) (w world, err error) {
	w.app = service
	today := civil.DayOf(time.Now())
	l := Load{
		Channels: channels, Suppliers: suppliers, From: today - days - 5, Days: days, Payments: payments,
	}
	err = database.Write(ctx, func(tx *db.Tx) error {
		site, err := core.InsertSite(tx, travel.Site{Path: sitePath, Name: "Bench", Sandbox: true, Policy: travel.DefaultPolicy("GBP")})
		l.SiteID = site.ID
		return err
	})
	if err != nil {
		return w, err
	}
	w.actor = auth.System(l.SiteID)
	if l.FirstChannel, err = addNames(ctx, w); err != nil {
		return w, err
	}
	var fixings []fx.Fixing
	for c, text := range map[money.Currency]string{"GBP": "0.85365", "USD": "1.0852"} {
		rate, err := money.ParseRate(text)
		if err != nil {
			return w, err
		}
		fixings = append(fixings, fx.Fixing{Provider: fx.ECB, Day: today - 1, Currency: c, Rate: rate})
	}
	if _, err := service.Rates.Add(ctx, w.actor, fixings); err != nil {
		return w, err
	}
	bookings := payments / PaymentsPerBooking
	for first := int64(1); first <= bookings; first += perWrite {
		err := errBusy
		for try := 0; err != nil && try < patience; try++ {
			err = database.Write(ctx, func(tx *db.Tx) error { return loadBook(tx, l, first, min(bookings, first+perWrite-1)) })
		}
		if err != nil {
			return w, err
		}
	}
	return w, nil
}

// errBusy stands for a write that has not been tried yet.
var errBusy = errors.New("not written yet")

// addNames makes channels and suppliers; it answers the id of the first channel.
func addNames(ctx context.Context, w world) (first int64, err error) {
	for i := range channels {
		name, mode := "Channel "+strconv.Itoa(i), travel.ModeProtectionOnly
		currency := []money.Currency{"EUR", "GBP", "USD"}[i%3]
		c, err := w.app.Channels.Create(ctx, w.actor, travel.ChannelFields{Name: &name, Currency: &currency, Mode: &mode})
		if err != nil {
			return 0, err
		}
		if i == 0 {
			first = c.ID
		}
	}
	for i := range suppliers {
		name := "Supplier " + strconv.Itoa(i)
		if _, err := w.app.Suppliers.Create(ctx, w.actor, travel.SupplierFields{Name: &name}); err != nil {
			return 0, err
		}
	}
	return first, nil
}
