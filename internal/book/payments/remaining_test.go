package payments_test

import (
	"fmt"
	"testing"

	"holdfast/internal/book/payments"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// TestWhatWasChargedBackCannotBeRefunded: total_remaining is the total less refunds and standing chargebacks. Refunding
// all of it leaves nothing, and a reversal restores what it reverses.
func TestWhatWasChargedBackCannotBeRefunded(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 10000, "2099-09-14")
		p := w.Must(apptest.Report(payment.Purchase, b, 10000))
		remain := func(want int64) {
			t.Helper()
			got := w.ReadTransaction(p.ID)
			list, err := w.App.Payments.List(t.Context(), w.Actor, payments.TransactionFilter{}, store.Of([]int64{p.ID}))
			if err != nil {
				t.Fatal(err)
			}
			if got.TotalRemaining() != want || list.Items[0].TotalRemaining() != want {
				t.Errorf("%d remain, in the list %d, want %d", got.TotalRemaining(), list.Items[0].TotalRemaining(), want)
			}
		}
		w.Must(apptest.Linked(payment.Chargeback, p, b, 4000))
		remain(6000)
		w.Refused(apptest.Linked(payment.Refund, p, b, 6001), errs.NotPossible, "locked")
		w.Must(apptest.Linked(payment.Refund, p, b, 5000))
		remain(1000)
		w.Must(apptest.Linked(payment.Refund, p, b, 1000))
		remain(0)
		w.Must(apptest.Linked(payment.ChargebackReversal, p, b, 1500))
		remain(1500)
		w.Must(apptest.Linked(payment.ChargebackReversal, p, b, 2500))
		remain(4000)
		w.Refused(apptest.Linked(payment.Refund, p, b, 4001), errs.NotPossible, "exceeds_remaining")
		w.Must(apptest.Linked(payment.Refund, p, b, 4000))
		remain(0)
		_, _, err := w.App.Payments.Create(t.Context(), w.Actor, apptest.Linked(payment.Refund, p, b, 1))
		if want := fmt.Sprintf("Nothing of transaction %d remains.", p.ID); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
		w.Must(apptest.Linked(payment.Chargeback, p, b, 10000)) // recorded whatever remains
		remain(0)
		if r := w.Exposure(report.ExposureQuery{}); r.Total.E1 != 0 {
			t.Errorf("E1 is %d", r.Total.E1)
		}
	})
}

// TestARefundThatEmptiesOneBoundTakesTheRestOfBoth: total_remaining is in the currency of the payment, the parts are in
// base currency.
func TestARefundThatEmptiesOneBoundTakesTheRestOfBoth(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		b, second := w.Booking(c, 8000, "2099-09-14"), w.Booking(c, 8000, "2099-09-14")
		usd := money.Currency("USD")
		item := func(b booking.Booking, total int64) payment.Item {
			return payment.Item{BookingID: b.ID, Currency: "EUR", Total: total}
		}
		in := func(kind payment.TransactionType, total int64, items ...payment.Item) payment.NewTransaction {
			n := apptest.Report(kind, b, 1)
			n.Currency, n.Total, n.Items = &usd, &total, &items
			return n
		}
		for _, pay := range []bool{true, false} { // which of the two is emptied first
			p := w.Must(in(payment.Purchase, 10000, item(b, 4000), item(second, 4000)))
			adjust := func(kind payment.TransactionType, total int64, items ...payment.Item) payment.Transaction {
				n := in(kind, total, items...)
				n.LinkedID = p.ID
				return w.Must(n)
			}
			adjust(payment.Chargeback, 4000, item(b, 3200))
			if pay {
				last := adjust(payment.Refund, 6000, item(b, 700), item(second, 3999))
				if last.BaseTotal != 4800 {
					t.Errorf("the last refund takes %d of the base amount", last.BaseTotal)
				}
			} else {
				adjust(payment.Refund, 5990, item(b, 800), item(second, 4000))
			}
			if got := w.ReadTransaction(p.ID); got.TotalRemaining() != 0 {
				t.Errorf("%d remain", got.TotalRemaining())
			}
			if r := w.Exposure(report.ExposureQuery{Currency: "EUR"}); r.Total.E1 != 0 {
				t.Errorf("E1 is %d", r.Total.E1)
			}
			adjust(payment.ChargebackReversal, 4000, item(b, 3200))
			if got := w.ReadTransaction(p.ID); got.TotalRemaining() != 4000 {
				t.Errorf("after the reversal %d remain", got.TotalRemaining())
			}
			adjust(payment.Refund, 4000, item(b, 3200))
		}
	})
}
