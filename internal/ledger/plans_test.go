package ledger_test

import (
	"strings"
	"testing"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/ledger"
)

// TestPositionsGoFromRowToRow: SQLite finds what belongs to an allocation by the id of the allocation. By the index of the
// instants it would go through the whole site for each of them.
func TestPositionsGoFromRowToRow(t *testing.T) {
	t.Parallel()
	store := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	err := store.Read(t.Context(), func(tx *db.Tx) error {
		steps := 0
		err := tx.Each(`EXPLAIN QUERY PLAN `+ledger.PositionsQuery+` ORDER BY a.booking_id, a.id`, []any{1, 2, 3, 4}, func(scan func(dest ...any) error) error {
			var id, parent, unused int64
			var step string
			err := scan(&id, &parent, &unused, &step)
			steps++
			if strings.Contains(step, "_by_effect") || strings.HasPrefix(step, "SCAN") {
				t.Error(step)
			}
			return err
		})
		if steps < 8 {
			t.Errorf("the plan has %d steps", steps)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
