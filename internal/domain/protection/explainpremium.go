package protection

import (
	"fmt"
	"math/big"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/terms"
)

// ExplainedPremium is the premium of an allocation as known at a time (R10), with the steps of its computation.
type ExplainedPremium struct {
	Policy   terms.Policy  // in force on P when the payment was recorded
	Voided   bool          // recorded after the merchant had failed: the premium went back (R13)
	Priced   bool          // false when there is no premium: not protected, or pending_rate
	State    PremiumState  // when Priced
	Lines    []PremiumLine // known at the time, in the order in which they were booked
	Booked   int64         // sum of their amounts
	Retained int64         // sum of the retained amounts
	Steps    []Step
}

// ExplainPremium adds the premium to an explanation (R10). lines are all lines of the allocation. The premium depends
// on what is known, not on the day of the explanation: a line is booked when a change is recorded. The errors are those
// of PremiumState.
func (x *Explained) ExplainPremium(policy terms.Policy, lines []PremiumLine, m Moment) error {
	p := ExplainedPremium{Policy: policy}
	for _, l := range lines {
		if !l.RecordedAt.After(m.KnownAt) {
			p.Lines = append(p.Lines, l)
			p.Booked, p.Retained = p.Booked+l.Amount, p.Retained+l.Retained
		}
	}
	switch {
	case !x.Decision.Protected:
		p.Steps = []Step{{"R10", "premium", "no premium: the payment is not protected"}}
	case !x.HasValue:
		p.Steps = []Step{{"R10", "premium", "no premium yet: pending_rate; the premium is booked when the rate arrives"}}
	default:
		p.Priced = true
		refunded := x.Sum(x.Events).Refunded
		end := x.History[len(x.History)-1].End
		var err error
		if p.State, err = x.PremiumState(policy, end, refunded); err != nil {
			return err
		}
		// The last line has the premium of the state, except that a failure voids it.
		if n := len(p.Lines); n > 0 && p.Lines[n-1].State.Premium == 0 && p.State.Premium != 0 {
			p.Voided, p.State.Premium, p.State.Minimum = true, 0, false
		}
		p.Steps = append(x.premiumSteps(p, end, refunded), x.lineSteps(p)...)
	}
	x.Premium = p
	return nil
}

// premiumSteps explains the premium of a state.
func (x Explained) premiumSteps(p ExplainedPremium, end civil.Day, refunded int64) []Step {
	s := p.State
	steps := []Step{
		{"R10", "amount", fmt.Sprintf("a − refunds = %d − %d = %d; chargebacks and reversals never move premium",
			x.Amount, refunded, s.Amount)},
		{"R10", "PV", "of that amount at the locked rate: " + valueText(x.Quote, s.Amount, s.Value)},
		{"R10", "lead", fmt.Sprintf("D − P = %s − %s = %d days", end, x.Paid(), s.Lead)},
	}
	if p.Voided {
		return append(steps, Step{"R13", "π", "recorded after the merchant had failed: the premium goes back, π = 0"})
	}
	if s.NegativeLead() {
		return append(steps, Step{"R10", "π", "flagged: the payment was taken after the end of travel, π = 0"})
	}
	exact := new(big.Int).Mul(big.NewInt(s.Value), big.NewInt(s.Line.PPM))
	text := fmt.Sprintf("π = round(%d · %d / 1,000,000) = round(%s) = %d, half away from zero",
		s.Value, s.Line.PPM, new(big.Rat).SetFrac(exact, big.NewInt(1_000_000)).FloatString(6), s.Premium)
	if s.Minimum {
		text = fmt.Sprintf("π = round(%d · %d / 1,000,000) is more than zero and less than the minimum per line: π = %d",
			s.Value, s.Line.PPM, s.Premium)
	}
	return append(steps,
		Step{"R10", "rate card", fmt.Sprintf("policy %d, in force from %s, line %d (%s): %d ppm",
			p.Policy.ID, p.Policy.FromDay, s.Line.ID, bandText(s.Line), s.Line.PPM)},
		Step{"R10", "π", text})
}

func bandText(l terms.RateLine) string {
	text := fmt.Sprintf("lead of %d to %d days", l.From, l.To)
	if l.To == terms.NoEnd {
		text = fmt.Sprintf("lead of %d days and more", l.From)
	}
	if l.ChannelID != 0 {
		text += fmt.Sprintf(", for merchant %d", l.ChannelID)
	}
	return text
}

// lineSteps explains each line, and that the lines add up to the premium.
func (x Explained) lineSteps(p ExplainedPremium) []Step {
	if len(p.Lines) == 0 {
		return []Step{{"R10", "ledger", "no ledger line: the payment is older than the ledger"}}
	}
	var steps []Step
	before := int64(0)
	for _, l := range p.Lines {
		steps = append(steps, x.lineStep(l, p.Policy, before))
		before = l.State.Premium
	}
	return append(steps, Step{"R10", "sum", fmt.Sprintf("lines %d = premium of the state %d + retained %d",
		p.Booked, before, p.Retained)})
}

// RetainedReason says why premium was retained instead of returned (R10).
type RetainedReason int

// The reasons.
const (
	RetainedByPolicy    RetainedReason = iota // the policy returns no premium
	RetainedAfterTravel                       // the change came after the end of travel
	retainedInsolvent                         // the merchant had failed by then
)

// WhyRetained is the reason why a line of the allocation, under a policy, retained premium.
func (x Explained) WhyRetained(l PremiumLine, policy terms.Policy) RetainedReason {
	switch {
	case !policy.PremiumRefundable:
		return RetainedByPolicy
	case civil.DayOf(l.EffectiveAt) > x.endOf(l):
		return RetainedAfterTravel
	default:
		return retainedInsolvent
	}
}

// lineStep explains a line, after the premium before it. When premium is retained, it says why.
func (x Explained) lineStep(l PremiumLine, policy terms.Policy, before int64) Step {
	day := civil.DayOf(l.EffectiveAt)
	text := fmt.Sprintf("line %d on %s, %s by %s of transaction %d: π %d − %d = %+d",
		l.ID, day, l.Kind, l.Cause, l.TransactionID, l.State.Premium, before, l.State.Premium-before)
	if l.Retained == 0 {
		return Step{"R10", "line", text}
	}
	text += fmt.Sprintf("; nothing is returned, %d is retained: ", l.Retained)
	switch x.WhyRetained(l, policy) {
	case RetainedByPolicy:
		text += fmt.Sprintf("policy %d returns no premium", policy.ID)
	case RetainedAfterTravel:
		text += fmt.Sprintf("the change came after D = %s", x.endOf(l))
	default:
		text += "the merchant had failed"
	}
	return Step{"R10", "line", text}
}

// endOf is D with which a line was booked.
func (x Explained) endOf(l PremiumLine) civil.Day { return x.Paid() + civil.Day(l.State.Lead) }

// valueText explains how an amount was converted.
func valueText(q fx.Quote, amount, value int64) string {
	if q.From == q.To {
		return fmt.Sprintf("%s is the policy currency: PV = %d", q.From, value)
	}
	return "PV = " + q.Explain(amount, value)
}
