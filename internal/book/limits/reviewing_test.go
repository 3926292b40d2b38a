package limits_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"holdfast/internal/book/limits"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/testkit/apptest"
)

// crossed is the events of one use, as eventsOf lists them.
func crossed(id, use int64, percents ...int) []string {
	var list []string
	for _, p := range percents {
		list = append(list, fmt.Sprintf("%d:%d%%=%d", id, p, use))
	}
	return list
}

// TestANewLimitIsJudgedByWhatExists: a limit below the existing use shows immediately, once per object.
func TestANewLimitIsJudgedByWhatExists(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.App.Limits.Reviewed = 2
		c, other := w.Channel(merchant.ModeProtectionOnly, "GBP"), w.Channel(merchant.ModeProtectionOnly, "GBP")
		b, small, foreign := w.Booking(c, 100_000, "2024-09-14"), w.Booking(c, 100_000, "2024-09-14"), w.Booking(other, 100_000, "2024-09-14")
		first, little := w.Must(apptest.Report(payment.Purchase, b, 40_000)), w.Must(apptest.Report(payment.Purchase, small, 1000))
		elsewhere, second := w.Must(apptest.Report(payment.Purchase, foreign, 90_000)), w.Must(apptest.Report(payment.Purchase, b, 30_000))
		w.Must(apptest.Linked(payment.Refund, first, b, 10_000)) // 60,000 are left
		test := w.Booking(w.Channel(merchant.ModeTest, "GBP"), 100_000, "2024-09-14")
		w.Must(apptest.Report(payment.Purchase, test, 90_000))
		settle(t, w)
		w.Limit(protection.LimitBooking, c.ID, 50_000)
		w.Limit(protection.LimitTransaction, c.ID, 32_000)
		// Payments logged before the job runs are judged immediately, and not again.
		third := w.Must(apptest.Report(payment.Purchase, b, 5000))
		apptest.Same(t, "logged since", third.OverLimit, 5000)
		review(t, w)
		apptest.Same(t, "events of bookings", eventsOf(t, w, protection.LimitBooking), crossed(b.ID, 65_000, 80, 95, 100))
		apptest.Same(t, "events of payments", eventsOf(t, w, protection.LimitTransaction),
			append(crossed(first.ID, 30_000, 80), crossed(second.ID, 30_000, 80)...))
		apptest.Same(t, "over", []any{overLimit(t, w, first.ID), overLimit(t, w, second.ID), overLimit(t, w, third.ID), overLimit(t, w, little.ID), overLimit(t, w, elsewhere.ID)},
			[]any{0, 10_000, 5000, 0, 0})
		review(t, w)
		apptest.Same(t, "events, again", len(eventsOf(t, w, protection.LimitBooking)), 3)
		// A lower one: more is above it, and no level is new. A limit for all channels only applies to the others.
		w.Limit(protection.LimitBooking, c.ID, 20_000)
		w.Limit(protection.LimitBooking, 0, 95_000)
		review(t, w)
		apptest.Same(t, "over a lower one", []any{overLimit(t, w, first.ID), overLimit(t, w, second.ID), overLimit(t, w, third.ID)}, []any{10_000, 30_000, 5000})
		apptest.Same(t, "events then", eventsOf(t, w, protection.LimitBooking)[3:], crossed(foreign.ID, 90_000, 80))
		// With the channel's own limit lifted, the general one applies, and the channel stays below all its levels.
		lift, scope := true, protection.LimitBooking
		if _, err := w.App.Limits.Set(t.Context(), w.Actor, limits.LimitFields{Scope: &scope, ChannelID: &c.ID, Lift: lift}); err != nil {
			t.Fatal(err)
		}
		w.Limit(protection.LimitTransaction, 0, 100_000)
		review(t, w)
		apptest.Same(t, "events after the lift", len(eventsOf(t, w, protection.LimitBooking)), 4)
		apptest.Same(t, "events of payments after", eventsOf(t, w, protection.LimitTransaction)[2:], crossed(elsewhere.ID, 90_000, 80))
	})
}

// TestALimitFromALaterDayIsJudgedOnIt, and one that another one replaced before its turn is not.
func TestALimitFromALaterDayIsJudgedOnIt(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 100_000, "2024-09-14")
		p := w.Must(apptest.Report(payment.Purchase, b, 40_000))
		scope, amount := protection.LimitBooking, int64(30_000)
		in := limits.LimitFields{Scope: &scope, Amount: &amount, From: apptest.DayPtr(t, "2024-06-10")}
		if _, err := w.App.Limits.Set(t.Context(), w.Actor, in); err != nil {
			t.Fatal(err)
		}
		review(t, w)
		apptest.Same(t, "before the day", len(eventsOf(t, w, protection.LimitBooking)), 0)
		w.SetClock(apptest.DayPtr(t, "2024-06-10").Start().Add(10 * time.Second))
		settlePieces(t, w)
		apptest.Same(t, "on the day", eventsOf(t, w, protection.LimitBooking), crossed(b.ID, 40_000, 80, 95, 100))
		apptest.Same(t, "over", overLimit(t, w, p.ID), 10_000)
		w.Limit(protection.LimitTransaction, 0, 45_000)
		w.Limit(protection.LimitTransaction, 0, 35_000)
		review(t, w)
		apptest.Same(t, "the later of two", eventsOf(t, w, protection.LimitTransaction), crossed(p.ID, 40_000, 80, 95, 100))
	})
}

// TestReviewsAreTheSameHoweverTheyRun: many processes review concurrently, and some are stopped half-way.
func TestReviewsAreTheSameHoweverTheyRun(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.App.Limits.Reviewed = 3
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		bookings := []booking.Booking{w.Booking(c, 100_000, "2024-09-14"), w.Booking(c, 100_000, "2024-09-14"), w.Booking(c, 100_000, "2024-09-14")}
		for range 8 {
			for _, b := range bookings {
				w.Must(apptest.Report(payment.Purchase, b, 1000))
			}
		}
		settle(t, w)
		w.Limit(protection.LimitBooking, 0, 5000)
		w.Limit(protection.LimitTransaction, 0, 900)
		w.Advance(10 * time.Second)
		var all sync.WaitGroup
		for n := range 4 {
			all.Go(func() {
				for i := range 12 {
					short, cancel := context.WithTimeout(t.Context(), time.Duration(i*(n+1))*time.Millisecond)
					_, _ = w.App.Limits.Recompute(short) // wherever it stops: what it leaves behind counts
					cancel()
				}
			})
		}
		all.Wait()
		review(t, w)
		apptest.Same(t, "events", []any{len(eventsOf(t, w, protection.LimitBooking)), len(eventsOf(t, w, protection.LimitTransaction))}, []any{3 * 3, 24 * 3})
		var over int64
		list, err := w.App.Payments.List(t.Context(), w.Actor, payments.TransactionFilter{}, apptest.WholeList)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list.Items {
			over += p.OverLimit
		}
		// 3,000 of each booking are above its limit in whole payments; 100 of each of the other five payments are above
		// theirs.
		apptest.Same(t, "over", over, 3*3000+3*5*100)
	})
}

// TestWhatIsPricedLateIsJudgedThen: a payment waiting for its rate is above no limit, and is judged by its own and its
// booking's limits when the rate arrives; each of several has its own part.
func TestWhatIsPricedLateIsJudgedThen(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		b := w.Booking(c, 100_000, "2024-09-14")
		w.Limit(protection.LimitBooking, 0, 10_000)
		w.Limit(protection.LimitTransaction, 0, 7000)
		first, second := w.Must(apptest.Report(payment.Purchase, b, 16_000)), w.Must(apptest.Report(payment.Purchase, b, 10_000))
		review(t, w)
		w.Limit(protection.LimitChannel, 0, 1_000_000)
		w.Limit(protection.LimitSite, 0, 1_000_000)
		waiting := []limits.PendingUse{{Currency: "EUR", Amount: 26_000}}
		for _, row := range []limits.LimitRow{rowOf(t, w, protection.LimitChannel, c.ID), rowOf(t, w, protection.LimitSite, 0)} {
			apptest.Same(t, "waiting", []any{row.Pending, row.Use, row.Headroom}, []any{waiting, 0, 0})
		}
		apptest.Same(t, "without a rate", []any{overLimit(t, w, first.ID), overLimit(t, w, second.ID), len(eventsOf(t, w, protection.LimitBooking))}, []any{0, 0, 0})
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.50000"})
		settle(t, w)
		row := rowOf(t, w, protection.LimitSite, 0)
		apptest.Same(t, "priced", []any{len(row.Pending), row.Use, row.Headroom}, []any{0, 13_000, 987_000})
		apptest.Same(t, "over", []any{overLimit(t, w, first.ID), overLimit(t, w, second.ID)}, []any{1000, 3000})
		apptest.Same(t, "events of the booking", eventsOf(t, w, protection.LimitBooking),
			append(crossed(b.ID, 8000, 80), crossed(b.ID, 13_000, 95, 100)...))
		apptest.Same(t, "events of payments", eventsOf(t, w, protection.LimitTransaction), crossed(first.ID, 8000, 80, 95, 100))
		review(t, w)
		apptest.Same(t, "events, again", len(eventsOf(t, w, protection.LimitBooking))+len(eventsOf(t, w, protection.LimitTransaction)), 6)
	})
}

// TestWhatANewLimitHasReportedIsNotReportedAgain: a payment logged before the review crosses levels of the new limit,
// above those that the booking had reached under the old one.
func TestWhatANewLimitHasReportedIsNotReportedAgain(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 100_000, "2024-09-14")
		w.Limit(protection.LimitBooking, 0, 100_000)
		w.Must(apptest.Report(payment.Purchase, b, 83_000))
		review(t, w)
		w.Limit(protection.LimitBooking, 0, 90_000)
		w.Must(apptest.Report(payment.Purchase, b, 7000))
		review(t, w)
		apptest.Same(t, "events", eventsOf(t, w, protection.LimitBooking), append(crossed(b.ID, 83_000, 80), crossed(b.ID, 90_000, 95, 100)...))
	})
}

// TestAMovedBookingReportsEachLevelOnce: all its payments are at risk again, each by a separate change.
func TestAMovedBookingReportsEachLevelOnce(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 120_000, "2024-06-25")
		w.Limit(protection.LimitBooking, 0, 100_000)
		for range 10 {
			w.Must(apptest.Report(payment.Purchase, b, 10_000))
		}
		settle(t, w)
		reported := append(crossed(b.ID, 80_000, 80), crossed(b.ID, 100_000, 95, 100)...)
		apptest.Same(t, "events of payments", eventsOf(t, w, protection.LimitBooking), reported)
		w.At("2024-06-30")
		settle(t, w)
		w.Move(b, *apptest.DayPtr(t, "2024-09-14"))
		settle(t, w)
		apptest.Same(t, "events after the move", eventsOf(t, w, protection.LimitBooking), append(reported, reported...))
	})
}

// TestANewDayWaitsForWhatWasLoggedBefore: if a clock is moved past the end of a trip, an earlier payment is still
// judged on its own day.
func TestANewDayWaitsForWhatWasLoggedBefore(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 100_000, "2024-06-10")
		w.Limit(protection.LimitSite, 0, 5000)
		settle(t, w)
		p := w.Must(apptest.Report(payment.Purchase, b, 9000))
		w.MoveClock(apptest.Began.AddDate(0, 1, 0))
		w.Advance(10 * time.Second) // long enough for the new day, while the job has not seen the payment yet
		settle(t, w)
		apptest.Same(t, "over", overLimit(t, w, p.ID), 4000)
		apptest.Same(t, "events", eventsOf(t, w, protection.LimitSite), crossed(0, 9000, 80, 95, 100))
		settle(t, w)
		apptest.Same(t, "use after the trip", rowOf(t, w, protection.LimitSite, 0).Use, 0)
	})
}

// review runs the job that judges existing objects by new limits.
func review(t *testing.T, w *apptest.World) {
	t.Helper()
	w.Advance(10 * time.Second)
	settlePieces(t, w)
}

// overLimit is how much of a payment is above a limit.
func overLimit(t *testing.T, w *apptest.World, id int64) int64 {
	t.Helper()
	return w.ReadTransaction(id).OverLimit
}
