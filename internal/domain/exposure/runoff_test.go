package exposure_test

import (
	"math/big"
	"slices"
	"testing"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"

	"pgregory.net/rapid"
)

func runOff(t rapid.TB, q exposure.ReportQuery, book []protection.History, rates *fx.Table) exposure.RunOffReport {
	r := exposure.NewRunOff(q, rates)
	for _, h := range book {
		if h.Paid() > q.AsOf { // no position yet
			continue
		}
		if err := r.Add(exposure.HoldingOf(positionOf(h, q.AsOf), q)); err != nil {
			t.Fatal(err)
		}
		if err := r.AddPast(h); err != nil {
			t.Fatal(err)
		}
	}
	report, err := r.Report()
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestRunOffsFade: the first day equals the exposure report; E1 and E1 + E2 never grow; every later day is the exposure
// of the same positions then, at the same rates; half-life and mean life match a day-by-day computation.
func TestRunOffsFade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		book, q := drawBook(t, "GBP", "EUR", "JPY", "KWD"), drawQuery(t)
		rates := fx.NewTable([]fx.Fixing{ // nothing newer comes: the fixing of the first day is that of every day
			{Provider: fx.ECB, Currency: "GBP", Day: 19800, Rate: rate(t, "0.8123")},
			{Provider: fx.ECB, Currency: "JPY", Day: 19800, Rate: rate(t, "171.94")},
		})
		r := runOff(t, q, book, rates)
		reported := func(day civil.Day) exposure.Report {
			later := q
			later.AsOf = day
			return exposureOn(t, later, book, q.AsOf, rates)
		}
		on := func(day civil.Day) protection.Level {
			x := reported(day)
			return protection.Level{E1: x.Total.E1, E2: x.Total.E2}
		}
		days := []civil.Day{}
		for i, p := range r.Points {
			days = append(days, p.Day)
			if p.Total != on(p.Day) {
				t.Fatalf("%s: %+v, the exposure is %+v", p.Day, p.Total, on(p.Day))
			}
			if x := reported(p.Day); q.Valuation == exposure.Spot && p.Gaps != x.Gaps {
				t.Fatalf("%s: not known are %+v, of the exposure %+v", p.Day, p.Gaps, x.Gaps)
			}
			if i > 0 && (p.Total.E1 > r.Points[i-1].Total.E1 || p.Total.E1+p.Total.E2 > r.Points[i-1].Total.E1+r.Points[i-1].Total.E2+2*6) {
				t.Fatalf("%s: %+v grew from %+v", p.Day, p.Total, r.Points[i-1].Total)
			}
			for k, c := range p.By {
				if i > 0 && (c.E1 > r.Points[i-1].By[k].E1 || c.E1+c.E2 > r.Points[i-1].By[k].E1+r.Points[i-1].By[k].E2) {
					t.Fatalf("%s: %+v grew from %+v", p.Day, c, r.Points[i-1].By[k])
				}
			}
		}
		if !slices.IsSorted(days) || days[0] != q.AsOf || days[len(days)-1] < r.LastDay {
			t.Fatalf("the days are %v, the last one counts until %s", days, r.LastDay)
		}
		checkLives(t, r, on)
		checkPeak(t, r, q, book, rates)
	})
}

func checkLives(t *rapid.T, r exposure.RunOffReport, on func(civil.Day) protection.Level) {
	first := on(r.Query.AsOf).E1
	if first == 0 || r.Points[0].Gaps.E1 {
		if r.HalfLife != nil || r.MeanLife != nil || r.MeanLifeDays() != "" {
			t.Fatalf("nothing lives for %v, %v", r.HalfLife, r.MeanLife)
		}
		return
	}
	var half civil.Day
	area := new(big.Int)
	for day := r.Query.AsOf + 1; day <= r.LastDay+1; day++ {
		e1 := on(day).E1
		area.Add(area, big.NewInt(e1))
		if half == 0 && 2*e1 <= first {
			half = day
		}
	}
	if want := new(big.Rat).SetFrac(area, big.NewInt(first)); r.MeanLife.Cmp(want) != 0 || *r.HalfLife != half {
		t.Fatalf("half-life %s, mean life %s; want %s, %s", *r.HalfLife, r.MeanLife, half, want)
	}
}

func checkPeak(t *rapid.T, r exposure.RunOffReport, q exposure.ReportQuery, book []protection.History, rates *fx.Table) {
	best, gap := exposure.Peak{Day: q.AsOf, E1: r.Points[0].Total.E1}, r.Points[0].Gaps.E1
	for q.AsOf--; q.AsOf >= firstPaid-1; q.AsOf-- {
		x := exposureOn(t, q, book, q.AsOf, rates)
		gap = gap || x.Gaps.E1 && q.Valuation == exposure.Spot
		if e1 := x.Total.E1; e1 > best.E1 || e1 == best.E1 && e1 > 0 {
			best = exposure.Peak{Day: q.AsOf, E1: e1}
		}
	}
	best.Gap = gap
	if r.Peak != best {
		t.Fatalf("the peak is %d on %s, want %d on %s", r.Peak.E1, r.Peak.Day, best.E1, best.Day)
	}
}

// TestRunOffDays: 35 days, 26 weeks, then month ends until the last day of dispute.
func TestRunOffDays(t *testing.T) {
	q := exposure.ReportQuery{
		AsOf: civil.DayOf(time.Date(2016, 6, 30, 0, 0, 0, 0, time.UTC)), KnownAt: known, Currency: "GBP", Policy: "GBP", Valuation: exposure.Spot,
		Recognition: terms.RecognitionEndDate,
	}
	r := exposure.NewRunOff(q, fx.NewTable(nil))
	err := r.Add(exposure.Holding{
		Currency: "GBP", Remaining: 100, Covered: true, Allocations: 1,
		Terms: protection.Terms{Start: q.AsOf, End: q.AsOf + 200, LastDay: civil.DayOf(time.Date(2017, 5, 18, 0, 0, 0, 0, time.UTC))},
	})
	if err != nil {
		t.Fatal(err)
	}
	report, err := r.Report()
	if err != nil {
		t.Fatal(err)
	}
	var days []string
	for _, p := range report.Points {
		days = append(days, p.Day.String())
	}
	for i, want := range map[int]string{
		0: "2016-06-30", 1: "2016-07-01", 35: "2016-08-04", 36: "2016-08-11", 56: "2016-12-29", 57: "2016-12-31",
		58: "2017-01-31", 59: "2017-02-28", 62: "2017-05-31",
	} {
		if days[i] != want {
			t.Errorf("day %d is %s, want %s", i, days[i], want)
		}
	}
	if len(days) != 63 || report.HalfLife.String() != "2017-01-17" || report.MeanLifeDays() != "200.00" {
		t.Errorf("%d days, half-life %s, mean life %s", len(days), report.HalfLife, report.MeanLifeDays())
	}
	// A run-off that ends sooner shows the same grid, and one whose 26th week ends a month does not show it twice.
	q.AsOf = civil.DayOf(time.Date(2016, 7, 2, 0, 0, 0, 0, time.UTC))
	report, err = exposure.NewRunOff(q, fx.NewTable(nil)).Report()
	if err != nil || len(report.Points) != 57 || report.Points[56].Day.String() != "2016-12-31" || report.LastDay != q.AsOf {
		t.Errorf("%d days up to %s, %v", len(report.Points), report.Points[56].Day, err)
	}
}

// TestMeanLifeRounds once, half away from zero.
func TestMeanLifeRounds(t *testing.T) {
	for want, parts := range map[string][2]int64{"0.13": {1, 8}, "0.33": {1, 3}, "1.01": {201, 200}} {
		r := exposure.RunOffReport{MeanLife: big.NewRat(parts[0], parts[1])}
		if got := r.MeanLifeDays(); got != want {
			t.Errorf("%d/%d is shown as %s, want %s", parts[0], parts[1], got, want)
		}
	}
}

func ageing(t rapid.TB, q exposure.ReportQuery, book []protection.History, rates *fx.Table) exposure.AgeingReport {
	a := exposure.NewAgeing(q, rates)
	for _, h := range book {
		if h.Paid() > q.AsOf {
			continue
		}
		if err := a.Add(exposure.HoldingOf(positionOf(h, q.AsOf), q)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := a.Report()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAgeingsSumUp: the bands add up to E1, in each base currency exactly and in the report's with the rounding shown.
func TestAgeingsSumUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		book, q, rates := drawBook(t, "GBP", "EUR", "JPY", "KWD"), drawQuery(t), fixings(t)
		r, want := ageing(t, q, book, rates), exposureOn(t, q, book, q.AsOf, rates)
		sum, native := r.Rounding, map[string]int64{}
		for _, row := range r.Bands {
			sum += row.E1
			by := int64(0)
			for _, c := range row.By {
				by += c.E1Report
				native[string(c.Currency)] += c.E1
			}
			if by != row.E1 {
				t.Fatalf("%s is %d, its parts come to %d", row.Name, row.E1, by)
			}
		}
		if r.Total != want.Total.E1 || sum != r.Total || q.Valuation == exposure.Locked && r.Rounding != 0 {
			t.Fatalf("total %d with rounding %d, bands and rounding %d; E1 is %d", r.Total, r.Rounding, sum, want.Total.E1)
		}
		for _, row := range want.Rows {
			native[string(row.Currency)] -= row.E1
		}
		for c, difference := range native {
			if difference != 0 {
				t.Fatalf("%s differs from E1 by %d", c, difference)
			}
		}
	})
}

// TestAgeBands: by the days until the end, and trips that have begun.
func TestAgeBands(t *testing.T) {
	const today = 20000
	for _, c := range []struct {
		start, end civil.Day
		band       string
	}{
		{today, today, "in_travel"}, {today - 3, today, "in_travel"}, {today - 3, today + 40, "in_travel"},
		{today + 1, today + 1, "1-7"}, {today + 1, today + 7, "1-7"}, {today + 1, today + 8, "8-30"}, {today + 1, today + 30, "8-30"},
		{today + 1, today + 31, "31-60"}, {today + 1, today + 60, "31-60"}, {today + 1, today + 61, "61-90"},
		{today + 1, today + 90, "61-90"}, {today + 1, today + 91, "91-180"}, {today + 1, today + 180, "91-180"},
		{today + 1, today + 181, "181-365"}, {today + 1, today + 365, "181-365"}, {today + 1, today + 366, "over_365"},
	} {
		q := exposure.ReportQuery{AsOf: today, KnownAt: known, Currency: "GBP", Valuation: exposure.Spot}
		a := exposure.NewAgeing(q, fx.NewTable(nil))
		err := a.Add(exposure.Holding{
			Currency: "GBP", Allocations: 1, Remaining: 7, Covered: true,
			Terms: protection.Terms{Start: c.start, End: c.end, LastDay: c.end + 120},
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Report()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Bands {
			if (row.E1 == 7) != (row.Name == c.band) {
				t.Errorf("%d to %d: %s has %d", c.start-today, c.end-today, row.Name, row.E1)
			}
		}
	}
}
