package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"holdfast/bench/book"
	"holdfast/internal/store"
)

// importRows is the kind for imports: each request is a row of a file, with a booking and its payment.
const importRows = "import of payments, rows"

// bulkInsert is the limit of an import: the same bookings and payments, inserted with many rows per statement.
const bulkInsert = "bulk insert"

// rowsPerWrite is how many rows of a file the limit inserts per transaction.
const rowsPerWrite = 250

// importTurn imports a file into the product's book from the command line, while no server is running.
func (b *bench) importTurn(ctx context.Context, run string) (f figures, err error) {
	path := filepath.Join(b.house.dir, "import.csv")
	if err := b.writeImport(path, run); err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, os.Remove(path)) }()
	cmd := exec.CommandContext(ctx, b.house.program, "import", "payments", path, "--site", book.SitePath, "--database", b.house.database)
	cmd.Env = append(os.Environ(), "HOLDFAST_KEYS_FILE="+b.house.keys())
	syscall.Sync() // pending writes must not slow down the import, or its limit, which begins with a copy
	data := b.house.databaseTime()
	began := time.Now()
	said, err := cmd.CombinedOutput()
	if err != nil {
		return f, fmt.Errorf("importing: %w\n%s", err, tail(said))
	}
	took, state, n := time.Since(began), cmd.ProcessState, float64(b.rows)
	data2 := b.house.databaseTime()
	f = figures{Subject: product, Kind: importRows, Callers: 1, Requests: b.rows, PerSecond: n / took.Seconds()}
	used := state.UserTime() + state.SystemTime()
	f.ServerCPU, f.DataCPU, f.CPUSeconds = micros(used)/n, micros(data2-data)/n, used.Seconds()
	if u, ok := state.SysUsage().(*syscall.Rusage); ok {
		f.Peak = float64(u.Maxrss) * 1024 / 1e6
	}
	return f, nil
}

// importChannels is the number of channels in an import file.
const importChannels = 10

// writeImport writes a file of bookings with one payment each.
func (b *bench) writeImport(path, run string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	to := bufio.NewWriter(file)
	fmt.Fprintln(to, "booking_reference,channel,countries,currencies,date_start,date,total,firstname,surname,email,content,payment_reference,"+
		"transaction_types,card_types,paid_at,payment_currencies,payment_total,booking_total")
	paid := time.Now().UTC().Add(-time.Hour).Format(time.DateTime)
	for n := range b.rows {
		channel := n % importChannels
		currency, total := b.house.Book.Currency(channel), 10_000+n%90_000
		fmt.Fprintf(to, "I%sn%d,Channel %d,PT,%s,%s,%s,%d,Ada,Lovelace%d,traveller%d@example.org,Seven nights,P%sn%d,purchase,visa,%s,%s,%d,%d\n",
			run, n, channel, currency, day(30+n%90), day(130+n%90), total, n%5000, n, run, n, paid, currency, total, total)
	}
	return errors.Join(to.Flush(), file.Close())
}

// bulkTurn inserts the same rows from this program and does nothing else.
func (b *bench) bulkTurn(ctx context.Context, _ int) (list []figures, err error) {
	if !b.chosen.MatchString(importRows) {
		return nil, nil
	}
	l, err := learn(ctx, sampleRequests)
	if err != nil {
		return nil, err
	}
	database, remove, err := b.copied(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	db, err := store.Open(ctx, database, time.Now)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	data := b.house.databaseTime()
	began, used := time.Now(), ownTime()
	for first := int64(1); first <= int64(b.rows); first += rowsPerWrite {
		last := min(first+rowsPerWrite-1, int64(b.rows))
		err := db.Write(ctx, store.Deployment, func(tx *store.Tx) error { return l.imports.insert(tx, first, last) })
		if err != nil {
			return nil, err
		}
	}
	took, n := time.Since(began), float64(b.rows)
	data2 := b.house.databaseTime()
	f := figures{Subject: bulkInsert, Kind: importRows, Callers: 1, Requests: b.rows, PerSecond: n / took.Seconds()}
	f.ServerCPU, f.DataCPU = micros(ownTime()-used)/n, micros(data2-data)/n
	return []figures{f}, nil
}
