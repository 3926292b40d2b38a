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
	var err error
	if p.pdf, err = openPlain(fonts, p.eachOutside); err != nil {
		return err
	}
	beginPlain(p.pdf, fmt.Sprintf("Payout %d", s.Number), p.s.From.Name, s.PlannedAt)
	p.facts()
	p.lines()
	return p.pdf.Output(w)
}

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
	plainPairs(p.pdf, pairs)
	p.pdf.Ln(6)
}

// lines prints the amount paid for each claim, in the policy currency.
func (p *payoutSheet) lines() {
	row := plainTable(p.pdf, plainColumn{"Claim", 20, "R"}, plainColumn{"Booking", 24, "R"}, plainColumn{"Processor", 34, "L"},
		plainColumn{"Case", textWidth - 118, "L"}, plainColumn{string(p.s.PolicyCurrency), 40, "R"})
	for _, c := range p.s.Claims {
		row(strconv.FormatInt(c.ClaimID, 10), strconv.FormatInt(c.BookingID, 10), c.Source, c.CaseID, money.Format(c.Value, p.s.PolicyCurrency))
	}
	if p.s.More > 0 {
		row("", "", "", fmt.Sprintf("and %d more claims", p.s.More), "")
	}
	p.pdf.Font("B", 8)
	row("", "", "", "Total", money.Format(p.s.Value, p.s.PolicyCurrency))
}
