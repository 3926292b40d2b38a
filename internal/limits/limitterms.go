package limits

import (
	"fmt"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/merchants"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// termsOfLimit are the fields of a limit.
type termsOfLimit struct {
	Scope     *protection.LimitScope `json:"scope,omitempty"`
	ChannelID *int64                 `json:"channels,omitempty"`
	From      *string                `json:"from,omitempty"`
	Currency  money.Currency         `json:"currency,omitempty"`
	Amount    *int64                 `json:"amount,omitempty"`
	Lift      bool                   `json:"lift,omitempty"`
	Note      string                 `json:"note,omitempty"`
}

func (in LimitFields) terms() termsOfLimit {
	t := termsOfLimit{Scope: in.Scope, ChannelID: in.ChannelID, Amount: in.Amount, Lift: in.Lift, Note: in.Note}
	if in.From != nil {
		from := in.From.String()
		t.From = &from
	}
	return t
}

// auditLimit is a limit in the audit.
func auditLimit(l protection.Limit) any {
	from := l.FromDay.String()
	t := termsOfLimit{Scope: &l.Scope, From: &from, Currency: l.Currency, Lift: l.Lifted, Note: l.Note}
	if l.ChannelID != 0 {
		t.ChannelID = &l.ChannelID
	}
	if !l.Lifted {
		t.Amount = &l.Amount
	}
	return t
}

func limitObject(l protection.Limit) string { return fmt.Sprintf("limit %d", l.ID) }

// carryOut adds the limit of an approved proposal. One that was to begin before the day of its approval begins
// then: what was judged by the limits of a day stays as it is.
func carryOutLimit(tx *db.Tx, actor auth.Actor, p travel.Proposal) (any, error) {
	terms, err := core.PayloadOf[termsOfLimit](p)
	if err != nil {
		return nil, err
	}
	in := LimitFields{Scope: terms.Scope, ChannelID: terms.ChannelID, Amount: terms.Amount, Lift: terms.Lift, Note: terms.Note}
	if terms.From != nil {
		from, err := civil.ParseDay(*terms.From)
		if err != nil {
			return nil, err
		}
		from = max(from, civil.DayOf(tx.Now))
		in.From = &from
	}
	made, err := applyLimit(tx, actor, in)
	return core.MadeID{ID: made.ID}, err
}

// NotCounting finds the limits against which nothing under a policy counts: those in force on its days, today or later,
// in another currency.
func NotCounting(tx *db.Tx, siteID int64, p *travel.Policy) error {
	p.LimitsNotCounting = []int64{}
	limits, err := LimitsUpTo(tx, siteID, civil.LastDay)
	if err != nil {
		return err
	}
	for _, l := range limits {
		// From this day on the limit meets the policy, if another of either has not taken its place.
		day := max(p.FromDay, l.FromDay, civil.DayOf(tx.Now))
		counts, ok := limits.InForce(l.Scope, l.ChannelID, day, everything)
		if l.Currency == p.Currency || !ok || counts.ID != l.ID {
			continue
		}
		current, err := merchants.PolicyOn(tx, siteID, day)
		if err != nil {
			return err
		}
		if p.ID == current.ID || p.ID == 0 && current.FromDay <= p.FromDay { // one that is only proposed comes last
			p.LimitsNotCounting = append(p.LimitsNotCounting, l.ID)
		}
	}
	return nil
}
