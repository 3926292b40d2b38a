package cli

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/report"
)

// dimensionColumns are the columns that identify a row: ids, for merchants and suppliers, and names.
func dimensionColumns(by ...exposure.Dimension) (columns []column) {
	for _, d := range by {
		switch d {
		case "":
		case exposure.ByChannel:
			columns = append(columns, column{name: "channel_id"}, column{name: "channel"})
		case exposure.BySupplier:
			columns = append(columns, column{name: "supplier_ids"}, column{name: "suppliers"})
		case exposure.ByCurrency:
			columns = append(columns, column{name: "base_currency"})
		default:
			columns = append(columns, column{name: string(d)})
		}
	}
	return columns
}

// dimensionCells are the cells of dimensionColumns for a key.
func dimensionCells(k exposure.Key, channels map[int64]string, by ...exposure.Dimension) (cells []cell) {
	for _, d := range by {
		switch d {
		case exposure.ByChannel:
			cells = append(cells, ident(k.ChannelID), words(channels[k.ChannelID]))
		case exposure.ByMonth:
			cells = append(cells, words(k.Month))
		case exposure.ByCurrency:
			cells = append(cells, words(string(k.Currency)))
		case exposure.ByScheme:
			cells = append(cells, words(k.SchemeLabel()))
		case exposure.ByCountry:
			cells = append(cells, cell{text: cmp.Or(k.Country, "none"), plain: k.Country})
		case exposure.BySupplier:
			ids := strings.ReplaceAll(k.Suppliers, ",", "+")
			cells = append(cells, words(ids), words(cmp.Or(ids, "none")))
		}
	}
	return cells
}

// exposureSheet has the rows of the report, a subtotal for each value of the first dimension, and the total.
func exposureSheet(r report.ExposureReport) sheet {
	q := r.Query
	s := sheet{columns: []column{{name: "row"}}}
	s.columns = append(s.columns, dimensionColumns(q.By, q.Across)...)
	s.columns = append(s.columns, columnsOf("allocations currency e1 e2 e4 e5 report_currency e1_report e2_report e4_report e5_report")...)
	blank := make([]cell, len(dimensionColumns(q.By, q.Across)))
	line := func(kind string, key []cell, allocations cell, own []cell, e1, e2 cell, memo *exposure.Memo, gaps exposure.MemoGaps) []cell {
		row := append([]cell{words(kind)}, append(key, blank[len(key):]...)...)
		row = append(append(append(row, allocations), own...), words(string(q.Currency)), e1, e2)
		if memo != nil {
			row = append(row, value(memo.E4, gaps.E4, q.Currency), value(memo.E5, gaps.E5, q.Currency))
		}
		return row
	}
	none := make([]cell, 5)
	at := 0
	for _, sub := range r.Subtotals {
		for _, row := range r.Rows[at : at+sub.Rows] {
			c := row.Currency
			own := []cell{words(string(c)), amount(row.E1, c), amount(row.E2, c), value(row.E4, !q.AttributesE4(), c), amount(row.E5, c)}
			s.rows = append(s.rows, line("row", dimensionCells(row.Key, r.ChannelNames, q.By, q.Across), count(row.Allocations), own,
				value(row.E1Report, row.Gaps.E1, q.Currency), value(row.E2Report, row.Gaps.E2, q.Currency), row.Report, row.ReportGaps))
		}
		at += sub.Rows
		if sub.Rows > 1 {
			s.rows = append(s.rows, line("subtotal", dimensionCells(sub.Key, r.ChannelNames, q.By), count(sub.Allocations), none,
				value(sub.E1, sub.Gaps.E1, q.Currency), value(sub.E2, sub.Gaps.E2, q.Currency), sub.Memo, sub.MemoGaps))
		}
	}
	n := r.Rounding
	if n.E1 != 0 && !r.Gaps.E1 || n.E2 != 0 && !r.Gaps.E2 || n.E4 != 0 && !r.MemoGaps.E4 || n.E5 != 0 && !r.MemoGaps.E5 {
		s.foot = append(s.foot, line("rounding", nil, cell{}, none, value(n.E1, r.Gaps.E1, q.Currency),
			value(n.E2, r.Gaps.E2, q.Currency), r.RoundingMemo(), r.MemoGaps))
	}
	s.foot = append(s.foot, line("total", nil, count(r.Total.Allocations), none, value(r.Total.E1, r.Gaps.E1, q.Currency),
		value(r.Total.E2, r.Gaps.E2, q.Currency), r.Memo, r.MemoGaps))
	return s
}

// exposureTable prints the report as a table. Rows without E1 and E2 appear in the other formats only, because the table has no columns
// for E4 and E5.
func (p *program) exposureTable(r report.ExposureReport, s sheet) {
	q := r.Query
	p.printf("Exposure at the end of %s,\n%s\n\n", q.AsOf, known(q))
	var columns []column
	for _, c := range dimensionColumns(q.By, q.Across) {
		if c.name != "channel_id" && c.name != "supplier_ids" {
			columns = append(columns, c)
		}
	}
	named := []int{columnNamed(s.columns, columns[0].name)}
	label := func(rows [][]cell) {
		for _, row := range rows {
			switch first := &row[named[0]]; row[0].plain {
			case "subtotal":
				first.text = "subtotal " + first.text
			case "rounding", "total":
				first.text = row[0].plain
			}
		}
	}
	n, e1, e2 := columnNamed(s.columns, "allocations"), columnNamed(s.columns, "e1_report"), columnNamed(s.columns, "e2_report")
	zero := money.FormatPlain(0, q.Currency)
	empty := func(row []cell) bool {
		return row[0].plain != "total" && strings.Trim(row[n].plain, "0") == "" && row[e1].plain == zero && row[e2].plain == zero
	}
	s.rows, s.foot = slices.DeleteFunc(slices.Clone(s.rows), empty), slices.DeleteFunc(slices.Clone(s.foot), empty)
	label(s.rows)
	label(s.foot)
	code := string(q.Currency)
	columns = append(columns, columnsOf("allocations currency")...)
	columns = append(columns, column{"e1", "E1"}, column{"e2", "E2"}, column{"e1_report", "E1 " + code}, column{"e2_report", "E2 " + code})
	p.printTable(s.only(columns...), "")
	p.tellNet(r)
	p.printf("%s", legend)
	p.tellPending(q, r.PendingRate)
	p.tellConverted(q, r.Converted)
	for _, i := range r.Instalments {
		p.printf("Outstanding instalments of %s: %s %s (E4).\n", counted(i.Allocations, "booking"), i.Currency, money.Format(i.E1, i.Currency))
	}
	p.tellApart(q, nil, r.Uncovered)
}

// tellNet prints the exposure net of collateral.
func (p *program) tellNet(r report.ExposureReport) {
	q := r.Query
	if len(r.Net.Pending) > 0 {
		p.printf("\n")
	}
	p.tellCollateral(q, r.Net.Pending)
	switch {
	case r.Net.NetGap && len(r.Net.Pending) > 0:
		p.printf("E1 net of collateral is not known.\n")
	case r.Net.Held > 0:
		p.printf("\nE1 net of collateral: %s %s, after collateral of %s %s.\n",
			q.Currency, money.Format(r.Net.Net, q.Currency), q.Currency, money.Format(r.Net.Held, q.Currency))
	}
}

// tellCollateral prints collateral that cannot be valued.
func (p *program) tellCollateral(q exposure.ReportQuery, held []exposure.HeldAmount) {
	for _, h := range held {
		p.printf("No exchange rate from %s to %s, so the value of the collateral of %s %s is not known.\n", h.Currency, q.Currency,
			h.Currency, money.Format(h.Amount, h.Currency))
	}
}

// counted formats a count with its noun.
func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return number(n) + " " + what + "s"
}

// number formats an integer.
func number(n int64) string { return strconv.FormatInt(n, 10) }
