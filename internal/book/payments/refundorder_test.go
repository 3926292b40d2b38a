package payments_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
)

// TestARefundMayBeLearnedAfterAChargeback: the result is the same in either order of arrival.
func TestARefundMayBeLearnedAfterAChargeback(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		for _, refundFirst := range []bool{true, false} {
			b := w.Booking(c, 100000, "2099-09-14")
			p := w.Must(apptest.Report(payment.Purchase, b, 100000))
			if refundFirst {
				w.Must(apptest.Linked(payment.Refund, p, b, 30000))
			}
			w.Must(apptest.Linked(payment.Chargeback, p, b, 70000))
			if !refundFirst {
				w.Must(apptest.Linked(payment.Refund, p, b, 30000))
			}
			if r := w.Exposure(report.ExposureQuery{}); r.Total.E1 != 0 {
				t.Errorf("refund first %v: E1 is %d", refundFirst, r.Total.E1)
			}
			// Nothing is left, whatever could still be refunded without the chargeback.
			_, _, err := w.App.Payments.Create(t.Context(), w.Actor, apptest.Linked(payment.Refund, p, b, 1))
			if !errs.Is(err, errs.NotPossible) || !strings.Contains(err.Error(), "GBP 0.00 of it remain") {
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
			kind   payment.TransactionType
			amount int64
			day    int
		}
		refund, chargeback := fact{payment.Refund, 60_00, 2}, fact{payment.Chargeback, 100_00, 5}
		end := func(currency money.Currency, facts ...fact) string {
			t.Helper()
			w.SetClock(apptest.Began)
			c := w.Channel(merchant.ModeProtectionOnly, "EUR")
			b := w.Booking(c, 100_00, "2024-09-14")
			in := apptest.Report(payment.Purchase, b, 100_00)
			in.Currency = &currency
			p := w.Must(in)
			w.Advance(20 * 24 * time.Hour)
			var charged []payment.Transaction
			for _, f := range facts {
				in := apptest.Linked(f.kind, p, b, f.amount)
				in.Currency = &currency
				in.EffectiveAt = apptest.Began.AddDate(0, 0, f.day)
				made := w.Must(in)
				if f.kind == payment.Chargeback {
					charged = append(charged, made)
				}
				w.Advance(time.Second)
			}
			p = w.ReadTransaction(p.ID)
			x, err := w.App.Protection.Explain(t.Context(), w.Actor, p.ID, report.ProtectionQuery{})
			if err != nil {
				t.Fatal(err)
			}
			a := x.Allocations[0]
			state := a.Premium.State
			state.Line.ID = 0
			of := report.ExposureQuery{Scope: exposure.Scope{Channels: []int64{c.ID}}}
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
			if !strings.Contains(first, "{10000 6000 10000 0} 6000") || !strings.HasSuffix(first, " ["+payment.FlagDoubleRecovery+"]") {
				t.Errorf("%s: it ends as %s", currency, first)
			}
		}
	})
}

// TestARefundOfAfterAChargebackIsNot recorded above the remaining amount: neither in the same second or later, nor
// together with earlier refunds, nor at a processor.
func TestARefundOfAfterAChargebackIsNot(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Advance(500 * time.Millisecond)
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 100_00, "2024-09-14")
		p := w.Must(apptest.Report(payment.Purchase, b, 100_00))
		w.Advance(10 * 24 * time.Hour)
		adjust := func(kind payment.TransactionType, amount int64, day int) payment.NewTransaction {
			in := apptest.Linked(kind, p, b, amount)
			in.EffectiveAt = apptest.Began.AddDate(0, 0, day)
			return in
		}
		w.Must(adjust(payment.Chargeback, 30_00, 2))
		w.Must(adjust(payment.Chargeback, 70_00, 6))
		w.Refused(adjust(payment.Refund, 1, 6), errs.NotPossible, "locked")
		w.Refused(adjust(payment.Refund, 70_01, 4), errs.NotPossible, "locked") // the first chargeback counts
		w.Must(adjust(payment.Refund, 50_00, 4))
		w.Refused(adjust(payment.Refund, 20_01, 5), errs.NotPossible, "locked")
		w.Refused(adjust(payment.Refund, 50_01, 1), errs.NotPossible, "exceeds_remaining")
		w.Must(adjust(payment.Refund, 50_00, 1))
		w.Refused(adjust(payment.Refund, 1, 1), errs.NotPossible, "exceeds_remaining")
	})
}
