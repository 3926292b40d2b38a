package pdf

import (
	"fmt"
	"strings"

	"codeberg.org/go-pdf/fpdf"
)

// Measures of a page, in millimetres.
const (
	Margin     = 18.0
	LineHeight = 5.0
)

// family is the library's name for the fonts of a document.
const family = "document"

// styles are the library's names for the weights.
var styles = map[string]string{regular: "", bold: "B"}

// Document is a PDF whose fonts have the glyphs of its texts. All methods of the library draw on it too.
type Document struct {
	*fpdf.Fpdf

	shapes map[string]map[rune]shape // by the library's name of the weight
	style  string                    // the weight in use
}

// Texts are the texts of a document, from which its fonts are made.
type Texts struct {
	Own      string // the program's own texts: a character that no font has is an error
	Outside  string // user input, as returned by Characters
	Language string // decides how Chinese, Japanese and Korean characters are drawn
}

// New begins a document in A4. lacking are the characters of the outside texts that no font has: the caller replaces
// them (SpellOut) and begins again. The error is Unavailable if a font for the program's own texts is not installed.
func (f Fonts) New(t Texts) (doc *Document, lacking map[rune]bool, err error) {
	doc, lacking = &Document{Fpdf: fpdf.New("P", "mm", "A4", ""), shapes: map[string]map[rune]shape{}}, map[rune]bool{}
	for _, weight := range []string{regular, bold} {
		glyphs, missing, err := f.typeface(t.Own+t.Outside, weight, t.Language)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range missing {
			if strings.ContainsRune(t.Own, r) {
				return nil, nil, noFont(r)
			}
			lacking[r] = true
		}
		doc.AddUTF8FontFromBytes(family, styles[weight], typeface(glyphs, weight == bold))
		doc.shapes[styles[weight]] = shapesOf(glyphs)
	}
	return doc, lacking, nil
}

// Characters are the characters needed to draw a text, and those that SpellOut looks for.
func Characters(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		drawn, _ := arrange(line)
		b.WriteString(drawn)
		b.WriteString(strings.Map(visible, line))
	}
	return OneLine(b.String())
}

// wide is the distance between the wide form of a Latin character and the character itself.
const wide = '＝' - '='

// SpellOut replaces characters that no font has by their code points, such as [U+1F600], and wide forms of Latin
// characters by these characters.
func SpellOut(text string, lacking map[rune]bool) string {
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
}

// OneLine replaces line breaks by spaces.
func OneLine(text string) string { return strings.Map(onOneLine, text) }

// Font chooses the style ("" or "B") and the size, in points, of the texts that follow.
func (p *Document) Font(style string, size float64) {
	p.style = style
	p.SetFont(family, style, size)
}

// Cell writes a text on one line. Marks are drawn over the line, each on its letter.
func (p *Document) Cell(width float64, text, align string) {
	size, _ := p.GetFontSize()
	drawn, fromRight := arrange(strings.Map(onOneLine, text))
	drawn = p.fit(drawn, width-1, fromRight)
	line := strings.Map(func(r rune) rune {
		if marked(r) {
			return -1
		}
		return r
	}, drawn)
	x, y := p.GetXY()
	if x += p.GetCellMargin(); align == "R" {
		x += width - 2*p.GetCellMargin() - p.GetStringWidth(line)
	}
	p.CellFormat(width, LineHeight, line, "", 0, align, false, 0, "")
	if line != drawn {
		p.marks(drawn, x, y)
	}
	p.SetFontSize(size)
}

// marks draws the marks of a line of which the letters are drawn from x on.
func (p *Document) marks(drawn string, x, y float64) {
	_, size := p.GetFontSize()
	base := y + 0.5*LineHeight + 0.3*size // where CellFormat puts letters
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
			p.Text(x+float64(m.x)*size/unitsPerEm, base-float64(m.up)*size/unitsPerEm, string(m.mark))
		}
		x += p.GetStringWidth(string(letters[i]))
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
func (p *Document) fit(text string, width float64, fromRight bool) string {
	size, _ := p.GetFontSize()
	if needed := p.GetStringWidth(text); needed > width {
		p.SetFontSize(size * max(smallest, 0.99*width/needed))
	}
	if p.GetStringWidth(text) <= width {
		return text
	}
	letters := []rune(text)
	for fromRight && len(letters) > 0 && (marked(letters[0]) || p.GetStringWidth("..."+string(letters)) > width) {
		letters = letters[1:]
	}
	if fromRight {
		return "..." + string(letters)
	}
	for len(letters) > 0 && p.GetStringWidth(string(letters)+"...") > width {
		letters = letters[:len(letters)-1]
	}
	return string(letters) + "..."
}

// Rule draws a line from margin to margin.
func (p *Document) Rule(width float64) {
	p.SetLineWidth(width)
	y := p.GetY()
	page, _ := p.GetPageSize()
	p.Line(Margin, y, page-Margin, y)
}

// Grey makes the texts that follow grey.
func (p *Document) Grey() { p.SetTextColor(105, 110, 120) }

// Black makes the texts that follow black.
func (p *Document) Black() { p.SetTextColor(0, 0, 0) }
