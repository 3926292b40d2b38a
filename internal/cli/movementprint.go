package cli

import (
	"slices"
	"strings"

	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/report"
)

// movementLine is a line of a movement, with signed amounts.
type movementLine struct {
	name string
	protection.Level
	exposure.Gaps
}

// movementLines returns the lines of a movement, from opening to closing. Only amounts in the report currency have a
// revaluation, if anything is converted at spot.
func movementLines(f exposure.Flows, gaps exposure.FlowGaps, revalued bool) []movementLine {
	lines := []movementLine{{"opening", f.Opening, gaps.Opening}}
	for _, c := range protection.Causes {
		lines = append(lines, movementLine{c.String(), f.Of(c), gaps.Of(c)})
	}
	if revalued {
		lines = append(lines, movementLine{"revaluation", f.Revaluation, gaps.Revaluation})
	}
	return append(lines, movementLine{"closing", f.Closing, gaps.Closing})
}

// movementSheet has a row per base currency or merchant, and the total. Its columns are the lines, for E1 and E2, in the base
// currency and the report currency.
func movementSheet(r report.MovementReport) sheet {
	q := r.Query
	revalued := r.Revalued()
	s := sheet{columns: columnsOf("row from channel_id channel currency")}
	own := movementLines(exposure.Flows{}, exposure.FlowGaps{}, false)
	inReport := movementLines(exposure.Flows{}, exposure.FlowGaps{}, revalued)
	named := func(lines []movementLine, end string) {
		for _, figure := range []string{"e1_", "e2_"} {
			for _, l := range lines {
				s.columns = append(s.columns, column{figure + l.name + end, lineTitle(l.name)})
			}
		}
	}
	named(own, "")
	s.columns = append(s.columns, column{name: "report_currency"})
	named(inReport, "_report")
	add := func(cells []cell, lines []movementLine, c money.Currency) []cell {
		for _, l := range lines {
			cells = append(cells, value(l.Level.E1, l.Gaps.E1, c))
		}
		for _, l := range lines {
			cells = append(cells, value(l.Level.E2, l.Gaps.E2, c))
		}
		return cells
	}
	for _, row := range r.Rows {
		cells := []cell{words("row"), dayCell(q.From), ident(row.ChannelID), words(r.ChannelNames[row.ChannelID]), words(string(row.Currency))}
		cells = add(cells, movementLines(row.Flows, exposure.FlowGaps{}, false), row.Currency)
		s.rows = append(s.rows, add(append(cells, words(string(q.Currency))), movementLines(row.Report, row.Gaps, revalued), q.Currency))
	}
	total := append([]cell{words("total"), dayCell(q.From), {}, {}, {}}, make([]cell, 2*len(own))...)
	s.foot = append(s.foot, add(append(total, words(string(q.Currency))), movementLines(r.Total, r.Gaps, revalued), q.Currency))
	for _, row := range r.PendingRate {
		if q.Valuation == exposure.Locked { // with spot valuation the rows have it
			cells := []cell{words("pending_rate"), dayCell(q.From), {}, {}, words(string(row.Currency))}
			s.foot = append(s.foot, add(cells, movementLines(row.Flows, exposure.FlowGaps{}, false), row.Currency))
		}
	}
	return s
}

func lineTitle(name string) string {
	return strings.ToUpper(strings.ReplaceAll(strings.ReplaceAll(name, "re_dated", "re-dated"), "_", " "))
}

// movementTable prints the movement as tables. By currency it prints a block per base currency and one for the total. By
// channel, or if rows are sorted or limited, it prints a line per merchant, because there may be many.
func (p *program) movementTable(r report.MovementReport, s sheet, ordered bool) {
	q := r.Query
	p.printf("Movement from the end of %s to the end of %s,\n%s\n", q.From, q.AsOf, known(q.ReportQuery))
	if len(r.Rows)+len(r.PendingRate) == 0 {
		p.printf("\nNo exposure on either day.\n")
		return
	}
	if ordered || q.By == exposure.ByChannel {
		p.movementByRow(r, s)
	} else {
		p.movementBlocks(r)
	}
	for _, row := range r.PendingRate {
		if q.Valuation == exposure.Locked {
			title := "Not in the total, because the exchange rate is missing: in " + string(row.Currency)
			p.movementBlock(title, row.Currency, movementLines(row.Flows, exposure.FlowGaps{}, false))
		} else {
			p.printf("\nNo exchange rate from %s to %s, so some lines of the total are not known.\n", row.Currency, q.Currency)
		}
	}
	for _, row := range r.Converted {
		p.printf("\nPayments priced in %s under another policy are converted at spot.\n", row.Currency)
	}
	p.printf("%s", legend)
}

// movementByRow prints a table for E1 and one for E2, in the report currency. It omits lines without movement.
func (p *program) movementByRow(r report.MovementReport, s sheet) {
	s.foot = slices.DeleteFunc(slices.Clone(s.foot), func(row []cell) bool { return row[0].plain != "total" })
	name := column{name: string(r.Query.By)}
	s.foot[0] = slices.Clone(s.foot[0])
	s.foot[0][columnNamed(s.columns, name.name)].text = "total"
	for _, figure := range []struct {
		name string
		of   func(movementLine) bool
	}{
		{"E1", func(l movementLine) bool { return l.Level.E1 != 0 || l.Gaps.E1 }},
		{"E2", func(l movementLine) bool { return l.Level.E2 != 0 || l.Gaps.E2 }},
	} {
		columns := []column{name}
		revalued := r.Revalued()
		for i, l := range movementLines(r.Total, r.Gaps, revalued) {
			moved := figure.of(l)
			for _, row := range r.Rows {
				moved = moved || figure.of(movementLines(row.Report, row.Gaps, revalued)[i])
			}
			if moved || l.name == "opening" || l.name == "closing" {
				columns = append(columns, column{strings.ToLower(figure.name) + "_" + l.name + "_report", lineTitle(l.name)})
			}
		}
		p.printf("\n%s in %s\n\n", figure.name, r.Query.Currency)
		p.printTable(s.only(columns...), indent)
	}
}

func (p *program) movementBlocks(r report.MovementReport) {
	q := r.Query
	for _, row := range r.Rows {
		if len(r.Rows) == 1 && row.Currency == q.Currency { // the total says the same
			break
		}
		p.movementBlock("In "+string(row.Currency), row.Currency, movementLines(row.Flows, exposure.FlowGaps{}, false))
	}
	p.movementBlock("Total in "+string(q.Currency), q.Currency, movementLines(r.Total, r.Gaps, r.Revalued()))
}

func (p *program) movementBlock(title string, c money.Currency, lines []movementLine) {
	p.printf("\n%s\n\n", title)
	s := sheet{columns: []column{{"line", " "}, {"e1", "E1"}, {"e2", "E2"}}}
	for i, l := range lines {
		outer := i == 0 || i == len(lines)-1
		show := func(n int64, gap bool) cell {
			if n == 0 && !gap && !outer {
				return cell{text: "-", figure: true}
			}
			return value(n, gap, c)
		}
		word := strings.ToLower(lineTitle(l.name))
		if !outer {
			word = "  " + word
		}
		s.rows = append(s.rows, []cell{{text: word}, show(l.Level.E1, l.Gaps.E1), show(l.Level.E2, l.Gaps.E2)})
	}
	p.printTable(s, indent)
}
