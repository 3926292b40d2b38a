// Command benchdisputes measures the failure of a merchant in a large made-up book of ten: the time to confirm it and to make its snapshot, to
// import a processor's file of disputes of all merchants, and to make the claims. Some disputes have a payment reference, some are matched by
// score, and some have no payment. Start reading at run. `make bench-disputes` runs it.
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/bench/book"
	"holdfast/internal/app"
	"holdfast/internal/book/claims"
	"holdfast/internal/book/disputefile"
	"holdfast/internal/book/disputes"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"

	"github.com/google/uuid"
)

func main() {
	payments := flag.Int64("payments", 1_000_000, "payments in the book, each of one booking")
	count := flag.Int64("disputes", 50_000, "disputes in the file")
	folder := flag.String("dir", "", "folder to keep the database (default: temporary)")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *folder, *payments, *count); err != nil {
		fmt.Fprintln(os.Stderr, "benchdisputes:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, folder string, payments, count int64) error {
	if folder == "" {
		var err error
		if folder, err = os.MkdirTemp("", "holdfast-bench"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(folder) }() // a leftover folder is harmless
	}
	var clock clock
	db, err := store.Open(ctx, "sqlite:"+filepath.Join(folder, "disputes.db"), clock.now)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // an error here changes no measurement
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	service := app.New(app.Config{
		Store: db, Clock: clock.now, Random: rand.Reader, NewUUID: uuid.NewString,
		Log: slog.New(slog.DiscardHandler), Rulepacks: protection.ShippedRulepacks(), Keys: sync.OnceValues(keys),
	})
	defer service.Close()
	began := time.Now()
	size := book.Size{Bookings: payments, Payments: 1, Cards: true, Channels: merchants}
	made, err := book.Make(ctx, db, service, civil.DayOf(time.Now()), size, func(int64) {})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d payments: loaded in %s\n", payments, time.Since(began).Round(time.Second))
	if err := book.Fold(ctx, service, made.SiteID); err != nil {
		return err
	}
	paid, err := made.Sample(ctx, db, count)
	if err != nil {
		return err
	}
	actor := access.System(made.SiteID)
	failed, err := fail(ctx, out, service, &clock, actor, made.FirstChannel+1%merchants) // the merchant of the first disputed payment
	if err != nil {
		return err
	}
	for _, name := range []string{"first import", "the same file again"} {
		began = time.Now()
		done, err := service.Disputes.ImportFile(ctx, actor, disputesOf(paid), disputefile.Options{Mapping: mapping}, false)
		if err != nil {
			return err
		}
		took := time.Since(began)
		fmt.Fprintf(out, "  %-20s %8s   %6.0f disputes a second  ", name, took.Round(time.Millisecond), float64(count)/took.Seconds())
		results := map[disputes.Outcome]int{}
		for _, l := range done.Lines {
			results[l.Outcome]++
		}
		for _, o := range disputes.Outcomes() {
			if results[o] > 0 {
				fmt.Fprintf(out, "  %s %d", o, results[o])
			}
		}
		fmt.Fprintln(out)
	}
	return claimsOf(ctx, out, service, &clock, actor, failed)
}

// merchants is the number of merchants in the book.
const merchants = 10

func tell(out io.Writer, name string, began time.Time, format string, args ...any) {
	fmt.Fprintf(out, "  %-20s %8s   %s\n", name, time.Since(began).Round(time.Millisecond), fmt.Sprintf(format, args...))
}

// fail reports and confirms the failure of a merchant, and runs the job that makes its snapshot.
func fail(ctx context.Context, out io.Writer, service *app.App, clock *clock, actor access.Actor, channel int64) (insolvencies.Insolvency, error) {
	kind, now := insolvencies.Kinds[0], clock.now()
	failed, err := service.Insolvencies.Report(ctx, actor, insolvencies.NewReport{
		ChannelID: &channel, Kind: &kind, TriggerAt: &now, Evidence: "A notice of the court.",
	})
	if err != nil {
		return failed, err
	}
	began := time.Now()
	if failed, err = service.Insolvencies.Confirm(ctx, actor, failed.ID, ""); err != nil {
		return failed, err
	}
	tell(out, "confirm a failure", began, "")
	clock.skip(settled)
	began = time.Now()
	for more := true; more && err == nil; {
		more, err = service.Insolvencies.Work(ctx)
	}
	if err == nil {
		failed, err = service.Insolvencies.Get(ctx, actor, failed.ID)
	}
	tell(out, "its snapshot", began, "%d payments", failed.Snapshot.Lines)
	return failed, err
}

// clock is the real time and what was skipped of it.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *clock) skip(d time.Duration) { c.ahead.Add(int64(d)) }

// settled is how old events must be before the jobs of a failure take them up.
const settled = 11 * time.Second

// claimsOf runs the job that makes the claims of a failure, reads the figures and a page of claims.
func claimsOf(ctx context.Context, out io.Writer, service *app.App, clock *clock, actor access.Actor, failed insolvencies.Insolvency) error {
	clock.skip(settled)
	began := time.Now()
	var err error
	for more := true; more && err == nil; {
		more, err = service.Claims.Make(ctx)
	}
	if err != nil {
		return err
	}
	took := began
	began = time.Now()
	report, err := service.Claims.Report(ctx, actor, failed.ID)
	if err != nil {
		return err
	}
	count := int64(0)
	for _, n := range report.Claims {
		count += n
	}
	tell(out, "its claims", took, "%d claims", count)
	tell(out, "the figures", began, "")
	began = time.Now()
	page := store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: store.OrderID}
	list, err := service.Claims.List(ctx, actor, claims.Filter{}, page)
	tell(out, "a page of claims", began, "%d claims", len(list.Items))
	return err
}

// mapping is the format of the file.
var mapping = &disputefile.Mapping{
	Source: "bench", Units: "minor",
	Columns: map[string]string{
		"case_id": "case", "day": "day", "amount": "amount", "currency": "currency", "payment_reference": "reference",
		"last_four_digits": "last_four", "auth_code": "auth_code", "paid_on": "paid_on", "paid_amount": "paid_amount", "paid_currency": "currency",
	},
	Always: &disputefile.Meaning{Stage: dispute.Chargeback, Status: dispute.Open, Money: "debit"},
}

// disputesOf makes a file of disputes, spread over the book: of ten, six have the payment's reference, three the card's last digits, the
// auth code, the amount and the day, and one has no payment. Every second one disputes a part of the payment.
func disputesOf(paid []book.Paid) io.Reader {
	var file strings.Builder
	file.WriteString("case,day,amount,currency,reference,last_four,auth_code,paid_on,paid_amount\n")
	today := civil.DayOf(time.Now())
	for i, p := range paid {
		amount := p.Total
		if i%2 == 1 {
			amount /= 3
		}
		switch i % 10 {
		case 6, 7, 8:
			p.Reference = ""
		case 9:
			p.Reference, p.LastFour, p.AuthCode = "X-"+p.Reference, "", ""
		default:
			p.LastFour, p.AuthCode = "", ""
		}
		fmt.Fprintf(&file, "D-%d,%s,%d,%s,%s,%s,%s,%s,%d\n", i, today, amount, p.Currency, p.Reference, p.LastFour, p.AuthCode, p.Day, p.Total)
	}
	return strings.NewReader(file.String())
}

// keys creates the keys that encrypt the book's secrets. Nothing that is measured reads them, so no file keeps them.
func keys() (secrets.SealKeys, error) {
	line, err := secrets.NewSealKey(rand.Reader)
	if err != nil {
		return secrets.SealKeys{}, err
	}
	return secrets.ParseSealKeys(line)
}
