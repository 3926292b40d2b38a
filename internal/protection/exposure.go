package protection

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/fx"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// Valuation says at which rates a report converts (R7).
type Valuation string

// The two valuations.
const (
	Spot   Valuation = "spot"   // subtotals at the last fixing up to the day
	Locked Valuation = "locked" // each line at the rate it was priced at
)

// Valuations lists the valuations, the default first.
var Valuations = []Valuation{Spot, Locked}

// Dimension is what the rows of a report stand for.
type Dimension string

// The dimensions of an exposure report.
const (
	ByChannel  Dimension = "channel"
	ByMonth    Dimension = "month" // of the end date
	ByCurrency Dimension = "currency"
	ByScheme   Dimension = "scheme"
	ByCountry  Dimension = "country"
)

// Dimensions lists the dimensions, the default first.
var Dimensions = []Dimension{ByChannel, ByMonth, ByCurrency, ByScheme, ByCountry}

// Position is one allocation as it stands at a moment: what a report is made of.
type Position struct {
	AllocationID int64
	ChannelID    int64
	Currency     money.Currency
	Scheme       travel.Scheme
	Paid         civil.Day // P
	Amounts      Amounts
	Terms        Terms
	Protected    bool
	CoverFrom    time.Time
	Priced       bool     // false while pending_rate
	Quote        fx.Quote // at which it was priced
}

// ReportQuery says what an exposure report is about.
type ReportQuery struct {
	AsOf        civil.Day
	KnownAt     time.Time
	Currency    money.Currency // of the report
	Policy      money.Currency // Q; locked values exist in it alone
	Valuation   Valuation
	By          Dimension
	Recognition travel.Recognition
}

// Figures is E1 and E2 of R7 over some allocations, in minor units of one currency.
type Figures struct {
	Allocations int64
	E1          int64
	E2          int64
}

func (f *Figures) add(o Figures) {
	f.Allocations += o.Allocations
	f.E1 += o.E1
	f.E2 += o.E2
}

// Row is the exposure of one key in one base currency, and the same in the report's.
type Row struct {
	Key      Key
	Currency money.Currency
	Figures
	E1Report int64
	E2Report int64
}

// Key names a row: one field is set, by the report's dimension.
type Key struct {
	ChannelID int64
	Text      string // month as Y-m, currency, scheme or country
}

// Report is an exposure report (R7).
type Report struct {
	Query       ReportQuery
	Rows        []Row
	Total       Figures // in the report's currency
	RoundingE1  int64   // what the rows, each rounded by itself, differ from the total by: total less rows
	RoundingE2  int64
	PendingRate []Pending // what has no value yet: in no row and not in the total
	Uncovered   []Pending // E5: what is not protected, or whose cover had not started; in no row and not in the total
}

// Pending is what stands apart from the rows of a report, by currency, in minor units of it.
type Pending struct {
	Currency money.Currency
	Figures
}

// Exposure adds positions up to a report. It holds sums only, so its memory is bounded by the number of rows.
type Exposure struct {
	query     ReportQuery
	rates     *fx.Table
	rows      map[rowKey]*sums
	channels  map[rowKey]*sums // by channel and currency: what the total is the sum of in a spot valuation
	pending   map[money.Currency]*Figures
	uncovered map[money.Currency]*Figures
	spot      map[money.Currency]*fx.Quote // nil where a leg has no fixing
}

type rowKey struct {
	key      Key
	currency money.Currency
}

// sums is a subtotal in base currency, and in a locked valuation the sum of its lines, each converted.
type sums struct {
	Figures
	lockedE1 int64
	lockedE2 int64
}

// NewExposure starts a report; rates hold what a spot valuation converts by.
func NewExposure(q ReportQuery, rates *fx.Table) *Exposure {
	return &Exposure{
		query: q, rates: rates,
		rows: map[rowKey]*sums{}, channels: map[rowKey]*sums{},
		pending: map[money.Currency]*Figures{}, uncovered: map[money.Currency]*Figures{},
		spot: map[money.Currency]*fx.Quote{},
	}
}

// Add takes one position into the report.
func (e *Exposure) Add(p Position) error {
	n := p.Amounts.Remaining(p.Paid, e.query.AsOf)
	if n == 0 || e.query.AsOf > p.Terms.LastDay {
		return nil
	}
	u := p.Terms.Undelivered(n, e.query.AsOf, e.query.Recognition)
	line := sums{Figures: Figures{Allocations: 1, E1: u, E2: n - u}}
	if !p.Protected || p.CoverFrom.After(e.query.AsOf.End()) {
		at(e.uncovered, p.Currency).add(line.Figures)
		return nil
	}
	valued, err := e.value(p, &line)
	if err != nil {
		return err
	}
	if !valued {
		at(e.pending, p.Currency).add(line.Figures)
		return nil
	}
	at(e.rows, rowKey{e.keyOf(p), p.Currency}).addLine(line)
	at(e.channels, rowKey{Key{ChannelID: p.ChannelID}, p.Currency}).addLine(line)
	return nil
}

// value says whether the line has a value in the report's currency; in a locked valuation it computes it.
func (e *Exposure) value(p Position, line *sums) (valued bool, err error) {
	if e.query.Valuation == Spot {
		return e.spotQuote(p.Currency) != nil, nil
	}
	// A line priced in another policy currency, of an earlier policy, has no locked value in this one.
	if !p.Priced || p.Quote.To != e.query.Currency {
		return false, nil
	}
	if line.lockedE1, err = p.Quote.Convert(line.E1); err != nil {
		return false, fmt.Errorf("allocation %d: %w", p.AllocationID, err)
	}
	if line.lockedE2, err = p.Quote.Convert(line.E2); err != nil {
		return false, fmt.Errorf("allocation %d: %w", p.AllocationID, err)
	}
	return true, nil
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
	switch e.query.By {
	case ByMonth:
		return Key{Text: p.Terms.End.Month()}
	case ByCurrency:
		return Key{Text: string(p.Currency)}
	case ByScheme:
		return Key{Text: string(p.Scheme)}
	case ByCountry:
		return Key{Text: p.Terms.Country}
	default:
		return Key{ChannelID: p.ChannelID}
	}
}

func (s *sums) addLine(line sums) {
	s.add(line.Figures)
	s.lockedE1 += line.lockedE1
	s.lockedE2 += line.lockedE2
}

// Report closes the sums. Rows stand in order of key and currency, so that the same facts give the same bytes.
func (e *Exposure) Report() (Report, error) {
	r := Report{Query: e.query, PendingRate: apart(e.pending), Uncovered: apart(e.uncovered)}
	for k, s := range e.rows {
		e1, e2, err := e.convert(k.currency, s)
		if err != nil {
			return Report{}, err
		}
		r.Rows = append(r.Rows, Row{Key: k.key, Currency: k.currency, Figures: s.Figures, E1Report: e1, E2Report: e2})
		r.RoundingE1 -= e1
		r.RoundingE2 -= e2
	}
	for k, s := range e.channels {
		e1, e2, err := e.convert(k.currency, s)
		if err != nil {
			return Report{}, err
		}
		r.Total.add(Figures{Allocations: s.Allocations, E1: e1, E2: e2})
	}
	r.RoundingE1 += r.Total.E1
	r.RoundingE2 += r.Total.E2
	slices.SortFunc(r.Rows, func(a, b Row) int {
		return cmp.Or(
			cmp.Compare(a.Key.ChannelID, b.Key.ChannelID),
			cmp.Compare(a.Key.Text, b.Key.Text),
			cmp.Compare(a.Currency, b.Currency),
		)
	})
	return r, nil
}

// convert gives a subtotal in the report's currency: rounded once in a spot valuation, the sum of rounded lines in a
// locked one.
func (e *Exposure) convert(c money.Currency, s *sums) (e1, e2 int64, err error) {
	if e.query.Valuation == Locked {
		return s.lockedE1, s.lockedE2, nil
	}
	q := e.spotQuote(c)
	if e1, err = q.Convert(s.E1); err != nil {
		return 0, 0, err
	}
	e2, err = q.Convert(s.E2)
	return e1, e2, err
}

func apart(by map[money.Currency]*Figures) []Pending {
	var list []Pending
	for _, c := range slices.Sorted(maps.Keys(by)) {
		list = append(list, Pending{Currency: c, Figures: *by[c]})
	}
	return list
}

// at gives the entry of a key, made where there was none.
func at[K comparable, V any](m map[K]*V, key K) *V {
	v := m[key]
	if v == nil {
		v = new(V)
		m[key] = v
	}
	return v
}
