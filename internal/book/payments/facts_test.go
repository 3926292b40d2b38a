package payments_test

import (
	"slices"
	"testing"

	"holdfast/internal/app"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
)

// TestFactsAreRecordedWithAFlag: in a channel that only logs, the money has moved in any case (R2).
func TestFactsAreRecordedWithAFlag(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 50000, "2024-09-14")
		expect := func(step string, status booking.BookingStatus, unpaid int64, flags ...string) {
			t.Helper()
			got := w.ReadBooking(b.ID)
			if got.StoredStatus() != status || got.Unpaid() != unpaid || !slices.Equal(got.Flags(), append([]string{}, flags...)) {
				t.Errorf("after %s: %s, %d unpaid, flags %v", step, got.StoredStatus(), got.Unpaid(), got.Flags())
			}
		}
		logged := func(in payment.NewTransaction, flags ...string) payment.Transaction {
			t.Helper()
			made := w.Must(in)
			if !slices.Equal(w.ReadTransaction(made.ID).Flags, append([]string{}, flags...)) {
				t.Errorf("%s %d has the flags %v, want %v", made.Type, made.ID, made.Flags, flags)
			}
			return made
		}
		first := logged(apptest.Report(payment.Purchase, b, 50000))
		expect("the payment", booking.BookingPaid, 0)
		// Paid again after a chargeback: the charged-back amount is unpaid.
		logged(apptest.Linked(payment.Chargeback, first, b, 50000))
		expect("a chargeback", booking.BookingUnpaid, 50000)
		again := logged(apptest.Report(payment.Purchase, b, 50000), payment.FlagAfterDispute)
		expect("the second payment", booking.BookingPaid, 0)
		// The first one is also reversed, and the card was charged a third time.
		logged(apptest.Linked(payment.ChargebackReversal, first, b, 50000))
		expect("a reversal", booking.BookingPaid, 0, booking.FlagAboveTotal)
		double := logged(apptest.Report(payment.Purchase, b, 50000), payment.FlagAboveTotal)
		if got := w.Exposure(report.ExposureQuery{Currency: "EUR"}).Total.E1; got != 150_000 {
			t.Errorf("E1 is %d", got)
		}
		for _, p := range []payment.Transaction{double, again} {
			logged(apptest.Linked(payment.Refund, p, b, 50000))
		}
		expect("both refunds", booking.BookingPaid, 0)
		// The price falls below the amount paid.
		total := int64(5000)
		if _, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, booking.BookingFields{Total: &total}); err != nil {
			t.Fatal(err)
		}
		expect("a lower total", booking.BookingPaid, 0, booking.FlagAboveTotal)
		logged(apptest.Linked(payment.Refund, first, b, 45000))
		expect("what is too much is refunded", booking.BookingPaid, 0)
		list, err := w.App.Payments.List(t.Context(), w.Actor, payments.TransactionFilter{
			Flags: []string{payment.FlagAboveTotal, payment.FlagAfterDispute},
		}, apptest.WholeList)
		if err != nil || len(list.Items) != 2 || list.Items[0].ID+list.Items[1].ID != double.ID+again.ID {
			t.Errorf("%d have one of the flags, %v", len(list.Items), err)
		}
	})
}

// TestWhatIsTakenHereIsBounded: payments taken by holdfast never exceed the total of the booking.
func TestWhatIsTakenHereIsBounded(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.With(func(cfg *app.Config) { cfg.Profile = merchant.ServerToServerProfile })
		c := w.Channel(merchant.ModeTest, "EUR")
		b := w.Booking(c, 1000, "2024-09-14")
		pay := func(amount int64) payment.NewTransaction {
			in := apptest.Report(payment.Purchase, b, amount)
			in.PSP, in.Token = payment.TestPSP, payment.TestToken
			return in
		}
		w.Must(pay(900))
		w.Refused(pay(101), errs.Invalid, "bookings")
		w.Must(pay(100))
	})
}

// TestWhatEmptiesAPaymentEmptiesItsAllocations: an adjustment is settled at the rate of its payment, whatever its base
// amount at the day's rate (R3).
func TestWhatEmptiesAPaymentEmptiesItsAllocations(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 50000, "2024-09-14")
		jpy := money.Currency("JPY")
		in := func(kind payment.TransactionType, of payment.Transaction, total, base int64) payment.NewTransaction {
			in := apptest.Report(kind, b, base)
			if kind.Linked() {
				in = apptest.Linked(kind, of, b, base)
			}
			in.Currency, in.Total = &jpy, &total
			return in
		}
		left := func(step string, want int64) {
			t.Helper()
			if got := w.Exposure(report.ExposureQuery{Currency: "EUR"}).Total.E1; got != want || w.ReadBooking(b.ID).Sums.Net != want {
				t.Errorf("after %s: E1 %d, paid %d; want %d", step, got, w.ReadBooking(b.ID).Sums.Net, want)
			}
		}
		paid := w.Must(in(payment.Purchase, payment.Transaction{}, 2000, 2500))
		back := w.Must(in(payment.Chargeback, paid, 2000, 2387))
		if back.BaseTotal != 2500 || !slices.Contains(back.Flags, payment.FlagRateDisagrees) {
			t.Errorf("the chargeback takes %d, flags %v", back.BaseTotal, back.Flags)
		}
		left("a full chargeback", 0)
		if again := w.Must(in(payment.ChargebackReversal, paid, 2000, 2387)); again.BaseTotal != 2500 {
			t.Errorf("its reversal returns %d", again.BaseTotal)
		}
		left("its reversal", 2500)
		// Three parts of 666, 667 and 667 are 832.5, 833.75 and 833.75: the last one takes what the roundings left.
		for i, part := range []int64{666, 667, 667} {
			base := []int64{833, 834, 834}[i]
			if got := w.Must(in(payment.Chargeback, paid, part, base)); slices.Contains(got.Flags, payment.FlagRateDisagrees) {
				t.Errorf("a rounding has the flags %v", got.Flags)
			}
		}
		left("three parts", 0)
		w.Must(in(payment.ChargebackReversal, paid, 2000, 2500)) // also of the roundings
		left("their reversal", 2500)
		if got := w.ReadTransaction(paid.ID); got.Status != payment.StatusComplete {
			t.Errorf("after the reversal of all chargebacks the payment is %s", got.Status)
		}
		w.Must(in(payment.Chargeback, paid, 2000, 2500))
		// A refund at another day's rate.
		second := w.Must(in(payment.Purchase, payment.Transaction{}, 2000, 2500))
		if got := w.Must(in(payment.Refund, second, 1000, 1100)); got.BaseTotal != 1250 || !slices.Contains(got.Flags, payment.FlagRateDisagrees) {
			t.Errorf("the refund takes %d, flags %v", got.BaseTotal, got.Flags)
		}
		left("half of another one", 1250)
	})
}
