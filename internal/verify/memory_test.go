package verify_test

import (
	"strings"
	"testing"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/verify"
)

// TestWholeTablesAreStreamed: SQLite holds no table in memory to group or sort it.
func TestWholeTablesAreStreamed(t *testing.T) {
	t.Parallel()
	store := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	err := store.Read(t.Context(), db.Deployment, func(tx *db.Tx) error {
		for _, query := range verify.WholeTables {
			err := tx.Each(`EXPLAIN QUERY PLAN `+query, []any{1}, func(scan func(dest ...any) error) error {
				var id, parent, unused int64
				var detail string
				err := scan(&id, &parent, &unused, &detail)
				if strings.Contains(detail, "TEMP B-TREE") {
					t.Errorf("%s\n%s", detail, query)
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
