package store_test

import (
	"path/filepath"
	"testing"
	"time"

	"holdfast/internal/pgtest"
	"holdfast/internal/store"
)

// start is what the clock of the store tests says, to the microsecond that both engines keep.
var start = time.Date(2026, 3, 2, 10, 20, 30, 123456000, time.UTC)

// onBoth runs one test on each engine, on an empty, migrated database of its own: one suite, so that the engines
// cannot come to differ.
func onBoth(t *testing.T, test func(t *testing.T, db *store.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		test(t, migrated(t, "sqlite:"+filepath.Join(t.TempDir(), "holdfast.db")))
	})
	t.Run("postgres", func(t *testing.T) {
		test(t, migrated(t, pgtest.URL(t)))
	})
}

func migrated(t *testing.T, url string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), url, func() time.Time { return start })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}
