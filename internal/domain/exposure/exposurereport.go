package exposure

import (
	"cmp"
	"slices"

	"holdfast/internal/domain/money"
)

// Row is the exposure of one key in one base currency, and the same in the report currency.
type Row struct {
	Key      Key
	Currency money.Currency
	Figures
	Memo
	E1Report   int64
	E2Report   int64
	Gaps       Gaps  // of E1Report and E2Report
	Report     *Memo // nil in a locked valuation, because memo figures have no locked rates
	ReportGaps MemoGaps
}

// add adds another row of the same key and currency.
func (r *Row) add(o Row) {
	figures, memo, gaps := r.Figures, r.Memo, r.Gaps
	figures.add(o.Figures)
	memo.add(o.Memo)
	e1, e2 := money.Sum(r.E1Report, o.E1Report), money.Sum(r.E2Report, o.E2Report)
	gaps.add(o.Gaps)
	*r = o
	r.Figures, r.Memo, r.E1Report, r.E2Report, r.Gaps = figures, memo, e1, e2, gaps
}

// Rounding is the total less the rows, because each row is rounded separately, in the report currency. In a locked valuation, E4 and E5
// have none.
type Rounding struct {
	E1, E2 int64
	Memo
}

// less subtracts a row.
func (n *Rounding) less(row Row) {
	n.E1 -= row.E1Report
	n.E2 -= row.E2Report
	if row.Report != nil {
		n.E4 -= row.Report.E4
		n.E5 -= row.Report.E5
	}
}

// plus adds the total.
func (n *Rounding) plus(total Figures, memo *Memo) {
	n.E1, n.E2 = money.Sum(n.E1, total.E1), money.Sum(n.E2, total.E2)
	if memo != nil {
		n.Memo.add(*memo)
	}
}

// RoundingMemo is the rounding of E4 and E5, or nil in a locked valuation.
func (r Report) RoundingMemo() *Memo {
	if r.Memo == nil {
		return nil
	}
	return &r.Rounding.Memo
}

// Unattributed is the scheme of the row for amounts without a scheme: E4, which no card has paid yet.
const Unattributed = "unattributed"

// SchemeLabel is the scheme of a row, or Unattributed.
func (k Key) SchemeLabel() string { return cmp.Or(k.Scheme, Unattributed) }

// AttributesE4 reports whether E4 is known in the scope of a report. It is unknown if the scope is limited to some schemes.
func (q ReportQuery) AttributesE4() bool { return len(q.Scope.Schemes) == 0 }

// withoutE4 marks E4 as unknown everywhere.
func (r *Report) withoutE4() {
	r.MemoGaps.E4 = true
	for i := range r.Rows {
		r.Rows[i].ReportGaps.E4 = true
	}
	for i := range r.Subtotals {
		r.Subtotals[i].MemoGaps.E4 = true
	}
}

// Key names a row: the fields of the report's dimensions are set.
type Key struct {
	ChannelID int64
	Month     string // YYYY-MM
	Currency  money.Currency
	Scheme    string // "" for amounts without a scheme; see Unattributed
	Country   string
	Suppliers string // a SupplierKey
}

func compareKeys(a, b Key) int {
	return cmp.Or(
		cmp.Compare(a.ChannelID, b.ChannelID), cmp.Compare(a.Month, b.Month), cmp.Compare(a.Currency, b.Currency),
		cmp.Compare(a.Scheme, b.Scheme), cmp.Compare(a.Country, b.Country), cmp.Compare(a.Suppliers, b.Suppliers),
	)
}

// only keeps the field of one dimension.
func (k Key) only(d Dimension) (one Key) {
	switch d {
	case ByChannel:
		one.ChannelID = k.ChannelID
	case ByMonth:
		one.Month = k.Month
	case ByCurrency:
		one.Currency = k.Currency
	case ByScheme:
		one.Scheme = k.Scheme
	case ByCountry:
		one.Country = k.Country
	case BySupplier:
		one.Suppliers = k.Suppliers
	}
	return one
}

// Report is an exposure report (R7). Totals and subtotals are in the report currency.
type Report struct {
	Query     ReportQuery
	Rows      []Row
	Subtotals []Subtotal // one for each value of the first dimension, in the order of the rows
	Total     Figures
	Gaps      Gaps  // of the total
	Memo      *Memo // nil in a locked valuation
	MemoGaps  MemoGaps
	Rounding  Rounding
	// PendingRate are the amounts without a value in the report currency. In a spot valuation the rows have them in base currency, and
	// the totals that they belong to are unknown. In a locked valuation they are in no row and not in the total.
	PendingRate []Pending
	Converted   []Converted              // of a locked valuation; the rows and the total have it
	Uncovered   []Pending                // E5, in the field E1: not protected, or not yet covered; not in the total
	Instalments []Pending                // E4, in the field E1, with the number of bookings; not in the total
	Channels    map[int64]ChannelTotalE1 // collateral is taken off it
}

// Subtotal adds up the rows that agree in the first dimension of the report.
type Subtotal struct {
	Key  Key // the first dimension alone
	Rows int
	Figures
	Gaps     Gaps
	Memo     *Memo // nil in a locked valuation
	MemoGaps MemoGaps
}

// ChannelTotalE1 is E1 of a channel in the report currency. Gap: it is not known.
type ChannelTotalE1 struct {
	E1  int64
	Gap bool
}

// subtotals adds up the rows, which are in order.
func (r *Report) subtotals() {
	for _, row := range r.Rows {
		key := row.Key.only(r.Query.By)
		if n := len(r.Subtotals); n == 0 || r.Subtotals[n-1].Key != key {
			r.Subtotals = append(r.Subtotals, Subtotal{Key: key})
			if r.Query.Valuation == Spot {
				r.Subtotals[n].Memo = &Memo{}
			}
		}
		s := &r.Subtotals[len(r.Subtotals)-1]
		s.Rows++
		s.Figures.add(Figures{row.Allocations, row.E1Report, row.E2Report})
		s.Gaps.add(row.Gaps)
		if row.Report != nil {
			s.Memo.add(*row.Report)
			s.MemoGaps.add(row.ReportGaps)
		}
	}
}

// sortRows brings the rows in order: by the first dimension of the report, then by the second one, then by currency.
func (r *Report) sortRows() {
	slices.SortFunc(r.Rows, func(a, b Row) int {
		return cmp.Or(compareKeys(a.Key.only(r.Query.By), b.Key.only(r.Query.By)), compareKeys(a.Key, b.Key),
			cmp.Compare(a.Currency, b.Currency))
	})
}

// NetExposure is E1 less collateral (R7), in the report currency.
type NetExposure struct {
	NetTotal
	Channels map[int64]NetOfChannel // only channels with exposure
	Pending  []HeldAmount           // collateral in a currency without a rate
}

// NetTotal is the collateral that can be subtracted from an exposure, and the rest. A gap means that a figure is unknown,
// because a rate is missing for the collateral or for the exposure.
type NetTotal struct {
	Held    int64
	Net     int64
	HeldGap bool
	NetGap  bool
}

// NetOfChannel is the exposure of a channel, the collateral for it alone, and the difference.
type NetOfChannel struct {
	ChannelTotalE1
	NetTotal
}

// Net takes collateral off the exposures of the report's channels (R7).
func (r Report) Net(n *Netting) NetExposure {
	net := NetExposure{NetTotal: n.Total(r.Channels), Channels: map[int64]NetOfChannel{}, Pending: n.PendingRate}
	for id, e1 := range r.Channels {
		net.Channels[id] = NetOfChannel{e1, n.Channel(id, e1)}
	}
	return net
}

// Pending is an amount outside the total of a report, in minor units of its currency.
type Pending struct {
	Currency money.Currency
	Figures
}
