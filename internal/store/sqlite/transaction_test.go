package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"holdfast/internal/store/sqlite"

	_ "modernc.org/sqlite"
)

// TestATransactionEnds in every case, and leaves its connection to the next one.
func TestATransactionEnds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	pool := func() *sql.DB {
		p, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=busy_timeout(1)")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		p.SetMaxOpenConns(1)
		return p
	}
	writer, other := pool(), pool()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // fails without the one connection
	t.Cleanup(cancel)
	for _, text := range []string{
		"CREATE TABLE parents (id INTEGER PRIMARY KEY)", "CREATE TABLE children (parent BIGINT REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)",
	} {
		if _, err := other.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	begin := func() *sqlite.Tx {
		t.Helper()
		tx, err := sqlite.Begin(ctx, writer, "BEGIN IMMEDIATE")
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	run := func(tx *sqlite.Tx, text string) {
		t.Helper()
		if _, err := tx.ExecContext(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	done := func(tx *sqlite.Tx) {
		t.Helper()
		if err := errors.Join(tx.Commit(), tx.Rollback()); !errors.Is(err, sql.ErrTxDone) {
			t.Errorf("The end of what has ended: %v", err)
		}
	}
	parents := func(want int) {
		t.Helper()
		var n int
		if err := other.QueryRow("SELECT COUNT(*) FROM parents").Scan(&n); err != nil || n != want {
			t.Errorf("%d parents, want %d. %v", n, want, err)
		}
	}

	tx := begin()
	run(tx, "INSERT INTO parents VALUES (1)")
	parents(0)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	done(tx)
	parents(1)

	tx = begin()
	run(tx, "INSERT INTO parents VALUES (2)")
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	done(tx)

	tx = begin()
	run(tx, "INSERT INTO parents VALUES (3)")
	run(tx, "INSERT INTO children VALUES (4)")
	if err := tx.Commit(); err == nil {
		t.Error("A child without a parent is stored.")
	}
	done(tx)
	parents(1)

	// SQLite has rolled it back itself.
	tx = begin()
	run(tx, "INSERT INTO parents VALUES (5)")
	if _, err := tx.ExecContext(ctx, "INSERT OR ROLLBACK INTO parents VALUES (1)"); err == nil {
		t.Error("Two parents have the same id.")
	}
	if err := tx.Rollback(); err != nil {
		t.Errorf("What SQLite has taken back: %v", err)
	}
	done(tx)

	lock := begin()
	if _, err := sqlite.Begin(ctx, other, "BEGIN IMMEDIATE"); err == nil {
		t.Error("Two write at once.")
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	tx = begin()
	run(tx, "INSERT INTO parents VALUES (2)")
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	parents(2)
}
