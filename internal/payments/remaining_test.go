package payments_test

import (
	"testing"

	"holdfast/internal/apptest"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/reports"
	"holdfast/internal/travel"
)

// TestWhatWasChargedBackCannotBeRefunded: total_remaining is the total less refunds and less chargebacks that stand. Who
// refunds all of it leaves nothing, and a reversal gives back what it reverses.
func TestWhatWasChargedBackCannotBeRefunded(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(travel.ModeProtectionOnly, "GBP"), 10000, "2099-09-14")
		p := w.Must(apptest.Report(travel.Purchase, b, 10000))
		remain := func(want int64) {
			t.Helper()
			got := w.ReadTransaction(p.ID)
			list, err := w.App.Payments.List(t.Context(), w.Actor, travel.TransactionFilter{Include: []int64{p.ID}},
				travel.Page{Number: 1, Size: 1})
			if err != nil {
				t.Fatal(err)
			}
			if got.TotalRemaining() != want || list.Items[0].TotalRemaining() != want {
				t.Errorf("%d remain, in the list %d, want %d", got.TotalRemaining(), list.Items[0].TotalRemaining(), want)
			}
		}
		w.Must(apptest.Linked(travel.Chargeback, p, b, 4000))
		remain(6000)
		w.Refused(apptest.Linked(travel.Refund, p, b, 6001), fault.NotPossible, "locked")
		w.Must(apptest.Linked(travel.Refund, p, b, 5000))
		remain(1000)
		w.Must(apptest.Linked(travel.Refund, p, b, 1000))
		remain(0)
		w.Must(apptest.Linked(travel.ChargebackReversal, p, b, 1500))
		remain(1500)
		w.Must(apptest.Linked(travel.ChargebackReversal, p, b, 2500))
		remain(4000)
		w.Refused(apptest.Linked(travel.Refund, p, b, 4001), fault.NotPossible, "exceeds_remaining")
		w.Must(apptest.Linked(travel.Refund, p, b, 4000))
		remain(0)
		w.Must(apptest.Linked(travel.Chargeback, p, b, 10000)) // recorded whatever remains
		remain(0)
		if r := w.Exposure(reports.ExposureQuery{}); r.Total.E1 != 0 {
			t.Errorf("E1 is %d", r.Total.E1)
		}
	})
}

// TestARefundThatEmptiesOneBoundTakesTheRestOfBoth: total_remaining is in the currency of the payment, the parts are in
// base currency.
func TestARefundThatEmptiesOneBoundTakesTheRestOfBoth(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(travel.ModeProtectionOnly, "EUR")
		b, second := w.Booking(c, 8000, "2099-09-14"), w.Booking(c, 8000, "2099-09-14")
		usd := money.Currency("USD")
		item := func(b travel.Booking, total int64) travel.Item {
			return travel.Item{BookingID: b.ID, Currency: "EUR", Total: total}
		}
		in := func(kind travel.TransactionType, total int64, items ...travel.Item) travel.NewTransaction {
			n := apptest.Report(kind, b, 1)
			n.Currency, n.Total, n.Items = &usd, &total, &items
			return n
		}
		for _, payment := range []bool{true, false} { // which of the two is emptied first
			p := w.Must(in(travel.Purchase, 10000, item(b, 4000), item(second, 4000)))
			adjust := func(kind travel.TransactionType, total int64, items ...travel.Item) travel.Transaction {
				n := in(kind, total, items...)
				n.LinkedID = p.ID
				return w.Must(n)
			}
			adjust(travel.Chargeback, 4000, item(b, 3200))
			if payment {
				last := adjust(travel.Refund, 6000, item(b, 700), item(second, 3999))
				if last.BaseTotal != 4800 {
					t.Errorf("the last refund takes %d of the base amount", last.BaseTotal)
				}
			} else {
				adjust(travel.Refund, 5990, item(b, 800), item(second, 4000))
			}
			if got := w.ReadTransaction(p.ID); got.TotalRemaining() != 0 {
				t.Errorf("%d remain", got.TotalRemaining())
			}
			if r := w.Exposure(reports.ExposureQuery{Currency: "EUR"}); r.Total.E1 != 0 {
				t.Errorf("E1 is %d", r.Total.E1)
			}
			adjust(travel.ChargebackReversal, 4000, item(b, 3200))
			if got := w.ReadTransaction(p.ID); got.TotalRemaining() != 4000 {
				t.Errorf("after the reversal %d remain", got.TotalRemaining())
			}
			adjust(travel.Refund, 4000, item(b, 3200))
		}
	})
}
