// Package dbtest gives tests databases on each engine with this program's schema and no rows. Only tests import it.
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

// Start is the fixed time of OnBothOpen, in the microseconds that both engines store.
var Start = time.Date(2026, 3, 2, 10, 20, 30, 123456000, time.UTC)

// AtStart is a clock that is stopped at Start.
func AtStart() time.Time { return Start }

// Engine is one of the two database engines.
type Engine struct {
	Name string // as returned by store.DB.Engine
	// Database creates a database for a test and returns its URL for Open.
	Database func(t testing.TB) string
}

// Engines are both engines. Without a PostgreSQL server that one is skipped: see package pgtest.
var Engines = []Engine{{"sqlite", SQLite}, {"postgres", postgres}}

// OnBoth runs a test on each engine, each time with the URL of a new database. Both engines share the tests, so that they
// cannot diverge.
func OnBoth(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for _, engine := range Engines {
		t.Run(engine.Name, func(t *testing.T) { test(t, engine.Database(t)) })
	}
}

// SQLite creates a database in the test's temporary folder.
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

// Open opens a database for the duration of the test and creates the schema if there is none.
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

// OnBothOpen is OnBoth with an open database whose clock is AtStart.
func OnBothOpen(t *testing.T, test func(t *testing.T, store *store.DB)) {
	t.Helper()
	OnBoth(t, func(t *testing.T, url string) { test(t, Open(t, url, AtStart)) })
}

// Write runs fn in a write that must succeed.
func Write(t testing.TB, db *store.DB, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := db.Write(t.Context(), store.Deployment, fn); err != nil {
		t.Fatal(err)
	}
}

// Read runs fn in a read that must succeed.
func Read(t testing.TB, db *store.DB, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := db.Read(t.Context(), store.Deployment, fn); err != nil {
		t.Fatal(err)
	}
}

// AwaitLock returns when a write is waiting for another one, or when over is closed. Only PostgreSQL shows lock waits. On
// SQLite it returns at once: a write does not begin before the other one has ended.
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

// postgres creates a database on the server of package pgtest.
var postgres = pgtest.Copies(ofThisRun(), migrate)

// ofThisRun is a key shared by the test binaries of one run, and no others.
func ofThisRun() string {
	run := cmp.Or(os.Getenv(SharedFolder), rand.Text())
	return fmt.Sprintf("%x", sha256.Sum256([]byte(run)))[:16]
}

// SharedFolder is the environment variable with a folder for fixtures shared by all test binaries of one run. Without it,
// each test binary creates them itself.
const SharedFolder = "HOLDFAST_TEST_SHARED"

// migrated is the file of a new SQLite database. Copying it takes a hundredth of the time of all migrations.
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
	return whole, os.Rename(path, made) // another test binary may create the same file at the same time
})

// Numbers calls each for every number that a query returns.
func Numbers(tx *store.Tx, query string, each func(n int64) error, args ...any) error {
	return tx.Query(query, args, func(scan func(dest ...any) error) error {
		var n int64
		if err := scan(&n); err != nil {
			return err
		}
		return each(n)
	})
}

// migrate creates the schema in an empty database and closes it: SQLite then has everything in one file, and PostgreSQL
// only copies databases without connections.
func migrate(url string) error {
	ctx := context.Background()
	made, err := store.Open(ctx, url, longAgo)
	if err != nil {
		return err
	}
	if err := made.Migrate(ctx); err != nil || made.Engine() != "postgres" || len(pgtest.CitusNodes()) == 0 {
		return errors.Join(err, made.Close())
	}
	// All tests then run on a Citus cluster of one server.
	if err := pgtest.MakeCitus(ctx, url, nil); err != nil {
		return errors.Join(err, made.Close())
	}
	_, err = made.Distribute(ctx)
	return errors.Join(err, made.Close())
}
