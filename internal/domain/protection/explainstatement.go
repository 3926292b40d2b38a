package protection

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/terms"
)

// The names of the lines of a statement. Premium lines are named by their kind, a tax by TaxLine and its code, and a
// single premium line by its id.
const (
	OpeningLine  = "opening"
	MinimumLine  = "minimum"
	PaymentsLine = "payments"
	ClosingLine  = "closing"
	TaxLine      = "tax-"
)

// StatementPart is a line of a statement, with its inputs and the steps of its computation. Amounts are minor units
// of the statement's currency.
type StatementPart struct {
	Name     string
	Lines    int64 // number of premium lines, or of payments
	Amount   int64
	Retained int64
	Inputs   []StatementInput
	Steps    []Step
}

// StatementInput is one input of a line of a statement. An id is 0 when the input has none.
type StatementInput struct {
	Name        string // like the names of lines; minimum_per_month for the minimum of the policy
	StatementID int64
	PolicyID    int64
	Taxed       bool // whether it is taxed, at RatePPM
	RatePPM     int64
	Lines       int64
	Amount      int64
}

// LineNames lists the names of the statement's lines, in its order.
func (s Statement) LineNames() []string {
	names := []string{OpeningLine}
	for _, l := range s.Lines {
		names = append(names, l.Kind)
	}
	if s.Minimum != nil {
		names = append(names, MinimumLine)
	}
	for _, t := range s.Taxes {
		names = append(names, TaxLine+t.Code)
	}
	return append(names, PaymentsLine, ClosingLine)
}

// spanText describes the period of a statement.
func (s Statement) spanText() string {
	return fmt.Sprintf("recorded from %s on and before %s GMT", civil.FormatInstant(s.From), civil.FormatInstant(s.Until))
}

// ExplainOpening explains the opening balance. before is the earlier statement of the same channel and currency; nil:
// none.
func (s Statement) ExplainOpening(before *Statement) StatementPart {
	part := StatementPart{Name: OpeningLine, Amount: s.Opening}
	if before == nil {
		part.Steps = []Step{{"R11", OpeningLine, fmt.Sprintf("0: merchant %d has no earlier statement in %s", s.ChannelID, s.Currency)}}
		return part
	}
	part.Inputs = []StatementInput{{Name: ClosingLine, StatementID: before.ID, Amount: before.Closing}}
	part.Steps = []Step{{"R11", OpeningLine, fmt.Sprintf("closing of statement no. %d (id %d): %d", before.Number, before.ID, before.Closing)}}
	return part
}

// ExplainKind explains the sum of the premium lines of a kind. ok is false when the statement has none.
func (s Statement) ExplainKind(kind string) (part StatementPart, ok bool) {
	for _, l := range s.Lines {
		if l.Kind != kind {
			continue
		}
		return StatementPart{
			Name: kind, Lines: l.Lines, Amount: l.Amount, Retained: l.Retained,
			Steps: []Step{{"R11", kind, fmt.Sprintf("the %d lines of merchant %d in %s, %s: amounts %d, retained %d",
				l.Lines, s.ChannelID, s.Currency, s.spanText(), l.Amount, l.Retained)}},
		}, true
	}
	return part, false
}

// ExplainMinimum explains the monthly minimum (R10). month are the lines of the month by kind and policy, and policy
// is the one in force at its end. The statement must have a minimum.
func (s Statement) ExplainMinimum(month []BookedBy, policy terms.Policy) StatementPart {
	m := s.Minimum
	part := StatementPart{Name: MinimumLine, Amount: m.Amount, Inputs: []StatementInput{
		{Name: "minimum_per_month", PolicyID: policy.ID, Amount: m.Minimum},
	}}
	for _, b := range month {
		part.Lines += b.Lines
		part.Inputs = append(part.Inputs, b.input())
	}
	part.Steps = []Step{
		{"R10", "booked", fmt.Sprintf("premium lines of merchant %d in %s recorded in %s: %d", s.ChannelID, s.Currency, m.Month, m.Booked)},
		{"R10", MinimumLine, fmt.Sprintf("minimum − max(0, booked) = %d − max(0, %d) = %d, by policy %d, in force at the month's end",
			m.Minimum, m.Booked, m.Amount, policy.ID)},
	}
	return part
}

// BookedBy adds up the premium lines of one kind and one policy, with the taxes of the policy.
type BookedBy struct {
	BookedSum
	PolicyID int64
}

func (b BookedBy) input() StatementInput {
	return StatementInput{Name: b.Kind, PolicyID: b.PolicyID, Lines: b.Lines, Amount: b.Amount}
}

// ExplainTax explains a tax (R11): the amount it was charged on, and how it was rounded. booked are the premium lines of
// the statement, and policy is the one whose taxes are charged on the minimum. ok is false when the statement has no
// such code.
func (s Statement) ExplainTax(code string, booked []BookedBy, policy terms.Policy) (part StatementPart, ok bool) {
	for _, t := range s.Taxes {
		if t.Code != code {
			continue
		}
		part = StatementPart{Name: TaxLine + code, Amount: t.Amount}
		for _, b := range booked {
			if ppm, taxed := rateOf(b.Taxes, code); taxed {
				part.Lines += b.Lines
				input := b.input()
				input.Taxed, input.RatePPM = true, ppm
				part.Inputs = append(part.Inputs, input)
			}
		}
		if ppm, taxed := rateOf(policy.TaxCodes, code); taxed && s.Minimum != nil {
			part.Inputs = append(part.Inputs, StatementInput{
				Name: MinimumLine, PolicyID: policy.ID, Taxed: true, RatePPM: ppm, Amount: s.Minimum.Amount,
			})
		}
		part.Steps = t.steps(part.Inputs)
		return part, true
	}
	return part, false
}

func rateOf(codes []terms.TaxCode, code string) (ppm int64, taxed bool) {
	for _, c := range codes {
		if c.Code == code {
			return c.RatePPM, true
		}
	}
	return 0, false
}

// steps explains the base of each rate from its inputs, and the rounding.
func (t StatementTax) steps(inputs []StatementInput) []Step {
	var steps []Step
	var terms []string
	for _, p := range t.Earlier {
		terms = append(terms, fmt.Sprintf("%d · %d / 1,000,000", p.Base, p.RatePPM))
	}
	if len(t.Earlier) > 0 {
		steps = append(steps, Step{"R11", "earlier", fmt.Sprintf("earlier statements charged %d on: %s", t.Before, strings.Join(terms, " + "))})
	}
	for _, p := range t.Parts {
		var parts []string
		for _, i := range inputs {
			if i.RatePPM == p.RatePPM {
				parts = append(parts, fmt.Sprintf("%s under policy %d %d", i.Name, i.PolicyID, i.Amount))
			}
		}
		steps = append(steps, Step{"R11", "base", fmt.Sprintf("at %d ppm: %s = %d", p.RatePPM, strings.Join(parts, " + "), p.Base)})
		terms = append(terms, fmt.Sprintf("%d · %d / 1,000,000", p.Base, p.RatePPM))
	}
	less := ""
	if t.Before != 0 {
		less = fmt.Sprintf(" − %d of earlier statements", t.Before)
	}
	return append(steps, Step{"R11", "tax", fmt.Sprintf("%s (%s) = round(%s)%s = round(%s)%s = %d, half away from zero, once for all premium to date",
		t.Code, t.Label, strings.Join(terms, " + "), less, new(big.Rat).SetFrac(t.exact(), big.NewInt(taxScale)).FloatString(6), less, t.Amount)})
}

// ExplainPayments explains the sum of the payments of the period. count is their number.
func (s Statement) ExplainPayments(count int64) StatementPart {
	return StatementPart{
		Name: PaymentsLine, Lines: count, Amount: s.Payments,
		Steps: []Step{{"R11", PaymentsLine, fmt.Sprintf("the %d payments of merchant %d in %s, against any statement, %s: %d",
			count, s.ChannelID, s.Currency, s.spanText(), s.Payments)}},
	}
}

// ExplainClosing explains the closing balance.
func (s Statement) ExplainClosing() StatementPart {
	part := StatementPart{Name: ClosingLine, Amount: s.Closing}
	add := func(name string, amount int64) {
		part.Inputs = append(part.Inputs, StatementInput{Name: name, Amount: amount})
	}
	add(OpeningLine, s.Opening)
	for _, l := range s.Lines {
		add(l.Kind, l.Amount)
	}
	if s.Minimum != nil {
		add(MinimumLine, s.Minimum.Amount)
	}
	for _, t := range s.Taxes {
		add(TaxLine+t.Code, t.Amount)
	}
	add(PaymentsLine, -s.Payments)
	var terms []string
	for _, i := range part.Inputs {
		terms = append(terms, fmt.Sprintf("%s %d", i.Name, i.Amount))
	}
	part.Steps = []Step{{"R11", ClosingLine, fmt.Sprintf("%s = %d", strings.Join(terms, " + "), s.Closing)}}
	return part
}

// ExplainedLine is a premium line of a statement, with the line before it and the steps of its computation.
type ExplainedLine struct {
	StatementLine
	Summary string // in words; added by the report
	Line    PremiumLine
	Before  *PremiumLine // nil for the first line of an allocation
	Steps   []Step
	Of      Explained // the allocation
}

// Part is the premium line as a line of its statement.
func (l StatementLine) Part() StatementPart {
	return StatementPart{Name: strconv.FormatInt(l.ID, 10), Lines: 1, Amount: l.Amount, Retained: l.Retained}
}

// ExplainLine explains one premium line of the allocation. ExplainPremium must have been called before. It is an
// error when the allocation has no such line.
func (x Explained) ExplainLine(l StatementLine) (ExplainedLine, error) {
	e := ExplainedLine{StatementLine: l, Of: x}
	found := false
	for i, line := range x.Premium.Lines {
		if line.ID == l.ID {
			e.Line, found = line, true
			if i > 0 {
				e.Before = &x.Premium.Lines[i-1]
			}
		}
	}
	if !found {
		return e, fmt.Errorf("allocation %d has no premium line %d", x.ID, l.ID)
	}
	for _, s := range x.valueSteps() {
		if strings.HasPrefix(s.Name, "leg ") {
			e.Steps = append(e.Steps, s)
		}
	}
	state := ExplainedPremium{Policy: x.Premium.Policy, State: e.Line.State}
	e.Steps = append(e.Steps, x.premiumSteps(state, x.endOf(e.Line), x.Amount-e.Line.State.Amount)...)
	before := Step{"R10", "before", "π = 0: the allocation has no earlier line"}
	premium := int64(0)
	if b := e.Before; b != nil {
		premium = b.State.Premium
		before.Text = fmt.Sprintf("π = %d after line %d, recorded %s GMT", premium, b.ID, civil.FormatInstant(b.RecordedAt))
	}
	e.Steps = append(e.Steps, before, x.lineStep(e.Line, x.Premium.Policy, premium))
	return e, nil
}
