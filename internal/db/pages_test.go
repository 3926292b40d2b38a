package db_test

import (
	"path/filepath"
	"testing"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/sqliteparts"
)

// TestSQLiteUsesOurParts: it takes others only before the first database is opened.
func TestSQLiteUsesOurParts(t *testing.T) {
	t.Parallel()
	store, err := db.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "holdfast.db"), dbtest.AtStart)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	if err := sqliteparts.Use(); err != nil {
		t.Error(err)
	}
}

// TestLongWritesHaveRoom: the writer of an import holds what one write changes. PostgreSQL keeps its pages itself.
func TestLongWritesHaveRoom(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, store *db.DB) {
		if err := db.ForLongWrites(t.Context(), store); err != nil {
			t.Fatal(err)
		}
		if store.Engine() != "sqlite" {
			return
		}
		var size int
		err := store.Write(t.Context(), func(tx *db.Tx) error { return tx.Row("PRAGMA cache_size", nil, &size) })
		if err != nil || size != -16<<10 {
			t.Errorf("%v: the writer keeps %d KiB of pages", err, -size)
		}
	})
}
