// Command benchimport measures the writes of a server while an import runs on the same SQLite file. The import has a
// separate connection, like the command line. It prints how long the writes took without and during the import. Start
// reading at run. `go run ./cmd/benchimport` runs it.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/book/imports"
	"holdfast/internal/book/paymentfile"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"

	"github.com/google/uuid"
)

func main() {
	rows := flag.Int("rows", 30_000, "rows to import")
	dry := flag.Bool("dry", false, "only a dry run")
	callers := flag.Int("callers", 4, "clients that write continuously, with a pause of 50 ms")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *rows, *callers, *dry); err != nil {
		fmt.Fprintln(os.Stderr, "benchimport:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, rows, callers int, dry bool) error {
	folder, err := os.MkdirTemp("", "holdfast-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // a leftover folder is harmless
	url := "sqlite:" + filepath.Join(folder, "bench.db")
	server, actor, err := open(ctx, url)
	if err != nil {
		return err
	}
	path, name, currency := "bench", "Bench", money.EUR
	if _, err := server.Sites.Create(ctx, access.System(0), merchant.SiteFields{Path: &path, Name: &name, Currency: &currency}); err != nil {
		return err
	}
	importer, _, err := open(ctx, url)
	if err != nil {
		return err
	}
	alone := during(ctx, server, actor, callers, func() error { <-time.After(5 * time.Second); return nil })
	began := time.Now()
	var report imports.ImportReport
	loaded := during(ctx, server, actor, callers, func() (err error) {
		report, err = importer.Imports.Payments(ctx, actor, file(rows), imports.ImportOptions{
			Mode: merchant.ModeTest, DryRun: dry, Refused: func(r imports.Refusal) { fmt.Fprintln(out, "refused:", r.Line, r.Reason) },
		})
		return err
	})
	fmt.Fprintf(out, "import of %d rows: %s, created %d\n", rows, time.Since(began).Round(time.Second), report.Payments.Created)
	fmt.Fprintf(out, "writes alone:            %s\nwrites during an import: %s\n", alone, loaded)
	return errors.Join(alone.err, loaded.err)
}

func open(ctx context.Context, url string) (*app.App, access.Actor, error) {
	store, err := store.Open(ctx, url, time.Now)
	if err != nil {
		return nil, access.Actor{}, err
	}
	c := app.Config{
		Store: store, Clock: time.Now, Random: rand.Reader, NewUUID: uuid.NewString, Log: slog.New(slog.DiscardHandler),
		Rulepacks: protection.ShippedRulepacks(), Keys: sync.OnceValues(keys), Profile: merchant.ProtectionOnlyProfile,
	}
	return app.New(c), access.System(1), store.Migrate(ctx)
}

// times are the durations of writes.
type times struct {
	list   []time.Duration
	failed int
	err    error
}

func (t times) String() string {
	slices.Sort(t.list)
	at := func(part int) time.Duration {
		if len(t.list) == 0 {
			return 0
		}
		return t.list[min(len(t.list)-1, len(t.list)*part/100)].Round(time.Millisecond)
	}
	return fmt.Sprintf("%d, median %s, p99 %s, longest %s, failed %d", len(t.list), at(50), at(99), at(100), t.failed)
}

// during runs work while clients write, and returns the durations of their writes.
func during(ctx context.Context, server *app.App, actor access.Actor, callers int, work func() error) times {
	var (
		all sync.WaitGroup
		mu  sync.Mutex
		t   times
	)
	done := make(chan struct{})
	for range callers {
		all.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(50 * time.Millisecond):
				}
				name := uuid.NewString()
				began := time.Now()
				_, err := server.Suppliers.Create(ctx, actor, merchant.SupplierFields{Name: &name})
				mu.Lock()
				t.list = append(t.list, time.Since(began))
				if err != nil {
					t.failed++
				}
				mu.Unlock()
			}
		})
	}
	err := work()
	close(done)
	all.Wait()
	t.err = err
	return t
}

// file has a booking and its payment in each row.
func file(rows int) iter.Seq2[imports.ImportedPayment, error] {
	in, to := io.Pipe()
	go func() {
		fmt.Fprintln(to, "booking_reference,channel,countries,currencies,date,total,firstname,surname,email,content,payment_reference,"+
			"transaction_types,paid_at,payment_currencies,payment_total,booking_total")
		for n := range rows {
			fmt.Fprintf(to, "B-%d,Direct,PT,EUR,2027-09-14,120000,Ana,Sousa,ana@example.org,Seven nights,P-%d,purchase,2026-04-09 00:00:00,EUR,120000,120000\n", n, n)
		}
		_ = to.Close()
	}()
	return paymentfile.Read(in, nil)
}

// keys creates the keys that encrypt the book's secrets. Nothing that is measured reads them, so no file keeps them.
func keys() (secrets.SealKeys, error) {
	line, err := secrets.NewSealKey(rand.Reader)
	if err != nil {
		return secrets.SealKeys{}, err
	}
	return secrets.ParseSealKeys(line)
}
