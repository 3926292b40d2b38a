package claim

import (
	"fmt"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
)

// reasonTexts has the reasons for people.
var reasonTexts = map[Reason]string{
	BeforeTrigger:        "nothing was debited on or after the day of the trigger",
	NotProtected:         "the payment is not protected",
	RecordedAfterTrigger: "the payment was recorded after the trigger, or its cover started after it",
	Refunded:             "it was refunded",
	Delivered:            "everything was delivered by the day of the trigger",
	LateDispute:          "it was debited after the last day of dispute",
	LateNotice:           "it was received later than the policy allows",
	ClaimsClosed:         "it was received after the claims were closed",
	OtherProtectionFirst: "other protection of the traveller pays first",
	Duplicate:            "an earlier claim for the same loss is already payable",
	AboveRemaining:       "it exceeds the remaining amount of the payment",
	NotInSnapshot:        "the payment is not in the snapshot: nothing remained at the trigger, or the last day of dispute had passed",
}

// Text is the reason for people, as part of a sentence.
func (r Reason) Text() string { return reasonTexts[r] }

// Explain lists the steps in which Claims computed the claim of a dispute. Amounts are minor units of the allocation's currency.
// It returns no steps if the allocation has no such dispute.
func Explain(a Allocation, f Failure, disputeID int64) []protection.Step {
	room := a.Room(f)
	left := room
	for _, c := range Claims(a, f) {
		if c.ID != disputeID {
			left -= c.Payable
			continue
		}
		steps := append(a.debitSteps(c, f), a.roomSteps(f, room, left)...)
		return append(steps, payableSteps(c, left)...)
	}
	return nil
}

func step(name, format string, args ...any) protection.Step {
	return protection.Step{Rule: "R13", Name: name, Text: fmt.Sprintf(format, args...)}
}

// debitSteps explain the loss.
func (a Allocation) debitSteps(c Claim, f Failure) []protection.Step {
	steps := []protection.Step{step("T", "the merchant failed at %s; this was confirmed at %s",
		civil.FormatInstant(f.TriggerAt), civil.FormatInstant(f.ConfirmedAt))}
	for _, d := range c.Debits {
		text := fmt.Sprintf("%d on %s, received at %s", d.Amount, d.Day, civil.FormatInstant(d.ReceivedAt))
		if d.Credited != 0 {
			text += fmt.Sprintf(", credited %d: %d left", d.Credited, d.left())
		}
		switch {
		case d.Day < f.Day():
			text += "; before the day of the trigger: not part of the loss"
		case d.Day > a.lastDay(f):
			text += fmt.Sprintf("; after L = %s: not part of the loss", a.lastDay(f))
		case d.ReceivedAt.After(a.NotifyBy):
			text += fmt.Sprintf("; notified after %s: not payable", civil.FormatInstant(a.NotifyBy))
		case a.closed(d):
			text += fmt.Sprintf("; claims were closed at %s: not payable", civil.FormatInstant(a.ClosedAt))
		}
		steps = append(steps, step("debit", "%s", text))
	}
	return append(steps, step("loss", "max(0, debits from %s to L = %s − the credits that name them) = %d", f.Day(), a.lastDay(f), c.Loss))
}

// roomSteps explain C, and the remainder after earlier claims.
func (a Allocation) roomSteps(f Failure, room, left int64) []protection.Step {
	switch {
	case a.Line == nil:
		return []protection.Step{step("C", "0: %s", NotInSnapshot.Text())}
	case !a.Line.Eligible():
		return []protection.Step{step("C", "0: %s", a.Line.Ineligible.Text())}
	}
	n := a.Line.Remaining
	steps := []protection.Step{step("C",
		"max(0, N_T − refunds after the trigger or recorded after confirmation, and earlier chargebacks recorded after it) = max(0, %d − %d) = %d",
		n, a.taken(f), room)}
	if left != room {
		steps = append(steps, step("remaining C", "C − payable of earlier claims = %d − %d = %d", room, room-left, left))
	}
	return steps
}

// payableSteps explain the payable part, and the rest.
func payableSteps(c Claim, left int64) []protection.Step {
	text := fmt.Sprintf("min(loss, remaining C) = min(%d, %d) = %d", c.Loss, left, c.Payable)
	switch {
	case c.Dropped:
		text = "0: the claim was rejected or withdrawn"
	case c.Payable < min(c.Loss, left):
		text = fmt.Sprintf("%d: %s", c.Payable, c.Reason.Text())
	}
	steps := []protection.Step{step("payable", "%s", text)}
	if c.Represent() > 0 && c.Reason != "" {
		steps = append(steps, step("represent", "disputed − payable = %d − %d = %d: %s", c.Disputed, c.Payable, c.Represent(), c.Reason.Text()))
	}
	return steps
}

// ExplainValue lists the steps in which InPolicyCurrency converts the payable amount of a claim. It returns no steps if the currencies are
// equal. The error is money.ErrRange.
func ExplainValue(payable int64, locked, atTrigger fx.Quote) (steps []protection.Step, err error) {
	for _, c := range []struct {
		fx.Quote
		rate string
	}{{locked, "locked rate"}, {atTrigger, "fixing of the trigger"}} {
		if c.From == c.To {
			continue
		}
		value, err := c.Convert(payable)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step("in "+string(c.To), "at the %s: %s", c.rate, c.Explain(payable, value)))
		payable = value
	}
	return steps, nil
}

// Explain lists the steps in which the covered amount of a claim was computed. place is the place of the claim in the insolvency, and
// payable its payable amount. Amounts are minor units of the policy currency.
func (p Position) Explain(c terms.Cover, payable int64, place int) []protection.Step {
	text := fmt.Sprintf("round(max(0, Σ payable − deductible) · (1 − coinsurance)) = round(max(0, %d − %d) · %d / 1,000,000)",
		p.Payable, c.Deductible, wholePPM-c.CoinsurancePPM)
	if c.MerchantLimit > 0 {
		text = fmt.Sprintf("min(%s, merchant limit %d)", text, c.MerchantLimit)
	}
	covered := step("Σ covered", "B = %d", p.Covered)
	if p.Covered != p.UnderTerms {
		covered = step("Σ covered", "the sum of B of the year of account exceeds the aggregate limit: %d of B = %d is covered", p.Covered, p.UnderTerms)
	}
	steps := []protection.Step{step("B", "%s = %d", text, p.UnderTerms), covered}
	if p.Payable == 0 {
		return append(steps, step("covered", "0: nothing is payable"))
	}
	return append(steps, step("covered", "Σ covered · payable / Σ payable = %d · %d / %d = %d, rounded so that the claims add up to Σ covered",
		p.Covered, payable, p.Payable, p.Parts[place]))
}
