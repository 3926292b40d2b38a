package exposure

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"holdfast/internal/domain/exposure"
	"holdfast/internal/report"
	"holdfast/internal/web/kit"
)

// Limits of a matrix. Values without their own column are in the column "All others".
const (
	matrixColumns = 16  // of a page
	matrixFile    = 200 // of a file
)

// inRows is the setting that shows a cross-tabulated report with a row per pair.
const inRows = "rows"

// cellFigures are the figures that the cells of a matrix can show, as options.
var cellFigures = []string{"", "Undelivered (E1)", "e2", "Tail (E2)", "e3", "Total (E3)", inRows, "One row per pair"}

// matrixSum is an amount in the report currency. Gap means unknown.
type matrixSum struct {
	amount int64
	gap    bool
}

func (m *matrixSum) add(amount int64, gap bool) {
	m.amount, m.gap = m.amount+amount, m.gap || gap
}

// nothing reports whether the sum is empty. No part is negative, so a sum of zero has no parts.
func (m *matrixSum) nothing() bool { return m == nil || m.amount == 0 && !m.gap }

// matrix is a cross table of two dimensions: one down, the other across.
type matrix struct {
	cells        map[[2]string]*matrixSum
	keys         map[[2]string]exposure.Key
	down, across map[string]*matrixSum // by value
	first        map[string]exposure.Key
	second       map[string]exposure.Key
}

// figureOf returns a cell's figure from a row or the total.
func figureOf(which string, e1, e2 int64, gaps exposure.Gaps) (amount int64, gap bool) {
	switch which {
	case "e2":
		return e2, gaps.E2
	case "e3":
		return e1 + e2, gaps.E1 || gaps.E2
	}
	return e1, gaps.E1
}

func matrixOf(found report.ExposureReport, which string) *matrix {
	m := &matrix{
		cells: map[[2]string]*matrixSum{}, keys: map[[2]string]exposure.Key{}, down: map[string]*matrixSum{}, across: map[string]*matrixSum{},
		first: map[string]exposure.Key{}, second: map[string]exposure.Key{},
	}
	for _, row := range found.Rows {
		down, across := valueOf(found.Query.By, row.Key), valueOf(found.Query.Across, row.Key)
		at := [2]string{down, across}
		if m.cells[at] == nil {
			m.cells[at], m.keys[at] = &matrixSum{}, row.Key
		}
		if m.down[down] == nil {
			m.down[down], m.first[down] = &matrixSum{}, row.Key
		}
		if m.across[across] == nil {
			m.across[across], m.second[across] = &matrixSum{}, row.Key
		}
		amount, gap := figureOf(which, row.E1Report, row.E2Report, row.Gaps)
		for _, sum := range []*matrixSum{m.cells[at], m.down[down], m.across[across]} {
			sum.add(amount, gap)
		}
	}
	empty := func(_ string, sum *matrixSum) bool { return sum.nothing() }
	maps.DeleteFunc(m.down, empty)
	maps.DeleteFunc(m.across, empty)
	return m
}

// columns are the values with their own column: the largest, months in order. others are the rest.
func (m *matrix) columns(by exposure.Dimension, most int) (shown, others []string) {
	all := slices.SortedFunc(maps.Keys(m.across), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.across[b].amount, m.across[a].amount), cmp.Compare(a, b))
	})
	shown, others = all[:min(len(all), most)], all[min(len(all), most):]
	if by == exposure.ByMonth {
		slices.Sort(shown)
	}
	return shown, others
}

// matrixTable shows a report with its second grouping across.
func (s *settings) matrixTable(found report.ExposureReport) (*kit.Table, error) {
	q, which := found.Query, s.in.Get("cells")
	orders := []string{"total", "key"}
	byTime := q.By == exposure.ByMonth
	if byTime {
		orders = []string{"key", "total"}
	}
	page, err := s.v.PageOf(orders, !byTime)
	if err != nil {
		return nil, err
	}
	most := matrixColumns
	if s.v.Format() != "" {
		most = matrixFile
	}
	m := matrixOf(found, which)
	shown, others := m.columns(q.Across, most)
	t := kit.Table{
		Name: "exposure", Matrix: true, Sorted: page.OrderBy, Descending: page.Descending, Number: page.Number, Total: -1,
		Caption: "Exposure by " + strings.ToLower(titleOf(q.By)) + " and " + strings.ToLower(titleOf(q.Across)) + ", in " + string(q.Currency),
		Columns: []kit.Column{
			{Name: "key", Title: titleOf(q.By) + ", in " + string(q.Currency), Sorts: true}, {Name: "total", Title: "Total", Currency: "report_currency", Sorts: true},
		},
		Empty: kit.Empty{Title: "Nothing at risk", Text: "No payments matching these filters are at risk right now. " +
			"Choose another day or remove a filter."},
	}
	for _, value := range shown {
		t.Columns = append(t.Columns, kit.Column{
			Name: cmp.Or(value, "none"), Title: s.nameOf(q.Across, m.second[value], found.ChannelNames), Currency: "report_currency",
		})
	}
	if len(others) > 0 {
		t.Columns = append(t.Columns, kit.Column{Name: "others", Title: "All others", Currency: "report_currency"})
	}
	rows := slices.Sorted(maps.Keys(m.down))
	name := func(value string) string { return s.nameOf(q.By, m.first[value], found.ChannelNames) }
	slices.SortStableFunc(rows, func(a, b string) int {
		order := cmp.Compare(m.down[a].amount, m.down[b].amount)
		if page.OrderBy == "key" && !byTime {
			order = cmp.Compare(strings.ToLower(name(a)), strings.ToLower(name(b)))
		} else if page.OrderBy == "key" { // months are already in order
			order = cmp.Compare(a, b)
		}
		if page.Descending {
			return -order
		}
		return order
	})
	rows, t.More = pick(s.v, rows, page.Number, page.Size)
	for _, value := range rows {
		t.Rows = append(t.Rows, s.matrixRow(found, m, value, name(value), shown, others))
	}
	t.Foot = m.foot(found, which, shown, others)
	return s.v.Table(t), nil
}

func (s *settings) matrixRow(found report.ExposureReport, m *matrix, value, name string, shown, others []string) kit.Row {
	q := found.Query
	cells := []kit.Cell{kit.Words(name), m.down[value].cell(q)}
	for _, across := range shown {
		at := [2]string{value, across}
		cell := m.cells[at].cell(q)
		if !m.cells[at].nothing() {
			cell = leading(cell, s.deeper(m.keys[at], q.By, q.Across))
		}
		cells = append(cells, cell)
	}
	if len(others) > 0 {
		rest := &matrixSum{}
		for _, across := range others {
			if sum := m.cells[[2]string{value, across}]; sum != nil {
				rest.add(sum.amount, sum.gap)
			}
		}
		cells = append(cells, rest.cell(q))
	}
	return kit.Row{Href: s.deeper(m.first[value], q.By), Cells: cells}
}

// foot has the column sums and the report total. Each pair is rounded separately; the rounding row makes up the difference.
func (m *matrix) foot(found report.ExposureReport, which string, shown, others []string) (foot []kit.Row) {
	q := found.Query
	blank := make([]kit.Cell, len(shown)+min(len(others), 1))
	if n, gap := figureOf(which, found.Rounding.E1, found.Rounding.E2, found.Gaps); n != 0 && !gap {
		foot = append(foot, kit.Row{Cells: append([]kit.Cell{kit.Words("Rounding"), (&matrixSum{amount: n}).cell(q)}, blank...)})
	}
	amount, gap := figureOf(which, found.Total.E1, found.Total.E2, found.Gaps)
	cells := []kit.Cell{kit.Words("Total"), (&matrixSum{amount, gap}).cell(q)}
	for _, across := range shown {
		cells = append(cells, m.across[across].cell(q))
	}
	if len(others) > 0 {
		rest := &matrixSum{}
		for _, across := range others {
			rest.add(m.across[across].amount, m.across[across].gap)
		}
		cells = append(cells, rest.cell(q))
	}
	return append(foot, kit.Row{Cells: cells})
}

// cell is a sum without its currency, which is in the first column's header. Empty sums are a dash.
func (m *matrixSum) cell(q exposure.ReportQuery) kit.Cell {
	if m == nil {
		m = &matrixSum{}
	}
	cell := dashed(sum(m.amount, m.gap, q.Currency))
	cell.Text = strings.TrimSuffix(cell.Text, "\u00a0"+string(q.Currency))
	return cell
}
