package db_test

import (
	"testing"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
)

func TestMigratingAgainChangesNothing(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *db.DB) {
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
