package db_test

import (
	"errors"
	"testing"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
)

// TestWorkIsCounted: each statement and each stored write counts once, and what is rolled back is no commit.
func TestWorkIsCounted(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, store *db.DB) {
		one := func(tx *db.Tx) error { return tx.Row("SELECT 1", nil, new(int64)) }
		before := store.Work()
		dbtest.Read(t, store, one)
		dbtest.Write(t, store, one)
		refused := errors.New("refused")
		if err := store.Write(t.Context(), func(tx *db.Tx) error {
			return errors.Join(one(tx), refused)
		}); !errors.Is(err, refused) {
			t.Fatal(err)
		}
		after := store.Work()
		got := db.Work{Statements: after.Statements - before.Statements, Commits: after.Commits - before.Commits, Again: after.Again - before.Again}
		if want := (db.Work{Statements: 3, Commits: 1}); got != want {
			t.Errorf("counted %+v, not %+v", got, want)
		}
	})
}
