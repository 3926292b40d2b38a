package db_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
)

var seenOf = db.NewMemory(func() *atomic.Int64 { return new(atomic.Int64) })

// TestMemoryBelongsToOneDatabase: what one transaction remembers the next one has, also after the first was taken back, and no other
// database has it.
func TestMemoryBelongsToOneDatabase(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, store *db.DB) {
		other := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
		back := errors.New("taken back")
		if err := store.Write(t.Context(), func(tx *db.Tx) error {
			seenOf.Of(tx).Store(7)
			return back
		}); !errors.Is(err, back) {
			t.Fatal(err)
		}
		for of, want := range map[*db.DB]int64{store: 7, other: 0} {
			dbtest.Read(t, of, func(tx *db.Tx) error {
				if got := seenOf.Of(tx).Load(); got != want {
					t.Errorf("%d is remembered, not %d", got, want)
				}
				return nil
			})
		}
	})
}
