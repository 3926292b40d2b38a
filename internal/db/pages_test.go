package db_test

import (
	"path/filepath"
	"testing"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/sqlitepages"
)

// TestSQLiteUsesOurPageCache: it takes another one only before the first database is opened.
func TestSQLiteUsesOurPageCache(t *testing.T) {
	t.Parallel()
	store, err := db.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "holdfast.db"), dbtest.AtStart)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	if err := sqlitepages.Use(); err != nil {
		t.Error(err)
	}
}
