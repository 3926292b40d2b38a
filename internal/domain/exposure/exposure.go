// Package exposure computes what would be lost if merchants failed: by day and dimension (R7), as a movement, a
// run-off and by age (R8), and from the ledger's deltas and cubes. Like package protection, which it builds on, it
// consists of pure functions over plain values. Start at Exposure.
package exposure

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
)

// Valuation says with which rates a report converts (R7).
type Valuation string

// The two valuations.
const (
	Spot   Valuation = "spot"   // subtotals, at the last fixings up to the day
	Locked Valuation = "locked" // each line, at its locked rate
)

// Valuations lists the valuations, the default first.
var Valuations = []Valuation{Spot, Locked}

// Dimension is what each row of a report represents.
type Dimension string

// The dimensions of an exposure report.
const (
	ByChannel  Dimension = "channel"
	ByMonth    Dimension = "month" // of the end date
	ByCurrency Dimension = "currency"
	ByScheme   Dimension = "scheme"
	ByCountry  Dimension = "country"
	BySupplier Dimension = "supplier" // each set of suppliers that a booking has
)

// Dimensions lists the dimensions, the default first.
var Dimensions = []Dimension{ByChannel, ByMonth, ByCurrency, ByScheme, ByCountry, BySupplier}

// Position is one allocation at a moment. Reports add positions up.
type Position struct {
	AllocationID  int64
	BookingID     int64
	TransactionID int64
	BookingTotal  int64 // of the whole booking at that moment
	ChannelID     int64
	Currency      money.Currency
	Scheme        card.Scheme
	Paid          civil.Day // P
	Amounts       protection.Amounts
	Terms         protection.Terms
	Protected     bool
	CoverFrom     time.Time
	Priced        bool     // false while pending_rate
	Quote         fx.Quote // the locked rate
}

// ReportQuery is the query of an exposure report (R7).
type ReportQuery struct {
	AsOf        civil.Day
	KnownAt     time.Time
	Currency    money.Currency // of the report
	Policy      money.Currency // Q: locked values are in it alone
	Valuation   Valuation
	By          Dimension // what the rows represent
	Across      Dimension // a second dimension of the rows; "" for none
	Recognition terms.Recognition
	Scope       Scope
}

// Figures are E1 and E2 of some allocations (R7), in minor units of one currency.
type Figures struct {
	Allocations int64
	E1          int64
	E2          int64
}

func (f *Figures) add(o Figures) {
	f.Allocations += o.Allocations
	f.E1 = money.Sum(f.E1, o.E1)
	f.E2 = money.Sum(f.E2, o.E2)
}

// Memo holds the memo figures E4 and E5 (R7), which are in no total with E1 and E2. Minor units of one currency.
type Memo struct {
	E4 int64 // future instalments
	E5 int64 // not protected, or cover not started
}

func (m *Memo) add(o Memo) {
	m.E4 = money.Sum(m.E4, o.E4)
	m.E5 = money.Sum(m.E5, o.E5)
}

// Exposure adds up positions to a report (R7). It keeps sums only, so that its memory depends on the number of rows
// alone.
type Exposure struct {
	query       ReportQuery
	rates       *fx.Table
	rows        map[rowKey]*sums
	channels    map[rowKey]*sums // by channel and currency: the subtotals that make the total of a spot valuation
	pending     map[money.Currency]*Figures
	uncovered   map[money.Currency]*Figures
	instalments map[money.Currency]*Figures
	spot        map[money.Currency]*fx.Quote // nil when a leg has no fixing
	booking     instalments
	unprotected map[int64]bool // channels whose bookings are not in E4
	left        bool           // out of the total: it would have had such bookings
	blurred     bool           // the rows have instalments of cells that do not distinguish channels
}

// rowKey names a subtotal. valuedIn is the currency that is converted to that of the report, as in a line.
type rowKey struct {
	key      Key
	currency money.Currency
	valuedIn money.Currency
}

// sums is a subtotal in base currency. In a locked valuation it also has the sum of the converted lines.
type sums struct {
	Figures
	Memo
	lockedE1 int64
	lockedE2 int64
}

// NewExposure starts a report. rates are the fixings for a spot valuation.
func NewExposure(q ReportQuery, rates *fx.Table) *Exposure {
	return &Exposure{
		query: q, rates: rates,
		rows: map[rowKey]*sums{}, channels: map[rowKey]*sums{},
		pending: map[money.Currency]*Figures{}, uncovered: map[money.Currency]*Figures{},
		instalments: map[money.Currency]*Figures{}, spot: map[money.Currency]*fx.Quote{},
	}
}

// amount is a line, or the subtotal of a cell, that is added to the sums.
type amount struct {
	currency money.Currency
	category Category
	valuedIn money.Currency // of the locked amounts
	sums
}

// Add adds a position. The positions of a booking must be consecutive, in order of their ids, including those out of
// scope: the outstanding amount depends on all of them. The error is money.ErrRange.
func (e *Exposure) Add(p Position) error {
	if p.BookingID != e.booking.id {
		e.closeBooking()
		e.booking = instalments{id: p.BookingID, left: p.BookingTotal}
	}
	n := p.Amounts.Remaining(p.Paid, e.query.AsOf)
	e.booking.add(p, n, e.query.AsOf)
	if n == 0 || e.query.AsOf > p.Terms.LastDay || !e.query.Scope.Position(p) {
		return nil
	}
	u := p.Terms.Undelivered(n, e.query.AsOf, e.query.Recognition)
	a := amount{currency: p.Currency, category: Covered, sums: sums{Figures: Figures{Allocations: 1, E1: u, E2: n - u}}}
	if !p.Protected || p.CoverFrom.After(e.query.AsOf.End()) {
		a.category = Uncovered
	} else if p.Priced {
		a.valuedIn = p.Quote.To
		if err := e.lock(p, &a); err != nil {
			return err
		}
	}
	e.take(a, e.keyOf(p), p.ChannelID)
	return nil
}

// lock computes the locked value of a line.
func (e *Exposure) lock(p Position, a *amount) (err error) {
	if e.query.Valuation != Locked {
		return nil
	}
	if a.lockedE1, err = p.Quote.Convert(a.E1); err == nil {
		a.lockedE2, err = p.Quote.Convert(a.E2)
	}
	if err != nil {
		return fmt.Errorf("allocation %d: %w", p.AllocationID, err)
	}
	return nil
}

// closeBooking adds the future instalments of a booking, after its last position.
func (e *Exposure) closeBooking() {
	p, due := e.booking.first, e.booking.due(e.query.AsOf)
	if due == 0 {
		return
	}
	unpaid := *p
	unpaid.Scheme = "" // no card has paid them yet
	if !e.query.Scope.Position(unpaid) {
		return
	}
	key := e.keyOf(unpaid)
	e.take(amount{
		currency: p.Currency, category: Instalments,
		sums: sums{Figures: Figures{Allocations: 1, E1: due}},
	}, key, p.ChannelID)
}

// take adds an amount to its row and to the subtotals of the total.
func (e *Exposure) take(a amount, key Key, channel int64) {
	if a.category == Instalments && e.unprotected[channel] {
		return
	}
	e.takeRow(a, key)
	e.takeTotal(a, channel)
}

func (e *Exposure) takeRow(a amount, key Key) {
	row := rowKey{key, a.currency, e.query.line(0, a.currency, a.valuedIn).valuedIn}
	switch {
	case a.category == Uncovered && a.E1 != 0:
		at(e.rows, row).E5 = money.Sum(at(e.rows, row).E5, a.E1)
	case a.category == Instalments:
		at(e.rows, row).E4 = money.Sum(at(e.rows, row).E4, a.E1)
	case a.category == Covered && (e.query.Valuation == Spot || e.valued(a)):
		at(e.rows, row).addLine(a.sums)
	}
}

func (e *Exposure) takeTotal(a amount, channel int64) {
	row := rowKey{Key{ChannelID: channel}, a.currency, e.query.line(channel, a.currency, a.valuedIn).valuedIn}
	switch {
	case a.category == Uncovered:
		at(e.uncovered, a.currency).add(a.Figures)
		at(e.channels, row).E5 = money.Sum(at(e.channels, row).E5, a.E1)
	case a.category == Instalments && e.unprotected[channel]:
		e.left = true
	case a.category == Instalments:
		at(e.instalments, a.currency).add(a.Figures)
		at(e.channels, row).E4 = money.Sum(at(e.channels, row).E4, a.E1)
	case e.valued(a):
		at(e.channels, row).addLine(a.sums)
	default:
		at(e.pending, a.currency).add(a.Figures)
		if e.query.Valuation == Spot {
			at(e.channels, row).addLine(a.sums)
		}
	}
}

// valued reports whether an amount has a value in the report currency.
func (e *Exposure) valued(a amount) bool {
	if e.query.Valuation == Spot {
		return e.spotQuote(a.currency) != nil
	}
	return a.valuedIn != ""
}

// AddRows adds the subtotal of a cube's cell to the rows of the report.
func (e *Exposure) AddRows(v View, c Cell, t Tally) {
	if c.Category == Instalments {
		channel, known := v.channelOf(c)
		if known && e.unprotected[channel] {
			return
		}
		e.blurred = e.blurred || !known
	}
	e.takeRow(e.amountOf(c, t), v.KeyOf(c, e.query))
}

// AddTotal adds the subtotal of a cell of the ChannelView to the total of the report.
func (e *Exposure) AddTotal(c Cell, t Tally) {
	channel, _ := ChannelView.channelOf(c)
	e.takeTotal(e.amountOf(c, t), channel)
}

func (e *Exposure) amountOf(c Cell, t Tally) amount {
	u, locked := t.Undelivered(e.query.Recognition)
	a := amount{currency: c.Currency, category: c.Category, valuedIn: c.ValuedIn}
	a.Figures = Figures{Allocations: t.Count, E1: u, E2: t.Amount - u}
	if e.query.Valuation == Locked {
		a.lockedE1, a.lockedE2 = whole(locked), whole(t.Locked)-locked
	}
	if c.Category == Instalments { // instalments are not delivered in steps: they count until the end date
		a.E1, a.E2 = t.Amount, 0
	}
	return a
}

// whole returns a sum of locked values. It panics with money.ErrRange if the sum was too large and has been capped. Cubes hold locked
// values even for readers with another valuation, who do not need them.
func whole(locked int64) int64 {
	if locked == math.MaxInt64 {
		panic(money.ErrRange)
	}
	return locked
}

func (e *Exposure) spotQuote(c money.Currency) *fx.Quote {
	if q, ok := e.spot[c]; ok {
		return q
	}
	var found *fx.Quote
	if q, ok := fx.Spot(e.rates, c, e.query.Currency, e.query.AsOf, e.query.KnownAt); ok {
		found = &q
	}
	e.spot[c] = found
	return found
}

func (e *Exposure) keyOf(p Position) Key {
	var k Key
	for _, d := range []Dimension{e.query.By, e.query.Across} {
		switch d {
		case ByChannel:
			k.ChannelID = p.ChannelID
		case ByMonth:
			k.Month = p.Terms.End.Month()
		case ByCurrency:
			k.Currency = p.Currency
		case ByScheme:
			k.Scheme = string(p.Scheme)
		case ByCountry:
			k.Country = p.Terms.Country
		case BySupplier:
			k.Suppliers = p.Terms.Suppliers
		}
	}
	return k
}

func (s *sums) addLine(line sums) {
	s.Figures.add(line.Figures)
	s.lockedE1 = money.Sum(s.lockedE1, line.lockedE1)
	s.lockedE2 = money.Sum(s.lockedE2, line.lockedE2)
}

// Report ends the sums and makes the report. Rows are in order of key and currency, so that the same facts give the
// same bytes. The error is money.ErrRange.
func (e *Exposure) Report() (Report, error) {
	e.closeBooking()
	e.booking = instalments{}
	r := Report{
		Query: e.query, PendingRate: apart(e.pending), Uncovered: apart(e.uncovered), Instalments: apart(e.instalments),
		Channels: map[int64]ChannelTotalE1{},
	}
	if e.query.Valuation == Spot {
		r.Memo = &Memo{}
	}
	rows := map[rowKey]*Row{}
	for k, s := range e.rows {
		if *s == (sums{}) {
			continue // the amounts of the cell have added up to zero
		}
		row, err := e.row(k, s)
		if err != nil {
			return Report{}, err
		}
		k.valuedIn = "" // amounts priced under several policies are one row
		at(rows, k).add(row)
		r.Rounding.less(row)
	}
	for _, row := range rows {
		r.Rows = append(r.Rows, *row)
	}
	converted := conversions{}
	for k, s := range e.channels {
		row, err := e.row(k, s)
		if err != nil {
			return Report{}, err
		}
		r.addChannel(row)
		if e.query.earlier(line{valuedIn: k.valuedIn}) {
			figures := Figures{Allocations: s.Allocations, E1: s.lockedE1, E2: s.lockedE2}
			converted.add(k.valuedIn, figures, protection.Level{E1: row.E1Report, E2: row.E2Report}, row.Gaps)
		}
	}
	r.Converted = converted.list()
	r.Gaps.add(lockedGaps(e.query, r.Total.Allocations, e.pending))
	r.Rounding.plus(r.Total, r.Memo)
	r.sortRows()
	r.subtotals()
	if !e.query.AttributesE4() {
		r.withoutE4()
	}
	return r, nil
}

// addChannel adds the subtotal of a channel and currency to the total.
func (r *Report) addChannel(row Row) {
	r.Total.add(Figures{Allocations: row.Allocations, E1: row.E1Report, E2: row.E2Report})
	r.Gaps.add(row.Gaps)
	if row.Report != nil {
		r.Memo.add(*row.Report)
		r.MemoGaps.add(row.ReportGaps)
	}
	if of := r.Channels[row.Key.ChannelID]; row.E1Report != 0 || row.Gaps.E1 {
		r.Channels[row.Key.ChannelID] = ChannelTotalE1{money.Sum(of.E1, row.E1Report), of.Gap || row.Gaps.E1}
	}
}

// row makes the row of a subtotal. Its value is converted and rounded once. The value of a locked valuation is the sum of
// rounded lines; it is converted only if it is in the currency of another policy.
func (e *Exposure) row(k rowKey, s *sums) (Row, error) {
	row := Row{Key: k.key, Currency: k.currency, Figures: s.Figures, Memo: s.Memo}
	e1, e2 := s.E1, s.E2
	if e.query.Valuation == Locked {
		e1, e2 = s.lockedE1, s.lockedE2
		if k.valuedIn == "" { // memo figures alone
			return row, nil
		}
	} else {
		row.Report = &Memo{}
	}
	quote := e.spotQuote(k.valuedIn)
	if quote == nil {
		row.Gaps.miss(protection.Level{E1: e1, E2: e2})
		if row.Report != nil {
			row.ReportGaps = MemoGaps{E4: s.E4 != 0, E5: s.E5 != 0}
		}
		return row, nil
	}
	type conversion struct {
		from int64
		to   *int64
	}
	list := []conversion{{e1, &row.E1Report}, {e2, &row.E2Report}}
	if row.Report != nil {
		list = append(list, conversion{s.E4, &row.Report.E4}, conversion{s.E5, &row.Report.E5})
	}
	for _, c := range list {
		var err error
		if *c.to, err = quote.Convert(c.from); err != nil {
			return Row{}, err
		}
	}
	return row, nil
}

func apart(by map[money.Currency]*Figures) []Pending {
	var list []Pending
	for _, c := range slices.Sorted(maps.Keys(by)) {
		if *by[c] != (Figures{}) {
			list = append(list, Pending{Currency: c, Figures: *by[c]})
		}
	}
	return list
}

// at returns the entry of a key. It makes one when there is none.
func at[K comparable, V any](m map[K]*V, key K) *V {
	v := m[key]
	if v == nil {
		v = new(V)
		m[key] = v
	}
	return v
}
