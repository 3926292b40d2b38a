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

// MovementQuery is the query of a movement: the changes between the ends of two days, as known at one time.
// Recognition and policy currency of the last day count for both days.
type MovementQuery struct {
	ReportQuery // of the last day; its By is ByCurrency or ByChannel, which has a row for each channel and currency
	From        civil.Day
}

// Flows are the lines of a movement (R8), for E1 and for E2. Lines that take away are negative: opening, causes and
// revaluation add up to closing exactly.
type Flows struct {
	Opening     protection.Level
	Causes      [protection.CauseCount]protection.Level // by Cause
	Revaluation protection.Level                        // in the report currency only
	Closing     protection.Level
}

// Of returns the line of a cause.
func (f Flows) Of(c protection.Cause) protection.Level { return f.Causes[c] }

// FlowGaps says which lines of a movement in the report currency are not known.
type FlowGaps struct {
	Opening     Gaps
	Causes      [protection.CauseCount]Gaps
	Revaluation Gaps
	Closing     Gaps
}

func (g *FlowGaps) add(o FlowGaps) {
	g.Opening.add(o.Opening)
	for i, c := range o.Causes {
		g.Causes[i].add(c)
	}
	g.Revaluation.add(o.Revaluation)
	g.Closing.add(o.Closing)
}

// miss notes that the changes have no value, and perhaps the opening neither.
func (g *FlowGaps) miss(f Flows) {
	for i, l := range f.Causes {
		g.Causes[i].miss(l)
	}
	g.Closing.miss(f.Closing)
}

// Of returns the gaps of the line of a cause.
func (g FlowGaps) Of(c protection.Cause) Gaps { return g.Causes[c] }

func (f *Flows) add(o Flows) {
	f.Opening = f.Opening.Plus(o.Opening)
	for i, l := range o.Causes {
		f.Causes[i] = f.Causes[i].Plus(l)
	}
	f.Revaluation = f.Revaluation.Plus(o.Revaluation)
	f.Closing = f.Closing.Plus(o.Closing)
}

// open is closing less opening and all causes.
func (f *Flows) open() protection.Level {
	left := f.Closing.Minus(f.Opening)
	for _, l := range f.Causes {
		left = left.Minus(l)
	}
	return left
}

// Movement adds up histories to a movement (R8). History.Walk says to which line a change belongs. The lines get
// their values in this way:
//
//   - In base currency every change is exact, and each allocation balances on its own.
//   - In a locked valuation, a change is the locked value of the level after it less that of the level before it. Each
//     level is rounded once, and there is no revaluation. Delivered amounts may leave E1 and enter E2 with values that
//     differ by one minor unit, because both levels are rounded. Amounts priced in the currency of another policy are then
//     converted as in a spot valuation, and have a revaluation.
//   - In a spot valuation, the opening of each channel and currency is converted at the fixing of the first day, and the
//     closing at that of the last day, as in the exposure reports of these days. The sum of each line is converted at the
//     fixing of the last day and rounded once. The revaluation is the rest: the effect of the rates on the opening, and
//     the roundings. It is zero when the currency of the channel is the report currency.
//
// In a spot valuation, a line of the total is not known when a rate is missing for a part of it: on the first day for the
// opening, on the last day for the others. The revaluation is then not known either. Amounts without a locked rate are
// listed outside the total, in base currency.
type Movement struct {
	query   MovementQuery
	opening *spot
	closing *spot
	lines   map[line]*moved
	pending map[money.Currency]*Flows
	priced  bool // something has a value
	lasting map[lasting]*moved
}

// moved is a subtotal in base currency and at locked rates.
type moved struct {
	native Flows
	locked Flows
}

// NewMovement starts a movement. opening and closing are the fixings for a spot valuation, on the first and on the
// last day.
func NewMovement(q MovementQuery, opening, closing *fx.Table) *Movement {
	return &Movement{
		query: q, opening: newSpot(q.ReportQuery, q.From, opening), closing: newSpot(q.ReportQuery, q.AsOf, closing),
		lines: map[line]*moved{}, pending: map[money.Currency]*Flows{}, lasting: map[lasting]*moved{},
	}
}

// Add adds one allocation with its history. The errors are money.ErrRange, and that the movement does not close,
// which would be a mistake of the program.
func (m *Movement) Add(h protection.History) error {
	sum, valued, ok, err := m.moves(h)
	if err != nil || !ok {
		return err
	}
	m.sum(h.ChannelID, h.Currency, h.PolicyCurrency, valued, sum)
	return nil
}

// moves computes what moved of an allocation. ok is false when nothing of it was or is at risk.
func (m *Movement) moves(h protection.History) (sum moved, valued, ok bool, err error) {
	native := Flows{Opening: h.LevelOn(m.query.From, m.query.Recognition), Closing: h.LevelOn(m.query.AsOf, m.query.Recognition)}
	locked := Flows{}
	valued = m.query.Valuation == Spot && m.closing.of(h.Currency) != nil
	value := func(protection.Level) (protection.Level, error) { return protection.Level{}, nil }
	if m.query.Valuation == Locked && h.Priced(m.query.KnownAt) {
		valued, value = true, func(l protection.Level) (protection.Level, error) { return convertLevel(l, h.Quote.Convert) }
	}
	if locked.Opening, err = value(native.Opening); err != nil {
		return sum, false, false, err
	}
	if locked.Closing, err = value(native.Closing); err != nil {
		return sum, false, false, err
	}
	ok = native.Opening != protection.Level{} || native.Closing != protection.Level{}
	reached := locked.Opening // the value of the present level of the walk
	err = h.Walk(m.query.From, m.query.AsOf, m.query.Recognition, func(c protection.Change) error {
		ok = true
		after, err := value(c.After)
		native.Causes[c.Cause] = native.Causes[c.Cause].Plus(c.After.Minus(c.Before))
		locked.Causes[c.Cause] = locked.Causes[c.Cause].Plus(after.Minus(reached))
		reached = after
		return err
	})
	if err != nil || !ok {
		return sum, false, false, err
	}
	// The walk and the two levels are computed in different ways, so it is worth a check that they agree.
	if native.open() != (protection.Level{}) || locked.open() != (protection.Level{}) {
		return sum, false, false, fmt.Errorf("the movement of allocation %d does not balance: %+v", h.ID, native)
	}
	return moved{native, locked}, valued, true, nil
}

func (m *Movement) sum(channel int64, currency, valuedIn money.Currency, valued bool, add moved) {
	spot := m.query.Valuation == Spot
	if !valued || spot && add.native.Opening != (protection.Level{}) && m.opening.of(currency) == nil {
		at(m.pending, currency).add(add.native)
	}
	if !valued && !spot {
		return
	}
	m.priced = true
	sum := at(m.lines, m.query.line(channel, currency, valuedIn))
	sum.native.add(add.native)
	sum.locked.add(add.locked)
}

// MovementRow is a movement in one base currency, in minor units of it, and in the report currency.
type MovementRow struct {
	ChannelID int64 // 0 unless the report is by channel
	Currency  money.Currency
	Flows
	Report Flows
	Gaps   FlowGaps // of Report
}

// MovementReport is a movement (R8).
type MovementReport struct {
	Query MovementQuery
	Rows  []MovementRow // in order of channel and currency
	Total Flows         // in the report currency
	Gaps  FlowGaps      // of the total
	// PendingRate are the amounts without a value, in base currency. In a spot valuation the rows also have them, and the lines of the
	// total are unknown. In a locked valuation they are in no row and not in the total.
	PendingRate []Apart
	// Converted are the amounts that a locked valuation converts at spot, in the currency in which they were priced (R9). The rows and the
	// total include them.
	Converted []Apart
}

// Revalued reports whether something is converted at spot, so that there is a revaluation.
func (r MovementReport) Revalued() bool { return r.Query.Valuation == Spot || len(r.Converted) > 0 }

// Apart is a movement that is not in the report currency, in minor units of its own.
type Apart struct {
	Currency money.Currency
	Flows
}

// Report ends the sums and makes the movement. The error is money.ErrRange.
func (m *Movement) Report() (MovementReport, error) {
	m.endHeld()
	out := MovementReport{Query: m.query}
	rows, converted := map[line]*MovementRow{}, map[money.Currency]*Flows{}
	for l, sum := range m.lines {
		own := sum.native
		if m.query.Valuation == Locked {
			own = sum.locked
		}
		value, gaps, err := m.convert(l.valuedIn, own)
		if err != nil {
			return MovementReport{}, fmt.Errorf("channel %d: %w", l.channel, err)
		}
		if m.query.earlier(l) {
			at(converted, l.valuedIn).add(own)
		}
		l.valuedIn = ""
		if m.query.By != ByChannel {
			l.channel = 0
		}
		row := at(rows, l)
		row.ChannelID, row.Currency = l.channel, l.currency
		row.Flows.add(sum.native)
		row.Report.add(value)
		row.Gaps.add(gaps)
		out.Total.add(value)
		out.Gaps.add(gaps)
	}
	for _, row := range rows {
		out.Rows = append(out.Rows, *row)
	}
	slices.SortFunc(out.Rows, func(a, b MovementRow) int {
		return cmp.Or(cmp.Compare(a.ChannelID, b.ChannelID), cmp.Compare(a.Currency, b.Currency))
	})
	for _, c := range slices.Sorted(maps.Keys(converted)) {
		out.Converted = append(out.Converted, Apart{c, *converted[c]})
	}
	for _, c := range slices.Sorted(maps.Keys(m.pending)) {
		out.PendingRate = append(out.PendingRate, Apart{c, *m.pending[c]})
		if !m.priced { // see lockedGaps
			out.Gaps.miss(*m.pending[c])
			out.Gaps.Opening.miss(m.pending[c].Opening)
		}
	}
	return out, nil
}

// convert converts a subtotal of a channel, which is in currency c.
func (m *Movement) convert(c money.Currency, native Flows) (out Flows, gaps FlowGaps, err error) {
	if opening := m.opening.of(c); opening == nil {
		gaps.Opening.miss(native.Opening)
	} else if out.Opening, err = convertLevel(native.Opening, opening.Convert); err != nil {
		return Flows{}, gaps, err
	}
	if closing := m.closing.of(c); closing == nil {
		gaps.miss(native)
	} else if err = out.convert(native, closing); err != nil {
		return Flows{}, gaps, err
	}
	for _, g := range append(gaps.Causes[:], gaps.Opening, gaps.Closing) {
		gaps.Revaluation.add(g)
	}
	out.Revaluation = out.open()
	return out, gaps, nil
}

// convert sets all but the opening to what native is worth.
func (f *Flows) convert(native Flows, quote *fx.Quote) (err error) {
	if f.Closing, err = convertLevel(native.Closing, quote.Convert); err != nil {
		return err
	}
	for i, l := range native.Causes {
		if f.Causes[i], err = convertLevel(l, quote.Convert); err != nil {
			return err
		}
	}
	return nil
}
