package lists

import (
	"testing"

	"holdfast/internal/db"
)

// SetMarkStep lets so few rows lie between two marks of a database that a test sees them.
func SetMarkStep(t *testing.T, store *db.DB, rows int64) {
	t.Helper()
	err := store.Read(t.Context(), func(tx *db.Tx) error {
		marksOf.Of(tx).step = rows
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
