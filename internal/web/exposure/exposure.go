package exposure

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/report"
	"holdfast/internal/web/chart"
	"holdfast/internal/web/kit"
)

// steps is the drill-down order.
var steps = []exposure.Dimension{
	exposure.ByChannel, exposure.ByCountry, exposure.ByMonth, exposure.BySupplier, exposure.ByScheme, exposure.ByCurrency,
}

// exposure shows what would be lost if merchants fail, grouped by one or two dimensions.
func (p *pages) exposure(v *kit.Visit) error {
	if went, err := tidy(v); went || err != nil {
		return err
	}
	s, err := p.read(v)
	if err != nil {
		return err
	}
	const which = withMoment | withValuation | withGrouping
	page := kit.Page{Title: "Exposure", Parts: v.Parts("exposure", "/exposure"), Wide: true, Acts: []kit.Link{
		{Text: "View allocations", Href: s.below("/exposure/details"), Plain: true},
	}}
	if i := slices.Index(cellFigures, s.in.Get("cells")); i < 0 || i%2 != 0 {
		s.in.Problems.Wrong("cells", "Must be one of e2, e3, rows.")
	}
	found, err := p.app.Exposure.Report(v.R.Context(), v.Actor, s.query())
	if err != nil {
		return p.fail(s, which, err, page)
	}
	if err := p.learn(v, s.names, s.suppliersOf(found)); err != nil {
		return err
	}
	if len(s.Channels) == 1 {
		name := found.ChannelNames[s.Channels[0]]
		page.Acts = append(page.Acts, kit.Link{Text: name, Href: v.At("/exposure/merchants/" + strconv.FormatInt(s.Channels[0], 10)), Plain: true})
	}
	r := s.began(which)
	r.at(s, found.Query, found.Final)
	r.keyFigures(found)
	r.apartNotes(found.PendingRate, found.Uncovered)
	for _, i := range found.Instalments {
		r.Notes = append(r.Notes, note{Text: fmt.Sprintf("%s are not paid yet for %s. They are not part of the totals.",
			kit.Money(i.E1, i.Currency), kit.Plural(i.Allocations, "booking", "bookings"))})
	}
	if v.Format() == "" {
		if err := p.exposureCharts(s, r, found); err != nil {
			return err
		}
	}
	table := s.exposureTable
	if s.Across != "" && s.in.Get("cells") != inRows {
		table = s.matrixTable
	}
	t, err := table(found)
	if err != nil {
		return err
	}
	r.Parts = []part{{Table: t}}
	return p.show(v, r, page)
}

// below returns another page with the same settings.
func (s *settings) below(path string, pairs ...string) string {
	drop := []string{"page", "", "sort", "", "down", "", "col", "", "format", "", "by", "", "across", "", "cells", "", "figure", ""}
	_, query, _ := strings.Cut(s.v.With(slices.Concat(drop, s.fixed, pairs)...), "?")
	if query == "" {
		return s.v.At(path)
	}
	return s.v.At(path) + "?" + query
}

// named is the maximum number of suppliers that a page names. Those with less at risk show their IDs; a file names all of
// them.
const named = 5 * offered

// suppliersOf returns the suppliers in a report's rows, largest exposure first.
func (s *settings) suppliersOf(r report.ExposureReport) (ids []int64) {
	rows := slices.Clone(r.Subtotals)
	slices.SortStableFunc(rows, func(a, b exposure.Subtotal) int { return cmp.Compare(b.E1+b.E2, a.E1+a.E2) })
	if r.Query.By != exposure.BySupplier && r.Query.Across == exposure.BySupplier {
		for _, row := range r.Rows {
			rows = append(rows, exposure.Subtotal{Key: row.Key})
		}
	}
	seen := map[int64]bool{}
	for _, row := range rows {
		for _, id := range protection.SupplierIDs(row.Key.Suppliers) {
			if !seen[id] && (len(ids) < named || s.v.Format() != "") {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// keyFigures are the figures of the whole report.
func (r *reportPage) keyFigures(found report.ExposureReport) {
	c, net := found.Query.Currency, found.Net
	r.Figures = []figure{
		{Text: "Undelivered (E1)", Value: said(found.Total.E1, found.Gaps.E1, c), Hint: kit.Plural(found.Total.Allocations, "allocation", "allocations")},
		{Text: "Tail (E2)", Value: said(found.Total.E2, found.Gaps.E2, c), Hint: "delivered, and can still be charged back"},
		{Text: "Total (E3)", Value: said(found.Total.E1+found.Total.E2, found.Gaps.E1 || found.Gaps.E2, c)},
		{Text: "E1 net of collateral", Value: said(net.Net, net.NetGap, c), Hint: "collateral " + said(net.Held, net.HeldGap, c)},
	}
}

// exposureCharts draws the rows, and the exposure by month, or by country if the rows are months. A narrow part of the book
// gets only the first chart.
func (p *pages) exposureCharts(s *settings, r *reportPage, found report.ExposureReport) error {
	r.draw(s.chartOf(found, "rows"))
	if s.Scope.Narrow() {
		return nil
	}
	by := exposure.ByMonth
	if found.Query.By == exposure.ByMonth {
		by = exposure.ByCountry
	}
	q := s.query()
	q.By, q.Across, q.KnownAt = by, "", found.Query.KnownAt
	more, err := p.app.Exposure.Report(s.v.R.Context(), s.v.Actor, q)
	if err == nil {
		r.draw(s.chartOf(more, string(by)))
	}
	return err
}

// chartOf draws a report by its first dimension: months as vertical bars, everything else ranked by size.
func (s *settings) chartOf(r report.ExposureReport, id string) chart.Chart {
	by := r.Query.By
	c := chart.Chart{
		ID: id, Kind: chart.Ranked, Title: "By " + strings.ToLower(titleOf(by)), Currency: r.Query.Currency, Names: titleOf(by),
		Series: []string{"Undelivered (E1)", "Tail (E2)"}, Caption: "Undelivered and tail, in " + string(r.Query.Currency),
	}
	if by == exposure.ByMonth {
		c.Kind = chart.Bars
	}
	for i, sub := range r.Subtotals {
		if sub.Gaps.E1 || sub.Gaps.E2 {
			c.Caption += ". Amounts without an exchange rate are not included"
			continue
		}
		if sub.E1 == 0 && sub.E2 == 0 {
			continue
		}
		name := s.nameOf(by, sub.Key, r.ChannelNames)
		point := chart.Point{Label: name, Long: name, Values: []int64{sub.E1, sub.E2}, Href: s.deeper(sub.Key, by)}
		if by == exposure.ByMonth {
			point.Label = shortMonth(sub.Key.Month, i == 0)
		}
		c.Points = append(c.Points, point)
	}
	if c.Kind == chart.Ranked { // charts have a maximum number of points: the largest must be included
		slices.SortStableFunc(c.Points, func(a, b chart.Point) int { return cmp.Compare(b.Values[0]+b.Values[1], a.Values[0]+a.Values[1]) })
	}
	return c
}

// nameOf is the label of a key in one dimension.
func (s *settings) nameOf(d exposure.Dimension, k exposure.Key, channels map[int64]string) string {
	switch d {
	case exposure.ByMonth:
		return month(k.Month)
	case exposure.ByCurrency:
		return string(k.Currency)
	case exposure.ByScheme:
		if k.Scheme == "" {
			return kit.Say(exposure.Unattributed)
		}
		return scheme(card.Scheme(k.Scheme))
	case exposure.ByCountry:
		return country(k.Country)
	case exposure.BySupplier:
		return s.names.set(k.Suppliers)
	}
	return channels[k.ChannelID]
}

// valueOf is the filter value of a key in one dimension; "" if no filter can express it.
func valueOf(d exposure.Dimension, k exposure.Key) string {
	switch d {
	case exposure.ByMonth:
		return k.Month
	case exposure.ByCurrency:
		return string(k.Currency)
	case exposure.ByScheme:
		return k.Scheme
	case exposure.ByCountry:
		return k.Country
	case exposure.BySupplier:
		return k.Suppliers
	}
	return strconv.FormatInt(k.ChannelID, 10)
}

// narrowed returns the settings that filter a report by a key. ok is false if no filter can express it.
func narrowed(k exposure.Key, by ...exposure.Dimension) (pairs []string, ok bool) {
	for _, d := range by {
		if d == "" {
			continue
		}
		value := valueOf(d, k)
		if value == "" {
			return nil, false
		}
		pairs = append(pairs, filterOf(d), value)
	}
	return pairs, true
}

// deeper is one row's report by the next dimension without a filter. If all have one, it is the list of allocations.
func (s *settings) deeper(k exposure.Key, by ...exposure.Dimension) string {
	pairs, ok := narrowed(k, by...)
	if !ok {
		return ""
	}
	for _, d := range steps {
		if !slices.Contains(by, d) && s.in.Get(filterOf(d)) == "" {
			return s.below("/exposure", append(pairs, "by", string(d))...)
		}
	}
	return s.below("/exposure/details", pairs...)
}

// exposureOrders are the sort orders of the rows.
var exposureOrders = []string{"e1_report", "key", "allocations", "e2_report", "e3_report"}

func (s *settings) exposureTable(found report.ExposureReport) (*kit.Table, error) {
	orders := exposureOrders
	byTime := found.Query.By == exposure.ByMonth
	if byTime {
		orders = append([]string{"key"}, exposureOrders...)
	}
	page, err := s.v.PageOf(orders, !byTime)
	if err != nil {
		return nil, err
	}
	q := found.Query
	t := kit.Table{
		Name: "exposure", Caption: "Exposure by " + strings.ToLower(titleOf(q.By)), Sorted: page.OrderBy, Descending: page.Descending, Number: page.Number, Total: -1,
		Empty: kit.Empty{Title: "Nothing at risk", Text: "No payments matching these filters are at risk right now. " +
			"Choose another day or remove a filter."},
	}
	t.Columns = []kit.Column{{Name: "key", Title: titleOf(q.By), Sorts: true}}
	if q.Across != "" {
		t.Columns = append(t.Columns, kit.Column{Name: "across", Title: titleOf(q.Across)})
	}
	unit := " in " + string(q.Currency)
	t.Columns = append(t.Columns, []kit.Column{
		{Name: "currency", Title: "Currency"}, {Name: "allocations", Title: "Allocations", Figure: true, Sorts: true},
		{Name: "e1", Title: "E1", Currency: "currency"}, {Name: "e2", Title: "E2", Currency: "currency", Hidden: true},
		{Name: "e1_report", Title: "E1" + unit, Currency: "report_currency", Sorts: true}, {Name: "e2_report", Title: "E2" + unit, Currency: "report_currency", Sorts: true},
		{Name: "e3_report", Title: "E3" + unit, Currency: "report_currency", Sorts: true},
		{Name: "e4", Title: "Unpaid (E4)", Currency: "currency", Hidden: true}, {Name: "e5", Title: "Not protected (E5)", Currency: "currency", Hidden: true},
		{Name: "e4_report", Title: "E4" + unit, Currency: "report_currency", Hidden: true}, {Name: "e5_report", Title: "E5" + unit, Currency: "report_currency", Hidden: true},
	}...)
	rows := slices.Clone(found.Rows)
	sortExposure(rows, page.OrderBy, page.Descending, func(r exposure.Row) string { return s.nameOf(q.By, r.Key, found.ChannelNames) }, byTime)
	rows, t.More = pick(s.v, rows, page.Number, page.Size)
	for _, row := range rows {
		t.Rows = append(t.Rows, s.exposureRow(found, row))
	}
	t.Foot = exposureFoot(found)
	return s.v.Table(t), nil
}

func sortExposure(rows []exposure.Row, by string, down bool, name func(exposure.Row) string, byTime bool) {
	slices.SortStableFunc(rows, func(a, b exposure.Row) int {
		var order int
		switch by {
		case "key":
			if !byTime { // months are already in order
				order = cmp.Compare(strings.ToLower(name(a)), strings.ToLower(name(b)))
			} else {
				order = cmp.Compare(a.Key.Month, b.Key.Month)
			}
		case "allocations":
			order = cmp.Compare(a.Allocations, b.Allocations)
		case "e2_report":
			order = cmp.Compare(a.E2Report, b.E2Report)
		case "e3_report":
			order = cmp.Compare(a.E1Report+a.E2Report, b.E1Report+b.E2Report)
		default:
			order = cmp.Compare(a.E1Report, b.E1Report)
		}
		if down {
			return -order
		}
		return order
	})
}

func (s *settings) exposureRow(found report.ExposureReport, row exposure.Row) kit.Row {
	q, k := found.Query, row.Key
	count := kit.Number(row.Allocations)
	if pairs, ok := narrowed(k, q.By, q.Across); ok {
		if s.in.Get("currencies") == "" {
			pairs = append(pairs, "currencies", string(row.Currency))
		}
		count = leading(count, s.below("/exposure/details", pairs...))
	}
	cells := []kit.Cell{kit.Words(s.nameOf(q.By, k, found.ChannelNames))}
	if q.Across != "" {
		cells = append(cells, leading(kit.Words(s.nameOf(q.Across, k, found.ChannelNames)), s.deeper(k, q.By, q.Across)))
	}
	cells = append(cells, kit.Words(string(row.Currency)), count, dashed(kit.Sum(row.E1, row.Currency)),
		dashed(kit.Sum(row.E2, row.Currency)), dashed(sum(row.E1Report, row.Gaps.E1, q.Currency)), dashed(sum(row.E2Report, row.Gaps.E2, q.Currency)),
		sum(row.E1Report+row.E2Report, row.Gaps.E1 || row.Gaps.E2, q.Currency),
		dashed(sum(row.E4, !q.AttributesE4(), row.Currency)), dashed(kit.Sum(row.E5, row.Currency)))
	cells = append(cells, memoCells(row.Report, row.ReportGaps, q.Currency)...)
	return kit.Row{Href: s.deeper(k, q.By), Cells: cells}
}

// exposureFoot is the totals row, with the rounding difference of the rows.
func exposureFoot(found report.ExposureReport) (foot []kit.Row) {
	c := found.Query.Currency
	line := func(name string, count kit.Cell, cells ...kit.Cell) {
		row := []kit.Cell{kit.Words(name)}
		if found.Query.Across != "" {
			row = append(row, kit.Cell{})
		}
		row = append(row, kit.Cell{}, count, kit.Cell{}, kit.Cell{})
		foot = append(foot, kit.Row{Cells: append(row, cells...)})
	}
	report := func(e1, e2 int64, memo *exposure.Memo) []kit.Cell {
		cells := []kit.Cell{sum(e1, found.Gaps.E1, c), sum(e2, found.Gaps.E2, c), sum(e1+e2, found.Gaps.E1 || found.Gaps.E2, c), {}, {}}
		return append(cells, memoCells(memo, found.MemoGaps, c)...)
	}
	if n := found.Rounding; n != (exposure.Rounding{}) {
		line("Rounding of the rows", kit.Cell{}, report(n.E1, n.E2, found.RoundingMemo())...)
	}
	line("Total", kit.Number(found.Total.Allocations), report(found.Total.E1, found.Total.E2, found.Memo)...)
	return foot
}

// memoCells are E4 and E5 in the report currency. They are empty in a locked valuation.
func memoCells(memo *exposure.Memo, gaps exposure.MemoGaps, c money.Currency) []kit.Cell {
	if memo == nil {
		return make([]kit.Cell, 2)
	}
	return []kit.Cell{dashed(sum(memo.E4, gaps.E4, c)), dashed(sum(memo.E5, gaps.E5, c))}
}
