package protection

import (
	"maps"
	"slices"

	"holdfast/internal/civil"
	"holdfast/internal/fx"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// Level is what is at risk at the end of a day (R7): E1, not delivered, and E2, delivered and still disputable.
type Level struct {
	E1 int64
	E2 int64
}

// Plus adds two levels.
func (l Level) Plus(o Level) Level { return Level{l.E1 + o.E1, l.E2 + o.E2} }

// Minus subtracts a level from this one.
func (l Level) Minus(o Level) Level { return Level{l.E1 - o.E1, l.E2 - o.E2} }

// Level is what is at risk at the end of a day, for N = n. After the last day of dispute nothing is.
func (t Terms) Level(n int64, day civil.Day, by travel.Recognition) Level {
	if day > t.LastDay {
		return Level{}
	}
	u := t.Undelivered(n, day, by)
	return Level{E1: u, E2: n - u}
}

// fade calls each for every change that time alone makes, for N = n, on the days after one day and up to another: the
// amount is delivered, at once or day by day, and in the end it expires.
func (t Terms) fade(n int64, after, until civil.Day, by travel.Recognition, each func(Change) error) error {
	before := t.Level(n, after, by)
	first, last := t.End+1, t.End+1
	switch by {
	case travel.RecognitionStartDate:
		first, last = t.Start, t.Start
	case travel.RecognitionLinear:
		first, last = t.Start, t.End
	}
	for day := max(first, after+1); day <= min(last, until, t.LastDay); day++ {
		now := t.Level(n, day, by)
		if now == before {
			continue
		}
		if err := each(Change{day, CauseDelivered, before, now}); err != nil {
			return err
		}
		before = now
	}
	if after > t.LastDay || until <= t.LastDay || before == (Level{}) {
		return nil
	}
	return each(Change{t.LastDay + 1, CauseExpired, before, Level{}})
}

// Holding is an amount that remains on the day of a report, with its terms on that day. It is one allocation, or the
// sum of several with the same channel, currency and terms. Run-off and ageing add holdings up.
type Holding struct {
	ChannelID   int64
	Currency    money.Currency
	Terms       Terms
	Allocations int64
	Remaining   int64 // N
	Covered     bool  // protected, and cover has started
	// Locked converts a part of Remaining to ValuedIn, each line at its locked rate. It is nil when a rate is missing. A
	// sum of several lines can convert only 0 and all of Remaining: without linear delivery there are no other parts.
	Locked   func(part int64) (int64, error)
	ValuedIn money.Currency // of the policy under which it was priced
}

// HoldingOf makes the holding of a position, on the day of a report.
func HoldingOf(p Position, q ReportQuery) Holding {
	h := Holding{
		ChannelID: p.ChannelID, Currency: p.Currency, Terms: p.Terms, Allocations: 1,
		Remaining: p.Amounts.Remaining(p.Paid, q.AsOf),
		Covered:   p.Protected && !p.CoverFrom.After(q.AsOf.End()),
	}
	if q.Valuation == Locked && p.Priced {
		h.Locked, h.ValuedIn = p.Quote.Convert, p.Quote.To
	}
	return h
}

// line names a subtotal that is converted to the report currency at spot and rounded once: of a channel, in a base currency,
// with its value in a currency. A spot valuation converts the base currency. A locked valuation converts the currency in
// which the lines were priced: that changes nothing, unless it is the currency of an earlier policy (R9).
type line struct {
	channel  int64
	currency money.Currency
	valuedIn money.Currency
}

// line makes the line of an amount that was priced in a currency; "" if it was not.
func (q ReportQuery) line(channel int64, currency, priced money.Currency) line {
	if q.Valuation == Spot {
		priced = currency
	}
	return line{channel, currency, priced}
}

// earlier reports whether a line was priced in the currency of another policy, and is converted at spot.
func (q ReportQuery) earlier(l line) bool {
	return q.Valuation == Locked && l.valuedIn != "" && l.valuedIn != q.Currency
}

// Converted is what a locked valuation converts at spot: it was priced in the currency of another policy, and stays priced
// in it (R9).
type Converted struct {
	Currency money.Currency // in which it was priced
	Figures                 // in minor units of it
	Report   Level          // in the report currency
	Gaps     Gaps           // of Report
}

// conversions collects what was converted, by currency.
type conversions map[money.Currency]*Converted

func (m conversions) add(c money.Currency, f Figures, report Level, gaps Gaps) {
	sum := at(m, c)
	sum.Currency = c
	sum.add(f)
	sum.Report = sum.Report.Plus(report)
	sum.Gaps.add(gaps)
}

func (m conversions) list() (list []Converted) {
	for _, c := range slices.Sorted(maps.Keys(m)) {
		if m[c].Figures != (Figures{}) {
			list = append(list, *m[c])
		}
	}
	return list
}

// spot finds the quotes of a report for one day, and remembers them.
type spot struct {
	rates  *fx.Table
	query  ReportQuery
	day    civil.Day
	quotes map[money.Currency]*fx.Quote // nil when a leg has no fixing
}

func newSpot(q ReportQuery, day civil.Day, rates *fx.Table) *spot {
	return &spot{rates: rates, query: q, day: day, quotes: map[money.Currency]*fx.Quote{}}
}

// of returns the quote of a currency. It is nil when there is none.
func (s *spot) of(c money.Currency) *fx.Quote {
	if q, ok := s.quotes[c]; ok {
		return q
	}
	var found *fx.Quote
	if q, ok := fx.Spot(s.rates, c, s.query.Currency, s.day, s.query.KnownAt); ok {
		found = &q
	}
	s.quotes[c] = found
	return found
}

// convertLevel converts both figures of a level, each rounded once.
func convertLevel(l Level, convert func(int64) (int64, error)) (out Level, err error) {
	if out.E1, err = convert(l.E1); err != nil {
		return Level{}, err
	}
	out.E2, err = convert(l.E2)
	return out, err
}
