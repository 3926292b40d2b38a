package claims

import (
	"context"
	"fmt"
	"slices"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Explanation explains a claim: in words and major units, and by the steps of its calculation in minor units.
type Explanation struct {
	Summary string
	Steps   []protection.Step
}

// Explain explains a claim and its covered amount.
func (r *Claims) Explain(ctx context.Context, actor access.Actor, id int64) (Explanation, error) {
	if err := actor.Require(access.ReadFailures); err != nil {
		return Explanation{}, err
	}
	x, err := sites.Read(ctx, r.DB, actor, func(tx *store.Tx) (x Explanation, err error) {
		defer money.Catch(&err)
		c, err := byID(tx, actor.SiteID, id)
		if err != nil {
			return x, err
		}
		m, err := makingOf(tx, c.SiteID, c.InsolvencyID)
		if err != nil {
			return x, err
		}
		list, _, err := m.allocations(tx, []int64{c.AllocationID})
		if err != nil || len(list) == 0 {
			return x, err
		}
		x.Steps = claim.Explain(list[0], m.Failure(), c.ID)
		if c.Priced && c.Payable > 0 {
			atTrigger, _, err := m.atTrigger(tx, list[0].Quote.To)
			if err != nil {
				return x, err
			}
			converted, err := claim.ExplainValue(c.Payable, list[0].Quote, atTrigger)
			if err != nil {
				return x, err
			}
			x.Steps = append(x.Steps, converted...)
		}
		p, of, err := positionOf(tx, c.SiteID, c.InsolvencyID)
		if i := slices.Index(of.ids, c.ID); i >= 0 {
			x.Steps = append(x.Steps, p.Explain(of.cover, c.Value, i)...)
			c.Covered, c.Overpaid = p.Parts[i], p.Overpaid[i]
		}
		x.Summary = summarize(c)
		return x, err
	})
	return x, unknown(err, id)
}

// summarize describes a claim with its covered amounts in words and major units.
func summarize(c Claim) string {
	disputed := money.FormatSigned(c.Disputed, c.Currency)
	switch {
	case c.State == claim.StateRejected, c.State == claim.StateWithdrawn:
		return fmt.Sprintf("None of the disputed %s is payable because the claim was %s.%s", disputed, c.State, c.paidText())
	case c.Payable == 0:
		text := fmt.Sprintf("None of the disputed %s is payable", disputed)
		if c.Reason != "" {
			text += ": " + c.Reason.Text()
		}
		return text + "." + c.paidText()
	}
	text := fmt.Sprintf("All of the disputed %s is payable", disputed)
	if c.Represent > 0 {
		text = fmt.Sprintf("Of the disputed %s, %s is payable; %s is to be represented: %s",
			disputed, money.FormatSigned(c.Payable, c.Currency), money.FormatSigned(c.Represent, c.Currency), c.Reason.Text())
	}
	return text + ". " + c.coverText() + c.paidText()
}

func (c Claim) coverText() string {
	value := "The payable amount"
	if c.PolicyCurrency != c.Currency {
		if !c.Priced {
			return fmt.Sprintf("There is no exchange rate to %s yet.", c.PolicyCurrency)
		}
		value = fmt.Sprintf("It is worth %s, which", money.FormatSigned(c.Value, c.PolicyCurrency))
	}
	switch c.Covered {
	case 0:
		return value + " is not covered by the policy."
	case c.Value:
		return value + " is covered in full."
	default:
		return fmt.Sprintf("%s is covered up to %s.", value, money.FormatSigned(c.Covered, c.PolicyCurrency))
	}
}

// paidText starts with a space if there is any.
func (c Claim) paidText() string {
	text := ""
	switch paid := money.FormatSigned(c.Paid, c.PolicyCurrency); {
	case c.State == claim.StatePaid:
		text = fmt.Sprintf(" %s has been paid.", paid)
	case c.Paid > 0:
		text = fmt.Sprintf(" %s has been paid or is in a payout.", paid)
	}
	if c.Overpaid > 0 {
		text += fmt.Sprintf(" %s was overpaid and is set off against the next payout.", money.FormatSigned(c.Overpaid, c.PolicyCurrency))
	}
	return text
}
