package paper

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/book/claims"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/lib/pdf"
)

// payoutSheet is a payout being printed.
type payoutSheet struct {
	s   claims.Document
	pdf *pdf.Document
}

// WritePayoutPDF prints a payout, in English. The same payout gives the same bytes, whenever it is printed.
func WritePayoutPDF(w io.Writer, fonts pdf.Fonts, s claims.Document) error {
	s.Claims = slices.Clone(s.Claims) // spelling out may change their texts
	p := &payoutSheet{s: s}
	p.eachOutside(pdf.Clean)
	for {
		doc, lacking, err := fonts.New(pdf.Texts{Own: payoutWords, Outside: p.outsideText(), Language: "enGB"})
		if err != nil {
			return err
		}
		if p.pdf = doc; len(lacking) == 0 {
			break
		}
		p.eachOutside(func(text string) string { return pdf.SpellOut(text, lacking) }) // now ASCII, which every font supports
	}
	p.begin()
	p.facts()
	p.lines()
	return p.pdf.Output(w)
}

// payoutWords has every character of the program's own texts in a payout.
const payoutWords = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .,:;-()/"

// eachOutside replaces each text that callers and operators have entered.
func (p *payoutSheet) eachOutside(with func(text string) string) {
	for _, text := range []*string{
		&p.s.From.Name, &p.s.From.Address, &p.s.Merchant, &p.s.Beneficiary, &p.s.SignedBy, &p.s.BankReference, &p.s.Failure,
	} {
		*text = with(*text)
	}
	for i := range p.s.Claims {
		c := &p.s.Claims[i]
		c.Source, c.CaseID = with(c.Source), with(c.CaseID)
	}
}

func (p *payoutSheet) outsideText() string {
	var b strings.Builder
	p.eachOutside(func(text string) string {
		b.WriteString(pdf.Characters(text))
		return text
	})
	return b.String()
}

func (p *payoutSheet) begin() {
	doc := p.pdf
	doc.SetCreationDate(p.s.PlannedAt)
	doc.SetModificationDate(p.s.PlannedAt)
	doc.SetCatalogSort(true)
	doc.SetProducer("holdfast", true)
	doc.SetTitle(fmt.Sprintf("Payout %d", p.s.Number), true)
	doc.SetAuthor(p.s.From.Name, true)
	doc.SetLang("en")
	doc.SetMargins(pdf.Margin, pdf.Margin, pdf.Margin)
	doc.SetAutoPageBreak(false, 0)
	doc.AliasNbPages(pagesAlias)
	doc.SetFooterFunc(func() {
		_, height := doc.GetPageSize()
		doc.SetXY(pdf.Margin, height-15)
		doc.Font("", 8)
		doc.Grey()
		doc.Cell(textWidth/2, "Payout "+strconv.FormatInt(p.s.Number, 10), "L")
		doc.Cell(textWidth/2, fmt.Sprintf("Page %d of %s", doc.PageNo(), pagesAlias), "R")
		doc.Black()
	})
	doc.AddPage()
	doc.Font("B", 20)
	doc.Cell(textWidth, fmt.Sprintf("Payout %d", p.s.Number), "L")
	doc.Ln(13)
}

// facts prints the amount, the beneficiary and the state of the payout.
func (p *payoutSheet) facts() {
	amount := string(p.s.Quote.To) + " " + money.Format(p.s.Amount, p.s.Quote.To)
	value, rates := "", ""
	if p.s.PolicyCurrency != p.s.Quote.To {
		rates = fmt.Sprintf("%s %s, %s %s", p.s.PolicyCurrency, p.s.Quote.FromLeg.Rate, p.s.Quote.To, p.s.Quote.ToLeg.Rate)
		value = string(p.s.PolicyCurrency) + " " + money.Format(p.s.Value, p.s.PolicyCurrency)
	}
	pairs := [][2]string{{"Amount", amount}, {"In policy currency", value}, {"Exchange rates per EUR", rates}, {"Paid by", p.s.From.Name}}
	for _, line := range linesOf(p.s.From.Address) {
		pairs = append(pairs, [2]string{" ", line})
	}
	pairs = append(pairs, [2]string{"Merchant", p.s.Merchant}, [2]string{"Beneficiary", p.s.Beneficiary},
		[2]string{"Status", strings.ToUpper(string(p.s.State[:1])) + string(p.s.State[1:])}, [2]string{"Planned", civil.DayOf(p.s.PlannedAt).Long()},
		[2]string{"Signed by", p.s.SignedBy}, [2]string{"Bank reference", p.s.BankReference}, [2]string{"Reason of failure", p.s.Failure})
	for _, pair := range pairs {
		if pair[1] == "" {
			continue
		}
		p.pdf.Font("", 9)
		p.pdf.Grey()
		p.pdf.Cell(42, pair[0], "L")
		p.pdf.Black()
		p.pdf.Font("B", 9)
		p.pdf.Cell(textWidth-42, pair[1], "L")
		p.pdf.Ln(pdf.LineHeight)
	}
	p.pdf.Ln(6)
}

// lines prints the amount paid for each claim, in the policy currency.
func (p *payoutSheet) lines() {
	columns := []struct {
		title string
		width float64
		align string
	}{{"Claim", 20, "R"}, {"Booking", 24, "R"}, {"Processor", 34, "L"}, {"Case", textWidth - 118, "L"}, {string(p.s.PolicyCurrency), 40, "R"}}
	head := func() {
		p.pdf.Font("B", 8)
		for _, c := range columns {
			p.pdf.Cell(c.width, c.title, c.align)
		}
		p.pdf.Ln(rowHeight)
		p.pdf.Font("", 8)
	}
	row := func(cells ...string) {
		if _, height := p.pdf.GetPageSize(); p.pdf.GetY() > height-footer {
			p.pdf.AddPage()
			head()
		}
		for i, c := range columns {
			p.pdf.Cell(c.width, cells[i], c.align)
		}
		p.pdf.Ln(rowHeight)
	}
	head()
	for _, c := range p.s.Claims {
		row(strconv.FormatInt(c.ClaimID, 10), strconv.FormatInt(c.BookingID, 10), c.Source, c.CaseID, money.Format(c.Value, p.s.PolicyCurrency))
	}
	if p.s.More > 0 {
		row("", "", "", fmt.Sprintf("and %d more claims", p.s.More), "")
	}
	p.pdf.Font("B", 8)
	row("", "", "", "Total", money.Format(p.s.Value, p.s.PolicyCurrency))
}
