package ledger_test

import (
	"testing"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/ops/verify"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestARateThatArrivesWhileABookingMoves: a write has read the allocations of its booking, and then another process
// prices one of them. The buckets include both. SQLite has one writer, so there nothing can interfere.
func TestARateThatArrivesWhileABookingMoves(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 10_000, "2024-09-14")
		for range 2 {
			w.Must(apptest.Report(payment.Purchase, b, 3_000))
		}
		arrive := func() { w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"}) }
		if w.App.DB.Store.Engine() == "sqlite" {
			arrive()
			arrive = func() {}
		}
		dbtest.Write(t, w.App.DB.Store, func(tx *store.Tx) error {
			before, err := bookings.Lock(tx, w.Site.ID, b.ID)
			if err != nil {
				return err
			}
			if _, err := ledger.HistoriesOfBooking(tx, w.Site.ID, b.ID); err != nil {
				return err
			}
			arrive()
			after := before
			after.End += 20
			if _, err := ledger.Redate(tx, w.App.Config.Rulepacks, before, after); err != nil {
				return err
			}
			return bookings.Update(tx, after)
		})
		report, err := w.App.Verify.Run(t.Context(), access.System(0), verify.Query{Limit: 5, Sites: []merchant.Site{w.Site}})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Findings {
			t.Errorf("%+v", f)
		}
	})
}
