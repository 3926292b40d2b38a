// Command benchexposure measures the exposure reports on a large made-up book. It inserts the book directly into the
// database, folds it into the buckets with the product's code, and prints the shortest and the median time of each
// report. With -dir the databases are kept, and the next run measures them without loading them again. `make
// bench-exposure` runs it.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"holdfast/bench/book"
	"holdfast/internal/app"
	"holdfast/internal/book/bookings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/report"
	"holdfast/internal/store"

	"github.com/google/uuid"
)

const (
	paymentsEach = 4                // of a booking
	repeatedly   = 21               // measurements of each report
	enough       = 10 * time.Second // after which a slow report is not repeated
)

func main() {
	large := flag.Bool("large", false, "also measure a book ten times as large, and print the ratio")
	payments := flag.Int64("payments", 1_000_000, "number of payments in the smaller book")
	folder := flag.String("dir", "", "folder to keep the databases for the next run (default: temporary)")
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
		defer func() { _ = os.RemoveAll(folder) }() // a leftover folder is harmless
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
		fmt.Fprintf(out, "%-28s takes %6.2f times as long with ten times as many payments\n", r.name, ten[i].Seconds()/small[i].Seconds())
	}
	return nil
}

// world has the use cases on one database, and an actor on its only site.
type world struct {
	app   *app.App
	actor access.Actor
}

// report is a report to measure.
type result struct {
	name string
	ask  func(ctx context.Context, w world, asOf civil.Day) error
}

func byDimension(by, across exposure.Dimension, in report.ExposureQuery) func(context.Context, world, civil.Day) error {
	return func(ctx context.Context, w world, asOf civil.Day) error {
		q := in
		q.AsOf, q.By, q.Across = &asOf, by, across
		_, err := w.app.Exposure.Report(ctx, w.actor, q)
		return err
	}
}

// runOff is a run-off that starts some days ago.
func runOff(ago civil.Day) func(context.Context, world, civil.Day) error {
	return func(ctx context.Context, w world, asOf civil.Day) error {
		asOf -= ago
		_, err := w.app.Exposure.RunOff(ctx, w.actor, report.ExposureQuery{Moment: ledger.Moment{AsOf: &asOf}})
		return err
	}
}

// known selects the state as known at the end of a day, some days ago.
func known(asOf, ago civil.Day) report.ExposureQuery {
	return report.ExposureQuery{Moment: ledger.Moment{AsOf: &asOf, KnownAt: (asOf - ago).End()}}
}

// exposureKnown is an exposure as it was known some days ago.
func exposureKnown(ago civil.Day) func(context.Context, world, civil.Day) error {
	return func(ctx context.Context, w world, asOf civil.Day) error {
		_, err := w.app.Exposure.Report(ctx, w.actor, known(asOf, ago))
		return err
	}
}

// runOffKnown and ageingKnown are reports as known a month ago.
func runOffKnown(ctx context.Context, w world, asOf civil.Day) error {
	_, err := w.app.Exposure.RunOff(ctx, w.actor, known(asOf, 30))
	return err
}

func ageingKnown(ctx context.Context, w world, asOf civil.Day) error {
	_, err := w.app.Exposure.Ageing(ctx, w.actor, known(asOf, 30))
	return err
}

// movement is the movement of some days up to today, as it was known some days ago.
func movement(days, ago civil.Day) func(context.Context, world, civil.Day) error {
	return func(ctx context.Context, w world, asOf civil.Day) error {
		from, q := asOf-days, known(asOf, ago)
		if ago == 0 {
			q.KnownAt = time.Time{}
		}
		_, err := w.app.Exposure.Movement(ctx, w.actor, report.MovementQuery{ExposureQuery: q, From: &from})
		return err
	}
}

var (
	spot   = report.ExposureQuery{}
	locked = report.ExposureQuery{Valuation: exposure.Locked}
)

var measured = []result{
	{"by channel", byDimension(exposure.ByChannel, "", spot)},
	{"by channel, locked", byDimension(exposure.ByChannel, "", locked)},
	{"by month", byDimension(exposure.ByMonth, "", spot)},
	{"by scheme", byDimension(exposure.ByScheme, "", spot)},
	{"by supplier", byDimension(exposure.BySupplier, "", spot)},
	{"by channel and month", byDimension(exposure.ByChannel, exposure.ByMonth, spot)},
	{"by channel and supplier", byDimension(exposure.ByChannel, exposure.BySupplier, spot)},
	{"run-off", runOff(0)},
	{"run-off from 90 days ago", runOff(90)},
	{"ageing", func(ctx context.Context, w world, asOf civil.Day) error {
		_, err := w.app.Exposure.Ageing(ctx, w.actor, report.ExposureQuery{Moment: ledger.Moment{AsOf: &asOf}})
		return err
	}},
	{"known yesterday", exposureKnown(1)},
	{"known a month ago", exposureKnown(30)},
	{"known 450 days ago", exposureKnown(450)},
	{"run-off, known a month ago", runOffKnown},
	{"ageing, known a month ago", ageingKnown},
	{"movement of a week", movement(7, 0)},
	{"movement of 90 days", movement(90, 0)},
	{"movement, known a month ago", movement(90, 30)},
}

// measure prints how long each report takes over a book of that many payments, and returns the medians. A book that an
// earlier run left in the folder is not loaded again; folding continues where it stopped.
func measure(ctx context.Context, out io.Writer, folder string, payments int64) ([]time.Duration, error) {
	path := filepath.Join(folder, strconv.FormatInt(payments, 10)+".db")
	_, err := os.Stat(path)
	kept := err == nil
	db, err := store.Open(ctx, "sqlite:"+path, time.Now)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }() // an error here changes no measurement
	if err := db.Migrate(ctx); err != nil {
		return nil, err
	}
	service := app.New(app.Config{
		Store: db, Clock: time.Now, Random: rand.Reader, NewUUID: uuid.NewString,
		Log: slog.New(slog.DiscardHandler), Rulepacks: protection.ShippedRulepacks(), Keys: sync.OnceValues(keys),
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
		median := took[len(took)/2]
		medians = append(medians, median)
		fmt.Fprintf(out, "  %-28s median %9s   least %9s\n", r.name, median.Round(10*time.Microsecond),
			took[0].Round(10*time.Microsecond))
	}
	return medians, nil
}

// fold fills the buckets, and prints how long that took.
func (w world) fold(ctx context.Context, out io.Writer) error {
	began := time.Now()
	if err := book.Fold(ctx, w.app, w.actor.SiteID); err != nil {
		return err
	}
	fmt.Fprintf(out, "  folded in %s\n", time.Since(began).Round(time.Second))
	return nil
}

// times creates a report repeatedly, slow ones less often. It returns the durations, shortest first.
func times(ctx context.Context, w world, r result) (took []time.Duration, err error) {
	today := civil.DayOf(time.Now())
	for began := time.Now(); len(took) < repeatedly && (len(took) == 0 || time.Since(began) < enough); {
		start := time.Now()
		if err := r.ask(ctx, w, today); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took, nil
}

// reopen finds the site of a book that is loaded already. Bookings are loaded in order, so if the last one exists, all
// do.
func (w *world) reopen(ctx context.Context, database *store.DB, payments int64) error {
	err := database.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		site, err := merchants.SiteAt(tx, book.SitePath)
		if err == nil {
			w.actor = access.System(site.ID)
			_, err = bookings.Alone(tx, site.ID, payments/paymentsEach)
		}
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return errors.New("the book in that folder is incomplete: delete the folder")
	}
	return err
}

// load creates a site with a book.
func load(ctx context.Context, database *store.DB, service *app.App, payments int64) (world, error) {
	size := book.Size{Bookings: payments / paymentsEach, Payments: paymentsEach}
	made, err := book.Make(ctx, database, service, civil.DayOf(time.Now()), size, func(int64) {})
	return world{app: service, actor: access.System(made.SiteID)}, err
}

// keys creates the keys that encrypt the book's secrets. Nothing that is measured reads them, so no file keeps them.
func keys() (secrets.SealKeys, error) {
	line, err := secrets.NewSealKey(rand.Reader)
	if err != nil {
		return secrets.SealKeys{}, err
	}
	return secrets.ParseSealKeys(line)
}
