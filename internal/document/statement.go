package document

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"codeberg.org/go-pdf/fpdf"

	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/protection"
)

// Label is the reader of a statement. It decides what the charge is called.
type Label string

// The two readers of a statement.
const (
	Policyholder Label = "policyholder" // the charge is "premium"
	Merchant     Label = "merchant"     // the charge is "security charge"
)

// Labels lists them, the default first.
var Labels = []Label{Policyholder, Merchant}

// MaxLines is how many premium lines a document shows. If there are more, it says that the others are in the CSV form.
const MaxLines = 2000

// Statement is a statement to print.
type Statement struct {
	protection.Statement
	Lines    []protection.StatementLine // at most MaxLines
	Label    Label
	Language string
}

// Measures of the page, in millimetres.
const (
	margin     = 18.0
	pageWidth  = 210.0
	pageHeight = 297.0
	textWidth  = pageWidth - 2*margin
	lineHeight = 5.0
	rowHeight  = 4.6
	bottom     = pageHeight - 22
	family     = "statement"
	pagesAlias = "{nb}"
)

// styles are the library's names for the weights.
var styles = map[string]string{regular: "", bold: "B"}

// paper is a document while it is printed. Its texts are collected before the first one is printed, because the fonts
// are made for them.
type paper struct {
	s    Statement
	text map[string]string
	pdf  *fpdf.Fpdf
}

// WriteStatement prints a statement. The same statement gives the same bytes, whenever it is printed.
func (f Fonts) WriteStatement(w io.Writer, s Statement) error {
	s.Taxes, s.Lines = slices.Clone(s.Taxes), slices.Clone(s.Lines) // spellOut may change their texts
	p := &paper{s: s, text: texts[s.Language]}
	if p.text == nil {
		return fmt.Errorf("there are no texts in the language %q", s.Language)
	}
	fonts, err := p.fonts(f)
	if err != nil {
		return err
	}
	p.pdf = fpdf.New("P", "mm", "A4", "")
	for weight, font := range fonts {
		p.pdf.AddUTF8FontFromBytes(family, styles[weight], font)
	}
	p.begin()
	p.heading()
	p.summary()
	p.lines()
	return p.pdf.Output(w)
}

// fonts makes the font of each weight. If no font has a character of a text from outside, the character is spelled out:
// a statement never changes, so it could never be printed otherwise. If no font has a character of our own texts, that
// is our mistake, and an error.
func (p *paper) fonts(f Fonts) (map[string][]byte, error) {
	made, lacking := map[string][]byte{}, map[rune]bool{}
	own, outside := p.ownText(), p.outsideText()
	for _, weight := range []string{regular, bold} {
		font, missing, err := f.typeface(own+outside, weight, p.s.Language)
		if err != nil {
			return nil, err
		}
		for _, r := range missing {
			if strings.ContainsRune(own, r) {
				return nil, fault.WrongField("language", "No font has the character %q (%U) of the document.", r, r)
			}
			lacking[r] = true
		}
		made[weight] = font
	}
	if len(lacking) == 0 {
		return made, nil
	}
	p.spellOut(lacking)
	return p.fonts(f) // the new texts are ASCII, which every font has
}

// ownText is the program's own texts in the language.
func (p *paper) ownText() string {
	var b strings.Builder
	for _, text := range p.text {
		b.WriteString(text)
	}
	b.WriteString("–×")
	return strings.Map(onOneLine, b.String())
}

// outsideText is the printed texts that callers and operators have written.
func (p *paper) outsideText() string {
	var b strings.Builder
	p.eachOutside(func(text string) string {
		b.WriteString(text)
		return text
	})
	return strings.Map(onOneLine, b.String())
}

// eachOutside replaces each text from outside.
func (p *paper) eachOutside(with func(text string) string) {
	p.s.SiteName, p.s.ChannelName = with(p.s.SiteName), with(p.s.ChannelName)
	for i, t := range p.s.Taxes {
		p.s.Taxes[i].Code, p.s.Taxes[i].Label = with(t.Code), with(t.Label)
	}
	for i, l := range p.s.Lines {
		p.s.Lines[i].BookingReference = with(l.BookingReference)
	}
}

// spellOut replaces characters that no font has by their code points, such as [U+1F600]. The JSON and CSV forms keep the
// characters.
func (p *paper) spellOut(lacking map[rune]bool) {
	p.eachOutside(func(text string) string {
		var b strings.Builder
		for _, r := range text {
			if lacking[r] {
				fmt.Fprintf(&b, "[%U]", r)
			} else {
				b.WriteRune(r)
			}
		}
		return b.String()
	})
}

func (p *paper) begin() {
	pdf := p.pdf
	pdf.SetCreationDate(p.s.IssuedAt)
	pdf.SetModificationDate(p.s.IssuedAt)
	pdf.SetCatalogSort(true)
	pdf.SetProducer("holdfast", true)
	pdf.SetTitle(fmt.Sprintf("%s %d", p.title(), p.s.Number), true)
	pdf.SetAuthor(p.s.SiteName, true)
	pdf.SetLang(p.s.Language[:2])
	pdf.SetMargins(margin, margin, margin)
	pdf.SetAutoPageBreak(false, 0)
	pdf.AliasNbPages(pagesAlias)
	pdf.SetFooterFunc(func() {
		pdf.SetXY(margin, pageHeight-15)
		p.font("", 8)
		pdf.SetTextColor(110, 110, 110)
		p.cell(textWidth/2, fmt.Sprintf("%s %d", p.text["number"], p.s.Number), "L")
		p.cell(textWidth/2, fmt.Sprintf(p.text["page"], pdf.PageNo(), pagesAlias), "R")
		pdf.SetTextColor(0, 0, 0)
	})
	pdf.AddPage()
}

func (p *paper) title() string {
	if p.s.Label == Merchant {
		return p.text["title_charge"]
	}
	return p.text["title_premium"]
}

func (p *paper) chargeName() string {
	if p.s.Label == Merchant {
		return p.text["charge"]
	}
	return p.text["premium"]
}

func (p *paper) font(style string, size float64) { p.pdf.SetFont(family, style, size) }

// cell writes a text on one line.
func (p *paper) cell(width float64, text, align string) {
	size, _ := p.pdf.GetFontSize()
	text = p.fit(strings.Map(onOneLine, text), width-1)
	p.pdf.CellFormat(width, lineHeight, text, "", 0, align, false, 0, "")
	p.pdf.SetFontSize(size)
}

// onOneLine replaces line breaks by spaces.
func onOneLine(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}

// smallest is the smallest size of a text that must fit, as a part of its normal size.
const smallest = 0.75

// fit makes a text smaller until it fits a width. If it still does not fit, it is cut: the CSV form has all of it.
func (p *paper) fit(text string, width float64) string {
	size, _ := p.pdf.GetFontSize()
	if needed := p.pdf.GetStringWidth(text); needed > width {
		p.pdf.SetFontSize(size * max(smallest, 0.99*width/needed))
	}
	if p.pdf.GetStringWidth(text) <= width {
		return text
	}
	letters := []rune(text)
	for len(letters) > 0 && p.pdf.GetStringWidth(string(letters)+"...") > width {
		letters = letters[:len(letters)-1]
	}
	return string(letters) + "..."
}

func (p *paper) rule(width float64) {
	p.pdf.SetLineWidth(width)
	y := p.pdf.GetY()
	p.pdf.Line(margin, y, pageWidth-margin, y)
}

func (p *paper) heading() {
	pdf := p.pdf
	p.font("", 9)
	pdf.SetTextColor(110, 110, 110)
	p.cell(textWidth, p.s.SiteName, "L")
	pdf.SetTextColor(0, 0, 0)
	pdf.Ln(9)
	p.font("B", 18)
	p.cell(textWidth, p.title(), "L")
	pdf.Ln(10)
	p.rule(0.4)
	pdf.Ln(3)
	for _, pair := range [][4]string{
		{"number", strconv.FormatInt(p.s.Number, 10), "issued", civil.DayOf(p.s.IssuedAt).String()},
		{"policyholder", p.s.SiteName, "due", p.s.Due.String()},
		{"merchant", p.s.ChannelName, "currency", string(p.s.Currency)},
		{"period", p.s.Period.First.String() + " – " + p.s.Period.Last.String(), "", ""},
	} {
		for i, width := range []float64{36, 72, 34, textWidth - 142} {
			text, style := pair[i], "B"
			if i%2 == 0 {
				text, style = p.text[text], ""
			}
			p.font(style, 9)
			p.cell(width, text, "L")
		}
		pdf.Ln(lineHeight + 0.6)
	}
	pdf.Ln(5)
}

// summary prints the sums of the statement, from the opening to the closing balance.
func (p *paper) summary() {
	p.section("summary")
	p.sum("", p.text["opening"], "", p.s.Opening)
	for _, l := range p.s.Statement.Lines {
		p.sum("", p.chargeName()+": "+p.kind(l.Kind), strconv.FormatInt(l.Lines, 10)+" ×", l.Amount)
	}
	if m := p.s.Minimum; m != nil {
		p.sum("", fmt.Sprintf(p.text["minimum"], m.Month), "", m.Amount)
	}
	for _, t := range p.s.Taxes {
		var parts []string
		for _, part := range t.Parts {
			parts = append(parts, fmt.Sprintf(p.text["rate_of"], p.percent(part.RatePPM), p.amount(part.Base, p.s.Currency)))
		}
		name := t.Code
		if t.Label != "" {
			name = t.Label
		}
		p.sum("", name, strings.Join(parts, ", "), t.Amount)
	}
	p.sum("", p.text["payments"], "", -p.s.Payments)
	p.pdf.Ln(1)
	p.rule(0.2)
	p.pdf.Ln(1)
	p.sum("B", p.text["closing"], p.text["due"]+" "+p.s.Due.String(), p.s.Closing)
	p.pdf.Ln(6)
}

func (p *paper) section(name string) {
	p.font("B", 11)
	p.cell(textWidth, p.text[name], "L")
	p.pdf.Ln(lineHeight + 1.5)
}

func (p *paper) sum(style, name, detail string, amount int64) {
	p.font(style, 9)
	p.cell(86, name, "L")
	p.pdf.SetTextColor(110, 110, 110)
	p.cell(48, detail, "R")
	p.pdf.SetTextColor(0, 0, 0)
	p.cell(textWidth-134, p.amount(amount, p.s.Currency), "R")
	p.pdf.Ln(lineHeight)
}

// kind is the name of a kind of line in the language.
func (p *paper) kind(kind string) string {
	if text, ok := p.text[kind]; ok {
		return text
	}
	return kind
}

// column is one column of the table of lines.
type column struct {
	name  string
	width float64
	align string
	text  func(l protection.StatementLine) string
}

func (p *paper) columns() []column {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []column{
		{p.text["date"], 19, "L", func(l protection.StatementLine) string { return civil.DayOf(l.RecordedAt).String() }},
		{p.text["transaction"], 20, "R", func(l protection.StatementLine) string { return number(l.TransactionID) }},
		{p.text["booking"], 26, "L", func(l protection.StatementLine) string {
			if l.BookingReference != "" {
				return l.BookingReference
			}
			return number(l.BookingID)
		}},
		{p.text["kind"], 22, "L", func(l protection.StatementLine) string { return p.kind(l.Kind) }},
		{p.text["amount"], 30, "R", func(l protection.StatementLine) string {
			return string(l.Currency) + " " + p.amount(l.StateAmount, l.Currency)
		}},
		{p.text["days"], 13, "R", func(l protection.StatementLine) string { return number(l.LeadDays) }},
		{p.text["rate"], 16, "R", func(l protection.StatementLine) string { return p.percent(l.PPM) + " %" }},
		{p.chargeName(), textWidth - 146, "R", func(l protection.StatementLine) string { return p.amount(l.Amount, p.s.Currency) }},
	}
}

// lines prints the premium lines, each with the figures from which it was computed.
func (p *paper) lines() {
	if len(p.s.Lines) == 0 {
		return
	}
	p.room(5 * rowHeight)
	p.section("lines")
	columns := p.columns()
	p.tableHead(columns)
	for _, l := range p.s.Lines {
		note := p.note(l)
		if p.room(rowHeight * 2) {
			p.tableHead(columns)
		}
		p.font("", 7.5)
		for _, c := range columns {
			p.cell(c.width, c.text(l), c.align)
		}
		p.pdf.Ln(rowHeight)
		if note != "" {
			p.pdf.SetTextColor(110, 110, 110)
			p.pdf.SetX(margin + 65)
			p.cell(textWidth-65, note, "L")
			p.pdf.SetTextColor(0, 0, 0)
			p.pdf.Ln(rowHeight)
		}
	}
	if omitted := p.s.LineCount() - int64(len(p.s.Lines)); omitted > 0 {
		p.room(rowHeight * 2)
		p.pdf.Ln(2)
		p.font("", 8)
		p.cell(textWidth, fmt.Sprintf(p.text["omitted"], omitted), "L")
	}
}

// note is what the columns of a line have no place for.
func (p *paper) note(l protection.StatementLine) string {
	var notes []string
	if l.RefersTo != 0 {
		notes = append(notes, fmt.Sprintf(p.text["changes"], l.RefersTo))
	}
	if l.Retained != 0 {
		notes = append(notes, p.text["retained"]+" "+p.amount(l.Retained, p.s.Currency))
	}
	return strings.Join(notes, ", ")
}

// room begins a new page if less than this height is left. It reports whether it did.
func (p *paper) room(height float64) bool {
	if p.pdf.GetY()+height <= bottom {
		return false
	}
	p.pdf.AddPage()
	return true
}

func (p *paper) tableHead(columns []column) {
	p.font("B", 7.5)
	for _, c := range columns {
		p.cell(c.width, c.name, c.align)
	}
	p.pdf.Ln(lineHeight)
	p.rule(0.2)
	p.pdf.Ln(0.8)
}

// amount writes an amount with the separators of the language.
func (p *paper) amount(minor int64, c money.Currency) string {
	text := money.Format(minor, c)
	return strings.NewReplacer(",", p.text["group"], ".", p.text["decimal"]).Replace(text)
}

// percent writes parts per million as a percentage.
func (p *paper) percent(ppm int64) string {
	text := big.NewRat(ppm, 10_000).FloatString(4)
	text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	return strings.Replace(text, ".", p.text["decimal"], 1)
}
