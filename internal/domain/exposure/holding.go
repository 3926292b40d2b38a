package exposure

import (
	"maps"
	"slices"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
)

// Holding is an amount that remains on the day of a report, with its terms on that day. It is one allocation, or the
// sum of several with the same channel, currency and terms. Run-off and ageing add holdings up.
type Holding struct {
	ChannelID   int64
	Currency    money.Currency
	Terms       protection.Terms
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

// Converted are the amounts that a locked valuation converts at spot: they were priced in the currency of another policy, and stay priced
// in it (R9).
type Converted struct {
	Currency money.Currency   // in which it was priced
	Figures                   // in minor units of it
	Report   protection.Level // in the report currency
	Gaps     Gaps             // of Report
}

// conversions collects the converted amounts, by currency.
type conversions map[money.Currency]*Converted

func (m conversions) add(c money.Currency, f Figures, report protection.Level, gaps Gaps) {
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
func convertLevel(l protection.Level, convert func(int64) (int64, error)) (out protection.Level, err error) {
	if out.E1, err = convert(l.E1); err != nil {
		return protection.Level{}, err
	}
	out.E2, err = convert(l.E2)
	return out, err
}
