package report_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestTheWorkedPayment follows the first worked line of the rules from the payment to its last day of dispute.
func TestTheWorkedPayment(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
		w.Fix("2024-06-28", map[money.Currency]string{"GBP": "0.84638"})
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 60000, "2024-09-14")
		w.Must(apptest.Report(payment.Purchase, b, 60000))
		for _, c := range []struct {
			day                    string
			e1, e2, locked1, spot1 int64
		}{
			{"2024-06-02", 0, 0, 0, 0},
			{"2024-06-03", 60000, 0, 51219, 51219},
			{"2024-06-28", 60000, 0, 51219, 50783},
			{"2024-09-14", 60000, 0, 51219, 50783},
			{"2024-09-15", 0, 60000, 0, 0},
			{"2025-01-12", 0, 60000, 0, 0},
			{"2025-01-13", 0, 0, 0, 0},
		} {
			for _, v := range exposure.Valuations {
				r := w.Exposure(report.ExposureQuery{Moment: ledger.Moment{AsOf: apptest.DayPtr(t, c.day)}, Valuation: v})
				var e1, e2 int64
				for _, row := range r.Rows {
					e1, e2 = e1+row.E1, e2+row.E2
				}
				want := c.spot1
				if v == exposure.Locked {
					want = c.locked1
				}
				if e1 != c.e1 || e2 != c.e2 || r.Total.E1 != want {
					t.Errorf("%s %s: E1 %d, E2 %d, in pence %d; want %d, %d, %d", c.day, v, e1, e2, r.Total.E1, c.e1, c.e2, want)
				}
			}
		}
	})
}

// TestAPastReportStays: what is logged later changes no report about what was known before.
func TestAPastReportStays(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		b := w.Booking(c, 60000, "2024-09-14")
		p := w.Must(apptest.Report(payment.Purchase, b, 60000))
		known := w.Now()
		w.Advance(10 * time.Second)
		asOf := apptest.DayPtr(t, "2024-06-04")
		before := w.Exposure(report.ExposureQuery{Moment: ledger.Moment{AsOf: asOf, KnownAt: known}})
		if !before.Final || before.Total.E1 != 51219 {
			t.Fatalf("final %v, total %d", before.Final, before.Total.E1)
		}
		w.Must(apptest.Linked(payment.Refund, p, b, 10000))
		w.Must(apptest.Report(payment.Purchase, b, 10000))
		end, country, name := *apptest.DayPtr(t, "2024-06-03"), "ES", "Renamed"
		if _, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, booking.BookingFields{End: &end, Country: &country}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.App.Channels.Change(t.Context(), w.Actor, c.ID, merchant.ChannelFields{Name: &name}); err != nil {
			t.Fatal(err)
		}
		w.Fix("2024-06-04", map[money.Currency]string{"GBP": "0.90000"})
		after := w.Exposure(report.ExposureQuery{Moment: ledger.Moment{AsOf: asOf, KnownAt: known}})
		if after.Total != before.Total || after.ChannelNames[c.ID] != before.ChannelNames[c.ID] || len(after.Rows) != 1 {
			t.Errorf("before %+v %v, after %+v %v", before.Total, before.ChannelNames, after.Total, after.ChannelNames)
		}
		behind := int64(0)
		for _, d := range details(t, w, report.DetailsQuery{ExposureQuery: report.ExposureQuery{Moment: ledger.Moment{AsOf: asOf, KnownAt: known}}}) {
			behind += d.E1Report
		}
		if behind != before.Total.E1 {
			t.Errorf("its details add up to %d, not to %d", behind, before.Total.E1)
		}
		now := w.Exposure(report.ExposureQuery{Moment: ledger.Moment{AsOf: asOf}})
		if now.Final || now.Total.E1 != 0 || now.Total.E2 != 54000 || now.ChannelNames[c.ID] != name {
			t.Errorf("now %+v, final %v, %v", now.Total, now.Final, now.ChannelNames)
		}
	})
}

// TestARateThatArrivesLate prices the waiting allocations, by the same rule, and nothing else.
func TestARateThatArrivesLate(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 100000, "2024-09-14")
		w.Fix("2024-05-26", map[money.Currency]string{"GBP": "0.50000"}) // more than 7 days before the payment
		p := w.Must(apptest.Report(payment.Purchase, b, 60000))
		locked := report.ExposureQuery{Valuation: exposure.Locked}
		if r := w.Exposure(locked); r.Total.E1 != 0 || len(r.PendingRate) != 1 || r.PendingRate[0].E1 != 60000 {
			t.Fatalf("total %+v, pending %+v", r.Total, r.PendingRate)
		}
		limitUse := func() (use int64, gap bool) {
			t.Helper()
			x, err := w.App.Exposure.WhatIf(t.Context(), w.Actor, report.EstimateQuery{})
			if err != nil || len(x.Channels) != 1 || x.Channels[0].Use != x.Use || x.Channels[0].UseGap != x.UseGap {
				t.Fatalf("%+v, %v", x, err)
			}
			return x.Use, x.UseGap
		}
		if use, gap := limitUse(); use != 0 || !gap {
			t.Errorf("without a rate the use of limits is %d, and unknown: %t", use, gap)
		}
		known := w.Now()
		w.Advance(time.Hour)
		w.Fix("2024-06-03", map[money.Currency]string{"GBP": "0.70000"}) // of the day itself: does not count for it
		if r := w.Exposure(locked); len(r.PendingRate) != 1 {
			t.Fatalf("priced by a fixing of the day of the payment: %+v", r)
		}
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
		if r := w.Exposure(locked); r.Total.E1 != 51219 || len(r.PendingRate) != 0 {
			t.Fatalf("total %+v, pending %+v", r.Total, r.PendingRate)
		}
		if use, gap := limitUse(); use != 51219 || gap {
			t.Errorf("with a rate the use of limits is %d, and unknown: %t", use, gap)
		}
		locked.KnownAt = known
		if r := w.Exposure(locked); r.Total.E1 != 0 || len(r.PendingRate) != 1 {
			t.Fatalf("what was known then: total %+v, pending %+v", r.Total, r.PendingRate)
		}
		// A closer rate that is recorded later does not change prices any more.
		w.Advance(time.Hour)
		w.Fix("2024-06-02", map[money.Currency]string{"GBP": "0.99999"})
		x, err := w.App.Protection.Explain(t.Context(), w.Actor, p.ID, report.ProtectionQuery{})
		if err != nil {
			t.Fatal(err)
		}
		if a := x.Allocations[0]; a.Value != 51219 || a.Quote.ToLeg.Day.String() != "2024-05-31" {
			t.Errorf("value %d by %s", a.Value, a.Quote.ToLeg.Day)
		}
	})
}

// TestAFixingCountsForAWeek: a fixing of seven days before the payment still prices it.
func TestAFixingCountsForAWeek(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 100000, "2024-09-14")
		w.Fix("2024-05-27", map[money.Currency]string{"GBP": "0.50000"})
		w.Must(apptest.Report(payment.Purchase, b, 60000)) // on 2024-06-03
		if r := w.Exposure(report.ExposureQuery{Valuation: exposure.Locked}); r.Total.E1 != 30000 || len(r.PendingRate) != 0 {
			t.Errorf("total %+v, pending %+v", r.Total, r.PendingRate)
		}
	})
}

func TestUnprotectedIsSeparate(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		draft, test := w.Channel(merchant.ModeDraft, "GBP"), w.Channel(merchant.ModeTest, "GBP")
		live := w.Channel(merchant.ModeProtectionOnly, "GBP")
		w.Must(apptest.Report(payment.Purchase, w.Booking(draft, 1000, "2024-09-14"), 300))
		simulated := w.Must(apptest.Report(payment.Purchase, w.Booking(test, 1000, "2024-09-14"), 500))
		b := w.Booking(live, 1000, "2024-09-14")
		transfer := apptest.Report(payment.Purchase, b, 40)
		transfer.Method = payment.BankTransfer
		w.Must(transfer)
		taken := apptest.Report(payment.Purchase, b, 2)
		taken.EffectiveAt = w.Now().Add(-96 * time.Hour)
		late := w.Must(taken)
		if len(late.Flags) != 1 || late.Flags[0] != payment.FlagLateLogged {
			t.Errorf("flags %v", late.Flags)
		}
		r := w.Exposure(report.ExposureQuery{})
		if r.Total.E1 != 2 || len(r.Uncovered) != 1 || r.Uncovered[0].E1 != 340 {
			t.Errorf("total %+v, uncovered %+v", r.Total, r.Uncovered)
		}
		// Cover is never backdated: the day before it was logged the payment was there, without cover.
		r = w.Exposure(report.ExposureQuery{Moment: ledger.Moment{AsOf: apptest.DayPtr(t, "2024-06-02")}})
		if r.Total.E1 != 0 || len(r.Uncovered) != 1 || r.Uncovered[0].E1 != 2 {
			t.Errorf("before cover: total %+v, uncovered %+v", r.Total, r.Uncovered)
		}
		x, err := w.App.Protection.Explain(t.Context(), w.Actor, simulated.ID, report.ProtectionQuery{})
		if err != nil || !x.Allocations[0].Decision.Simulated || !x.Allocations[0].Decision.Protected {
			t.Errorf("%+v, %v", x, err)
		}
	})
}

// TestTheRestOfTheWorkedLines: a refund, a moved booking, a refund after it, at the locked rate.
func TestTheRestOfTheWorkedLines(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.SetClock(time.Date(2024, 4, 9, 12, 0, 0, 0, time.UTC))
		w.Fix("2024-04-08", map[money.Currency]string{"GBP": "0.85795"})
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 120000, "2024-08-31")
		p := w.Must(apptest.Report(payment.Purchase, b, 120000))
		check := func(day, end, last string, locked int64) {
			t.Helper()
			r := w.Exposure(report.ExposureQuery{Moment: ledger.Moment{AsOf: apptest.DayPtr(t, day)}, Valuation: exposure.Locked})
			x, err := w.App.Protection.Explain(t.Context(), w.Actor, p.ID, report.ProtectionQuery{Moment: ledger.Moment{AsOf: apptest.DayPtr(t, day)}})
			if err != nil {
				t.Fatal(err)
			}
			a := x.Allocations[0]
			if r.Total.E1+r.Total.E2 != locked || a.Terms.End != *apptest.DayPtr(t, end) || a.Terms.LastDay != *apptest.DayPtr(t, last) {
				t.Errorf("%s: %d pence, D %s, L %s", day, r.Total.E1+r.Total.E2, a.Terms.End, a.Terms.LastDay)
			}
		}
		check("2024-04-09", "2024-08-31", "2024-12-29", 102954)
		w.SetClock(time.Date(2024, 5, 2, 12, 0, 0, 0, time.UTC))
		w.Must(apptest.Linked(payment.Refund, p, b, 30000))
		check("2024-05-02", "2024-08-31", "2024-12-29", 77216)
		w.SetClock(time.Date(2024, 6, 1, 12, 0, 0, 0, time.UTC))
		end := *apptest.DayPtr(t, "2024-11-30")
		if _, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, booking.BookingFields{End: &end}); err != nil {
			t.Fatal(err)
		}
		check("2024-06-01", "2024-11-30", "2025-03-30", 77216)
		check("2024-05-31", "2024-08-31", "2024-12-29", 77216) // the day before, it was not moved yet
		w.SetClock(time.Date(2024, 12, 5, 12, 0, 0, 0, time.UTC))
		w.Must(apptest.Linked(payment.Refund, p, b, 10000))
		check("2024-12-05", "2024-11-30", "2025-03-30", 68636)
		x, err := w.App.Protection.Explain(t.Context(), w.Actor, p.ID, report.ProtectionQuery{})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, step := range x.Allocations[0].Steps {
			text.WriteString(step.Rule + " " + step.Name + ": " + step.Text + "\n")
		}
		for _, want := range []string{"R2 protected", "R3 N", "R4 U", "R5 L", "R6 state", "0.85795", "2024-04-08", "= 102954"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("the explanation lacks %q:\n%s", want, text.String())
			}
		}
		if n := len(x.Allocations[0].History); n != 2 {
			t.Errorf("%d terms are kept, want 2", n)
		}
	})
}

func TestExposureRefusesWhatItCannotAnswer(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	for field, q := range map[string]report.ExposureQuery{
		"currency":  {Currency: "EUR", Valuation: exposure.Locked},
		"known_at":  {Moment: ledger.Moment{KnownAt: w.Now().Add(time.Second)}},
		"by":        {By: "weather"},
		"valuation": {Valuation: "guess"},
	} {
		_, err := w.App.Exposure.Report(t.Context(), w.Actor, q)
		if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestDoubleRecovery(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 1000, "2024-09-14")
		p := w.Must(apptest.Report(payment.Purchase, b, 1000))
		w.Must(apptest.Linked(payment.Refund, p, b, 800))
		c := w.Must(apptest.Linked(payment.Chargeback, p, b, 500))
		if len(c.Flags) != 1 || c.Flags[0] != payment.FlagDoubleRecovery {
			t.Errorf("flags %v", c.Flags)
		}
		x, err := w.App.Protection.Explain(t.Context(), w.Actor, c.ID, report.ProtectionQuery{})
		if err != nil {
			t.Fatal(err)
		}
		if a := x.Allocations[0]; !x.Adjusted || a.Remaining != 0 || a.Amounts.DoubleRecovery() != 300 {
			t.Errorf("adjusted %v, %d remain, double recovery %d", x.Adjusted, a.Remaining, a.Amounts.DoubleRecovery())
		}
	})
}

// TestInstalmentsByTheLetter: E4 counts whatever payment remains, protected or not, and the channels that are protected on
// the day of the report alone, by every grouping, from the sums and from the rows.
func TestInstalmentsByTheLetter(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c, other := w.Channel(merchant.ModeProtectionOnly, "EUR"), w.Channel(merchant.ModeProtectionOnly, "EUR")
		for _, of := range []merchant.Channel{c, other} {
			in := apptest.Report(payment.Purchase, w.Booking(of, 100000, "2024-12-14"), 30000)
			in.Method = payment.BankTransfer // not protected, but it indicates that the rest will be paid
			w.Must(in)
		}
		e4 := func(when string, day string, want int64) {
			t.Helper()
			for _, by := range []exposure.Dimension{"channel", "month", "currency", "country", "supplier"} {
				q := report.ExposureQuery{Moment: ledger.Moment{AsOf: apptest.DayPtr(t, day), KnownAt: w.Now()}, By: by, Currency: "EUR"}
				sums := w.Exposure(q)
				w.Advance(time.Microsecond)
				rows := w.Exposure(q)
				for from, r := range map[string]report.ExposureReport{"sums": sums, "rows": rows} {
					var inRows int64
					for _, row := range r.Rows {
						inRows += row.E4
					}
					if r.Memo.E4 != want || inRows != want {
						t.Errorf("%s, %s by %s from the %s: E4 %d, in rows %d, want %d", when, day, by, from, r.Memo.E4, inRows, want)
					}
				}
			}
		}
		w.At("2024-06-10")
		e4("both are protected", "2024-06-10", 140000)
		locked := true
		if _, err := w.App.Channels.Change(t.Context(), w.Actor, c.ID, merchant.ChannelFields{Locked: &locked}); err != nil {
			t.Fatal(err)
		}
		e4("one is locked", "2024-06-10", 70000)
		e4("one is locked", "2024-06-09", 140000) // it was not yet
		w.At("2024-06-20")
		for more := true; more; {
			var err error
			if more, err = w.App.Buckets.Fold(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		e4("one is locked, and all is folded", "2024-06-20", 70000)
	})
}
