package app_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/dbtest"
	"holdfast/internal/travel"
)

func dayPtr(t testing.TB, s string) *civil.Day {
	t.Helper()
	d, err := civil.ParseDay(s)
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

// TestTheWorkedPayment follows the first worked line of the rules from the payment to its last day of dispute.
func TestTheWorkedPayment(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
		w.fix("2024-06-28", map[money.Currency]string{"GBP": "0.84638"})
		b := w.booking(w.channel(travel.ModeProtectionOnly, "EUR"), 60000, "2024-09-14")
		w.must(report(travel.Purchase, b, 60000))
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
			for _, v := range protection.Valuations {
				r := w.exposure(app.ExposureQuery{Moment: app.Moment{AsOf: dayPtr(t, c.day)}, Valuation: v})
				var e1, e2 int64
				for _, row := range r.Rows {
					e1, e2 = e1+row.E1, e2+row.E2
				}
				want := c.spot1
				if v == protection.Locked {
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
	onBoth(t, func(t *testing.T, w *world) {
		w.fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
		c := w.channel(travel.ModeProtectionOnly, "EUR")
		b := w.booking(c, 60000, "2024-09-14")
		p := w.must(report(travel.Purchase, b, 60000))
		known := w.now()
		w.advance(10 * time.Second)
		asOf := dayPtr(t, "2024-06-04")
		before := w.exposure(app.ExposureQuery{Moment: app.Moment{AsOf: asOf, KnownAt: known}})
		if !before.Final || before.Total.E1 != 51219 {
			t.Fatalf("final %v, total %d", before.Final, before.Total.E1)
		}
		w.must(linked(travel.Refund, p, b, 10000))
		w.must(report(travel.Purchase, b, 10000))
		end, country, name := *dayPtr(t, "2024-06-03"), "ES", "Renamed"
		if _, err := w.app.Bookings.Update(t.Context(), w.actor, b.ID, travel.BookingFields{End: &end, Country: &country}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.app.Channels.Change(t.Context(), w.actor, c.ID, travel.ChannelFields{Name: &name}); err != nil {
			t.Fatal(err)
		}
		w.fix("2024-06-04", map[money.Currency]string{"GBP": "0.90000"})
		after := w.exposure(app.ExposureQuery{Moment: app.Moment{AsOf: asOf, KnownAt: known}})
		if after.Total != before.Total || after.ChannelNames[c.ID] != before.ChannelNames[c.ID] || len(after.Rows) != 1 {
			t.Errorf("before %+v %v, after %+v %v", before.Total, before.ChannelNames, after.Total, after.ChannelNames)
		}
		now := w.exposure(app.ExposureQuery{Moment: app.Moment{AsOf: asOf}})
		if now.Final || now.Total.E1 != 0 || now.Total.E2 != 54000 || now.ChannelNames[c.ID] != name {
			t.Errorf("now %+v, final %v, %v", now.Total, now.Final, now.ChannelNames)
		}
	})
}

// TestARateThatArrivesLate prices what waited for it, by the same rule, and nothing else.
func TestARateThatArrivesLate(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		b := w.booking(w.channel(travel.ModeProtectionOnly, "EUR"), 100000, "2024-09-14")
		w.fix("2024-05-26", map[money.Currency]string{"GBP": "0.50000"}) // more than 7 days before the payment
		p := w.must(report(travel.Purchase, b, 60000))
		locked := app.ExposureQuery{Valuation: protection.Locked}
		if r := w.exposure(locked); r.Total.E1 != 0 || len(r.PendingRate) != 1 || r.PendingRate[0].E1 != 60000 {
			t.Fatalf("total %+v, pending %+v", r.Total, r.PendingRate)
		}
		known := w.now()
		w.advance(time.Hour)
		w.fix("2024-06-03", map[money.Currency]string{"GBP": "0.70000"}) // of the day itself: does not count for it
		if r := w.exposure(locked); len(r.PendingRate) != 1 {
			t.Fatalf("priced by a fixing of the day of the payment: %+v", r)
		}
		w.fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
		if r := w.exposure(locked); r.Total.E1 != 51219 || len(r.PendingRate) != 0 {
			t.Fatalf("total %+v, pending %+v", r.Total, r.PendingRate)
		}
		locked.KnownAt = known
		if r := w.exposure(locked); r.Total.E1 != 0 || len(r.PendingRate) != 1 {
			t.Fatalf("what was known then: total %+v, pending %+v", r.Total, r.PendingRate)
		}
		// One that is nearer, but later on file, changes what is priced no more.
		w.advance(time.Hour)
		w.fix("2024-06-02", map[money.Currency]string{"GBP": "0.99999"})
		x, err := w.app.Protection.Explain(t.Context(), w.actor, p.ID, app.ProtectionQuery{})
		if err != nil {
			t.Fatal(err)
		}
		if a := x.Allocations[0]; a.Value != 51219 || a.Quote.ToLeg.Day.String() != "2024-05-31" {
			t.Errorf("value %d by %s", a.Value, a.Quote.ToLeg.Day)
		}
	})
}

func TestWhatIsNotProtectedStandsApart(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		draft, test := w.channel(travel.ModeDraft, "GBP"), w.channel(travel.ModeTest, "GBP")
		live := w.channel(travel.ModeProtectionOnly, "GBP")
		w.must(report(travel.Purchase, w.booking(draft, 1000, "2024-09-14"), 300))
		simulated := w.must(report(travel.Purchase, w.booking(test, 1000, "2024-09-14"), 500))
		b := w.booking(live, 1000, "2024-09-14")
		transfer := report(travel.Purchase, b, 40)
		transfer.Method = travel.BankTransfer
		w.must(transfer)
		taken := report(travel.Purchase, b, 2)
		taken.EffectiveAt = w.now().Add(-96 * time.Hour)
		late := w.must(taken)
		if len(late.Flags) != 1 || late.Flags[0] != travel.FlagLateLogged {
			t.Errorf("flags %v", late.Flags)
		}
		r := w.exposure(app.ExposureQuery{})
		if r.Total.E1 != 2 || len(r.Uncovered) != 1 || r.Uncovered[0].E1 != 340 {
			t.Errorf("total %+v, uncovered %+v", r.Total, r.Uncovered)
		}
		// Cover is never backdated: the day before it was logged the payment was there, without cover.
		r = w.exposure(app.ExposureQuery{Moment: app.Moment{AsOf: dayPtr(t, "2024-06-02")}})
		if r.Total.E1 != 0 || len(r.Uncovered) != 1 || r.Uncovered[0].E1 != 2 {
			t.Errorf("before cover: total %+v, uncovered %+v", r.Total, r.Uncovered)
		}
		x, err := w.app.Protection.Explain(t.Context(), w.actor, simulated.ID, app.ProtectionQuery{})
		if err != nil || !x.Allocations[0].Decision.Simulated || !x.Allocations[0].Decision.Protected {
			t.Errorf("%+v, %v", x, err)
		}
	})
}

// TestTheRestOfTheWorkedLines: a refund, a moved booking, a refund after it, at the locked rate.
func TestTheRestOfTheWorkedLines(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.setClock(time.Date(2024, 4, 9, 12, 0, 0, 0, time.UTC))
		w.fix("2024-04-08", map[money.Currency]string{"GBP": "0.85795"})
		b := w.booking(w.channel(travel.ModeProtectionOnly, "EUR"), 120000, "2024-08-31")
		p := w.must(report(travel.Purchase, b, 120000))
		check := func(day, end, last string, locked int64) {
			t.Helper()
			r := w.exposure(app.ExposureQuery{Moment: app.Moment{AsOf: dayPtr(t, day)}, Valuation: protection.Locked})
			x, err := w.app.Protection.Explain(t.Context(), w.actor, p.ID, app.ProtectionQuery{Moment: app.Moment{AsOf: dayPtr(t, day)}})
			if err != nil {
				t.Fatal(err)
			}
			a := x.Allocations[0]
			if r.Total.E1+r.Total.E2 != locked || a.Terms.End != *dayPtr(t, end) || a.Terms.LastDay != *dayPtr(t, last) {
				t.Errorf("%s: %d pence, D %s, L %s", day, r.Total.E1+r.Total.E2, a.Terms.End, a.Terms.LastDay)
			}
		}
		check("2024-04-09", "2024-08-31", "2024-12-29", 102954)
		w.setClock(time.Date(2024, 5, 2, 12, 0, 0, 0, time.UTC))
		w.must(linked(travel.Refund, p, b, 30000))
		check("2024-05-02", "2024-08-31", "2024-12-29", 77216)
		w.setClock(time.Date(2024, 6, 1, 12, 0, 0, 0, time.UTC))
		end := *dayPtr(t, "2024-11-30")
		if _, err := w.app.Bookings.Update(t.Context(), w.actor, b.ID, travel.BookingFields{End: &end}); err != nil {
			t.Fatal(err)
		}
		check("2024-06-01", "2024-11-30", "2025-03-30", 77216)
		check("2024-05-31", "2024-08-31", "2024-12-29", 77216) // the day before, it was not moved yet
		w.setClock(time.Date(2024, 12, 5, 12, 0, 0, 0, time.UTC))
		w.must(linked(travel.Refund, p, b, 10000))
		check("2024-12-05", "2024-11-30", "2025-03-30", 68636)
		x, err := w.app.Protection.Explain(t.Context(), w.actor, p.ID, app.ProtectionQuery{})
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
	w := newWorld(t, dbtest.SQLite(t))
	for field, q := range map[string]app.ExposureQuery{
		"currency":  {Currency: "EUR", Valuation: protection.Locked},
		"known_at":  {Moment: app.Moment{KnownAt: w.now().Add(time.Second)}},
		"by":        {By: "weather"},
		"valuation": {Valuation: "guess"},
	} {
		_, err := w.app.Exposure.Report(t.Context(), w.actor, q)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestDoubleRecovery(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		b := w.booking(w.channel(travel.ModeProtectionOnly, "GBP"), 1000, "2024-09-14")
		p := w.must(report(travel.Purchase, b, 1000))
		w.must(linked(travel.Refund, p, b, 800))
		c := w.must(linked(travel.Chargeback, p, b, 500))
		if len(c.Flags) != 1 || c.Flags[0] != travel.FlagDoubleRecovery {
			t.Errorf("flags %v", c.Flags)
		}
		x, err := w.app.Protection.Explain(t.Context(), w.actor, c.ID, app.ProtectionQuery{})
		if err != nil {
			t.Fatal(err)
		}
		if a := x.Allocations[0]; !x.Adjusted || a.Remaining != 0 || a.Amounts.DoubleRecovery() != 300 {
			t.Errorf("adjusted %v, %d remain, double recovery %d", x.Adjusted, a.Remaining, a.Amounts.DoubleRecovery())
		}
	})
}
