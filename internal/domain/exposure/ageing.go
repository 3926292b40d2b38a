package exposure

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
)

// AgeBand is a row of an ageing: trips that end within a range of days (R8).
type AgeBand struct {
	Name string
	From int64 // days from the day of the report to the end date: D − τ
	To   int64 // included; 0: no end
}

// AgeBands lists the bands of R8. The first is for trips that have begun (S ≤ τ) and are not over, whenever they end.
// The others go by D − τ.
var AgeBands = []AgeBand{
	{"in_travel", 0, 0}, {"1-7", 1, 7}, {"8-30", 8, 30}, {"31-60", 31, 60}, {"61-90", 61, 90}, {"91-180", 91, 180},
	{"181-365", 181, 365}, {"over_365", 366, 0},
}

// bandOf finds the band of an undelivered amount, as an index of AgeBands.
func bandOf(t protection.Terms, day civil.Day) int {
	if t.Start <= day {
		return 0
	}
	left := int64(t.End - day)
	return slices.IndexFunc(AgeBands, func(b AgeBand) bool { return b.From > 0 && left >= b.From && (left <= b.To || b.To == 0) })
}

// Ageing adds up holdings to an ageing of E1 (R8). It keeps sums only.
type Ageing struct {
	query     ReportQuery
	spot      *spot
	bands     map[band]*aged
	lines     map[line]*aged // the subtotals that make the total of a spot valuation
	pending   map[money.Currency]*Figures
	uncovered map[money.Currency]*Figures
}

type band struct {
	index    int
	currency money.Currency
	valuedIn money.Currency // as in a line
}

type aged struct {
	allocations int64
	e1          int64
	locked      int64
}

// NewAgeing starts an ageing. rates are the fixings for a spot valuation.
func NewAgeing(q ReportQuery, rates *fx.Table) *Ageing {
	return &Ageing{
		query: q, spot: newSpot(q, q.AsOf, rates), bands: map[band]*aged{}, lines: map[line]*aged{},
		pending: map[money.Currency]*Figures{}, uncovered: map[money.Currency]*Figures{},
	}
}

// Add adds a holding. The tail (E2) has no age, because it is delivered. The error is money.ErrRange.
func (a *Ageing) Add(h Holding) error {
	level := h.Terms.Level(h.Remaining, a.query.AsOf, a.query.Recognition)
	if level.E1 == 0 {
		return nil
	}
	figures := Figures{Allocations: h.Allocations, E1: level.E1}
	if !h.Covered {
		at(a.uncovered, h.Currency).add(figures)
		return nil
	}
	add := aged{allocations: h.Allocations, e1: level.E1}
	if a.query.Valuation == Locked && h.Locked != nil {
		var err error
		if add.locked, err = h.Locked(level.E1); err != nil {
			return err
		}
	}
	a.takeCovered(a.query.line(h.ChannelID, h.Currency, h.ValuedIn), h.Terms, add)
	return nil
}

// AddBucket adds a delta of a bucket. The recognition must not be linear. Deltas can be negative: Report leaves out
// sums that have become zero.
func (a *Ageing) AddBucket(d Delta) {
	t := d.On(a.query.AsOf)
	e1, locked := t.Undelivered(a.query.Recognition)
	if d.delivered(a.query.AsOf, a.query.Recognition) {
		return
	}
	if a.query.Valuation == Locked {
		locked = whole(locked)
	}
	switch d.Category {
	case Uncovered:
		at(a.uncovered, d.Currency).add(Figures{Allocations: t.Count, E1: e1})
	case Covered:
		terms := protection.Terms{Start: d.Start, End: d.End}
		a.takeCovered(a.query.line(d.ChannelID, d.Currency, d.ValuedIn), terms, aged{t.Count, e1, locked})
	}
}

// takeCovered adds covered amounts. In a locked valuation, amounts without a locked rate are kept separate.
func (a *Ageing) takeCovered(l line, t protection.Terms, add aged) {
	spot := a.query.Valuation == Spot
	if spot && a.spot.of(l.currency) == nil || l.valuedIn == "" {
		at(a.pending, l.currency).add(Figures{Allocations: add.allocations, E1: add.e1})
	}
	if l.valuedIn != "" {
		a.take(l, t, add)
	}
}

// take adds to a band and to the subtotals of the total.
func (a *Ageing) take(l line, t protection.Terms, add aged) {
	if a.query.Valuation == Spot {
		add.locked = 0
	}
	for _, sum := range []*aged{at(a.bands, band{bandOf(t, a.query.AsOf), l.currency, l.valuedIn}), at(a.lines, l)} {
		sum.allocations += add.allocations
		sum.e1 = money.Sum(sum.e1, add.e1)
		sum.locked = money.Sum(sum.locked, add.locked)
	}
}

// AgeingReport is an ageing of E1 (R8).
type AgeingReport struct {
	Query       ReportQuery
	Bands       []AgeingRow // one for each of AgeBands, in their order
	Allocations int64
	Total       int64 // E1 in the report currency
	Gap         bool  // the total is not known, because a rate is missing for a part of it
	Rounding    int64 // total less bands, because each band is rounded by itself
	PendingRate []Pending
	Converted   []Converted // of a locked valuation; the bands and the total have it
	Uncovered   []Pending
}

// AgeingRow is the E1 of one band.
type AgeingRow struct {
	AgeBand
	Allocations int64
	E1          int64 // in the report currency, the sum of By
	Gap         bool  // E1 is not known
	By          []AgeingCurrency
}

// AgeingCurrency is the part of a band in one base currency.
type AgeingCurrency struct {
	Currency    money.Currency
	Allocations int64
	E1          int64
	E1Report    int64
	Gap         bool // E1Report is not known
}

// Report ends the ageing. The error is money.ErrRange.
func (a *Ageing) Report() (AgeingReport, error) {
	out := AgeingReport{
		Query: a.query, Bands: make([]AgeingRow, len(AgeBands)), PendingRate: apart(a.pending), Uncovered: apart(a.uncovered),
	}
	converted := conversions{}
	for l, sum := range a.lines {
		e1, gap, err := a.convert(l.valuedIn, sum)
		if err != nil {
			return AgeingReport{}, fmt.Errorf("channel %d: %w", l.channel, err)
		}
		if a.query.earlier(l) {
			converted.add(l.valuedIn, Figures{Allocations: sum.allocations, E1: sum.locked}, protection.Level{E1: e1}, Gaps{E1: gap})
		}
		out.Total = money.Sum(out.Total, e1)
		out.Gap = out.Gap || gap
		out.Allocations += sum.allocations
	}
	out.Converted = converted.list()
	out.Rounding = out.Total
	unpriced := lockedGaps(a.query, out.Allocations, a.pending).E1
	out.Gap = out.Gap || unpriced
	maps.DeleteFunc(a.bands, func(_ band, sum *aged) bool { return *sum == aged{} })
	keys := slices.SortedFunc(maps.Keys(a.bands), func(x, y band) int {
		return cmp.Or(cmp.Compare(x.index, y.index), cmp.Compare(x.currency, y.currency), cmp.Compare(x.valuedIn, y.valuedIn))
	})
	for i := range out.Bands {
		out.Bands[i].AgeBand, out.Bands[i].Gap = AgeBands[i], unpriced
	}
	for _, b := range keys {
		sum := a.bands[b]
		e1, gap, err := a.convert(b.valuedIn, sum)
		if err != nil {
			return AgeingReport{}, err
		}
		out.Bands[b.index].add(AgeingCurrency{b.currency, sum.allocations, sum.e1, e1, gap})
		out.Rounding -= e1
	}
	return out, nil
}

// add adds a part of the band. Parts in one base currency come one after the other, and are shown as one.
func (r *AgeingRow) add(c AgeingCurrency) {
	r.Allocations += c.Allocations
	r.E1 = money.Sum(r.E1, c.E1Report)
	r.Gap = r.Gap || c.Gap
	if n := len(r.By); n > 0 && r.By[n-1].Currency == c.Currency {
		last := r.By[n-1]
		c = AgeingCurrency{c.Currency, last.Allocations + c.Allocations, money.Sum(last.E1, c.E1), money.Sum(last.E1Report, c.E1Report), last.Gap || c.Gap}
		r.By = r.By[:n-1]
	}
	r.By = append(r.By, c)
}

// convert converts the value of a sum, which is in currency c, to the report currency. gap says that there is no rate for
// it.
func (a *Ageing) convert(c money.Currency, sum *aged) (e1 int64, gap bool, err error) {
	value := sum.e1
	if a.query.Valuation == Locked {
		value = sum.locked
	}
	quote := a.spot.of(c)
	if quote == nil {
		return 0, value != 0, nil
	}
	e1, err = quote.Convert(value)
	return e1, false, err
}

// Shares returns the share of each band in permille, adding up to 1,000 by largest remainder (R0). They are nil if a figure has a gap or
// there is nothing to share.
func (r AgeingReport) Shares() []int64 {
	parts, some := make([]int64, len(r.Bands)), false
	for i, band := range r.Bands {
		parts[i] = band.E1
		if some = some || band.E1 > 0; r.Gap || band.Gap {
			return nil
		}
	}
	if !some {
		return nil
	}
	return money.Split(1000, parts)
}
