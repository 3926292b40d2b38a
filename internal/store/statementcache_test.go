package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"holdfast/internal/store"
	"holdfast/internal/store/sqlite"
	"holdfast/internal/testkit/dbtest"
)

const upTo = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $1) SELECT n FROM numbers`

// sum adds up the numbers to n.
func sum(tx *store.Tx, n int64) (total int64, err error) {
	err = dbtest.Numbers(tx, upTo, func(n int64) error { total += n; return nil }, n)
	return total, err
}

// TestAStatementInsideItself: while one reads, the same statement with other values reads too, on the same connection.
func TestAStatementInsideItself(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	for range 3 { // as new, and as kept
		err := db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
			seen := int64(0)
			err := dbtest.Numbers(tx, upTo, func(n int64) error {
				seen++
				got, err := sum(tx, n)
				if got != n*(n+1)/2 {
					t.Errorf("the numbers to %d come to %d", n, got)
				}
				return err
			}, 4)
			if seen != 4 {
				t.Errorf("%d rows", seen)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestAStatementAfterItFailed: a statement that violated a constraint, was cancelled or was not read to the end works
// again afterwards, and blocks no one.
func TestAStatementAfterItFailed(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	const insert = `INSERT INTO once (id) VALUES ($1)`
	write := func(query string, args ...any) error {
		return db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			_, err := tx.Exec(query, args...)
			return err
		})
	}
	if err := write(`CREATE TABLE once (id BIGINT PRIMARY KEY)`); err != nil {
		t.Fatal(err)
	}
	for id := range 3 {
		if err := write(insert, id); err != nil {
			t.Fatal(err)
		}
		if err := write(insert, id); !errors.Is(err, store.ErrConflict) {
			t.Fatalf("twice: %v", err)
		}
	}
	for range 3 {
		ctx, giveUp := context.WithCancel(t.Context())
		err := db.Read(ctx, store.Deployment, func(tx *store.Tx) error {
			return dbtest.Numbers(tx, upTo, func(n int64) error {
				if n == 2 {
					giveUp()
				}
				return nil
			}, int64(1)<<40)
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("given up: %v", err)
		}
		enough := errors.New("enough")
		err = db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
			if err := dbtest.Numbers(tx, upTo, func(int64) error { return enough }, 1000); !errors.Is(err, enough) {
				t.Errorf("not read to the end: %v", err)
			}
			if got, err := sum(tx, 100); err != nil || got != 5050 {
				t.Errorf("afterwards: %d, %v", got, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := write(insert, 3); err != nil {
		t.Error(err)
	}
}

// TestMoreStatementsThanAreKept, read concurrently, while the schema changes under cached ones.
func TestMoreStatementsThanAreKept(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	err := db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
		for round := range 2 {
			for i := range int64(sqlite.Statements + 10) {
				var got int64
				err := dbtest.Numbers(tx, fmt.Sprintf(`SELECT %d + $1`, i), func(n int64) error { got = n; return nil }, round)
				if err != nil || got != i+int64(round) {
					return fmt.Errorf("%d: %d, %w", i, got, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	count := func() (n int64) {
		t.Helper()
		err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			return dbtest.Numbers(tx, `SELECT COUNT(*) FROM moved`, func(found int64) error { n = found; return nil })
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for rows := range int64(3) {
		err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			for _, statement := range []string{`DROP TABLE IF EXISTS moved`, `CREATE TABLE moved (id BIGINT)`} {
				if _, err := tx.Exec(statement); err != nil {
					return err
				}
			}
			_, err := tx.Exec(`INSERT INTO moved SELECT n FROM (`+upTo+`)`, rows+1)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := count(); got != rows+1 {
			t.Errorf("%d rows of %d", got, rows+1)
		}
	}
}
