package verify_test

import (
	"strings"
	"testing"

	"holdfast/internal/ops/verify"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// TestWholeTablesAreStreamed: SQLite holds no table in memory to group or sort it.
func TestWholeTablesAreStreamed(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	err := db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
		for _, query := range verify.WholeTables {
			err := tx.Query(`EXPLAIN QUERY PLAN `+query, []any{1}, func(scan func(dest ...any) error) error {
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
