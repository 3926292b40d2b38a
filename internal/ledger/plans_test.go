package ledger_test

import (
	"strings"
	"testing"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/ledger"
	"holdfast/internal/protection"
)

// TestPositionsGoFromRowToRow: SQLite finds what belongs to an allocation by the id of the allocation. By the index of the
// instants it would go through the whole site for each of them.
func TestPositionsGoFromRowToRow(t *testing.T) {
	t.Parallel()
	store := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	ran := dbtest.Reading(dbtest.Statements(store, func() {
		dbtest.Read(t, store, func(tx *db.Tx) error {
			return ledger.Positions(tx, 1, dbtest.StartDay, dbtest.Start, nil, func(protection.Position) error { return nil })
		})
	}), "allocations a")
	if len(ran) != 1 {
		t.Fatalf("positions ran %d statements that read allocations", len(ran))
	}
	plan := dbtest.Plan(t, store, ran[0])
	for _, step := range plan {
		if strings.Contains(step, "_by_effect") || strings.HasPrefix(step, "SCAN") {
			t.Error(step)
		}
	}
	if len(plan) < 8 {
		t.Errorf("the plan has %d steps", len(plan))
	}
}
