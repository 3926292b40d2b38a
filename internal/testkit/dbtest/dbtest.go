// Package dbtest gives tests databases on each engine that have this program's schema and no rows. Only tests import
// it.
package dbtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"holdfast/internal/store"
	"holdfast/internal/testkit/pgtest"
)

// Start is when the clock of OnBothOpen stands, to the microsecond that both engines keep.
var Start = time.Date(2026, 3, 2, 10, 20, 30, 123456000, time.UTC)

// AtStart is a clock that stands at Start.
func AtStart() time.Time { return Start }

// Engine is one of the two.
type Engine struct {
	Name string // as store.DB.Engine gives it
	// Database makes one for a test, and gives its address for Open.
	Database func(t testing.TB) string
}

// Engines are both. PostgreSQL is skipped without a server as package pgtest says.
var Engines = []Engine{{"sqlite", SQLite}, {"postgres", postgres}}

// OnBoth runs a test on each engine, with the address of a database of its own: one suite, so that the engines cannot
// come to differ.
func OnBoth(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for _, engine := range Engines {
		t.Run(engine.Name, func(t *testing.T) { test(t, engine.Database(t)) })
	}
}

// SQLite makes a database in a folder of the test.
func SQLite(t testing.TB) string {
	t.Helper()
	whole, err := migrated()
	if err != nil {
		t.Fatalf("a new SQLite database: %v", err)
	}
	path := filepath.Join(t.TempDir(), "holdfast.db")
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path
}

// Open opens a database for the length of the test, and brings it the schema where it has none.
func Open(t testing.TB, url string, clock func() time.Time) *store.DB {
	t.Helper()
	store, err := store.Open(t.Context(), url, clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("closing the database: %v", err)
		}
	})
	if err := store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return store
}

// OnBothOpen is OnBoth with the database opened, at Start.
func OnBothOpen(t *testing.T, test func(t *testing.T, store *store.DB)) {
	t.Helper()
	OnBoth(t, func(t *testing.T, url string) { test(t, Open(t, url, AtStart)) })
}

// Write runs fn in a write that must succeed.
func Write(t *testing.T, db *store.DB, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := db.Write(t.Context(), store.Deployment, fn); err != nil {
		t.Fatal(err)
	}
}

// Read runs fn in a read that must succeed.
func Read(t *testing.T, db *store.DB, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := db.Read(t.Context(), store.Deployment, fn); err != nil {
		t.Fatal(err)
	}
}

// AwaitLock returns when a write waits for another one, or when it is over. Only PostgreSQL tells who waits. On SQLite a write
// does not begin before the other one has ended, so there is nothing to wait for.
func AwaitLock(t *testing.T, db *store.DB, over <-chan struct{}) {
	t.Helper()
	for {
		select {
		case <-over:
			return
		default:
		}
		var n int64
		err := db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
			return tx.QueryRow(`SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
				nil, &n)
		})
		if err != nil || n > 0 {
			return
		}
	}
}

func longAgo() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// postgres makes a database on the server of package pgtest.
var postgres = pgtest.Copies(ofThisRun(), migrate)

// ofThisRun is a key that the test programs of one run have in common, and no others.
func ofThisRun() string {
	run := cmp.Or(os.Getenv(SharedFolder), rand.Text())
	return fmt.Sprintf("%x", sha256.Sum256([]byte(run)))[:16]
}

// SharedFolder names the environment variable that holds a folder for all test programs of one run. Without it each program
// makes for itself what they could share.
const SharedFolder = "HOLDFAST_TEST_SHARED"

// migrated is the file of a new SQLite database. Copying it costs a test a hundredth of what all migrations do.
var migrated = sync.OnceValues(func() (whole []byte, err error) {
	shared := os.Getenv(SharedFolder)
	made := filepath.Join(shared, "migrated.db")
	if whole, err := os.ReadFile(made); shared != "" && !errors.Is(err, os.ErrNotExist) {
		return whole, err
	}
	folder, err := os.MkdirTemp(shared, "holdfast-dbtest")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "holdfast.db")
	if err := migrate("sqlite:" + path); err != nil {
		return nil, err
	}
	if whole, err = os.ReadFile(path); err != nil || shared == "" {
		return whole, err
	}
	return whole, os.Rename(path, made) // whoever makes it at the same time makes the same
})

// Numbers calls each for the numbers that a query gives.
func Numbers(tx *store.Tx, query string, each func(n int64) error, args ...any) error {
	return tx.Query(query, args, func(scan func(dest ...any) error) error {
		var n int64
		if err := scan(&n); err != nil {
			return err
		}
		return each(n)
	})
}

// migrate brings an empty database the schema. Closing brings all of SQLite's into one file, and PostgreSQL copies only
// what nobody is connected to.
func migrate(url string) error {
	ctx := context.Background()
	made, err := store.Open(ctx, url, longAgo)
	if err != nil {
		return err
	}
	return errors.Join(made.Migrate(ctx), made.Close())
}
