package paper

import (
	"strconv"
	"strings"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/protection"
	"holdfast/internal/lib/pdf"
)

// gutter is the space between table columns.
const gutter = 3.0

// column is one column of the table of lines.
type column struct {
	name  string
	width float64 // without the gutter
	align string
	text  func(l protection.StatementLine) string
}

func (p *sheet) columns() []column {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	list := []column{
		{p.say("date"), 18, "L", func(l protection.StatementLine) string { return civil.DayOf(l.RecordedAt).String() }},
		{p.say("transaction"), 19, "R", func(l protection.StatementLine) string { return number(l.TransactionID) }},
		{p.say("booking"), 38, "L", func(l protection.StatementLine) string {
			if l.BookingReference != "" {
				return l.BookingReference
			}
			return number(l.BookingID)
		}},
		{p.say("kind"), 26, "L", func(l protection.StatementLine) string { return p.kind(l.Kind) }},
		{p.say("amount"), 31, "R", func(l protection.StatementLine) string {
			return string(l.Currency) + " " + p.amount(l.StateAmount, l.Currency)
		}},
		{p.say("exchange"), 21, "R", func(l protection.StatementLine) string {
			if l.Currency == p.s.Currency {
				return ""
			}
			return p.own.Decimal(l.Exchange.String())
		}},
		{p.say("value") + " " + string(p.s.Currency), 24, "R", func(l protection.StatementLine) string {
			return p.amount(l.StateValue, p.s.Currency)
		}},
		{p.say("days"), 13, "R", func(l protection.StatementLine) string { return number(l.LeadDays) }},
		{p.say("rate"), 17, "R", func(l protection.StatementLine) string { return p.percent(l.PPM) + " %" }},
	}
	used := 0.0
	for _, c := range list {
		used += c.width + gutter
	}
	return append(list, column{p.chargeName() + " " + string(p.s.Currency), annexWidth - used, "R",
		func(l protection.StatementLine) string { return p.amount(l.Amount, p.s.Currency) }})
}

// annex prints the premium lines on landscape pages, each with the figures it was computed from.
func (p *sheet) annex() {
	if len(p.s.Lines) == 0 {
		return
	}
	columns, beside := p.columns(), 0.0
	for _, c := range columns[:3] { // a note is printed below its line's type
		beside += c.width + gutter
	}
	p.annexPage()
	p.section("lines")
	p.tableHead(columns)
	for _, l := range p.s.Lines {
		note, height := p.note(l), rowHeight
		if note != "" {
			height *= 2
		}
		if p.full(height) {
			p.annexPage()
			p.tableHead(columns)
		}
		p.pdf.Font("", 8)
		p.row(columns, func(c column) string { return c.text(l) })
		p.pdf.Ln(rowHeight)
		if note != "" {
			p.pdf.Grey()
			p.pdf.SetX(pdf.Margin + beside)
			p.pdf.Cell(annexWidth/2, note, "L")
			p.pdf.Black()
			p.pdf.Ln(rowHeight)
		}
	}
	if omitted := p.s.LineCount() - int64(len(p.s.Lines)); omitted > 0 {
		if p.full(rowHeight * 2) {
			p.annexPage()
		}
		p.pdf.Ln(2)
		p.pdf.Font("", 8)
		p.pdf.Cell(annexWidth, p.say("omitted", "count", omitted), "L")
	}
}

// annexPage starts an annex page.
func (p *sheet) annexPage() { p.pdf.AddPageFormat("L", p.pdf.GetPageSizeStr("A4")) }

// note is what does not fit in a line's columns.
func (p *sheet) note(l protection.StatementLine) string {
	var notes []string
	if l.RefersTo != 0 {
		notes = append(notes, p.say("changes", "number", strconv.FormatInt(l.RefersTo, 10)))
	}
	if l.Retained != 0 {
		notes = append(notes, p.say("retained")+" "+p.amount(l.Retained, p.s.Currency))
	}
	return strings.Join(notes, ", ")
}

// full reports whether less than this height is left on the page.
func (p *sheet) full(height float64) bool {
	_, page := p.pdf.GetPageSize()
	return p.pdf.GetY()+height > page-footer
}

// room starts a new front page if less than this height is left.
func (p *sheet) room(height float64) {
	if p.full(height) {
		p.pdf.AddPage()
	}
}

// row prints a text in each column.
func (p *sheet) row(columns []column, text func(column) string) {
	for i, c := range columns {
		p.pdf.Cell(c.width, text(c), c.align)
		if i < len(columns)-1 {
			p.pdf.Cell(gutter, "", "L")
		}
	}
}

func (p *sheet) tableHead(columns []column) {
	p.pdf.Font("B", 8)
	p.row(columns, func(c column) string { return c.name })
	p.pdf.Ln(pdf.LineHeight)
	p.pdf.Rule(0.2)
	p.pdf.Ln(0.8)
}
