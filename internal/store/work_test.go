package store_test

import (
	"errors"
	"testing"

	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// TestWorkIsCounted: each statement and each stored write counts once, and what is rolled back is no commit.
func TestWorkIsCounted(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		one := func(tx *store.Tx) error { return tx.QueryRow("SELECT 1", nil, new(int64)) }
		before := db.Work()
		dbtest.Read(t, db, one)
		dbtest.Write(t, db, one)
		refused := errors.New("refused")
		if err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			return errors.Join(one(tx), refused)
		}); !errors.Is(err, refused) {
			t.Fatal(err)
		}
		after := db.Work()
		got := store.Work{Statements: after.Statements - before.Statements, Commits: after.Commits - before.Commits, Again: after.Again - before.Again}
		if want := (store.Work{Statements: 3, Commits: 1}); got != want {
			t.Errorf("counted %+v, not %+v", got, want)
		}
	})
}
