package exposure

import (
	"fmt"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/protection"
)

// Detail is one item behind the figures of a report: an allocation, or the amount still unpaid on a booking.
type Detail struct {
	Position
	Category  Category
	Pending   bool   // it has no value in the report currency
	Remaining int64  // N, in minor units of its currency
	Figures          // E1 and E2 on the day of the figures, if covered
	Memo             // E4 of a booking, or E5 if not covered
	Band      string // of the ageing; "" unless something is undelivered
	E1Report  int64  // in the report currency, each rounded separately
	E2Report  int64
}

// Details finds the items behind an exposure, and so behind a run-off, an ageing and a what-if of the same day. Its
// items add up to the rows of the report in base currency and, in a locked valuation, also in the report currency.
type Details struct {
	query       ReportQuery
	on          civil.Day // of the figures: the day of the report, or a later day of its run-off
	spot        *spot
	unprotected map[int64]bool
	booking     instalments
	each        func(Detail) error
}

// NewDetails calls each for every item, in order of bookings and payments. unprotected are the channels whose bookings are
// not in E4.
func NewDetails(q ReportQuery, on civil.Day, rates *fx.Table, unprotected map[int64]bool, each func(Detail) error) *Details {
	return &Details{query: q, on: on, spot: newSpot(q, q.AsOf, rates), unprotected: unprotected, each: each}
}

// Add adds a position, as Exposure.Add does.
func (d *Details) Add(p Position) error {
	q := d.query
	if p.BookingID != d.booking.id {
		if err := d.Close(); err != nil {
			return err
		}
		d.booking = instalments{id: p.BookingID, left: p.BookingTotal}
	}
	n := p.Amounts.Remaining(p.Paid, q.AsOf)
	d.booking.add(p, n, q.AsOf)
	level := p.Terms.Level(n, d.on, q.Recognition)
	covered := p.Protected && !p.CoverFrom.After(q.AsOf.End())
	if n == 0 || q.AsOf > p.Terms.LastDay || d.on > q.AsOf && (level == (protection.Level{}) || !covered) {
		return nil // amounts not covered on the first day of a run-off never count in it
	}
	item := Detail{Position: p, Category: Covered, Remaining: n, Figures: Figures{Allocations: 1, E1: level.E1, E2: level.E2}}
	if level.E1 > 0 {
		item.Band = AgeBands[bandOf(p.Terms, q.AsOf)].Name
	}
	if !covered {
		item.Category, item.Memo, item.Figures = Uncovered, Memo{E5: level.E1}, Figures{}
		return d.each(item)
	}
	var err error
	if item.Pending, err = d.value(&item); err != nil {
		return fmt.Errorf("allocation %d: %w", p.AllocationID, err)
	}
	return d.each(item)
}

// value converts the figures of an item.
func (d *Details) value(item *Detail) (pending bool, err error) {
	in, level := item.Currency, protection.Level{E1: item.E1, E2: item.E2}
	if d.query.Valuation == Locked {
		if !item.Priced {
			return true, nil
		}
		if in = item.Quote.To; in != item.Currency {
			if level, err = convertLevel(level, item.Quote.Convert); err != nil {
				return false, err
			}
		}
	}
	quote := d.spot.of(in) // at a locked rate it changes nothing, unless the policy has another currency now (R9)
	if quote == nil {
		return true, nil
	}
	level, err = convertLevel(level, quote.Convert)
	item.E1Report, item.E2Report = level.E1, level.E2
	return false, err
}

// Close ends the last booking. Call it once after all positions.
func (d *Details) Close() error {
	first, due := d.booking.first, d.booking.due(d.query.AsOf)
	d.booking = instalments{}
	if due == 0 || d.on > d.query.AsOf || len(d.query.Scope.Schemes) > 0 || d.unprotected[first.ChannelID] {
		return nil
	}
	p := *first
	p.AllocationID, p.TransactionID, p.Scheme = 0, 0, ""
	return d.each(Detail{Position: p, Category: Instalments, Memo: Memo{E4: due}})
}

// MovementDetail is what moved of one allocation, in base currency and, in a locked valuation, in the report currency.
type MovementDetail struct {
	protection.History
	Flows
	Report  Flows
	Pending bool // it has no value on the last day, or no locked rate
}

// Detail is what moved of an allocation. ok is false when nothing of it was or is at risk. The errors are those of Add.
func (m *Movement) Detail(h protection.History) (d MovementDetail, ok bool, err error) {
	sum, valued, ok, err := m.moves(h)
	d = MovementDetail{History: h, Flows: sum.native, Report: sum.locked, Pending: !valued}
	if err == nil && valued && m.query.earlier(m.query.line(h.ChannelID, h.Currency, h.PolicyCurrency)) {
		d.Report, _, err = m.convert(h.PolicyCurrency, sum.locked)
		d.Pending = m.closing.of(h.PolicyCurrency) == nil
	}
	return d, ok, err
}
