package document

import (
	"strconv"
	"strings"

	"holdfast/internal/civil"
	"holdfast/internal/travel"
)

// The box with what is due stands at the right of the heading.
const (
	boxWidth  = 70.0
	boxHeight = 32.0
)

// from is who issued the statement, as its reader sees it: the issuer to the policyholder, and the policyholder to the
// merchant.
func (p *paper) from() travel.Party {
	if p.s.Label == Merchant {
		return p.s.Policyholder
	}
	return p.s.Issuer
}

// heading prints the title, what identifies the statement, and the box with what is due.
func (p *paper) heading() {
	pdf := p.pdf
	p.font("B", 20)
	p.cell(textWidth-boxWidth-4, p.title(), "L")
	pdf.Ln(13)
	for _, pair := range [][2]string{
		{"number", strconv.FormatInt(p.s.Number, 10)},
		{"issued", civil.DayOf(p.s.IssuedAt).String()},
		{"period", p.s.Period.First.String() + " – " + p.s.Period.Last.String()},
		{"currency", string(p.s.Currency)},
	} {
		p.font("", 9)
		p.grey()
		p.cell(36, p.say(pair[0]), "L")
		p.black()
		p.font("B", 9)
		p.cell(textWidth-boxWidth-40, pair[1], "L")
		pdf.Ln(lineHeight)
	}
	after := pdf.GetY()
	p.due(margin+textWidth-boxWidth, margin)
	pdf.SetXY(margin, max(after, margin+boxHeight)+8)
}

// due prints the box with the amount that was due when the statement was issued. What was paid since is not in it,
// because a statement never changes.
func (p *paper) due(x, y float64) {
	pdf := p.pdf
	pdf.SetFillColor(243, 245, 248)
	pdf.RoundedRect(x, y, boxWidth, boxHeight, 2, "1234", "F")
	line := func(down, size float64, style, text string) {
		pdf.SetXY(x+5, y+down)
		p.font(style, size)
		p.cell(boxWidth-10, text, "L")
	}
	title, day := p.say("amount_due"), p.say("due")+" "+p.s.Due.String()
	switch {
	case p.s.Closing == 0:
		title, day = p.say("nothing_due"), ""
	case p.s.Closing < 0:
		title, day = p.say("credit"), ""
	}
	p.grey()
	line(5, 9, "", title)
	p.black()
	line(13, 18, "B", string(p.s.Currency)+" "+p.amount(max(p.s.Closing, -p.s.Closing), p.s.Currency))
	line(22, 9, "", day)
}

// parties prints who issued the statement, and to whom, side by side.
func (p *paper) parties() {
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
		x := margin + float64(i)*(width+gutter)
		p.pdf.SetXY(x, top)
		p.font("", 8)
		p.grey()
		p.cell(width, b.title, "L")
		p.black()
		for n, text := range b.lines {
			p.pdf.SetXY(x, top+lineHeight*float64(n+1)+1)
			p.font(map[bool]string{true: "B", false: ""}[n == 0], 9)
			p.cell(width, text, "L")
		}
		bottom = max(bottom, p.pdf.GetY()+lineHeight)
	}
	p.pdf.SetXY(margin, bottom+8)
}

// partyLines are the lines of a party: its name, its address and its tax number.
func (p *paper) partyLines(of travel.Party) []string {
	lines := append([]string{of.Name}, linesOf(of.Address)...)
	if of.TaxNumber != "" {
		lines = append(lines, p.say("tax_number")+" "+apart+of.TaxNumber)
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
func (p *paper) summary() {
	p.section("summary")
	p.rule(0.2)
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
	p.rule(0.2)
	p.pdf.Ln(1.5)
	p.sum("B", p.say("closing"), "", p.s.Closing)
	p.pdf.Ln(8)
}

func (p *paper) section(name string) {
	p.font("B", 11)
	p.cell(textWidth, p.say(name), "L")
	p.pdf.Ln(lineHeight + 2)
}

func (p *paper) sum(style, name, detail string, amount int64) {
	p.font(style, 9)
	p.cell(84, name, "L")
	p.grey()
	p.cell(50, detail, "R")
	p.black()
	p.cell(textWidth-134, p.amount(amount, p.s.Currency), "R")
	p.pdf.Ln(lineHeight + 0.6)
}

// bank prints where to pay what is due.
func (p *paper) bank() {
	lines := linesOf(p.from().BankDetails)
	if len(lines) == 0 || p.s.Closing <= 0 {
		return
	}
	p.room(lineHeight * float64(len(lines)+4))
	p.section("payment_details")
	p.font("", 9)
	for _, text := range append(lines, p.say("quote")+" "+strconv.FormatInt(p.s.Number, 10)) {
		p.cell(textWidth, text, "L")
		p.pdf.Ln(lineHeight)
	}
}
