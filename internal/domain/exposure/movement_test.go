package exposure_test

import (
	"testing"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"

	"pgregory.net/rapid"
)

func movement(t rapid.TB, q exposure.MovementQuery, book []protection.History, rates *fx.Table) exposure.MovementReport {
	m := exposure.NewMovement(q, rates, rates)
	for _, h := range book {
		if err := m.Add(h); err != nil {
			t.Fatal(err)
		}
	}
	r, err := m.Report()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// left is the difference by which a movement does not close.
func left(f exposure.Flows) protection.Level {
	sum := f.Closing.Minus(f.Opening).Minus(f.Revaluation)
	for _, c := range protection.Causes {
		sum = sum.Minus(f.Of(c))
	}
	return sum
}

// native is the total movement in base currency. In a locked valuation the rows lack amounts without a rate.
func native(r exposure.MovementReport) (list []exposure.Apart) {
	for _, row := range r.Rows {
		list = append(list, exposure.Apart{Currency: row.Currency, Flows: row.Flows})
	}
	if r.Query.Valuation == exposure.Locked {
		list = append(list, r.PendingRate...)
	}
	return list
}

// TestMovementsClose: after any history, in base currency and in the report's; opening and closing equal the exposure
// reports of the two days; there is no revaluation at locked rates, or if the base currency is the report's.
func TestMovementsClose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		book, rates := drawBook(t, "GBP", "EUR", "JPY", "USD", "KWD"), fixings(t)
		q := exposure.MovementQuery{ReportQuery: drawQuery(t)}
		q.From = q.AsOf - civil.Day(rapid.Int64Range(0, 700).Draw(t, "days"))
		r := movement(t, q, book, rates)
		for _, row := range append(native(r), exposure.Apart{Currency: "GBP", Flows: r.Total}) {
			if left(row.Flows) != (protection.Level{}) {
				t.Fatalf("%s is open by %+v: %+v", row.Currency, left(row.Flows), row.Flows)
			}
		}
		if q.Valuation == exposure.Locked && r.Total.Revaluation != (protection.Level{}) {
			t.Fatalf("locked, and revalued by %+v", r.Total.Revaluation)
		}
		opening := q.ReportQuery
		opening.AsOf = q.From
		for _, end := range []struct {
			query exposure.ReportQuery
			level func(exposure.Flows) protection.Level
			gaps  exposure.Gaps
		}{
			{opening, func(f exposure.Flows) protection.Level { return f.Opening }, r.Gaps.Opening},
			{q.ReportQuery, func(f exposure.Flows) protection.Level { return f.Closing }, r.Gaps.Closing},
		} {
			want := exposureOn(t, end.query, book, end.query.AsOf, rates)
			if got := end.level(r.Total); got != (protection.Level{E1: want.Total.E1, E2: want.Total.E2}) {
				t.Fatalf("%s: %+v, the exposure is %+v", end.query.AsOf, got, want.Total)
			}
			if end.gaps != want.Gaps && q.Valuation == exposure.Spot {
				t.Fatalf("%s: not known are %+v, of the exposure %+v", end.query.AsOf, end.gaps, want.Gaps)
			}
			differences := map[money.Currency]protection.Level{}
			for _, row := range want.Rows {
				differences[row.Currency] = differences[row.Currency].Plus(protection.Level{E1: row.E1, E2: row.E2})
			}
			for _, p := range want.PendingRate {
				if q.Valuation == exposure.Locked {
					differences[p.Currency] = differences[p.Currency].Plus(protection.Level{E1: p.E1, E2: p.E2})
				}
			}
			for _, row := range native(r) {
				differences[row.Currency] = differences[row.Currency].Minus(end.level(row.Flows))
			}
			for c, difference := range differences {
				if difference != (protection.Level{}) {
					t.Fatalf("%s: %s differs from the exposure by %+v", end.query.AsOf, c, difference)
				}
			}
		}
	})
}

// TestMovementsAddUp: from a to b and on to c is from a to c, line by line in base currency and at locked rates.
func TestMovementsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		book, rates := drawBook(t, "GBP", "EUR", "JPY"), fixings(t)
		whole := exposure.MovementQuery{ReportQuery: drawQuery(t)}
		whole.From = whole.AsOf - civil.Day(rapid.Int64Range(0, 700).Draw(t, "days"))
		first, second := whole, whole
		first.AsOf -= civil.Day(rapid.Int64Range(0, int64(whole.AsOf-whole.From)).Draw(t, "split"))
		second.From = first.AsOf
		ab, bc, ac := movement(t, first, book, rates), movement(t, second, book, rates), movement(t, whole, book, rates)
		if ab.Total.Opening != ac.Total.Opening || ab.Total.Closing != bc.Total.Opening || bc.Total.Closing != ac.Total.Closing {
			t.Fatalf("%+v and %+v do not join to %+v", ab.Total, bc.Total, ac.Total)
		}
		sums := map[money.Currency][]protection.Level{}
		take := func(c money.Currency, f exposure.Flows, sign int64) {
			if sums[c] == nil {
				sums[c] = make([]protection.Level, len(protection.Causes))
			}
			for i, cause := range protection.Causes {
				sums[c][i] = sums[c][i].Plus(protection.Level{E1: sign * f.Of(cause).E1, E2: sign * f.Of(cause).E2})
			}
		}
		for r, sign := range map[*exposure.MovementReport]int64{&ab: 1, &bc: 1, &ac: -1} {
			for _, row := range native(*r) {
				take(row.Currency, row.Flows, sign)
			}
			if whole.Valuation == exposure.Locked {
				take("", r.Total, sign)
			}
		}
		for c, list := range sums {
			for i, difference := range list {
				if difference != (protection.Level{}) {
					t.Fatalf("%q %s: the parts differ from the whole by %+v", c, protection.Causes[i], difference)
				}
			}
		}
	})
}

// TestSpotMovesAsLockedInThePolicyCurrency: if K = Q, every line is the same in both valuations.
func TestSpotMovesAsLockedInThePolicyCurrency(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		book := drawBook(t, "GBP")
		for i := range book {
			book[i].PricedAt, book[i].Quote = book[i].RecordedAt, quote(t, "GBP")
		}
		q := exposure.MovementQuery{ReportQuery: drawQuery(t)}
		q.From = q.AsOf - 100
		q.Valuation = exposure.Spot
		spot := movement(t, q, book, fixings(t))
		q.Valuation = exposure.Locked
		if locked := movement(t, q, book, fixings(t)); spot.Total != locked.Total {
			t.Fatalf("spot %+v, locked %+v", spot.Total, locked.Total)
		}
	})
}

// TestWhatBelongsToWhichLine shows the rule with ambiguous cases.
func TestWhatBelongsToWhichLine(t *testing.T) {
	const paid, from, to = 20000, 20010, 20030
	in := func(end, last, effective civil.Day) protection.DatedTerms {
		return protection.DatedTerms{
			Terms: protection.Terms{Start: end, End: end, LastDay: last}, EffectiveAt: effective.Start(), RecordedAt: effective.Start(),
		}
	}
	event := func(kind payment.TransactionType, amount int64, day civil.Day) protection.Event {
		return protection.Event{Kind: kind, Amount: amount, EffectiveAt: day.Start()}
	}
	type causes map[protection.Cause]protection.Level
	base := protection.Allocation{Currency: "GBP", Amount: 100, EffectiveAt: civil.Day(paid).Start(), Decision: protection.Decision{
		Protected: true, CoverFrom: civil.Day(paid).Start(),
	}}
	late := base
	late.Decision.CoverFrom = civil.Day(20020).End()
	for name, c := range map[string]struct {
		history protection.History
		want    causes
	}{
		"paid before, delivered now": {
			protection.History{Allocation: base, Terms: []protection.DatedTerms{in(20015, 20100, paid)}},
			causes{protection.CauseDelivered: {E1: -100, E2: 100}},
		},
		"delivered and over in one": {
			protection.History{Allocation: base, Terms: []protection.DatedTerms{in(20015, 20020, paid)}},
			causes{protection.CauseDelivered: {E1: -100, E2: 100}, protection.CauseExpired: {E2: -100}},
		},
		"over before the trip, by the cap": {
			protection.History{Allocation: base, Terms: []protection.DatedTerms{in(20100, 20020, paid)}},
			causes{protection.CauseExpired: {E1: -100}},
		},
		"over before the trip, with the days of both gone by": {
			protection.History{Allocation: base, Terms: []protection.DatedTerms{in(20025, 20020, paid)}},
			causes{protection.CauseExpired: {E1: -100}},
		},
		"covered late, with a refund before and one after": {
			protection.History{
				Allocation: late, Terms: []protection.DatedTerms{in(20050, 20200, paid)},
				Events: []protection.Event{event(payment.Refund, 30, 20015), event(payment.Refund, 20, 20020)},
			},
			causes{protection.CauseNew: {E1: 70}, protection.CauseRefunded: {E1: -20}},
		},
		"moved while it was not covered": {
			protection.History{Allocation: late, Terms: []protection.DatedTerms{in(20012, 20200, paid), in(20050, 20200, 20015)}},
			causes{protection.CauseNew: {E1: 100}},
		},
		"moved back out of the tail": {
			protection.History{Allocation: base, Terms: []protection.DatedTerms{in(20005, 20100, paid), in(20050, 20200, 20015)}},
			causes{protection.CauseReDated: {E1: 100, E2: -100}},
		},
		"moved back in when it was over": {
			protection.History{Allocation: base, Terms: []protection.DatedTerms{in(20001, 20005, paid), in(20050, 20200, 20015)}},
			causes{protection.CauseReDated: {E1: 100}},
		},
		"moved out": {
			protection.History{Allocation: base, Terms: []protection.DatedTerms{in(20050, 20200, paid), in(20001, 20005, 20015)}},
			causes{protection.CauseReDated: {E1: -100}},
		},
		"moved on the day after its end: time comes first": {
			protection.History{Allocation: base, Terms: []protection.DatedTerms{in(20014, 20200, paid), in(20050, 20200, 20015)}},
			causes{protection.CauseDelivered: {E1: -100, E2: 100}, protection.CauseReDated: {E1: 100, E2: -100}},
		},
		"more back than there was": {
			protection.History{
				Allocation: base, Terms: []protection.DatedTerms{in(20050, 20200, paid)},
				Events: []protection.Event{
					event(payment.Refund, 80, 20012), event(payment.Chargeback, 50, 20013), event(payment.ChargebackReversal, 50, 20014),
				},
			},
			causes{protection.CauseRefunded: {E1: -80}, protection.CauseChargedBack: {E1: -20}, protection.CauseReversed: {E1: 20}},
		},
	} {
		q := exposure.MovementQuery{From: from, ReportQuery: exposure.ReportQuery{
			AsOf: to, KnownAt: known, Currency: "GBP", Policy: "GBP", Valuation: exposure.Spot, Recognition: terms.RecognitionEndDate,
		}}
		r := movement(t, q, []protection.History{c.history}, fixings(t))
		for _, cause := range protection.Causes {
			if got := r.Total.Of(cause); got != c.want[cause] {
				t.Errorf("%s: %s is %+v, want %+v", name, cause, got, c.want[cause])
			}
		}
	}
}

// TestRevaluationTakesWhatRatesLeave: the opening is at the first day's fixing, the rest at the last day's.
func TestRevaluationTakesWhatRatesLeave(t *testing.T) {
	rates := fx.NewTable([]fx.Fixing{
		{Provider: fx.ECB, Day: 19999, Currency: "GBP", Rate: rate(t, "0.8")},
		{Provider: fx.ECB, Day: 20020, Currency: "GBP", Rate: rate(t, "0.9")},
	})
	book := make([]protection.History, 2)
	for i, amount := range []int64{1000, 555} { // the second is paid on the way
		day := civil.Day(20000 + 15*i)
		book[i] = protection.History{
			Allocation: protection.Allocation{
				Currency: "EUR", Amount: amount, EffectiveAt: day.Start(), Decision: protection.Decision{Protected: true, CoverFrom: day.Start()},
			},
			Terms: []protection.DatedTerms{{Terms: protection.Terms{Start: 20050, End: 20050, LastDay: 20170}}},
		}
	}
	q := exposure.MovementQuery{From: 20010, ReportQuery: exposure.ReportQuery{
		AsOf: 20030, KnownAt: known, Currency: "GBP", Policy: "GBP", Valuation: exposure.Spot,
	}}
	r := movement(t, q, book, rates)
	got := []int64{r.Total.Opening.E1, r.Total.Of(protection.CauseNew).E1, r.Total.Revaluation.E1, r.Total.Closing.E1}
	for i, want := range []int64{800, 500, 100, 1400} { // round(499.5) is 500, and round(1399.5) 1400
		if got[i] != want {
			t.Fatalf("opening, new, revaluation, closing: %v", got)
		}
	}
}
