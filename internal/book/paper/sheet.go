// Package paper renders a statement as a PDF in each language of the service, and as CSV. The same statement always
// produces the same bytes. It also writes files of affected payments. Start at WritePDF.
package paper

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/lib/i18n"
	"holdfast/internal/lib/pdf"
)

// Label is the audience of a statement. It determines the name of the charge.
type Label string

// The two audiences of a statement.
const (
	Policyholder Label = "policyholder" // the charge is "premium"
	Merchant     Label = "merchant"     // the charge is "security charge"
)

// Labels lists them, the default first.
var Labels = []Label{Policyholder, Merchant}

// MaxLines is the maximum number of premium lines in a document. If there are more, it refers to the CSV version.
const MaxLines = 2000

// Printed is a statement as printed.
type Printed struct {
	protection.Statement
	Lines    []protection.StatementLine // at most MaxLines
	Label    Label
	Language string
}

// Measures of the page, in millimetres.
const (
	textWidth  = 210 - 2*pdf.Margin // of the front, in portrait
	annexWidth = 297 - 2*pdf.Margin // of the annex, in landscape
	rowHeight  = 4.6
	footer     = 22.0 // reserved for it
	pagesAlias = "{nb}"
)

// sheet is a document being printed. Its texts are collected before printing starts, because the fonts are prepared for
// them.
type sheet struct {
	s    Printed
	own  i18n.Language
	text map[string]i18n.Text // the section of papers
	err  error                // of the first missing text
	pdf  *pdf.Document
}

// WritePDF prints a statement. The same statement gives the same bytes, whenever it is printed.
func WritePDF(w io.Writer, fonts pdf.Fonts, s Printed) error {
	if !i18n.Known(s.Language) {
		return fmt.Errorf("unknown language %q", s.Language)
	}
	return write(w, fonts, s, i18n.Of(s.Language).Section("paper"))
}

// write prints a statement with the texts of papers in its language.
func write(w io.Writer, fonts pdf.Fonts, s Printed, words map[string]i18n.Text) error {
	s.Taxes, s.Lines = slices.Clone(s.Taxes), slices.Clone(s.Lines) // spelling out may change their texts
	p := &sheet{s: s, own: i18n.Of(s.Language), text: words}
	p.eachOutside(pdf.Clean)
	if err := p.open(fonts); err != nil {
		return err
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

// say returns a statement text with its placeholders filled in.
func (p *sheet) say(name string, values ...any) string {
	said, err := p.own.Say("paper."+name, values...)
	if err != nil && p.err == nil {
		p.err = err
	}
	return said
}

// ownText is the program's own text in the language.
func (p *sheet) ownText() string {
	var b strings.Builder
	for _, text := range p.text {
		for _, form := range text {
			b.WriteString(form)
		}
	}
	b.WriteString(p.own.Number(-1_234_567) + "–×")
	return pdf.OneLine(b.String())
}

// outsideText is the printed text that callers and operators have entered.
func (p *sheet) outsideText() string {
	var b strings.Builder
	p.eachOutside(func(text string) string {
		b.WriteString(pdf.Characters(text))
		return text
	})
	return b.String()
}

// eachOutside replaces each external text.
func (p *sheet) eachOutside(with func(text string) string) {
	p.s.ChannelName = with(p.s.ChannelName)
	for _, party := range []*merchant.Party{&p.s.Issuer, &p.s.Policyholder} {
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

// open starts the document with the fonts for its texts. Characters in external texts that no font has are spelled out: a
// statement never changes, so it could never be printed otherwise. The JSON and CSV versions keep the original.
func (p *sheet) open(fonts pdf.Fonts) (err error) {
	var lacking map[rune]bool
	for {
		p.pdf, lacking, err = fonts.New(pdf.Texts{Own: p.ownText(), Outside: p.outsideText(), Language: p.s.Language})
		if err != nil || len(lacking) == 0 {
			return err
		}
		p.eachOutside(func(text string) string { return pdf.SpellOut(text, lacking) }) // now ASCII, which every font supports
	}
}

func (p *sheet) begin() {
	doc := p.pdf
	doc.SetCreationDate(p.s.IssuedAt)
	doc.SetModificationDate(p.s.IssuedAt)
	doc.SetCatalogSort(true)
	doc.SetProducer("holdfast", true)
	doc.SetTitle(fmt.Sprintf("%s %d", p.title(), p.s.Number), true)
	doc.SetAuthor(p.from().Name, true)
	doc.SetLang(p.s.Language[:2])
	doc.SetMargins(pdf.Margin, pdf.Margin, pdf.Margin)
	doc.SetAutoPageBreak(false, 0)
	doc.AliasNbPages(pagesAlias)
	doc.SetFooterFunc(func() {
		width, height := doc.GetPageSize()
		doc.SetXY(pdf.Margin, height-15)
		p.pdf.Font("", 8)
		p.pdf.Grey()
		p.pdf.Cell(width/2-pdf.Margin, p.say("number")+" "+strconv.FormatInt(p.s.Number, 10), "L")
		p.pdf.Cell(width/2-pdf.Margin, p.say("page", "page", strconv.Itoa(doc.PageNo()), "pages", pagesAlias), "R")
		p.pdf.Black()
	})
	doc.AddPage()
}

func (p *sheet) title() string {
	if p.s.Label == Merchant {
		return p.say("title_charge")
	}
	return p.say("title_premium")
}

func (p *sheet) chargeName() string {
	if p.s.Label == Merchant {
		return p.say("charge")
	}
	return p.say("premium")
}

// kind is the name of a line type in the language.
func (p *sheet) kind(kind string) string {
	if _, ok := p.text[kind]; ok {
		return p.say(kind)
	}
	return kind
}

// amount formats an amount with the language's separators.
func (p *sheet) amount(minor int64, c money.Currency) string {
	return p.own.Amount(minor, c)
}

// percent formats parts per million as a percentage.
func (p *sheet) percent(ppm int64) string {
	return p.own.Decimal(money.FormatPercent(ppm))
}
