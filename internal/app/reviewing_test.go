package app_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// review lets the job judge what exists by the limits that are new.
func (w *world) review() {
	w.t.Helper()
	w.advance(10 * time.Second)
	w.settlePieces()
}

func (w *world) over(id int64) int64 {
	w.t.Helper()
	return w.readTransaction(id).OverLimit
}

// crossed is the events of one use, as w.events lists them.
func crossed(id, use int64, percents ...int) []string {
	var list []string
	for _, p := range percents {
		list = append(list, fmt.Sprintf("%d:%d%%=%d", id, p, use))
	}
	return list
}

// TestANewLimitIsJudgedByWhatExists: setting a limit below what there is shows at once, and each thing once.
func TestANewLimitIsJudgedByWhatExists(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.core.Pieces.Reviewed = 2
		c, other := w.channel(travel.ModeProtectionOnly, "GBP"), w.channel(travel.ModeProtectionOnly, "GBP")
		b, small, foreign := w.booking(c, 100_000, "2024-09-14"), w.booking(c, 100_000, "2024-09-14"), w.booking(other, 100_000, "2024-09-14")
		first, little := w.must(report(travel.Purchase, b, 40_000)), w.must(report(travel.Purchase, small, 1000))
		elsewhere, second := w.must(report(travel.Purchase, foreign, 90_000)), w.must(report(travel.Purchase, b, 30_000))
		w.must(linked(travel.Refund, first, b, 10_000)) // 60,000 are left
		test := w.booking(w.channel(travel.ModeTest, "GBP"), 100_000, "2024-09-14")
		w.must(report(travel.Purchase, test, 90_000))
		w.settle()
		w.limit(protection.LimitBooking, c.ID, 50_000)
		w.limit(protection.LimitTransaction, c.ID, 32_000)
		// What is logged before the job comes is judged at once, and not again.
		third := w.must(report(travel.Purchase, b, 5000))
		same(t, "logged since", third.OverLimit, 5000)
		w.review()
		same(t, "events of bookings", w.events(protection.LimitBooking), crossed(b.ID, 65_000, 80, 95, 100))
		same(t, "events of payments", w.events(protection.LimitTransaction),
			append(crossed(first.ID, 30_000, 80), crossed(second.ID, 30_000, 80)...))
		same(t, "over", []any{w.over(first.ID), w.over(second.ID), w.over(third.ID), w.over(little.ID), w.over(elsewhere.ID)},
			[]any{0, 10_000, 5000, 0, 0})
		w.review()
		same(t, "events, again", len(w.events(protection.LimitBooking)), 3)
		// A lower one: more lies above, and no level is new. One of every channel bounds the others alone.
		w.limit(protection.LimitBooking, c.ID, 20_000)
		w.limit(protection.LimitBooking, 0, 95_000)
		w.review()
		same(t, "over a lower one", []any{w.over(first.ID), w.over(second.ID), w.over(third.ID)}, []any{10_000, 30_000, 5000})
		same(t, "events then", w.events(protection.LimitBooking)[3:], crossed(foreign.ID, 90_000, 80))
		// The channel's own lifted, the general one bounds it, of which it stays below all levels.
		lift, scope := true, protection.LimitBooking
		if _, err := w.app.Limits.Set(t.Context(), w.actor, app.LimitFields{Scope: &scope, ChannelID: &c.ID, Lift: lift}); err != nil {
			t.Fatal(err)
		}
		w.limit(protection.LimitTransaction, 0, 100_000)
		w.review()
		same(t, "events after the lift", len(w.events(protection.LimitBooking)), 4)
		same(t, "events of payments after", w.events(protection.LimitTransaction)[2:], crossed(elsewhere.ID, 90_000, 80))
	})
}

// TestALimitFromALaterDayIsJudgedOnIt, and one that another one replaced before its turn is not.
func TestALimitFromALaterDayIsJudgedOnIt(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		b := w.booking(w.channel(travel.ModeProtectionOnly, "GBP"), 100_000, "2024-09-14")
		p := w.must(report(travel.Purchase, b, 40_000))
		scope, amount := protection.LimitBooking, int64(30_000)
		in := app.LimitFields{Scope: &scope, Amount: &amount, From: dayPtr(t, "2024-06-10")}
		if _, err := w.app.Limits.Set(t.Context(), w.actor, in); err != nil {
			t.Fatal(err)
		}
		w.review()
		same(t, "before the day", len(w.events(protection.LimitBooking)), 0)
		w.setClock(dayPtr(t, "2024-06-10").Start().Add(10 * time.Second))
		w.settlePieces()
		same(t, "on the day", w.events(protection.LimitBooking), crossed(b.ID, 40_000, 80, 95, 100))
		same(t, "over", w.over(p.ID), 10_000)
		w.limit(protection.LimitTransaction, 0, 45_000)
		w.limit(protection.LimitTransaction, 0, 35_000)
		w.review()
		same(t, "the later of two", w.events(protection.LimitTransaction), crossed(p.ID, 40_000, 80, 95, 100))
	})
}

// TestReviewsAreTheSameHoweverTheyRun: many processes review at once, and some are stopped half-way.
func TestReviewsAreTheSameHoweverTheyRun(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.core.Pieces.Reviewed = 3
		c := w.channel(travel.ModeProtectionOnly, "GBP")
		bookings := []travel.Booking{w.booking(c, 100_000, "2024-09-14"), w.booking(c, 100_000, "2024-09-14"), w.booking(c, 100_000, "2024-09-14")}
		for range 8 {
			for _, b := range bookings {
				w.must(report(travel.Purchase, b, 1000))
			}
		}
		w.settle()
		w.limit(protection.LimitBooking, 0, 5000)
		w.limit(protection.LimitTransaction, 0, 900)
		w.advance(10 * time.Second)
		var all sync.WaitGroup
		for n := range 4 {
			all.Go(func() {
				for i := range 12 {
					short, cancel := context.WithTimeout(t.Context(), time.Duration(i*(n+1))*time.Millisecond)
					_, _ = w.app.Limits.Settle(short) // wherever it stops: what it leaves behind counts
					cancel()
				}
			})
		}
		all.Wait()
		w.review()
		same(t, "events", []any{len(w.events(protection.LimitBooking)), len(w.events(protection.LimitTransaction))}, []any{3 * 3, 24 * 3})
		var over int64
		list, err := w.app.Payments.List(t.Context(), w.actor, travel.TransactionFilter{}, wholeList)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list.Items {
			over += p.OverLimit
		}
		// Of each booking 3,000 lie above its limit in whole payments; of the other five payments 100 each above theirs.
		same(t, "over", over, 3*3000+3*5*100)
	})
}

// TestWhatIsPricedLateIsJudgedThen: a payment that waits for its rate is above no limit, and is judged by those of its
// booking and its own when the rate arrives; each of several has its own part.
func TestWhatIsPricedLateIsJudgedThen(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.channel(travel.ModeProtectionOnly, "EUR")
		b := w.booking(c, 100_000, "2024-09-14")
		w.limit(protection.LimitBooking, 0, 10_000)
		w.limit(protection.LimitTransaction, 0, 7000)
		first, second := w.must(report(travel.Purchase, b, 16_000)), w.must(report(travel.Purchase, b, 10_000))
		w.review()
		same(t, "without a rate", []any{w.over(first.ID), w.over(second.ID), len(w.events(protection.LimitBooking))}, []any{0, 0, 0})
		w.fix("2024-05-31", map[money.Currency]string{"GBP": "0.50000"})
		w.settle()
		same(t, "over", []any{w.over(first.ID), w.over(second.ID)}, []any{1000, 3000})
		same(t, "events of the booking", w.events(protection.LimitBooking),
			append(crossed(b.ID, 8000, 80), crossed(b.ID, 13_000, 95, 100)...))
		same(t, "events of payments", w.events(protection.LimitTransaction), crossed(first.ID, 8000, 80, 95, 100))
		w.review()
		same(t, "events, again", len(w.events(protection.LimitBooking))+len(w.events(protection.LimitTransaction)), 6)
	})
}

// TestWhatANewLimitHasToldIsNotToldAgain: a payment that is logged before the review crosses levels of the new limit by
// itself, above those that the booking had reached on the old one.
func TestWhatANewLimitHasToldIsNotToldAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		b := w.booking(w.channel(travel.ModeProtectionOnly, "GBP"), 100_000, "2024-09-14")
		w.limit(protection.LimitBooking, 0, 100_000)
		w.must(report(travel.Purchase, b, 83_000))
		w.review()
		w.limit(protection.LimitBooking, 0, 90_000)
		w.must(report(travel.Purchase, b, 7000))
		w.review()
		same(t, "events", w.events(protection.LimitBooking), append(crossed(b.ID, 83_000, 80), crossed(b.ID, 90_000, 95, 100)...))
	})
}

// TestAMovedBookingTellsEachLevelOnce: all its payments are at risk again, each by a change of its own.
func TestAMovedBookingTellsEachLevelOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		b := w.booking(w.channel(travel.ModeProtectionOnly, "GBP"), 120_000, "2024-06-25")
		w.limit(protection.LimitBooking, 0, 100_000)
		for range 10 {
			w.must(report(travel.Purchase, b, 10_000))
		}
		w.settle()
		told := append(crossed(b.ID, 80_000, 80), crossed(b.ID, 100_000, 95, 100)...)
		same(t, "events of payments", w.events(protection.LimitBooking), told)
		w.at("2024-06-30")
		w.settle()
		w.move(b, *dayPtr(t, "2024-09-14"))
		w.settle()
		same(t, "events after the move", w.events(protection.LimitBooking), append(told, told...))
	})
}

// TestANewDayWaitsForWhatWasLoggedBefore: where a clock is moved over the end of a trip, a payment of just before is
// still judged on its own day.
func TestANewDayWaitsForWhatWasLoggedBefore(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		b := w.booking(w.channel(travel.ModeProtectionOnly, "GBP"), 100_000, "2024-06-10")
		w.limit(protection.LimitSite, 0, 5000)
		w.settle()
		p := w.must(report(travel.Purchase, b, 9000))
		w.moveClock(began.AddDate(0, 1, 0))
		w.advance(10 * time.Second) // long enough for the new day, while the job has not seen the payment yet
		w.settle()
		same(t, "over", w.over(p.ID), 4000)
		same(t, "events", w.events(protection.LimitSite), crossed(0, 9000, 80, 95, 100))
		w.settle()
		same(t, "use after the trip", w.row(protection.LimitSite, 0).Use, 0)
	})
}
