package report_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/rates"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/terms"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// keptReports requests every kind of cached report, each with several settings.
func keptReports(e *report.Exposure, w *apptest.World, channels []int64) (map[string]any, error) {
	ctx := context.Background()
	found := map[string]any{}
	today := civil.DayOf(w.Now())
	for name, q := range map[string]report.ExposureQuery{
		"by default":   {},
		"by month":     {By: exposure.ByMonth},
		"crossed":      {By: exposure.ByMonth, Across: exposure.ByCountry},
		"locked":       {Valuation: exposure.Locked},
		"in euros":     {Currency: "EUR"},
		"one channel":  {Scope: exposure.Scope{Channels: channels}},
		"yesterday":    {Moment: ledger.Moment{AsOf: new(today - 1)}},
		"in a month":   {Moment: ledger.Moment{AsOf: new(today + 30)}},
		"a country":    {Scope: exposure.Scope{Countries: []string{"PT"}}},
		"a minute ago": {Moment: ledger.Moment{KnownAt: w.Now().Add(-time.Minute)}},
	} {
		var err error
		if found[name], err = e.Report(ctx, w.Actor, q); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if name != "one channel" && name != "by default" {
			continue
		}
		if found["run-off "+name], err = e.RunOff(ctx, w.Actor, q); err != nil {
			return nil, fmt.Errorf("run-off %s: %w", name, err)
		}
		if found["ageing "+name], err = e.Ageing(ctx, w.Actor, q); err != nil {
			return nil, fmt.Errorf("ageing %s: %w", name, err)
		}
	}
	return found, nil
}

// keptSteps change what reports depend on, one thing each.
func keptSteps(t *testing.T, w *apptest.World, h *apptest.History) []struct {
	what string
	do   func() error
} {
	ctx, day := t.Context(), civil.DayOf(w.Now())
	name, amount, currency, kind := "Another name", int64(5000), money.Currency("GBP"), exposure.CollateralKind("cash")
	rate, reference, expires := "0.5", "deal 1", w.Now().Add(time.Hour)
	dollars := money.Currency("USD")
	paid := func() error {
		before := h.Accepted().Purchases
		for h.Accepted().Purchases == before {
			h.Pay()
		}
		return nil
	}
	return []struct {
		what string
		do   func() error
	}{
		{"nothing", func() error { return nil }},
		{"a payment", paid},
		{"a fold", func() error { h.FoldSome(ctx, 3); return nil }},
		{"a payment after it", paid},
		{"adjustments", func() error { h.Adjust(); h.Adjust(); h.Adjust(); return nil }},
		{"a changed booking", func() error { h.Change(); h.Change(); h.Change(); return nil }},
		{"a locked channel", func() error { h.Lock(); return nil }},
		{"a rate", func() error { w.Fix("2024-06-02", map[money.Currency]string{"JPY": "160", "USD": "1.09"}); return nil }},
		{"a quote that expires", func() error {
			_, err := w.App.Rates.Quote(ctx, w.Actor, rates.QuoteFields{
				Currency: &dollars, Day: &day, Rate: &rate, QuoteID: &reference, Expires: &expires, Reason: "x",
			})
			return err
		}},
		{"its end", func() error { w.SetClock(expires); return nil }},
		{"collateral", func() error {
			_, err := w.App.Collaterals.Add(ctx, w.Actor, ledger.CollateralFields{Kind: &kind, Currency: &currency, Amount: &amount})
			return err
		}},
		{"another name", func() error {
			_, err := w.App.Channels.Change(ctx, w.Actor, h.Channels[0].ID, merchant.ChannelFields{Name: &name})
			return err
		}},
		{"a new channel", func() error { w.Channel(merchant.ModeProtectionOnly, "GBP"); return nil }},
		{"a policy", func() error {
			recognition := terms.RecognitionStartDate
			from := civil.DayOf(w.Now()) + 1
			w.Policy(terms.PolicyFields{From: &from, Recognition: &recognition})
			return nil
		}},
		{"midnight", func() error { w.SetClock((civil.DayOf(w.Now()) + 1).Start()); return nil }},
		{"a moved clock", func() error { w.MoveClock(w.Now().Add(40 * 24 * time.Hour)); return nil }},
		{"linear delivery", func() error {
			recognition := terms.RecognitionLinear
			from := civil.DayOf(w.Now()) + 1
			w.Policy(terms.PolicyFields{From: &from, Recognition: &recognition})
			return nil
		}},
		{"its first day", func() error { w.Advance(24 * time.Hour); return nil }},
		{"a payment, delivered day by day", paid},
	}
}

// TestKeptReportsAreRight: whatever changes, in any process, the next report equals the one of a process without a
// cache.
func TestKeptReportsAreRight(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		other := apptest.Over(t, w, dbtest.Open(t, w.URL, w.Now))
		h := apptest.NewHistory(w, 5)
		h.NewBooking()
		for range 30 {
			h.Step()
		}
		channels := []int64{h.Channels[0].ID}
		var before map[string]any
		changed := 0
		for _, step := range keptSteps(t, w, h) {
			if err := step.do(); err != nil {
				t.Fatalf("%s: %v", step.what, err)
			}
			other.Actor = w.Actor
			other.SetClock(w.Now())
			want, err := keptReports(report.NewExposure(w.App.DB), w, channels)
			if err != nil {
				t.Fatalf("%s: %v", step.what, err)
			}
			if !reflect.DeepEqual(want, before) {
				changed++
			}
			before = want
			for who, world := range map[string]*apptest.World{"the process that changed it": w, "another process": other} {
				got, err := keptReports(world.App.Exposure, world, channels)
				if err != nil {
					t.Fatalf("%s: %v", step.what, err)
				}
				for name := range want {
					if !reflect.DeepEqual(got[name], want[name]) {
						t.Errorf("after %s, %s says %s:\n%+v\nand not\n%+v", step.what, who, name, got[name], want[name])
					}
				}
			}
		}
		if changed < 14 {
			t.Errorf("%d steps changed a report: they show too little", changed)
		}
	})
}

// TestAKeptReportAsksOnce: while nothing changes, a report takes one statement, and has the current known_at.
func TestAKeptReportAsksOnce(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 1000, "2024-07-20")
		w.Must(apptest.Report(payment.Purchase, b, 1000))
		for _, ask := range []func() time.Time{
			func() time.Time { return w.Exposure(report.ExposureQuery{By: exposure.ByMonth}).Query.KnownAt },
			func() time.Time { return w.RunOff(report.ExposureQuery{}).Query.KnownAt },
			func() time.Time { return w.Ageing(report.ExposureQuery{}).Query.KnownAt },
		} {
			ask()
			w.Advance(time.Minute)
			ran := dbtest.Statements(w.App.DB.Store, func() {
				if known := ask(); !known.Equal(w.Now()) {
					t.Errorf("the report is about %s and not about %s", known, w.Now())
				}
			})
			if len(ran) != 1 {
				t.Errorf("%d statements: %+v", len(ran), ran)
			}
		}
	})
}

// TestAFoldAndAsManyPayments: between two reports, as many new deltas arrive as were folded.
func TestAFoldAndAsManyPayments(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		h := apptest.NewHistory(w, 1)
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		for want := int64(1); want <= 3; want++ {
			w.Must(apptest.Report(payment.Purchase, w.Booking(c, 1000, "2024-07-20"), 1000))
			if got := w.Exposure(report.ExposureQuery{}).Total.Allocations; got != want {
				t.Errorf("%d payments are at risk, and not %d", got, want)
			}
			h.FoldSome(t.Context(), 100)
		}
	})
}
