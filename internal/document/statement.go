package document

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"codeberg.org/go-pdf/fpdf"

	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/texts"
	"holdfast/internal/travel"
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
	textWidth  = 210 - 2*margin // of the front, which is upright
	annexWidth = 297 - 2*margin // of the annex, which lies
	lineHeight = 5.0
	rowHeight  = 4.6
	footer     = 22.0 // kept free for it
	family     = "statement"
	pagesAlias = "{nb}"
)

// styles are the library's names for the weights.
var styles = map[string]string{regular: "", bold: "B"}

// paper is a document while it is printed. Its texts are collected before the first one is printed, because the fonts
// are made for them.
type paper struct {
	s    Statement
	own  texts.Language
	text map[string]texts.Text // the section of papers
	err  error                 // of the first text that could not be said
	pdf  *fpdf.Fpdf

	shapes map[string]map[rune]shape // by the library's name of the weight
	style  string                    // the weight in use
}

// WriteStatement prints a statement. The same statement gives the same bytes, whenever it is printed.
func (f Fonts) WriteStatement(w io.Writer, s Statement) error {
	if !texts.Known(s.Language) {
		return fmt.Errorf("there are no texts in the language %q", s.Language)
	}
	return f.print(w, s, texts.Of(s.Language).Section("paper"))
}

// print prints a statement with the texts of papers in its language.
func (f Fonts) print(w io.Writer, s Statement, words map[string]texts.Text) error {
	s.Taxes, s.Lines = slices.Clone(s.Taxes), slices.Clone(s.Lines) // spellOut may change their texts
	p := &paper{s: s, own: texts.Of(s.Language), text: words, shapes: map[string]map[rune]shape{}}
	p.eachOutside(clean)
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
	p.parties()
	p.summary()
	p.bank()
	p.annex()
	if p.err != nil {
		return p.err
	}
	return p.pdf.Output(w)
}

// say is a text of papers with its places filled in.
func (p *paper) say(name string, values ...any) string {
	said, err := p.own.Say("paper."+name, values...)
	if err != nil && p.err == nil {
		p.err = err
	}
	return said
}

// fonts makes the font of each weight. If no font has a character of a text from outside, the character is spelled out:
// a statement never changes, so it could never be printed otherwise. If no font has a character of our own texts, the
// server lacks a font, and that is an error.
func (p *paper) fonts(f Fonts) (map[string][]byte, error) {
	made, lacking := map[string][]byte{}, map[rune]bool{}
	own, outside := p.ownText(), p.outsideText()
	for _, weight := range []string{regular, bold} {
		glyphs, missing, err := f.typeface(own+outside, weight, p.s.Language)
		if err != nil {
			return nil, err
		}
		for _, r := range missing {
			if strings.ContainsRune(own, r) {
				return nil, noFont(r)
			}
			lacking[r] = true
		}
		made[weight], p.shapes[styles[weight]] = typeface(glyphs, weight == bold), shapesOf(glyphs)
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
		for _, form := range text {
			b.WriteString(form)
		}
	}
	b.WriteString(p.own.Number(-1_234_567) + "–×")
	return strings.Map(onOneLine, b.String())
}

// outsideText is the printed texts that callers and operators have written.
func (p *paper) outsideText() string {
	var b strings.Builder
	p.eachOutside(func(text string) string {
		for line := range strings.SplitSeq(text, "\n") {
			drawn, _ := arrange(line)
			b.WriteString(drawn)
			b.WriteString(strings.Map(visible, line)) // spellOut looks for these
		}
		return text
	})
	return strings.Map(onOneLine, b.String())
}

// eachOutside replaces each text from outside.
func (p *paper) eachOutside(with func(text string) string) {
	p.s.ChannelName = with(p.s.ChannelName)
	for _, party := range []*travel.Party{&p.s.Issuer, &p.s.Policyholder} {
		party.Name, party.Address = with(party.Name), with(party.Address)
		party.TaxNumber, party.BankDetails = with(party.TaxNumber), with(party.BankDetails)
	}
	for i, t := range p.s.Taxes {
		p.s.Taxes[i].Code, p.s.Taxes[i].Label = with(t.Code), with(t.Label)
	}
	for i, l := range p.s.Lines {
		p.s.Lines[i].BookingReference = with(l.BookingReference)
	}
}

// wide is how much later the wide form of a Latin character stands than the character itself.
const wide = '＝' - '='

// spellOut replaces characters that no font has by their code points, such as [U+1F600], and wide forms of Latin characters
// by these characters. The JSON and CSV forms keep what was there.
func (p *paper) spellOut(lacking map[rune]bool) {
	p.eachOutside(func(text string) string {
		var b strings.Builder
		for _, r := range text {
			switch {
			case lacking[r] && r > wide+' ' && r <= wide+'~':
				b.WriteRune(r - wide)
			case lacking[r] || lacking[mirrored(r)]:
				fmt.Fprintf(&b, "[%U]", r)
			default:
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
	pdf.SetAuthor(p.from().Name, true)
	pdf.SetLang(p.s.Language[:2])
	pdf.SetMargins(margin, margin, margin)
	pdf.SetAutoPageBreak(false, 0)
	pdf.AliasNbPages(pagesAlias)
	pdf.SetFooterFunc(func() {
		width, height := pdf.GetPageSize()
		pdf.SetXY(margin, height-15)
		p.font("", 8)
		p.grey()
		p.cell(width/2-margin, p.say("number")+" "+strconv.FormatInt(p.s.Number, 10), "L")
		p.cell(width/2-margin, p.say("page", "page", strconv.Itoa(pdf.PageNo()), "pages", pagesAlias), "R")
		p.black()
	})
	pdf.AddPage()
}

func (p *paper) title() string {
	if p.s.Label == Merchant {
		return p.say("title_charge")
	}
	return p.say("title_premium")
}

func (p *paper) chargeName() string {
	if p.s.Label == Merchant {
		return p.say("charge")
	}
	return p.say("premium")
}

func (p *paper) font(style string, size float64) {
	p.style = style
	p.pdf.SetFont(family, style, size)
}

// cell writes a text on one line. Marks are drawn over the line, each on its letter.
func (p *paper) cell(width float64, text, align string) {
	size, _ := p.pdf.GetFontSize()
	drawn, fromRight := arrange(strings.Map(onOneLine, text))
	drawn = p.fit(drawn, width-1, fromRight)
	line := strings.Map(func(r rune) rune {
		if marked(r) {
			return -1
		}
		return r
	}, drawn)
	x, y := p.pdf.GetXY()
	if x += p.pdf.GetCellMargin(); align == "R" {
		x += width - 2*p.pdf.GetCellMargin() - p.pdf.GetStringWidth(line)
	}
	p.pdf.CellFormat(width, lineHeight, line, "", 0, align, false, 0, "")
	if line != drawn {
		p.marks(drawn, x, y)
	}
	p.pdf.SetFontSize(size)
}

// marks draws the marks of a line of which the letters are drawn from x on.
func (p *paper) marks(drawn string, x, y float64) {
	_, size := p.pdf.GetFontSize()
	base := y + 0.5*lineHeight + 0.3*size // where CellFormat puts letters
	letters := []rune(drawn)
	for i := 0; i < len(letters); {
		end := i + 1
		for end < len(letters) && marked(letters[end]) {
			end++
		}
		letter, marks := letters[i], letters[i+1:end]
		if marked(letter) { // there is no letter before it
			letter, marks = 0, letters[i:end]
		}
		for _, m := range place(letter, marks, p.shapes[p.style]) {
			p.pdf.Text(x+float64(m.x)*size/unitsPerEm, base-float64(m.up)*size/unitsPerEm, string(m.mark))
		}
		x += p.pdf.GetStringWidth(string(letters[i]))
		i = end
	}
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

// fit makes a text smaller until it fits a width. If it still does not fit, it is cut where it ends for its reader:
// the CSV form has all of it.
func (p *paper) fit(text string, width float64, fromRight bool) string {
	size, _ := p.pdf.GetFontSize()
	if needed := p.pdf.GetStringWidth(text); needed > width {
		p.pdf.SetFontSize(size * max(smallest, 0.99*width/needed))
	}
	if p.pdf.GetStringWidth(text) <= width {
		return text
	}
	letters := []rune(text)
	for fromRight && len(letters) > 0 && (marked(letters[0]) || p.pdf.GetStringWidth("..."+string(letters)) > width) {
		letters = letters[1:]
	}
	if fromRight {
		return "..." + string(letters)
	}
	for len(letters) > 0 && p.pdf.GetStringWidth(string(letters)+"...") > width {
		letters = letters[:len(letters)-1]
	}
	return string(letters) + "..."
}

// rule draws a line from margin to margin.
func (p *paper) rule(width float64) {
	p.pdf.SetLineWidth(width)
	y := p.pdf.GetY()
	page, _ := p.pdf.GetPageSize()
	p.pdf.Line(margin, y, page-margin, y)
}

func (p *paper) grey()  { p.pdf.SetTextColor(105, 110, 120) }
func (p *paper) black() { p.pdf.SetTextColor(0, 0, 0) }

// kind is the name of a kind of line in the language.
func (p *paper) kind(kind string) string {
	if _, ok := p.text[kind]; ok {
		return p.say(kind)
	}
	return kind
}

// amount writes an amount with the separators of the language.
func (p *paper) amount(minor int64, c money.Currency) string {
	return p.own.Amount(minor, c)
}

// percent writes parts per million as a percentage.
func (p *paper) percent(ppm int64) string {
	text := big.NewRat(ppm, 10_000).FloatString(4)
	text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	return p.own.Decimal(text)
}
