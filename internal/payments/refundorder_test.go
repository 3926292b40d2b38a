package payments_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/internal/apptest"
	"holdfast/internal/exposure"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/protection"
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

// TestARefundOfBeforeAChargebackIsRecorded: a refund that took effect before a chargeback and is learned after it is the
// evidence to answer it with. Both orders of arrival end in the same state and premium.
func TestARefundOfBeforeAChargebackIsRecorded(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365", "USD": "1.08520"})
		usd := money.Currency("USD")
		// Each fact with the days since the payment, in the currency of the payment.
		type fact struct {
			kind   travel.TransactionType
			amount int64
			day    int
		}
		refund, chargeback := fact{travel.Refund, 60_00, 2}, fact{travel.Chargeback, 100_00, 5}
		end := func(currency money.Currency, facts ...fact) string {
			t.Helper()
			w.SetClock(apptest.Began)
			c := w.Channel(travel.ModeProtectionOnly, "EUR")
			b := w.Booking(c, 100_00, "2024-09-14")
			in := apptest.Report(travel.Purchase, b, 100_00)
			in.Currency = &currency
			p := w.Must(in)
			w.Advance(20 * 24 * time.Hour)
			var charged []travel.Transaction
			for _, f := range facts {
				in := apptest.Linked(f.kind, p, b, f.amount)
				in.Currency = &currency
				in.EffectiveAt = apptest.Began.AddDate(0, 0, f.day)
				made := w.Must(in)
				if f.kind == travel.Chargeback {
					charged = append(charged, made)
				}
				w.Advance(time.Second)
			}
			p = w.ReadTransaction(p.ID)
			x, err := w.App.Protection.Explain(t.Context(), w.Actor, p.ID, reports.ProtectionQuery{})
			if err != nil {
				t.Fatal(err)
			}
			a := x.Allocations[0]
			state := a.Premium.State
			state.Line.ID = 0
			of := reports.ExposureQuery{Scope: exposure.Scope{Channels: []int64{c.ID}}}
			m := w.Movement("2024-06-02", of).Total
			text := fmt.Sprint(p.Status, p.TotalRemaining(), p.Remaining, p.Payments[0].Remaining, p.Flags, w.ReadBooking(b.ID).Sums,
				a.Remaining, a.Amounts, a.Amounts.DoubleRecovery(), a.State, a.Steps[2].Text, state, a.Premium.Booked, a.Premium.Retained,
				w.Exposure(of).Total.E1, m.Of(protection.CauseRefunded), m.Of(protection.CauseChargedBack))
			for _, made := range charged {
				text += fmt.Sprint(" ", w.ReadTransaction(made.ID).Flags)
			}
			return text
		}
		for _, currency := range []money.Currency{"EUR", usd} {
			first := end(currency, refund, chargeback)
			if other := end(currency, chargeback, refund); first != other {
				t.Errorf("%s: the chargeback first: %s, the refund first: %s", currency, other, first)
			}
			if !strings.Contains(first, "{10000 6000 10000 0} 6000") || !strings.HasSuffix(first, " ["+travel.FlagDoubleRecovery+"]") {
				t.Errorf("%s: it ends as %s", currency, first)
			}
		}
	})
}

// TestARefundOfAfterAChargebackIsNot recorded above what remains: neither on the same second or later, nor together with
// what was refunded already, nor where a processor shall make it.
func TestARefundOfAfterAChargebackIsNot(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Advance(500 * time.Millisecond)
		b := w.Booking(w.Channel(travel.ModeProtectionOnly, "GBP"), 100_00, "2024-09-14")
		p := w.Must(apptest.Report(travel.Purchase, b, 100_00))
		w.Advance(10 * 24 * time.Hour)
		adjust := func(kind travel.TransactionType, amount int64, day int) travel.NewTransaction {
			in := apptest.Linked(kind, p, b, amount)
			in.EffectiveAt = apptest.Began.AddDate(0, 0, day)
			return in
		}
		w.Must(adjust(travel.Chargeback, 30_00, 2))
		w.Must(adjust(travel.Chargeback, 70_00, 6))
		w.Refused(adjust(travel.Refund, 1, 6), fault.NotPossible, "locked")
		w.Refused(adjust(travel.Refund, 70_01, 4), fault.NotPossible, "locked") // the first chargeback counts
		w.Must(adjust(travel.Refund, 50_00, 4))
		w.Refused(adjust(travel.Refund, 20_01, 5), fault.NotPossible, "locked")
		w.Refused(adjust(travel.Refund, 50_01, 1), fault.NotPossible, "exceeds_remaining")
		w.Must(adjust(travel.Refund, 50_00, 1))
		w.Refused(adjust(travel.Refund, 1, 1), fault.NotPossible, "exceeds_remaining")
	})
}
