package disputes_test

import (
	"slices"
	"strings"
	"testing"

	"holdfast/internal/book/disputes"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestDisputesAreFoundByAllocation: SQLite starts with the allocations, and not with all disputes of the site. Otherwise the claims of a
// failure with 50,000 disputes take so long that their write times out.
func TestDisputesAreFoundByAllocation(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.Engines[0].Database(t))
	b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 100_000, "2024-09-14")
	w.Must(apptest.Linked(payment.Chargeback, w.Must(apptest.Report(payment.Purchase, b, 100_000)), b, 60_000))
	ids := make([]int64, 500) // as many as the job takes up in one write
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	ran := dbtest.Statements(w.App.DB.Store, func() {
		dbtest.Read(t, w.App.DB.Store, func(tx *store.Tx) error {
			list, err := disputes.OfAllocations(tx, w.Actor.SiteID, ids)
			if len(list) != 1 || len(list[0].Movements) != 1 {
				t.Errorf("%+v", list)
			}
			return err
		})
	})
	checked := 0
	for _, s := range ran {
		if !strings.Contains(s.Query, "FROM allocations a") {
			continue
		}
		checked++
		steps := slices.DeleteFunc(dbtest.Plan(t, w.App.DB.Store, s), func(step string) bool { return !strings.HasPrefix(step, "SEARCH") })
		if len(steps) < 2 || !strings.HasPrefix(steps[0], "SEARCH a ") {
			t.Errorf("%.100s\n%s", s.Query, strings.Join(steps, "\n"))
		}
	}
	if checked != 2 {
		t.Errorf("%d statements", checked)
	}
}
