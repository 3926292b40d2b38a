package paper

import (
	"strconv"
	"strings"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/lib/pdf"
)

// The box with the amount due is to the right of the heading.
const (
	boxWidth  = 70.0
	boxHeight = 32.0
)

// from is the issuer of the statement, as its reader sees it: the issuer to the policyholder, and the policyholder to the
// merchant.
func (p *sheet) from() merchant.Party {
	if p.s.Label == Merchant {
		return p.s.Policyholder
	}
	return p.s.Issuer
}

// heading prints the title, the statement's identification, and the box with the amount due.
func (p *sheet) heading() {
	doc := p.pdf
	p.pdf.Font("B", 20)
	p.pdf.Cell(textWidth-boxWidth-4, p.title(), "L")
	doc.Ln(13)
	for _, pair := range [][2]string{
		{"number", strconv.FormatInt(p.s.Number, 10)},
		{"issued", civil.DayOf(p.s.IssuedAt).String()},
		{"period", p.s.Period.First.String() + " – " + p.s.Period.Last.String()},
		{"currency", string(p.s.Currency)},
	} {
		p.pdf.Font("", 9)
		p.pdf.Grey()
		p.pdf.Cell(36, p.say(pair[0]), "L")
		p.pdf.Black()
		p.pdf.Font("B", 9)
		p.pdf.Cell(textWidth-boxWidth-40, pair[1], "L")
		doc.Ln(pdf.LineHeight)
	}
	after := doc.GetY()
	p.due(pdf.Margin+textWidth-boxWidth, pdf.Margin)
	doc.SetXY(pdf.Margin, max(after, pdf.Margin+boxHeight)+8)
}

// due prints the box with the amount due when the statement was issued. Later payments are not included, because a statement
// never changes.
func (p *sheet) due(x, y float64) {
	doc := p.pdf
	doc.SetFillColor(243, 245, 248)
	doc.RoundedRect(x, y, boxWidth, boxHeight, 2, "1234", "F")
	line := func(down, size float64, style, text string) {
		doc.SetXY(x+5, y+down)
		p.pdf.Font(style, size)
		p.pdf.Cell(boxWidth-10, text, "L")
	}
	title, day := p.say("amount_due"), p.say("due")+" "+p.s.Due.String()
	switch {
	case p.s.Closing == 0:
		title, day = p.say("nothing_due"), ""
	case p.s.Closing < 0:
		title, day = p.say("credit"), ""
	}
	p.pdf.Grey()
	line(5, 9, "", title)
	p.pdf.Black()
	line(13, 18, "B", string(p.s.Currency)+" "+p.amount(max(p.s.Closing, -p.s.Closing), p.s.Currency))
	line(22, 9, "", day)
}

// parties prints sender and recipient side by side.
func (p *sheet) parties() {
	type block struct {
		title string
		lines []string
	}
	var blocks []block
	if from := p.from(); from.Name != "" {
		blocks = append(blocks, block{p.say("from"), p.partyLines(from)})
	}
	if p.s.Label == Policyholder {
		blocks = append(blocks, block{p.say("policyholder"), p.partyLines(p.s.Policyholder)})
	}
	blocks = append(blocks, block{p.say("merchant"), []string{p.s.ChannelName}})
	top, bottom := p.pdf.GetY(), 0.0
	const gutter = 6.0
	width := (textWidth - 2*gutter) / 3
	for i, b := range blocks {
		x := pdf.Margin + float64(i)*(width+gutter)
		p.pdf.SetXY(x, top)
		p.pdf.Font("", 8)
		p.pdf.Grey()
		p.pdf.Cell(width, b.title, "L")
		p.pdf.Black()
		for n, text := range b.lines {
			p.pdf.SetXY(x, top+pdf.LineHeight*float64(n+1)+1)
			p.pdf.Font(map[bool]string{true: "B", false: ""}[n == 0], 9)
			p.pdf.Cell(width, text, "L")
		}
		bottom = max(bottom, p.pdf.GetY()+pdf.LineHeight)
	}
	p.pdf.SetXY(pdf.Margin, bottom+8)
}

// partyLines are the lines of a party: its name, its address and its tax number.
func (p *sheet) partyLines(of merchant.Party) []string {
	lines := append([]string{of.Name}, linesOf(of.Address)...)
	if of.TaxNumber != "" {
		lines = append(lines, p.say("tax_number")+" "+pdf.Apart+of.TaxNumber)
	}
	return lines
}

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// summary prints the sums of the statement, from the opening to the closing balance.
func (p *sheet) summary() {
	p.section("summary")
	p.pdf.Rule(0.2)
	p.pdf.Ln(1.5)
	p.sum("", p.say("opening"), "", p.s.Opening)
	for _, l := range p.s.Statement.Lines {
		p.sum("", p.chargeName()+": "+p.kind(l.Kind), strconv.FormatInt(l.Lines, 10)+" ×", l.Amount)
	}
	if m := p.s.Minimum; m != nil {
		p.sum("", p.say("minimum", "month", m.Month), "", m.Amount)
	}
	for _, t := range p.s.Taxes {
		var parts []string
		for _, part := range t.Parts {
			parts = append(parts, p.say("rate_of", "rate", p.percent(part.RatePPM), "amount", p.amount(part.Base, p.s.Currency)))
		}
		name := t.Code
		if t.Label != "" {
			name = t.Label
		}
		p.sum("", name, strings.Join(parts, ", "), t.Amount)
	}
	p.sum("", p.say("payments"), "", -p.s.Payments)
	p.pdf.Ln(1)
	p.pdf.Rule(0.2)
	p.pdf.Ln(1.5)
	p.sum("B", p.say("closing"), "", p.s.Closing)
	p.pdf.Ln(8)
}

func (p *sheet) section(name string) {
	p.pdf.Font("B", 11)
	p.pdf.Cell(textWidth, p.say(name), "L")
	p.pdf.Ln(pdf.LineHeight + 2)
}

func (p *sheet) sum(style, name, detail string, amount int64) {
	p.pdf.Font(style, 9)
	p.pdf.Cell(84, name, "L")
	p.pdf.Grey()
	p.pdf.Cell(50, detail, "R")
	p.pdf.Black()
	p.pdf.Cell(textWidth-134, p.amount(amount, p.s.Currency), "R")
	p.pdf.Ln(pdf.LineHeight + 0.6)
}

// bank prints the payment details.
func (p *sheet) bank() {
	lines := linesOf(p.from().BankDetails)
	if len(lines) == 0 || p.s.Closing <= 0 {
		return
	}
	p.room(pdf.LineHeight * float64(len(lines)+4))
	p.section("payment_details")
	p.pdf.Font("", 9)
	for _, text := range append(lines, p.say("quote")+" "+strconv.FormatInt(p.s.Number, 10)) {
		p.pdf.Cell(textWidth, text, "L")
		p.pdf.Ln(pdf.LineHeight)
	}
}
