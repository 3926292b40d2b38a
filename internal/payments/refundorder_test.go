package payments_test

import (
	"strings"
	"testing"

	"holdfast/internal/apptest"
	"holdfast/internal/fault"
	"holdfast/internal/reports"
	"holdfast/internal/travel"
)

// TestARefundMayBeLearnedAfterAChargeback: what was refunded and charged back comes to the same in either order of arrival.
func TestARefundMayBeLearnedAfterAChargeback(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(travel.ModeProtectionOnly, "GBP")
		for _, refundFirst := range []bool{true, false} {
			b := w.Booking(c, 100000, "2099-09-14")
			p := w.Must(apptest.Report(travel.Purchase, b, 100000))
			if refundFirst {
				w.Must(apptest.Linked(travel.Refund, p, b, 30000))
			}
			w.Must(apptest.Linked(travel.Chargeback, p, b, 70000))
			if !refundFirst {
				w.Must(apptest.Linked(travel.Refund, p, b, 30000))
			}
			if r := w.Exposure(reports.ExposureQuery{}); r.Total.E1 != 0 {
				t.Errorf("refund first %v: E1 is %d", refundFirst, r.Total.E1)
			}
			// All of it is gone, whatever could still be refunded without the chargeback.
			_, _, err := w.App.Payments.Create(t.Context(), w.Actor, apptest.Linked(travel.Refund, p, b, 1))
			if !fault.Is(err, fault.NotPossible) || !strings.Contains(err.Error(), "GBP 0.00 of it remain") {
				t.Errorf("refund first %v: one more is answered with %v", refundFirst, err)
			}
		}
	})
}
