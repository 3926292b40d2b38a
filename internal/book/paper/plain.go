package paper

import (
	"fmt"
	"strings"
	"time"

	"holdfast/internal/lib/pdf"
)

// plainWords has every character of the program's own texts in a plain document.
const plainWords = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .,:;-()/"

// openPlain starts a plain document: in English, in portrait. eachOutside replaces each text that callers and operators have entered.
// Characters that no font has are spelled out.
func openPlain(fonts pdf.Fonts, eachOutside func(with func(text string) string)) (*pdf.Document, error) {
	eachOutside(pdf.Clean)
	for {
		var outside strings.Builder
		eachOutside(func(text string) string {
			outside.WriteString(pdf.Characters(text))
			return text
		})
		doc, lacking, err := fonts.New(pdf.Texts{Own: plainWords, Outside: outside.String(), Language: "enGB"})
		if err != nil || len(lacking) == 0 {
			return doc, err
		}
		eachOutside(func(text string) string { return pdf.SpellOut(text, lacking) }) // now ASCII, which every font supports
	}
}

// beginPlain adds the first page with the title. Each page has a footer with the title and its number.
func beginPlain(doc *pdf.Document, title, author string, at time.Time) {
	doc.SetCreationDate(at)
	doc.SetModificationDate(at)
	doc.SetCatalogSort(true)
	doc.SetProducer("holdfast", true)
	doc.SetTitle(title, true)
	doc.SetAuthor(author, true)
	doc.SetLang("en")
	doc.SetMargins(pdf.Margin, pdf.Margin, pdf.Margin)
	doc.SetAutoPageBreak(false, 0)
	doc.AliasNbPages(pagesAlias)
	doc.SetFooterFunc(func() {
		_, height := doc.GetPageSize()
		doc.SetXY(pdf.Margin, height-15)
		doc.Font("", 8)
		doc.Grey()
		doc.Cell(textWidth/2, title, "L")
		doc.Cell(textWidth/2, fmt.Sprintf("Page %d of %s", doc.PageNo(), pagesAlias), "R")
		doc.Black()
	})
	doc.AddPage()
	doc.Font("B", 20)
	doc.Cell(textWidth, title, "L")
	doc.Ln(13)
}

// plainRoom starts a new page if there is less room than a height, and reports whether it did.
func plainRoom(doc *pdf.Document, height float64) bool {
	_, page := doc.GetPageSize()
	if doc.GetY() <= page-footer-height {
		return false
	}
	doc.AddPage()
	return true
}

// plainHeading prints a heading, on the same page as what follows.
func plainHeading(doc *pdf.Document, text string) {
	plainRoom(doc, 6*rowHeight)
	doc.Ln(4)
	doc.Font("B", 11)
	doc.Cell(textWidth, text, "L")
	doc.Ln(7)
}

// plainPairs prints names with their values. A pair without a value is left out.
func plainPairs(doc *pdf.Document, pairs [][2]string) {
	for _, pair := range pairs {
		if pair[1] == "" {
			continue
		}
		plainRoom(doc, 0)
		doc.Font("", 9)
		doc.Grey()
		doc.Cell(42, pair[0], "L")
		doc.Black()
		doc.Font("B", 9)
		doc.Cell(textWidth-42, pair[1], "L")
		doc.Ln(pdf.LineHeight)
	}
}

// plainColumn is a column of a plain table.
type plainColumn struct {
	title string
	width float64
	align string
}

// plainTable prints the head of a table, and returns what prints a row.
func plainTable(doc *pdf.Document, columns ...plainColumn) (row func(cells ...string)) {
	head := func() {
		doc.Font("B", 8)
		for _, c := range columns {
			doc.Cell(c.width, c.title, c.align)
		}
		doc.Ln(rowHeight)
		doc.Font("", 8)
	}
	head()
	return func(cells ...string) {
		if plainRoom(doc, 0) {
			head()
		}
		for i, c := range columns {
			doc.Cell(c.width, cells[i], c.align)
		}
		doc.Ln(rowHeight)
	}
}
