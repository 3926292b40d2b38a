package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"holdfast/internal/store"

	"github.com/jackc/pgx/v5"
)

// databaseAlone is the limit set by the database behind a bare handler: it inserts the rows of a request through the
// product's own group commit, or runs the statement that reads a row, and does nothing else.
const databaseAlone = "database alone"

// databaseLimit is the server of this limit.
type databaseLimit struct {
	learnt
	store *store.DB
	next  atomic.Int64
}

func openDatabaseLimit(ctx context.Context, database string) (*databaseLimit, error) {
	l, err := learn(ctx, sampleRequests)
	if err != nil {
		return nil, err
	}
	d := &databaseLimit{learnt: l}
	d.store, err = store.Open(ctx, database, time.Now)
	return d, err
}

// insert inserts the rows of one more request and responds like the bare handler.
func (d *databaseLimit) insert(rows samples) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n := d.next.Add(1)
		err := d.store.Write(r.Context(), store.Deployment, func(tx *store.Tx) error { return rows.insert(tx, n, n) })
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		bareHandler(w, r)
	}
}

// row reads a booking.
func (d *databaseLimit) row(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err == nil {
		err = d.store.Read(r.Context(), store.Deployment, func(tx *store.Tx) error { return d.find.run(tx, id) })
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	bareHandler(w, r)
}

// copied makes a copy of the product's database, which must not be in use. remove deletes the copy.
func (b *bench) copied(ctx context.Context) (database string, remove func() error, err error) {
	if b.engine == "sqlite" {
		path := filepath.Join(b.house.dir, "limit.db")
		remove = func() error {
			return errors.Join(os.Remove(path), os.RemoveAll(path+"-wal"), os.RemoveAll(path+"-shm"))
		}
		if err := copyFile(filepath.Join(b.house.dir, "holdfast.db"), path); err != nil {
			return "", remove, fmt.Errorf("copying the database: %w", err)
		}
		syscall.Sync()
		return "sqlite:" + path, remove, nil
	}
	address, err := url.Parse(b.house.database)
	if err != nil {
		return "", nil, err
	}
	from := address.Path[1:]
	address.Path += "_limit"
	remove = func() error { return administer(context.WithoutCancel(ctx), "DROP DATABASE "+from+"_limit") }
	for _, statement := range []string{"CREATE DATABASE " + from + "_limit TEMPLATE " + from, "CHECKPOINT"} {
		if err := administer(ctx, statement); err != nil {
			return "", remove, err
		}
	}
	syscall.Sync() // pending writes of the copy must not slow down the measurement
	return address.String(), remove, nil
}

// administer runs a statement on the PostgreSQL server of the tests, which this program also uses.
func administer(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, os.Getenv("HOLDFAST_TEST_POSTGRES"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}

// databaseSubject is the limit databaseAlone, on a copy of the product's database at its current size.
func (b *bench) databaseSubject(ctx context.Context, database string) (*subject, error) {
	server, err := b.limitServer(ctx, "-database", database)
	if err != nil {
		return nil, err
	}
	return b.other(databaseAlone, server, func(k kind) (kind, bool) {
		size, measured := b.answers[k.name]
		what := map[string]string{getBooking: "row", createBooking: "booking", logPayment: "payment"}[k.name]
		if !measured || what == "" {
			return k, false
		}
		end := fmt.Sprintf("/%d/%d", k.status, max(0, int(size)-bareHead))
		inner := k.make
		k.make = func(r *rand.Rand, into []byte) []byte {
			var room [100]byte
			path := append(append(room[:0], '/'), what...)
			if what == "row" {
				path = strconv.AppendInt(append(path, '/'), 1+r.Int64N(b.size.Bookings), 10)
			}
			return redirected(inner(r, into), append(path, end...))
		}
		return k, true
	}), nil
}
