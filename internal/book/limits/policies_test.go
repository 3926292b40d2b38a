package limits_test

import (
	"fmt"
	"testing"
	"time"

	"holdfast/internal/book/limits"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestUseFollowsTheRecognition: a trip under way counts by its end date and not by its start date. A policy from a
// later day, one from today, and the way back each include or exclude it, for limits of every scope.
func TestUseFollowsTheRecognition(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		policy := func(by terms.Recognition, from string) {
			t.Helper()
			w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, from), Recognition: &by})
		}
		policy(terms.RecognitionStartDate, "2024-06-01")
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		for _, scope := range protection.LimitScopes {
			w.Limit(scope, 0, 50_000)
		}
		away, later := w.Booking(c, 100_000, "2024-06-20"), w.Booking(c, 40_000, "2024-09-14")
		start := *apptest.DayPtr(t, "2024-06-02")
		if _, err := w.App.Bookings.Update(t.Context(), w.Actor, away.ID, booking.BookingFields{Start: &start}); err != nil {
			t.Fatal(err)
		}
		p := w.Must(apptest.Report(payment.Purchase, away, 100_000))
		w.Must(apptest.Report(payment.Purchase, later, 40_000))
		reported := map[protection.LimitScope][]string{}
		check := func(when string, use int64, rises bool) {
			t.Helper()
			settle(t, w)
			e1 := w.Exposure(report.ExposureQuery{Valuation: exposure.Locked}).Total.E1
			apptest.Same(t, when, []any{rowOf(t, w, protection.LimitSite, 0).Use, rowOf(t, w, protection.LimitChannel, c.ID).Use, e1},
				[]any{use, use, use})
			if rises { // the trip under way comes in: the site and the channel rise from 80 %
				reported[protection.LimitSite] = append(reported[protection.LimitSite], crossed(0, 140_000, 95, 100)...)
				reported[protection.LimitChannel] = append(reported[protection.LimitChannel], crossed(c.ID, 140_000, 95, 100)...)
				reported[protection.LimitBooking] = append(reported[protection.LimitBooking], crossed(away.ID, 100_000, 80, 95, 100)...)
				reported[protection.LimitTransaction] = append(reported[protection.LimitTransaction], crossed(p.ID, 100_000, 80, 95, 100)...)
			}
			for _, scope := range protection.LimitScopes {
				apptest.Same(t, when+": events of each "+string(scope), eventsOf(t, w, scope), reported[scope])
			}
		}
		reported[protection.LimitSite], reported[protection.LimitChannel] = crossed(0, 40_000, 80), crossed(c.ID, 40_000, 80)
		reported[protection.LimitBooking] = crossed(later.ID, 40_000, 80)
		reported[protection.LimitTransaction] = crossed(p.ID+1, 40_000, 80)
		check("by the start date", 40_000, false)
		policy(terms.RecognitionEndDate, "2024-06-04")
		check("before the day of the policy", 40_000, false)
		w.At("2024-06-04")
		check("by the end date", 140_000, true)
		policy(terms.RecognitionStartDate, "2024-06-04")
		check("back on the same day", 40_000, false)
		policy(terms.RecognitionEndDate, "2024-06-06")
		policy(terms.RecognitionStartDate, "2024-06-08")
		w.At("2024-06-09") // the job has slept: it goes through the days on which policies began
		reported[protection.LimitSite] = append(reported[protection.LimitSite], crossed(0, 140_000, 95, 100)...)
		reported[protection.LimitChannel] = append(reported[protection.LimitChannel], crossed(c.ID, 140_000, 95, 100)...)
		reported[protection.LimitBooking] = append(reported[protection.LimitBooking], crossed(away.ID, 100_000, 80, 95, 100)...)
		reported[protection.LimitTransaction] = append(reported[protection.LimitTransaction], crossed(p.ID, 100_000, 80, 95, 100)...)
		check("up and down again", 40_000, false)
		w.At("2024-06-21")
		policy(terms.RecognitionEndDate, "2024-06-21")
		check("after the trip", 40_000, false)
		apptest.Same(t, "no payment made it", overLimit(t, w, p.ID), 0)
	})
}

// TestUseIsE1LockedAfterAnyHistory: payments, adjustments, moved bookings, late rates, days and policies in any order; the
// use of each channel and of the site is always E1 locked of the report.
func TestUseIsE1LockedAfterAnyHistory(t *testing.T) {
	t.Parallel()
	var steps apptest.Steps
	policies := 0
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		for seed := range apptest.Histories(t, 2) {
			h := apptest.NewHistory(w, seed)
			h.NewBooking()
			for range 40 {
				h.Step()
				if h.Random.IntN(5) == 0 {
					from, by := h.Day(-3, 6), terms.Recognitions[h.Random.IntN(len(terms.Recognitions))]
					in := []money.Currency{"GBP", "EUR", "USD"}[h.Random.IntN(3)]
					w.Policy(terms.PolicyFields{From: &from, Recognition: &by, Currency: &in})
					policies++
				}
				if h.Random.IntN(8) == 0 {
					day := civil.DayOf(w.Now()) - civil.Day(h.Random.IntN(4))
					w.Fix(day.String(), map[money.Currency]string{"GBP": fmt.Sprintf("0.8%d", h.Random.IntN(100)), "USD": fmt.Sprintf("1.%d", 10+h.Random.IntN(10))})
				}
				if h.Random.IntN(4) == 0 {
					isE1Locked(t, w)
				}
			}
			w.Advance(20 * 24 * time.Hour)
			isE1Locked(t, w)
			steps.Add(h.Accepted())
		}
	})
	steps.WantAtLeast(t, apptest.Steps{Bookings: 4, Purchases: 20, Refunds: 1, Chargebacks: 1, Changes: 1})
	if policies < 10 {
		t.Errorf("%d policies", policies)
	}
}

// TestLimitsInANewCurrency: amounts priced under the old policy count against limits in the new currency, at spot: they
// follow the rates, per channel, for limits of every scope.
func TestLimitsInANewCurrency(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.50000"})
		c, other := w.Channel(merchant.ModeProtectionOnly, "GBP"), w.Channel(merchant.ModeProtectionOnly, "EUR")
		b, e := w.Booking(c, 100_000, "2024-09-14"), w.Booking(other, 100_000, "2024-09-14")
		w.Limit(protection.LimitSite, 0, 50_000)
		first := w.Must(apptest.Report(payment.Purchase, b, 10_000)) // GBP 100.00
		w.Must(apptest.Report(payment.Purchase, e, 4001))            // GBP 20.01, rounded up
		settle(t, w)
		apptest.Same(t, "in pounds", rowOf(t, w, protection.LimitSite, 0).Use, 12_001)
		euro := money.Currency("EUR")
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-06-04"), Currency: &euro})
		w.At("2024-06-04")
		settle(t, w)
		old := rowOf(t, w, protection.LimitSite, 0)
		apptest.Same(t, "the old limit", []any{old.Use, old.Currency, old.NotInForce != ""}, []any{12_001, "GBP", true})
		w.Limit(protection.LimitSite, 0, 40_000)
		w.Limit(protection.LimitChannel, c.ID, 22_000)
		w.Limit(protection.LimitBooking, 0, 25_000)
		w.Limit(protection.LimitTransaction, 0, 18_000)
		use := func(when string, site, channel int64) {
			t.Helper()
			settle(t, w)
			apptest.Same(t, when, []any{rowOf(t, w, protection.LimitSite, 0).Use, rowOf(t, w, protection.LimitChannel, c.ID).Use}, []any{site, channel})
		}
		use("in euros", 24_002, 20_000)
		review(t, w)
		apptest.Same(t, "existing bookings", eventsOf(t, w, protection.LimitBooking), crossed(b.ID, 20_000, 80))
		apptest.Same(t, "existing payments", eventsOf(t, w, protection.LimitTransaction), crossed(first.ID, 20_000, 80, 95, 100))
		apptest.Same(t, "over the limit of a payment", overLimit(t, w, first.ID), 2000)
		second := w.Must(apptest.Report(payment.Purchase, b, 4000)) // EUR 80.00
		apptest.Same(t, "over the booking's", []any{second.OverLimit, second.OverLimitCurrency}, []any{3000, "EUR"})
		use("with another payment", 32_002, 28_000)
		apptest.Same(t, "over the channel's", w.ReadTransaction(second.ID).OverLimit, 6000)
		apptest.Same(t, "events of the channel", eventsOf(t, w, protection.LimitChannel), append(crossed(c.ID, 20_000, 80), crossed(c.ID, 28_000, 95, 100)...))
		late := apptest.Report(payment.Purchase, b, 1000) // of before the policy: GBP 10.00, so EUR 20.00
		late.EffectiveAt = apptest.Began
		apptest.Same(t, "paid before the policy", w.Must(late).OverLimit, 2000)
		use("and a late one", 34_002, 30_000)
		apptest.Same(t, "events of the site", eventsOf(t, w, protection.LimitSite), crossed(0, 32_002, 80))
		w.Fix("2024-06-03", map[money.Currency]string{"GBP": "0.40000"}) // what was priced stays, but is worth more
		use("at another rate", 40_503, 35_500)
		apptest.Same(t, "events of the rate", eventsOf(t, w, protection.LimitSite)[1:], crossed(0, 40_503, 95, 100))
		pounds := money.Currency("GBP")
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-06-05"), Currency: &pounds})
		w.Limit(protection.LimitSite, 0, 1_000_000)
		w.At("2024-06-05")
		settle(t, w)
		w.Limit(protection.LimitSite, 0, 50_000)
		settle(t, w)
		apptest.Same(t, "in pounds again", rowOf(t, w, protection.LimitSite, 0).Use, 10_000+1000+2001+3200)
	})
}

// TestAUseWithoutARateIsNotKnown: amounts priced under the old policy cannot be converted.
func TestAUseWithoutARateIsNotKnown(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 100_000, "2024-09-14")
	w.Must(apptest.Report(payment.Purchase, b, 10_000))
	euro := money.Currency("EUR")
	w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-06-03"), Currency: &euro})
	w.Limit(protection.LimitSite, 0, 40_000)
	settle(t, w)
	row := rowOf(t, w, protection.LimitSite, 0)
	apptest.Same(t, "without a rate", []any{row.HasUse, row.NotInForce, row.Unknown != ""}, []any{false, "", true})
	w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.50000"})
	settle(t, w)
	row = rowOf(t, w, protection.LimitSite, 0)
	apptest.Same(t, "with one", []any{row.HasUse, row.Unknown, row.Use}, []any{true, "", 20_000})
}

// TestALineOfZeroIsKept: another recognition finds its amount undelivered.
func TestALineOfZeroIsKept(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		by := terms.RecognitionStartDate
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-06-01"), Recognition: &by})
		w.Limit(protection.LimitSite, 0, 50_000)
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 100_000, "2024-06-20")
		start := *apptest.DayPtr(t, "2024-06-02")
		if _, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, booking.BookingFields{Start: &start}); err != nil {
			t.Fatal(err)
		}
		w.Must(apptest.Report(payment.Purchase, b, 100_000))
		settle(t, w)
		by = terms.RecognitionEndDate
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-06-04"), Recognition: &by})
		settle(t, w)
		w.At("2024-06-04")
		settle(t, w)
		apptest.Same(t, "use", rowOf(t, w, protection.LimitSite, 0).Use, 100_000)
	})
}

// isE1Locked compares the uses of a site and its channels with the report of exposure.
func isE1Locked(t *testing.T, w *apptest.World) {
	t.Helper()
	if at := w.Now(); at.Sub(civil.DayOf(at).Start()) < 20*time.Second { // the job turns to a new day ten seconds after it
		w.Advance(20 * time.Second)
	}
	w.Limit(protection.LimitSite, 0, 100_000_000) // in the currency of today's policy
	w.Limit(protection.LimitChannel, 0, 100_000_000)
	settle(t, w) // takes what was logged on the days before
	settle(t, w)
	r := w.Exposure(report.ExposureQuery{Valuation: exposure.Locked})
	list, err := w.App.Limits.List(t.Context(), w.Actor, limits.LimitFilter{}, apptest.WholeList)
	if err != nil {
		t.Fatal(err)
	}
	got, want := map[string]int64{}, map[string]int64{}
	for _, row := range list.Items {
		got[fmt.Sprint(row.Scope, " ", row.ChannelID)] = row.Use
		want[fmt.Sprint(row.Scope, " ", row.ChannelID)] = r.Channels[row.ChannelID].E1
	}
	want["site 0"] = r.Total.E1
	apptest.Same(t, fmt.Sprintf("uses at %s", w.Now()), got, want)
}
