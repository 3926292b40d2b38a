package store_test

import (
	"testing"

	"holdfast/internal/store"
)

func TestMigratingAgainChangesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
