package app_test

import (
	"strings"
	"testing"

	"holdfast/internal/app"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// TestARefundMayBeLearnedAfterAChargeback: what was refunded and charged back comes to the same in either order of arrival.
func TestARefundMayBeLearnedAfterAChargeback(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.channel(travel.ModeProtectionOnly, "GBP")
		for _, refundFirst := range []bool{true, false} {
			b := w.booking(c, 100000, "2099-09-14")
			p := w.must(report(travel.Purchase, b, 100000))
			if refundFirst {
				w.must(linked(travel.Refund, p, b, 30000))
			}
			w.must(linked(travel.Chargeback, p, b, 70000))
			if !refundFirst {
				w.must(linked(travel.Refund, p, b, 30000))
			}
			if r := w.exposure(app.ExposureQuery{}); r.Total.E1 != 0 {
				t.Errorf("refund first %v: E1 is %d", refundFirst, r.Total.E1)
			}
			// All of it is gone, whatever could still be refunded without the chargeback.
			_, _, err := w.app.Payments.Create(t.Context(), w.actor, linked(travel.Refund, p, b, 1))
			if !fault.Is(err, fault.NotPossible) || !strings.Contains(err.Error(), "GBP 0.00 remain") {
				t.Errorf("refund first %v: one more is answered with %v", refundFirst, err)
			}
		}
	})
}
