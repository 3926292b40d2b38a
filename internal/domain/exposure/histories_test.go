package exposure_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"

	"pgregory.net/rapid"
)

// known is the known_at of all reports here: after everything in the histories.
var known = civil.Date(2030, time.January, 1).Start()

// The book of the histories is between these days.
const firstPaid, lastPaid = 19900, 20100

func drawHistory(t *rapid.T, id int64, currencies []money.Currency) protection.History {
	paid := civil.Day(rapid.Int64Range(firstPaid, lastPaid).Draw(t, "paid"))
	instant := func(day civil.Day) time.Time {
		return day.Start().Add(time.Duration(rapid.Int64Range(0, 23).Draw(t, "hour")) * time.Hour)
	}
	h := protection.History{Allocation: protection.Allocation{
		ID: id, ChannelID: rapid.Int64Range(1, 3).Draw(t, "channel"), Scheme: card.Visa, PolicyCurrency: "GBP",
		Currency: rapid.SampledFrom(currencies).Draw(t, "currency"), Amount: rapid.Int64Range(1, 9_999).Draw(t, "amount"),
		EffectiveAt: instant(paid), RecordedAt: instant(paid),
	}}
	h.Decision = protection.Decision{
		Protected: rapid.IntRange(0, 9).Draw(t, "protected") > 0,
		CoverFrom: instant(paid + civil.Day(rapid.SampledFrom([]int64{0, 0, 0, 1, 30, 200}).Draw(t, "cover"))),
	}
	if rapid.IntRange(0, 9).Draw(t, "priced") > 0 {
		h.PricedAt, h.Quote = h.RecordedAt, quote(t, h.Currency)
	}
	effective := h.EffectiveAt
	for range rapid.IntRange(1, 3).Draw(t, "terms") {
		h.Terms = append(h.Terms, protection.DatedTerms{Terms: drawTerms(t, paid), EffectiveAt: effective, RecordedAt: effective})
		effective = effective.Add(time.Duration(rapid.Int64Range(0, 400*24).Draw(t, "hours")) * time.Hour)
	}
	for range rapid.IntRange(0, 5).Draw(t, "events") {
		h.Events = append(h.Events, protection.Event{
			Kind: rapid.SampledFrom([]payment.TransactionType{
				payment.Refund, payment.Chargeback, payment.ChargebackReversal,
			}).Draw(t, "kind"),
			Amount:      rapid.Int64Range(1, 6_000).Draw(t, "part"),
			EffectiveAt: instant(paid + civil.Day(rapid.Int64Range(-3, 500).Draw(t, "after"))), RecordedAt: h.RecordedAt,
		})
	}
	slices.SortStableFunc(h.Events, func(a, b protection.Event) int { return a.EffectiveAt.Compare(b.EffectiveAt) })
	return h
}

func drawBook(t *rapid.T, currencies ...money.Currency) []protection.History {
	book := make([]protection.History, rapid.IntRange(0, 8).Draw(t, "book"))
	for i := range book {
		book[i] = drawHistory(t, int64(i+1), currencies)
	}
	return book
}

// quote is a locked quote into the policy currency.
func quote(t rapid.TB, c money.Currency) fx.Quote {
	q := fx.Quote{From: c, To: "GBP"}
	if c == "GBP" {
		return q
	}
	q.ToLeg = fx.Leg{Currency: "GBP", Rate: rate(t, "0.85365"), Provider: fx.ECB, Day: firstPaid - 1}
	q.FromLeg = fx.Leg{Currency: c, Rate: money.UnitRate()}
	if c != "EUR" {
		q.FromLeg.Rate = rate(t, "171.94")
	}
	return q
}

// fixings are rates that move a little, from long before the book; the dollar's first one is in the middle of it.
func fixings(t rapid.TB) *fx.Table {
	var list []fx.Fixing
	add := func(c money.Currency, day civil.Day, text string) {
		list = append(list, fx.Fixing{Provider: fx.ECB, Currency: c, Day: day, Rate: rate(t, text)})
	}
	for i, text := range []string{"0.85", "0.8123", "0.91", "0.77777"} {
		add("GBP", civil.Day(19800+150*i), text)
	}
	add("JPY", 19800, "171.94")
	add("JPY", 20050, "160.01")
	add("USD", 20000, "1.0835")
	return fx.NewTable(list)
}

// positionOf is the position of a history on a day, as read from the store.
func positionOf(h protection.History, day civil.Day) exposure.Position {
	return exposure.Position{
		AllocationID: h.ID, ChannelID: h.ChannelID, Currency: h.Currency, Scheme: h.Scheme, Paid: h.Paid(),
		Amounts: h.AmountsAt(h.Events, day, known), Terms: protection.TermsAt(h.Terms, day.End(), known),
		Protected: h.Decision.Protected, CoverFrom: h.Decision.CoverFrom, Priced: h.Priced(known), Quote: h.Quote,
	}
}

// exposureOn is the exposure report of a day, with the positions of the book on the same or another day.
func exposureOn(t rapid.TB, q exposure.ReportQuery, book []protection.History, positions civil.Day, rates *fx.Table) exposure.Report {
	e := exposure.NewExposure(q, rates)
	for _, h := range book {
		p := positionOf(h, positions)
		if p.Paid > positions || p.CoverFrom.After(positions.End()) { // not there yet on the day of the positions
			continue
		}
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

func drawQuery(t *rapid.T) exposure.ReportQuery {
	return exposure.ReportQuery{
		AsOf: civil.Day(rapid.Int64Range(firstPaid-10, lastPaid+500).Draw(t, "as of")), KnownAt: known, Currency: "GBP", Policy: "GBP",
		Valuation: rapid.SampledFrom(exposure.Valuations).Draw(t, "valuation"), By: exposure.ByChannel,
		Recognition: rapid.SampledFrom(recognitions).Draw(t, "recognition"),
	}
}

// TestHistoriesWalk: the changes of a history are in order, are contiguous, and lead to the level of the day.
func TestHistoriesWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, q := drawHistory(t, 1, []money.Currency{"GBP"}), drawQuery(t)
		first := q.AsOf - civil.Day(rapid.Int64Range(0, 700).Draw(t, "days"))
		day, level := first, h.LevelOn(first, q.Recognition)
		news := 0
		err := h.Walk(first, q.AsOf, q.Recognition, func(c protection.Change) error {
			if c.Day < day || c.Day <= first || c.Day > q.AsOf {
				t.Fatalf("a change of %s after %s, from %s to %s", c.Day, day, first, q.AsOf)
			}
			if c.Before != level || c.Before == c.After {
				t.Fatalf("%s on %s from %+v to %+v, where %+v was reached", c.Cause, c.Day, c.Before, c.After, level)
			}
			checkDirection(t, c)
			if day, level = c.Day, c.After; c.Cause == protection.CauseNew {
				news++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := h.LevelOn(q.AsOf, q.Recognition); level != want || news > 1 {
			t.Fatalf("the walk ends with %+v, new %d times; want %+v", level, news, want)
		}
	})
}

// checkDirection checks signs: inflows are positive, outflows negative, and delivery only moves amounts.
func checkDirection(t *rapid.T, c protection.Change) {
	d := c.After.Minus(c.Before)
	ok := true
	switch c.Cause {
	case protection.CauseNew, protection.CauseReversed:
		ok = d.E1 >= 0 && d.E2 >= 0
	case protection.CauseRefunded, protection.CauseChargedBack:
		ok = d.E1 <= 0 && d.E2 <= 0
	case protection.CauseDelivered:
		ok = d.E1 < 0 && d.E1+d.E2 == 0
	case protection.CauseExpired:
		ok = c.After == protection.Level{}
	}
	if !ok {
		t.Fatalf("%s changes %+v", c.Cause, d)
	}
}

func rate(t rapid.TB, text string) money.Rate {
	t.Helper()
	r, err := money.ParseRate(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
