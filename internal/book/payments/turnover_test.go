package payments_test

import (
	"strings"
	"testing"

	"holdfast/internal/book/payments"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestTurnoverIsReadFromItsIndex: SQLite adds up the payments of each channel without reading or sorting their rows.
func TestTurnoverIsReadFromItsIndex(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	c := w.Channel(merchant.ModeProtectionOnly, "GBP")
	w.Must(apptest.Report(payment.Purchase, w.Booking(c, 1000, "2024-09-14"), 1000))
	var found []estimate.Turnover
	today := civil.DayOf(w.Now())
	ran := dbtest.Reading(dbtest.Statements(w.App.DB.Store, func() {
		dbtest.Read(t, w.App.DB.Store, func(tx *store.Tx) error {
			return payments.Turnover(tx, w.Site.ID, civil.Date(2024, 5, 1), today, w.Now(), []int64{c.ID}, func(t estimate.Turnover) error {
				found = append(found, t)
				return nil
			})
		})
	}), "transactions t")
	apptest.Same(t, "turnover", found, []estimate.Turnover{{ChannelID: c.ID, Currency: "GBP", Day: civil.Date(2024, 6, 1), Amount: 1000}})
	if len(ran) != 2 { // May and June
		t.Fatalf("%d statements read payments", len(ran))
	}
	plan := strings.Join(dbtest.Plan(t, w.App.DB.Store, ran[1]), "\n")
	if !strings.Contains(plan, "USING COVERING INDEX transactions_turnover (site_id=? AND channel_id=? AND effective_at>? AND effective_at<?)") ||
		strings.Contains(plan, "TEMP B-TREE") {
		t.Error(plan)
	}
}
