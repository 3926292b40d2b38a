package app_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

func TestABookingFollowsItsTransactions(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.channel(travel.ModeProtectionOnly, "EUR")
		b := w.booking(c, 10000, "2024-09-14")
		expect := func(step string, status travel.BookingStatus, unpaid int64) {
			t.Helper()
			got := w.readBooking(b.ID)
			if got.StatusOn(civil.DayOf(w.now())) != status || got.Unpaid() != unpaid {
				t.Fatalf("after %s: %s, %d unpaid; want %s, %d", step, got.StatusOn(civil.DayOf(w.now())), got.Unpaid(), status, unpaid)
			}
		}
		expect("nothing", travel.BookingUnpaid, 10000)
		a := w.must(report(travel.Authorize, b, 6000))
		expect("an authorisation", travel.BookingAuthorized, 10000)
		w.refused(report(travel.Purchase, b, 4001), fault.Invalid, "bookings")
		capture := w.must(linked(travel.Capture, a, b, 2000))
		expect("a capture", travel.BookingPartialPayment, 8000)
		w.must(linked(travel.Void, a, b, 4000))
		w.refused(linked(travel.Void, a, b, 1), fault.NotPossible, "exceeds_remaining")
		p := w.must(report(travel.Purchase, b, 8000))
		expect("the rest", travel.BookingPaid, 0)
		w.must(linked(travel.Refund, p, b, 3000))
		expect("a refund", travel.BookingPartialPayment, 3000)
		w.refused(linked(travel.Refund, p, b, 5001), fault.NotPossible, "exceeds_remaining")
		w.must(linked(travel.Refund, p, b, 5000))
		w.must(linked(travel.Refund, capture, b, 2000))
		expect("full refunds", travel.BookingUnpaid, 10000)
		again := w.must(report(travel.Purchase, b, 10000))
		w.setClock(time.Date(2024, 9, 15, 0, 0, 0, 0, time.UTC))
		expect("travel", travel.BookingCompleted, 0)
		w.must(linked(travel.Chargeback, again, b, 4000))
		expect("a chargeback", travel.BookingLocked, 0)
		w.refused(linked(travel.Refund, again, b, 6001), fault.NotPossible, "locked")
		w.must(linked(travel.ChargebackReversal, again, b, 4000))
		expect("its reversal", travel.BookingCompleted, 0)
		if got := w.readBooking(b.ID).TransactionIDs; len(got) != 10 {
			t.Errorf("transactions %v, want 10", got)
		}
	})
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.channel(travel.ModeProtectionOnly, "EUR")
		b, other := w.booking(c, 10000, "2024-09-14"), w.booking(c, 500, "2024-09-14")
		p := w.must(report(travel.Purchase, b, 5000))
		a := w.must(report(travel.Authorize, b, 1000))
		w.refused(linked(travel.Capture, p, b, 100), fault.NotPossible, "not_an_authorisation")
		w.refused(linked(travel.Refund, a, b, 100), fault.NotPossible, "not_a_payment")
		w.refused(linked(travel.Refund, p, other, 100), fault.Invalid, "bookings")
		w.refused(linked(travel.Refund, travel.Transaction{ID: 999}, b, 100), fault.Invalid, "linked_id")
		missing := report(travel.Refund, b, 100)
		w.refused(missing, fault.Missing, "")
		sum := report(travel.Purchase, b, 100)
		(*sum.Items)[0].Total = 99
		w.refused(sum, fault.Invalid, "bookings")
		future := report(travel.Purchase, b, 100)
		future.EffectiveAt = w.now().Add(time.Second)
		w.refused(future, fault.Invalid, "effective_at")
		token := report(travel.Purchase, b, 100)
		token.Token = travel.TestToken
		w.refused(token, fault.Invalid, "token")
		w.advance(travel.AuthorisationLife)
		w.refused(linked(travel.Capture, a, b, 100), fault.NotPossible, "authorisation_expired")
		if got := w.readBooking(b.ID).Sums; got != (travel.BookingSums{Net: 5000, Held: 6000, OpenAuthorised: 1000}) {
			t.Errorf("refusals left traces: %+v", got)
		}
	})
}

func TestAuthorisationsExpire(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.channel(travel.ModeProtectionOnly, "EUR")
		b := w.booking(c, 10000, "2024-09-14")
		a := w.must(report(travel.Authorize, b, 1000))
		w.must(linked(travel.Capture, a, b, 400))
		w.advance(travel.AuthorisationLife - time.Microsecond)
		if n, err := w.app.Payments.ExpireAuthorisations(t.Context()); n != 0 || err != nil {
			t.Fatalf("too early: %d, %v", n, err)
		}
		w.advance(time.Microsecond)
		for _, want := range []int{1, 0} {
			if n, err := w.app.Payments.ExpireAuthorisations(t.Context()); n != want || err != nil {
				t.Fatalf("%d expired, %v; want %d", n, err, want)
			}
		}
		if got := w.readTransaction(a.ID); got.Status != travel.StatusExpired || got.TotalRemaining() != 0 {
			t.Errorf("%s, %d remain", got.Status, got.TotalRemaining())
		}
		if got := w.readBooking(b.ID).Sums; got != (travel.BookingSums{Net: 400, Held: 400}) {
			t.Errorf("sums %+v", got)
		}
		// What was captured in time counts, however late it is logged; what was not, does not.
		late := linked(travel.Capture, a, b, 250)
		w.refused(late, fault.NotPossible, "authorisation_expired")
		late.EffectiveAt = a.EffectiveAt.Add(travel.AuthorisationLife - time.Second)
		w.must(late)
		void := linked(travel.Void, a, b, 351)
		void.EffectiveAt = late.EffectiveAt
		w.refused(void, fault.NotPossible, "exceeds_remaining")
		*void.Total, (*void.Items)[0].Total = 350, 350
		w.must(void)
		if got := w.readBooking(b.ID).Sums; got != (travel.BookingSums{Net: 650, Held: 650}) {
			t.Errorf("after late reports: sums %+v", got)
		}
		// The total that the expired authorisation gave free may be taken by then.
		second := w.must(report(travel.Authorize, b, 9350))
		w.advance(travel.AuthorisationLife)
		if _, err := w.app.Payments.ExpireAuthorisations(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.must(report(travel.Purchase, b, 9000))
		tooLate := linked(travel.Capture, second, b, 351)
		tooLate.EffectiveAt = second.EffectiveAt
		w.refused(tooLate, fault.Invalid, "bookings")
	})
}

func TestAReferenceIsOnePayment(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.channel(travel.ModeProtectionOnly, "EUR")
		b := w.booking(c, 10000, "2024-09-14")
		in := report(travel.Purchase, b, 1000)
		in.Reference, in.PSP = "R-1", "acme"
		var created atomic.Int64
		var ids sync.Map
		var all sync.WaitGroup
		for range 8 { // the same report from everywhere at once
			all.Go(func() {
				got, made, err := w.app.Payments.Create(t.Context(), w.actor, in)
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
		w.refused(in, fault.ReferenceExists, "")
		in.PSP = "other"
		w.must(in)
	})
}

func TestNoInterleavingTakesTooMuch(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.channel(travel.ModeProtectionOnly, "EUR")
		b, second := w.booking(c, 1000, "2024-09-14"), w.booking(c, 1000, "2024-09-14")
		atOnce := func(n int, in travel.NewTransaction) (accepted int64) {
			var all sync.WaitGroup
			var count atomic.Int64
			for range n {
				all.Go(func() {
					_, _, err := w.app.Payments.Create(t.Context(), w.actor, in)
					switch {
					case err == nil:
						count.Add(1)
					case !fault.Is(err, fault.NotPossible) && !fault.Is(err, fault.Invalid):
						t.Errorf("%s: %v", *in.Type, err)
					}
				})
			}
			all.Wait()
			return count.Load()
		}
		if n := atOnce(12, report(travel.Purchase, b, 150)); n != 6 {
			t.Fatalf("%d purchases of 150 fit into 1000", n)
		}
		// Both bookings in one payment, named in either order: nobody waits for ever, and no total is exceeded.
		both, reversed := report(travel.Purchase, b, 30), report(travel.Purchase, b, 30)
		total := int64(60)
		both.Total, reversed.Total = &total, &total
		both.Items = &[]travel.Item{{BookingID: b.ID, Currency: "EUR", Total: 30}, {BookingID: second.ID, Currency: "EUR", Total: 30}}
		reversed.Items = &[]travel.Item{(*both.Items)[1], (*both.Items)[0]}
		var pair sync.WaitGroup
		pair.Go(func() { atOnce(4, both) })
		pair.Go(func() { atOnce(4, reversed) })
		pair.Wait()
		if got := w.readBooking(b.ID).Sums.Held; got != 990 {
			t.Fatalf("held %d of 1000", got)
		}
		p := w.must(report(travel.Purchase, second, 700))
		if n := atOnce(12, linked(travel.Refund, p, second, 90)); n != 7 {
			t.Fatalf("%d refunds of 90 fit into 700", n)
		}
		if got := w.readTransaction(p.ID); got.Remaining != 70 || len(got.Adjustments) != 7 {
			t.Fatalf("%d remain after %d refunds", got.Remaining, len(got.Adjustments))
		}
	})
}

func TestAnotherPaymentCurrency(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365", "USD": "1.0852"})
		c := w.channel(travel.ModeProtectionOnly, "EUR")
		b := w.booking(c, 100000, "2024-09-14")
		in := report(travel.Purchase, b, 10000)
		usd, total := money.Currency("USD"), int64(10852)
		in.Currency, in.Total = &usd, &total
		p := w.must(in)
		if p.ForexRate != "1.08520000" || len(p.Flags) != 0 {
			t.Errorf("rate %s, flags %v", p.ForexRate, p.Flags)
		}
		far := int64(12000)
		in.Total = &far
		if p := w.must(in); len(p.Flags) != 1 || p.Flags[0] != travel.FlagForexDeviates {
			t.Errorf("flags %v", p.Flags)
		}
		w.refused(linked(travel.Refund, p, b, 1), fault.Invalid, "currencies")
		// Without a split the only booking is refunded in proportion; the last refund takes the rest of both.
		refund := linked(travel.Refund, p, b, 0)
		part := int64(3333)
		refund.Currency, refund.Total, refund.Items = &usd, &part, nil
		first := w.must(refund)
		if first.BaseTotal != 3071 { // 10000 · 3333 / 10852 = 3071.3…
			t.Errorf("the refund takes %d of the base amount", first.BaseTotal)
		}
		rest := int64(10852 - 3333)
		refund.Total = &rest
		last := w.must(refund)
		if got := w.readTransaction(p.ID); last.BaseTotal != 10000-3071 || got.Remaining != 0 || got.Payments[0].Remaining != 0 {
			t.Errorf("the last takes %d, %d and %d remain", last.BaseTotal, got.Remaining, got.Payments[0].Remaining)
		}
		// A refund of all the money leaves nothing at risk, whatever the day's rate made of its parts.
		in.Total = &total
		again := w.must(in)
		full := linked(travel.Refund, again, b, 9500)
		full.Currency, full.Total = &usd, &total
		if got := w.must(full); got.BaseTotal != 10000 || len(got.Payments) != 1 || got.Payments[0].Total != 10000 {
			t.Errorf("a full refund takes %d of the base amount", got.BaseTotal)
		}
		if r := w.exposure(app.ExposureQuery{}); r.Total.E1 != 8537 { // of the second payment alone
			t.Errorf("after two full refunds E1 is %d", r.Total.E1)
		}
	})
}

func TestARefundOfSeveralBookingsNeedsItsSplit(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.channel(travel.ModeProtectionOnly, "EUR")
		b, second := w.booking(c, 1000, "2024-09-14"), w.booking(c, 1000, "2024-10-14")
		in := report(travel.Purchase, b, 600)
		in.Items = &[]travel.Item{{BookingID: second.ID, Currency: "EUR", Total: 200}, {BookingID: b.ID, Currency: "EUR", Total: 400}}
		p := w.must(in)
		refund := linked(travel.Refund, p, b, 300)
		refund.Items = nil
		w.refused(refund, fault.Missing, "")
		refund.Items = &[]travel.Item{{BookingID: second.ID, Currency: "EUR", Total: 300}}
		w.refused(refund, fault.NotPossible, "exceeds_remaining")
		refund.Items = &[]travel.Item{{BookingID: second.ID, Currency: "EUR", Total: 200}, {BookingID: b.ID, Currency: "EUR", Total: 100}}
		w.must(refund)
		if got := w.readBooking(second.ID).Sums.Net + w.readBooking(b.ID).Sums.Net; got != 300 {
			t.Errorf("%d is left", got)
		}
	})
}
