package exposure_test

import (
	"testing"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"

	"pgregory.net/rapid"
)

var recognitions = []terms.Recognition{terms.RecognitionEndDate, terms.RecognitionStartDate, terms.RecognitionLinear}

func drawAmounts(t *rapid.T) protection.Amounts {
	amount := rapid.Int64Range(0, check.MaxAmount)
	return protection.Amounts{
		Allocated: amount.Draw(t, "allocated"), Refunded: amount.Draw(t, "refunded"),
		ChargedBack: amount.Draw(t, "charged back"), Reversed: amount.Draw(t, "reversed"),
	}
}

func drawTerms(t *rapid.T, paid civil.Day) protection.Terms {
	start := paid + civil.Day(rapid.Int64Range(-400, 400).Draw(t, "start"))
	end := start + civil.Day(rapid.Int64Range(0, 400).Draw(t, "length"))
	scheme := rapid.SampledFrom(card.Schemes).Draw(t, "scheme")
	return protection.Terms{
		Start: start, End: end, LastDay: protection.ShippedRulepacks().On(paid).Window(scheme).LastDay(paid, end),
	}
}

// TestRemainingIsBounded: N is within [0, a], and amounts cut off by the bounds are double recovery.
func TestRemainingIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAmounts(t)
		n := a.Remaining(10, 10)
		if n < 0 || n > a.Allocated {
			t.Fatalf("N = %d outside [0, %d]", n, a.Allocated)
		}
		free := a.Allocated - a.Refunded - a.ChargedBack + a.Reversed
		if cut := max(free-n, n-free); a.DoubleRecovery() != cut {
			t.Fatalf("double recovery %d, want %d", a.DoubleRecovery(), cut)
		}
		if a.Remaining(10, 9) != 0 {
			t.Fatal("something remains before the payment")
		}
	})
}

// TestUndeliveredFades: U is within [0, N], never grows from day to day, and linear never exceeds end-date.
func TestUndeliveredFades(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, check.MaxAmount).Draw(t, "n")
		in := drawTerms(t, 20000)
		by := rapid.SampledFrom(recognitions).Draw(t, "recognition")
		d := civil.Day(rapid.Int64Range(19000, 22000).Draw(t, "day"))
		u, next := in.Undelivered(n, d, by), in.Undelivered(n, d+1, by)
		if u < 0 || u > n || next > u {
			t.Fatalf("U = %d of %d, then %d", u, n, next)
		}
		if linear := in.Undelivered(n, d, terms.RecognitionLinear); linear > in.Undelivered(n, d, terms.RecognitionEndDate) {
			t.Fatalf("linear %d exceeds end-date", linear)
		}
		if in.Undelivered(n, in.End+1, by) != 0 {
			t.Fatal("something is undelivered after the end")
		}
	})
}

func drawPosition(t *rapid.T, id int64) exposure.Position {
	paid := civil.Day(rapid.Int64Range(19900, 20100).Draw(t, "paid"))
	a := drawAmounts(t)
	a.Allocated = a.Allocated%1_000_000 + 1
	a.Refunded %= 1_200_000
	a.ChargedBack %= 600_000
	a.Reversed %= 600_000
	return exposure.Position{
		AllocationID: id, BookingID: id + 1, BookingTotal: rapid.Int64Range(0, 2_000_000).Draw(t, "total"), ChannelID: rapid.Int64Range(1, 3).Draw(t, "channel"), Currency: "GBP", Scheme: card.Visa,
		Paid: paid, Amounts: a, Terms: drawTerms(t, paid), Protected: rapid.Bool().Draw(t, "protected"),
		CoverFrom: paid.Start(), Priced: true, Quote: fx.Quote{From: "GBP", To: "GBP"},
	}
}

// TestExposureSums: rows add up to the total for every dimension; E1 + E2 is the sum of N up to L; spot equals locked
// if the base currency is the policy's; the order of the positions does not matter.
func TestExposureSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []exposure.Position
		for i := range rapid.Int64Range(0, 12).Draw(t, "positions") {
			list = append(list, drawPosition(t, i))
		}
		q := exposure.ReportQuery{
			AsOf: civil.Day(rapid.Int64Range(19850, 20600).Draw(t, "as of")), Currency: "GBP", Policy: "GBP",
			Recognition: rapid.SampledFrom(recognitions).Draw(t, "recognition"),
		}
		q.KnownAt = q.AsOf.End()
		var n int64
		for _, p := range list {
			if p.Protected && q.AsOf <= p.Terms.LastDay && p.Paid <= q.AsOf {
				n += p.Amounts.Remaining(p.Paid, q.AsOf)
			}
		}
		for _, by := range exposure.Dimensions {
			for _, valuation := range exposure.Valuations {
				q.By, q.Valuation = by, valuation
				checkSums(t, q, list, n)
			}
		}
	})
}

func checkSums(t *rapid.T, q exposure.ReportQuery, list []exposure.Position, n int64) {
	r := report(t, q, list)
	var e1, e2 int64
	for _, row := range r.Rows {
		e1 += row.E1Report
		e2 += row.E2Report
		if row.E1 != row.E1Report || row.E2 != row.E2Report {
			t.Fatalf("%s %s: %+v differs from its own currency", q.By, q.Valuation, row)
		}
	}
	if e1 != r.Total.E1 || e2 != r.Total.E2 || r.Rounding != (exposure.Rounding{}) {
		t.Fatalf("%s %s: rows come to %d and %d, total %+v", q.By, q.Valuation, e1, e2, r.Total)
	}
	if e1+e2 != n {
		t.Fatalf("%s %s: E1 + E2 = %d, the sum of N is %d", q.By, q.Valuation, e1+e2, n)
	}
	apart := map[money.Currency]exposure.Memo{}
	for _, row := range r.Rows {
		apart[row.Currency] = exposure.Memo{E4: apart[row.Currency].E4 + row.E4, E5: apart[row.Currency].E5 + row.E5}
	}
	for _, p := range r.Instalments {
		apart[p.Currency] = exposure.Memo{E4: apart[p.Currency].E4 - p.E1, E5: apart[p.Currency].E5}
	}
	for _, p := range r.Uncovered {
		apart[p.Currency] = exposure.Memo{E4: apart[p.Currency].E4, E5: apart[p.Currency].E5 - p.E1}
	}
	for currency, left := range apart {
		if left != (exposure.Memo{}) {
			t.Fatalf("%s %s: E4 and E5 of the rows in %s differ from the total by %+v", q.By, q.Valuation, currency, left)
		}
	}
	backwards := make([]exposure.Position, len(list))
	for i, p := range list {
		backwards[len(list)-1-i] = p
	}
	if other := report(t, q, backwards); other.Total != r.Total || len(other.Rows) != len(r.Rows) {
		t.Fatalf("%s %s: another order, another report", q.By, q.Valuation)
	}
}

func report(t *rapid.T, q exposure.ReportQuery, list []exposure.Position) exposure.Report {
	e := exposure.NewExposure(q, fx.NewTable(nil))
	for _, p := range list {
		if err := e.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	r, err := e.Report()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSpotRoundsSubtotals: by channel each subtotal is rounded once and the total is their sum; by other dimensions the
// rows round separately, and the difference is shown.
func TestSpotRoundsSubtotals(t *testing.T) {
	table := fx.NewTable([]fx.Fixing{{Provider: fx.ECB, Day: 19999, Currency: "GBP", Rate: rate(t, "0.5")}})
	q := exposure.ReportQuery{AsOf: 20000, Currency: "GBP", Policy: "GBP", Valuation: exposure.Spot}
	q.KnownAt = q.AsOf.End()
	for by, want := range map[exposure.Dimension]struct{ rows, rounding int64 }{
		exposure.ByChannel: {3, 0}, // three times half a penny, each rounded up
		exposure.ByScheme:  {2, 1}, // one and a half, rounded up once
	} {
		q.By = by
		e := exposure.NewExposure(q, table)
		for channel := range int64(3) {
			for _, protected := range []bool{true, false} {
				if err := e.Add(exposure.Position{
					BookingID: channel + 1, BookingTotal: 3, ChannelID: channel, Currency: "EUR", Paid: 20000, Scheme: card.Visa, Protected: protected,
					Amounts: protection.Amounts{Allocated: 1}, Terms: protection.Terms{Start: 20010, End: 20010, LastDay: 20130},
				}); err != nil {
					t.Fatal(err)
				}
			}
		}
		report, err := e.Report()
		if err != nil {
			t.Fatal(err)
		}
		var rows int64
		for _, row := range report.Rows {
			rows += row.E1Report
		}
		// Each channel has three half pennies: one protected, one not, and one not paid yet.
		if want := (exposure.Memo{E4: 3, E5: 3}); *report.Memo != want || report.Rounding.E4 != report.Rounding.E1 || report.Rounding.E5 != report.Rounding.E1 {
			t.Errorf("by %s: E4 and E5 %+v, rounding %+v", by, *report.Memo, report.Rounding)
		}
		if report.Total.E1 != 3 || rows != want.rows || report.Rounding.E1 != want.rounding {
			t.Errorf("by %s: total %d, rows %d, rounding %d", by, report.Total.E1, rows, report.Rounding.E1)
		}
	}
}

// TestExposureShowsApart: uncovered amounts are only in E5, and not in the total. With a missing rate the total is
// unknown: the rows have the amount in base currency at spot, and lack it at locked rates.
func TestExposureShowsApart(t *testing.T) {
	q := exposure.ReportQuery{AsOf: 20000, Currency: "GBP", Policy: "GBP", Valuation: exposure.Spot}
	q.KnownAt = q.AsOf.End()
	base := exposure.Position{
		Currency: "USD", Paid: 20000, Protected: true, CoverFrom: q.AsOf.Start(), Amounts: protection.Amounts{Allocated: 700},
		Terms: protection.Terms{Start: 20010, End: 20010, LastDay: 20130},
	}
	unprotected, later := base, base
	unprotected.Protected = false
	later.CoverFrom = q.AsOf.End().Add(1)
	for _, valuation := range exposure.Valuations {
		q.Valuation = valuation
		e := exposure.NewExposure(q, fx.NewTable(nil))
		for _, p := range []exposure.Position{base, unprotected, later} {
			if err := e.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		r, err := e.Report()
		if err != nil {
			t.Fatal(err)
		}
		row, unknown := exposure.Figures{}, exposure.Gaps{E1: true}
		if valuation == exposure.Spot {
			row = exposure.Figures{Allocations: 1, E1: 700}
		}
		if len(r.Rows) != 1 || r.Rows[0].Figures != row || r.Rows[0].Memo != (exposure.Memo{E5: 1400}) || r.Total.E1 != 0 ||
			r.Gaps != unknown || r.Subtotals[0].Gaps != r.Rows[0].Gaps || (r.Rows[0].Gaps == unknown) != (valuation == exposure.Spot) {
			t.Errorf("%s: rows %+v, total %+v, not known %+v", valuation, r.Rows, r.Total, r.Gaps)
		}
		if spot := valuation == exposure.Spot; (r.Memo != nil) != spot || r.MemoGaps != (exposure.MemoGaps{E5: spot}) {
			t.Errorf("%s: memo %+v, not known %+v", valuation, r.Memo, r.MemoGaps)
		}
		if len(r.PendingRate) != 1 || r.PendingRate[0].E1 != 700 || len(r.Uncovered) != 1 || r.Uncovered[0].E1 != 1400 {
			t.Errorf("%s: pending %+v, uncovered %+v", valuation, r.PendingRate, r.Uncovered)
		}
	}
}
