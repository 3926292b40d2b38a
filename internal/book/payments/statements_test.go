package payments_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// mostStatements is how many SQL statements a purchase for a booking may run in its write. Five read: the clock with
// the versions of cached values, whether the payment is known, the booking, and the ids of two tables. The other nine
// write.
const mostStatements = 14

// TestAPurchaseRunsFewStatements: stable values are not read again, and rows that the write has just created are not
// read at all.
func TestAPurchaseRunsFewStatements(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		pay := func(n int) int {
			b := w.Booking(c, 60000, "2024-09-14")
			in := apptest.Report(payment.Purchase, b, 60000)
			in.PSP, in.Reference = "stripe", fmt.Sprintf("ch_%d", n)
			return len(dbtest.Statements(w.App.DB.Store, func() {
				if made := w.Must(in); made.Status != payment.StatusComplete {
					t.Fatalf("the payment is %s", made.Status)
				}
			}))
		}
		pay(0) // values read for the first time are cached
		for n := 1; n < 4; n++ {
			if ran := pay(n); ran > mostStatements {
				t.Errorf("payment %d ran %d statements, at most %d are allowed", n, ran, mostStatements)
			}
		}
		deposit := w.Booking(c, 60000, "2024-09-14")
		w.Must(apptest.Report(payment.Purchase, deposit, 10000))
		for range 2 {
			ran := len(dbtest.Statements(w.App.DB.Store, func() { w.Must(apptest.Report(payment.Purchase, deposit, 10000)) }))
			if ran > mostStatements {
				t.Errorf("a later payment ran %d statements, at most %d are allowed", ran, mostStatements)
			}
		}
		// A change of the channel is seen immediately, by the version that the next write reads.
		name := "Another name"
		if _, err := w.App.Channels.Change(t.Context(), access.System(w.Site.ID), c.ID, merchant.ChannelFields{Name: &name}); err != nil {
			t.Fatal(err)
		}
		if ran := pay(4); ran <= mostStatements {
			t.Errorf("after the channel has changed a payment ran %d statements: it was not read again", ran)
		}
	})
}

// TestATransactionIsReadAsInAPage: with its payments, statements and adjustments.
func TestATransactionIsReadAsInAPage(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, money.EUR)
		first, second := w.Booking(c, 1000, "2024-09-14"), w.Booking(c, 1000, "2024-10-14")
		in := apptest.Report(payment.Purchase, first, 900)
		in.Items = &[]payment.Item{
			{BookingID: second.ID, Currency: c.Currency, Total: 500}, {BookingID: first.ID, Currency: c.Currency, Total: 400},
		}
		paid := w.Must(in)
		if got := w.ReadTransaction(paid.ID); !slices.Equal(got.Payments, paid.Payments) || len(got.Adjustments) > 0 {
			t.Errorf("read %+v, not %+v", got, paid)
		}
		var refunds []int64
		for range 2 {
			back := apptest.Linked(payment.Refund, paid, first, 100)
			refunds = append(refunds, w.Must(back).ID)
		}
		got := w.ReadTransaction(paid.ID)
		list, err := w.App.Payments.List(t.Context(), w.Actor, payments.TransactionFilter{}, store.Of([]int64{paid.ID}))
		if err != nil || !slices.Equal(got.Adjustments, refunds) || !reflect.DeepEqual(got, list.Items[0]) {
			t.Errorf("read alone %+v, and in a page %+v: %v", got, list.Items, err)
		}
	})
}
