package claim_test

import (
	"testing"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/fx"

	"pgregory.net/rapid"
)

// TestWorkedRunOff holds the worked run-off of deadlines of R13.
func TestWorkedRunOff(t *testing.T) {
	a := allocation(t, nil)
	value := func(amount int64) (int64, error) {
		return claim.InPolicyCurrency(amount, a.Quote, fx.Quote{From: "GBP", To: "GBP"})
	}
	r := claim.NewRunOff(civil.Date(2026, 6, 10))
	for _, taken := range [][]claim.Taken{{{Day: civil.Date(2026, 7, 15), Payable: 60_000}}, nil} {
		if err := r.Add(*a.Line, taken, value); err != nil {
			t.Fatal(err)
		}
	}
	want := map[civil.Day][2]int64{
		civil.Date(2026, 6, 10): {0, 170_000}, civil.Date(2026, 7, 14): {0, 170_000}, civil.Date(2026, 7, 15): {51_000, 119_000},
		civil.Date(2026, 11, 4): {51_000, 119_000}, civil.Date(2026, 11, 11): {51_000, 0},
	}
	for _, p := range r.Points() {
		if w, ok := want[p.Day]; ok && (p.Payable != w[0] || p.Open != w[1]) {
			t.Errorf("%s: payable %d, open %d, want %v", p.Day, p.Payable, p.Open, w)
		}
		delete(want, p.Day)
	}
	if len(want) != 0 {
		t.Errorf("not a day of the run-off: %v", want)
	}
}

// TestRunOffOfDeadlines: payable amounts only rise, open ones only fall, and in the end nothing is open.
func TestRunOffOfDeadlines(t *testing.T) {
	first := civil.Date(2026, 6, 10)
	rapid.Check(t, func(t *rapid.T) {
		r := claim.NewRunOff(first)
		var undelivered, payable int64
		for range rapid.IntRange(0, 4).Draw(t, "lines") {
			l := claim.SnapshotLine{
				Undelivered: rapid.Int64Range(1, 1_000).Draw(t, "undelivered"), LastDay: first + civil.Day(rapid.IntRange(0, 400).Draw(t, "last day")),
			}
			undelivered += l.Undelivered
			var taken []claim.Taken
			day, left := first, l.Undelivered
			for range rapid.IntRange(0, 3).Draw(t, "claims") {
				day += civil.Day(rapid.IntRange(0, 100).Draw(t, "days"))
				amount := rapid.Int64Range(0, left).Draw(t, "payable")
				taken, left, payable = append(taken, claim.Taken{Day: min(day, l.LastDay), Payable: amount}), left-amount, payable+amount
			}
			if err := r.Add(l, taken, func(amount int64) (int64, error) { return amount, nil }); err != nil {
				t.Fatal(err)
			}
		}
		points := r.Points()
		for i, p := range points {
			if p.Payable+p.Open > undelivered || i > 0 && (p.Payable < points[i-1].Payable || p.Open > points[i-1].Open) {
				t.Fatalf("%+v", points)
			}
		}
		if end := points[len(points)-1]; end.Payable != payable || end.Open != 0 {
			t.Fatalf("ends with %+v, payable are %d", end, payable)
		}
	})
}
