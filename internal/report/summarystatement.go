package report

import (
	"fmt"
	"strings"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
)

// SummarizeLine says in words what a line of a statement charges and why. SummarizePremium does it for one premium line.
func SummarizeLine(s protection.Statement, part protection.StatementPart) string {
	t := statementText{s, part}
	switch name := part.Name; {
	case name == protection.OpeningLine:
		return t.opening()
	case name == protection.ClosingLine:
		return t.closing()
	case name == protection.MinimumLine:
		return t.minimum()
	case name == protection.PaymentsLine:
		return t.payments()
	case strings.HasPrefix(name, protection.TaxLine):
		return t.tax(name[len(protection.TaxLine):])
	default:
		return t.premium()
	}
}

// SummarizePremium says in words what a premium line charges and why.
func SummarizePremium(l protection.ExplainedLine) string {
	amount := func(n int64) string { return money.FormatSigned(n, l.Line.Currency) }
	text := moved(l.Amount, l.Line.Currency, l.Kind == string(protection.PremiumOriginal))
	if l.Amount == 0 && l.Retained != 0 {
		text = fmt.Sprintf("No premium was returned and %s was retained", amount(l.Retained))
	}
	text += fmt.Sprintf(" for booking %d", l.BookingID)
	if l.Before == nil && l.Line.State.NegativeLead() {
		return fmt.Sprintf("%s, because payment %d was taken after the trip ended.", text, l.TransactionID)
	}
	switch why := causeText(l); {
	case why != "" && l.Retained != 0:
		text += ": " + why + ", but " + retainedText(l)
	case why != "":
		text += ", because " + why
	}
	before, after := int64(0), l.Line.State.Premium
	if l.Before != nil {
		before = l.Before.State.Premium
		return fmt.Sprintf("%s. The premium of the state changed from %s to %s.", text, amount(before), amount(after))
	}
	text += fmt.Sprintf(". The rate is %s of a value of %s, %s before the end of the trip", money.FormatPercent(l.Line.State.Line.PPM)+"%",
		amount(l.Line.State.Value), counted(l.Line.State.Lead, "day"))
	if l.Line.State.Minimum {
		text += "; the minimum per line applies"
	}
	return text + "."
}

// causeText is why a premium line was booked.
func causeText(l protection.ExplainedLine) string {
	switch protection.PremiumCause(l.Cause) {
	case protection.CausePurchase:
		return fmt.Sprintf("payment %d was logged", l.TransactionID)
	case protection.CauseRefund:
		return fmt.Sprintf("refund %d lowered the amount of the payment", l.TransactionID)
	case protection.CauseReDate:
		return "the travel dates changed"
	case protection.CauseLateFixing:
		return fmt.Sprintf("the exchange rate for payment %d became available", l.TransactionID)
	case protection.CauseCorrection:
		return fmt.Sprintf("the premium of payment %d was corrected", l.TransactionID)
	case protection.CauseInsolvency:
		return fmt.Sprintf("payment %d was logged after the merchant had failed", l.TransactionID)
	default:
		return ""
	}
}

// retainedText is why premium was retained instead of returned.
func retainedText(l protection.ExplainedLine) string {
	switch l.Of.WhyRetained(l.Line, l.Of.Premium.Policy) {
	case protection.RetainedByPolicy:
		return "the policy returns no premium"
	case protection.RetainedAfterTravel:
		return "only after the trip ended"
	default:
		return "the merchant had failed"
	}
}

// moved says that premium was charged or returned. first says that it was the first premium of a payment.
func moved(amount int64, c money.Currency, first bool) string {
	switch {
	case amount == 0:
		return "No premium was charged"
	case amount < 0:
		return money.FormatSigned(-amount, c) + " of premium was returned"
	case first:
		return money.FormatSigned(amount, c) + " of premium was charged"
	default:
		return money.FormatSigned(amount, c) + " of additional premium was charged"
	}
}

// statementText writes the summary of a line of a statement.
type statementText struct {
	protection.Statement
	part protection.StatementPart
}

func (t statementText) money(minor int64) string { return money.FormatSigned(minor, t.Currency) }

// balance writes an amount that may be a credit of the merchant.
func (t statementText) balance(minor int64) string {
	if minor < 0 {
		return "a credit of " + t.money(-minor)
	}
	return t.money(minor)
}

// span says what the statement includes.
func (t statementText) span() string {
	last := civil.DayOf(t.Until.Add(-time.Microsecond))
	return fmt.Sprintf("from %s to %s", civil.DayOf(t.From).Long(), last.Long())
}

func (t statementText) opening() string {
	if len(t.part.Inputs) == 0 {
		return fmt.Sprintf("The opening balance is %s: the merchant has no earlier statement in %s.", t.balance(t.part.Amount), t.Currency)
	}
	return fmt.Sprintf("The opening balance is %s, the closing balance of the previous statement.", t.balance(t.part.Amount))
}

func (t statementText) premium() string {
	lines := counted(t.part.Lines, "premium line")
	what := map[protection.PremiumKind]string{
		protection.PremiumOriginal: "for payments", protection.PremiumAdditional: "for changes to payments and bookings",
		protection.PremiumReturn: "for refunds and changes to bookings", protection.PremiumCorrection: "for corrections",
	}[protection.PremiumKind(t.part.Name)]
	if what != "" {
		what = " " + what
	}
	first := t.part.Name == string(protection.PremiumOriginal)
	text := moved(t.part.Amount, t.Currency, first)
	if t.part.Amount == 0 && t.part.Name == string(protection.PremiumReturn) {
		text = "No premium was returned"
	}
	text += fmt.Sprintf("%s, in %s recorded %s.", what, lines, t.span())
	if t.part.Retained != 0 {
		text += fmt.Sprintf(" %s was retained.", t.money(t.part.Retained))
	}
	return text
}

func (t statementText) minimum() string {
	m := t.Minimum
	month, err := civil.ParseDay(m.Month + "-01")
	name := m.Month
	if err == nil {
		name = month.Start().Format("January 2006")
	}
	counts := ""
	if m.Booked < 0 {
		counts = ", which counts as zero"
	}
	return fmt.Sprintf("%s was charged to reach the monthly minimum of %s: the premium recorded in %s is %s%s.",
		t.money(m.Amount), t.money(m.Minimum), name, t.money(m.Booked), counts)
}

func (t statementText) tax(code string) string {
	for _, tax := range t.Taxes {
		if tax.Code != code {
			continue
		}
		var parts []string
		for _, p := range tax.Parts {
			parts = append(parts, money.FormatPercent(p.RatePPM)+"%"+" of "+t.money(p.Base))
		}
		label := tax.Label
		if label == "" {
			label = "Tax"
		}
		of := ", "
		if len(parts) == 0 {
			of = ""
		}
		if tax.Amount < 0 {
			return fmt.Sprintf("%s (%s): %s was returned%s%s.", label, code, t.money(-tax.Amount), of, enumerate(parts))
		}
		return fmt.Sprintf("%s (%s): %s was charged%s%s.", label, code, t.money(tax.Amount), of, enumerate(parts))
	}
	return ""
}

func (t statementText) payments() string {
	if t.part.Lines == 0 {
		return fmt.Sprintf("No payment was recorded %s.", t.span())
	}
	come := "come"
	if t.part.Lines == 1 {
		come = "comes"
	}
	return fmt.Sprintf("%s recorded %s %s to %s.", counted(t.part.Lines, "payment"), t.span(), come, t.money(t.part.Amount))
}

// closing adds up the lines of the statement, in words.
func (t statementText) closing() string {
	var premium, tax, minimum int64
	for _, l := range t.Lines {
		premium += l.Amount
	}
	for _, x := range t.Taxes {
		tax += x.Amount
	}
	texts := []string{"an opening balance of " + t.money(t.Opening), "premium of " + t.money(premium)}
	if t.Minimum != nil {
		minimum = t.Minimum.Amount
		texts = append(texts, "a minimum premium of "+t.money(minimum))
	}
	if len(t.Taxes) > 0 {
		texts = append(texts, "tax of "+t.money(tax))
	}
	text := fmt.Sprintf("The closing balance is %s: %s", t.balance(t.Closing), enumerate(texts))
	if t.Payments != 0 {
		text += ", less payments of " + t.money(t.Payments)
	}
	return text + "."
}

// counted writes a number with its word.
func counted(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
