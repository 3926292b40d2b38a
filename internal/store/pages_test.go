package store_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// TestLongWritesHaveRoom: the page cache of an import's writer holds the changes of one write. PostgreSQL has its own
// cache.
func TestLongWritesHaveRoom(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		if err := store.ForLongWrites(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if db.Engine() != "sqlite" {
			return
		}
		var size int
		err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error { return tx.QueryRow("PRAGMA cache_size", nil, &size) })
		if err != nil || size != -16<<10 {
			t.Errorf("%v: the writer keeps %d KiB of pages", err, -size)
		}
	})
}

// TestSizeOfAPage: a new file has small pages, however it is created, and an existing one keeps its size.
func TestSizeOfAPage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fill func(t *testing.T, path string) error
		want int
	}{
		"new": {func(*testing.T, string) error { return nil }, 2048},
		"built": {func(t *testing.T, path string) error {
			return store.Build(t.Context(), "sqlite:"+path, dbtest.AtStart, empty)
		}, 2048},
		"older": {func(t *testing.T, path string) error {
			pool, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)")
			if err != nil {
				return err
			}
			return errors.Join(pool.Ping(), pool.Close())
		}, 4096},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "holdfast.db")
			if err := c.fill(t, path); err != nil {
				t.Fatal(err)
			}
			db := dbtest.Open(t, "sqlite:"+path, dbtest.AtStart)
			dbtest.Write(t, db, func(tx *store.Tx) error {
				var size int
				var journal string
				err := errors.Join(tx.QueryRow("PRAGMA page_size", nil, &size), tx.QueryRow("PRAGMA journal_mode", nil, &journal))
				if size != c.want || journal != "wal" {
					t.Errorf("A page has %d bytes, want %d, and the journal is %s.", size, c.want, journal)
				}
				return err
			})
		})
	}
}

// empty is a file built with only its schema.
var empty = store.Content{
	Schema: []string{"0001_schema"},
	Load:   func(*store.Tx) error { return nil },
	Finish: func(*store.Tx) error { return nil },
}
