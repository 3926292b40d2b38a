package payments_test

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

func TestABookingFollowsItsTransactions(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		b := w.Booking(c, 10000, "2024-09-14")
		expect := func(step string, status booking.BookingStatus, unpaid int64) {
			t.Helper()
			got := w.ReadBooking(b.ID)
			if got.StatusOn(civil.DayOf(w.Now())) != status || got.Unpaid() != unpaid {
				t.Fatalf("after %s: %s, %d unpaid; want %s, %d", step, got.StatusOn(civil.DayOf(w.Now())), got.Unpaid(), status, unpaid)
			}
		}
		expect("nothing", booking.BookingUnpaid, 10000)
		a := w.Must(apptest.Report(payment.Authorize, b, 6000))
		expect("an authorisation", booking.BookingAuthorized, 10000)
		capture := w.Must(apptest.Linked(payment.Capture, a, b, 2000))
		expect("a capture", booking.BookingPartialPayment, 8000)
		w.Must(apptest.Linked(payment.Void, a, b, 4000))
		w.Refused(apptest.Linked(payment.Void, a, b, 1), errs.NotPossible, "exceeds_remaining")
		p := w.Must(apptest.Report(payment.Purchase, b, 8000))
		expect("the rest", booking.BookingPaid, 0)
		w.Must(apptest.Linked(payment.Refund, p, b, 3000))
		expect("a refund", booking.BookingPartialPayment, 3000)
		w.Refused(apptest.Linked(payment.Refund, p, b, 5001), errs.NotPossible, "exceeds_remaining")
		w.Must(apptest.Linked(payment.Refund, p, b, 5000))
		w.Must(apptest.Linked(payment.Refund, capture, b, 2000))
		expect("full refunds", booking.BookingUnpaid, 10000)
		again := w.Must(apptest.Report(payment.Purchase, b, 10000))
		w.SetClock(time.Date(2024, 9, 15, 0, 0, 0, 0, time.UTC))
		expect("travel", booking.BookingCompleted, 0)
		w.Must(apptest.Linked(payment.Chargeback, again, b, 4000))
		expect("a chargeback", booking.BookingPartialPayment, 4000)
		w.Refused(apptest.Linked(payment.Refund, again, b, 6001), errs.NotPossible, "locked")
		w.Must(apptest.Linked(payment.ChargebackReversal, again, b, 4000))
		expect("its reversal", booking.BookingCompleted, 0)
		if got := w.ReadBooking(b.ID).TransactionIDs; len(got) != 10 {
			t.Errorf("transactions %v, want 10", got)
		}
	})
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		b, other := w.Booking(c, 10000, "2024-09-14"), w.Booking(c, 500, "2024-09-14")
		p := w.Must(apptest.Report(payment.Purchase, b, 5000))
		a := w.Must(apptest.Report(payment.Authorize, b, 1000))
		w.Refused(apptest.Linked(payment.Capture, p, b, 100), errs.NotPossible, "not_an_authorisation")
		w.Refused(apptest.Linked(payment.Refund, a, b, 100), errs.NotPossible, "not_a_payment")
		w.Refused(apptest.Linked(payment.Refund, p, other, 100), errs.Invalid, "bookings[0].id")
		w.Refused(apptest.Linked(payment.Refund, payment.Transaction{ID: 999}, b, 100), errs.Invalid, "linked_id")
		missing := apptest.Report(payment.Refund, b, 100)
		w.Refused(missing, errs.Missing, "")
		sum := apptest.Report(payment.Purchase, b, 100)
		(*sum.Items)[0].Total = 99
		w.Refused(sum, errs.Invalid, "bookings")
		future := apptest.Report(payment.Purchase, b, 100)
		future.EffectiveAt = w.Now().Add(time.Second)
		w.Refused(future, errs.Invalid, "effective_at")
		token := apptest.Report(payment.Purchase, b, 100)
		token.Token = payment.TestToken
		w.Refused(token, errs.Invalid, "token")
		if got := w.ReadBooking(b.ID).Sums; got != (booking.BookingSums{Net: 5000, Held: 6000, OpenAuthorised: 1000}) {
			t.Errorf("refusals left traces: %+v", got)
		}
	})
}

func TestAuthorisationsExpire(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		b := w.Booking(c, 10000, "2024-09-14")
		a := w.Must(apptest.Report(payment.Authorize, b, 1000))
		w.Must(apptest.Linked(payment.Capture, a, b, 400))
		w.Advance(apptest.AuthorisationLife - time.Microsecond)
		if n, err := w.App.Payments.ExpireAuthorisations(t.Context()); n != 0 || err != nil {
			t.Fatalf("too early: %d, %v", n, err)
		}
		w.Advance(time.Microsecond)
		for _, want := range []int{1, 0} {
			if n, err := w.App.Payments.ExpireAuthorisations(t.Context()); n != want || err != nil {
				t.Fatalf("%d expired, %v; want %d", n, err, want)
			}
		}
		if got := w.ReadTransaction(a.ID); got.Status != payment.StatusExpired || got.TotalRemaining() != 0 {
			t.Errorf("%s, %d remain", got.Status, got.TotalRemaining())
		}
		if got := w.ReadBooking(b.ID).Sums; got != (booking.BookingSums{Net: 400, Held: 400}) {
			t.Errorf("sums %+v", got)
		}
		// A capture made in time counts, however late it is logged. A late capture also counts, with a flag.
		late := apptest.Linked(payment.Capture, a, b, 150)
		if got := w.Must(late).Flags; !slices.Equal(got, []string{payment.FlagLateCapture}) {
			t.Errorf("a late capture has the flags %v", got)
		}
		late = apptest.Linked(payment.Capture, a, b, 100)
		late.EffectiveAt = a.EffectiveAt.Add(apptest.AuthorisationLife - time.Second)
		if got := w.Must(late).Flags; slices.Contains(got, payment.FlagLateCapture) {
			t.Errorf("a capture in time has the flags %v", got)
		}
		void := apptest.Linked(payment.Void, a, b, 351)
		void.EffectiveAt = late.EffectiveAt
		w.Refused(void, errs.NotPossible, "exceeds_remaining")
		*void.Total, (*void.Items)[0].Total = 350, 350
		w.Must(void)
		if got := w.ReadBooking(b.ID).Sums; got != (booking.BookingSums{Net: 650, Held: 650}) {
			t.Errorf("after late reports: sums %+v", got)
		}
		// The total released by the expired authorisation may be taken by then.
		second := w.Must(apptest.Report(payment.Authorize, b, 9350))
		w.Advance(apptest.AuthorisationLife)
		if _, err := w.App.Payments.ExpireAuthorisations(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.Must(apptest.Report(payment.Purchase, b, 9000))
		tooLate := apptest.Linked(payment.Capture, second, b, 351)
		tooLate.EffectiveAt = second.EffectiveAt
		if got := w.Must(tooLate).Flags; !slices.Contains(got, payment.FlagAboveTotal) {
			t.Errorf("a capture above the total has the flags %v", got)
		}
	})
}

func TestAReferenceIsOnePayment(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		b := w.Booking(c, 10000, "2024-09-14")
		in := apptest.Report(payment.Purchase, b, 1000)
		in.Reference, in.PSP = "R-1", "acme"
		var created atomic.Int64
		var ids sync.Map
		var all sync.WaitGroup
		for range 8 { // the same report from everywhere at once
			all.Go(func() {
				got, made, err := w.App.Payments.Create(t.Context(), w.Actor, in)
				if err != nil {
					t.Errorf("repeated: %v", err)
				}
				if made {
					created.Add(1)
				}
				ids.Store(got.ID, true)
			})
		}
		all.Wait()
		n := 0
		ids.Range(func(any, any) bool { n++; return true })
		if created.Load() != 1 || n != 1 {
			t.Fatalf("created %d times, %d ids", created.Load(), n)
		}
		in.Content = "something else"
		w.Refused(in, errs.ReferenceExists, "")
		in.PSP = "other"
		w.Must(in)
	})
}

func TestNoInterleavingTakesTooMuch(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		b, second := w.Booking(c, 1000, "2024-09-14"), w.Booking(c, 1000, "2024-09-14")
		atOnce := func(n int, in payment.NewTransaction) (accepted int64) {
			var all sync.WaitGroup
			var count atomic.Int64
			for range n {
				all.Go(func() {
					_, _, err := w.App.Payments.Create(t.Context(), w.Actor, in)
					switch {
					case err == nil:
						count.Add(1)
					case !errs.Is(err, errs.NotPossible) && !errs.Is(err, errs.Invalid):
						t.Errorf("%s: %v", *in.Type, err)
					}
				})
			}
			all.Wait()
			return count.Load()
		}
		flagged := func() (n int) {
			list, err := w.App.Payments.List(t.Context(), w.Actor, payments.TransactionFilter{}, apptest.WholeList)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range list.Items {
				if slices.Contains(p.Flags, payment.FlagAboveTotal) {
					n++
				}
			}
			return n
		}
		if n := atOnce(12, apptest.Report(payment.Purchase, b, 150)); n != 12 || flagged() != 6 {
			t.Fatalf("%d purchases of 150 were taken for 1000, %d of them above the total", n, flagged())
		}
		if paid := w.ReadBooking(b.ID); paid.Version != 1+12 || paid.Sums.Held != 1800 || paid.Unpaid() != 0 {
			t.Fatalf("after 12 purchases of 150, version %d of the booking holds %d", paid.Version, paid.Sums.Held)
		}
		// Both bookings in one payment, in either order: no deadlock, and nothing is lost.
		both, reversed := apptest.Report(payment.Purchase, b, 30), apptest.Report(payment.Purchase, b, 30)
		total := int64(60)
		both.Total, reversed.Total = &total, &total
		both.Items = &[]payment.Item{{BookingID: b.ID, Currency: "EUR", Total: 30}, {BookingID: second.ID, Currency: "EUR", Total: 30}}
		reversed.Items = &[]payment.Item{(*both.Items)[1], (*both.Items)[0]}
		var pair sync.WaitGroup
		pair.Go(func() { atOnce(4, both) })
		pair.Go(func() { atOnce(4, reversed) })
		pair.Wait()
		if got := w.ReadBooking(b.ID).Sums.Held; got != 1800+8*30 {
			t.Fatalf("held %d", got)
		}
		p := w.Must(apptest.Report(payment.Purchase, second, 700))
		if n := atOnce(12, apptest.Linked(payment.Refund, p, second, 90)); n != 7 {
			t.Fatalf("%d refunds of 90 fit into 700", n)
		}
		if got := w.ReadTransaction(p.ID); got.Remaining != 70 || len(got.Adjustments) != 7 {
			t.Fatalf("%d remain after %d refunds", got.Remaining, len(got.Adjustments))
		}
	})
}

// A payment that waits for another write to its booking sees what that one has taken.
func TestAPaymentWaitsForItsBooking(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 1000, "2024-09-14")
		over := make(chan struct{})
		var once sync.Once // the write may run more than once
		dbtest.Write(t, w.App.DB.Store, func(tx *store.Tx) error {
			held, err := bookings.Lock(tx, w.Site.ID, b.ID)
			if err != nil {
				return err
			}
			held.Sums.Held, held.Sums.Net = 900, 900
			if err := errors.Join(bookings.SetSums(tx, held), bookings.SaveChanges(tx)); err != nil {
				return err
			}
			once.Do(func() {
				go func() {
					defer close(over)
					if got := w.Must(apptest.Report(payment.Purchase, b, 101)).Flags; !slices.Contains(got, payment.FlagAboveTotal) {
						t.Errorf("101 more than 900 of 1000 has the flags %v", got)
					}
				}()
			})
			dbtest.AwaitLock(t, w.App.DB.Store, over)
			return nil
		})
		<-over
		if got := w.ReadBooking(b.ID); got.Sums.Held != 1001 || got.Version != b.Version+2 {
			t.Errorf("version %d of the booking has %+v", got.Version, got.Sums)
		}
	})
}

func TestAnotherPaymentCurrency(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365", "USD": "1.0852"})
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		b := w.Booking(c, 100000, "2024-09-14")
		in := apptest.Report(payment.Purchase, b, 10000)
		usd, total := money.Currency("USD"), int64(10852)
		in.Currency, in.Total = &usd, &total
		p := w.Must(in)
		if p.ForexRate != "1.08520000" || len(p.Flags) != 0 {
			t.Errorf("rate %s, flags %v", p.ForexRate, p.Flags)
		}
		far := int64(12000)
		in.Total = &far
		if p := w.Must(in); len(p.Flags) != 1 || p.Flags[0] != payment.FlagForexDeviates {
			t.Errorf("flags %v", p.Flags)
		}
		w.Refused(apptest.Linked(payment.Refund, p, b, 1), errs.Invalid, "currencies")
		// Without a split the only booking is refunded in proportion; the last refund takes the rest of both.
		refund := apptest.Linked(payment.Refund, p, b, 0)
		part := int64(3333)
		refund.Currency, refund.Total, refund.Items = &usd, &part, nil
		first := w.Must(refund)
		if first.BaseTotal != 3071 { // 10000 · 3333 / 10852 = 3071.3…
			t.Errorf("the refund takes %d of the base amount", first.BaseTotal)
		}
		// Both amounts are bounded: a small part of the base amount cannot take more of the payment than remains.
		tooMuch := apptest.Linked(payment.Refund, p, b, 1)
		above := int64(10852 - 3333 + 1)
		tooMuch.Currency, tooMuch.Total = &usd, &above
		w.Refused(tooMuch, errs.NotPossible, "exceeds_remaining")
		rest := int64(10852 - 3333)
		refund.Total = &rest
		last := w.Must(refund)
		if got := w.ReadTransaction(p.ID); last.BaseTotal != 10000-3071 || got.Remaining != 0 || got.Payments[0].Remaining != 0 {
			t.Errorf("the last takes %d, %d and %d remain", last.BaseTotal, got.Remaining, got.Payments[0].Remaining)
		}
		// A refund of all the money leaves nothing at risk, whatever the day's rate made of its parts.
		in.Total = &total
		again := w.Must(in)
		full := apptest.Linked(payment.Refund, again, b, 9500)
		full.Currency, full.Total = &usd, &total
		if got := w.Must(full); got.BaseTotal != 10000 || len(got.Payments) != 1 || got.Payments[0].Total != 10000 {
			t.Errorf("a full refund takes %d of the base amount", got.BaseTotal)
		}
		if r := w.Exposure(report.ExposureQuery{}); r.Total.E1 != 8537 { // of the second payment alone
			t.Errorf("after two full refunds E1 is %d", r.Total.E1)
		}
	})
}

func TestARefundOfSeveralBookingsNeedsItsSplit(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		b, second := w.Booking(c, 1000, "2024-09-14"), w.Booking(c, 1000, "2024-10-14")
		in := apptest.Report(payment.Purchase, b, 600)
		in.Items = &[]payment.Item{{BookingID: second.ID, Currency: "EUR", Total: 200}, {BookingID: b.ID, Currency: "EUR", Total: 400}}
		p := w.Must(in)
		// Bookings are locked in the order of their ids, which is also the order of their payments: so there is no
		// deadlock.
		if p.Payments[0].BookingID != b.ID || p.Payments[1].BookingID != second.ID {
			t.Errorf("payments of bookings %d and %d", p.Payments[0].BookingID, p.Payments[1].BookingID)
		}
		refund := apptest.Linked(payment.Refund, p, b, 300)
		refund.Items = nil
		w.Refused(refund, errs.Missing, "")
		refund.Items = &[]payment.Item{{BookingID: second.ID, Currency: "EUR", Total: 300}}
		w.Refused(refund, errs.NotPossible, "exceeds_remaining")
		refund.Items = &[]payment.Item{{BookingID: second.ID, Currency: "EUR", Total: 200}, {BookingID: b.ID, Currency: "EUR", Total: 100}}
		w.Must(refund)
		w.Refused(apptest.Linked(payment.Refund, p, second, 1), errs.NotPossible, "exceeds_remaining") // the 300 are the other one's
		if got := w.ReadBooking(second.ID).Sums.Net + w.ReadBooking(b.ID).Sums.Net; got != 300 {
			t.Errorf("%d is left", got)
		}
	})
}
