package limits

import (
	"fmt"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/store"
)

// termsOfLimit are the fields of a limit, as proposals and the audit store them.
type termsOfLimit struct {
	Scope     *protection.LimitScope `json:"scope,omitempty"`
	ChannelID *int64                 `json:"channels,omitempty"`
	From      *string                `json:"from,omitempty"`
	Currency  money.Currency         `json:"currency,omitempty"`
	Amount    *int64                 `json:"amount,omitempty"`
	Lift      bool                   `json:"lift,omitempty"`
	Note      string                 `json:"note,omitempty"`
}

// terms are the fields for a proposal. Its amount counts in the currency of the policy on that day, and in no other one.
func (in LimitFields) terms(c money.Currency) termsOfLimit {
	t := termsOfLimit{Scope: in.Scope, ChannelID: in.ChannelID, Currency: c, Amount: in.Amount, Lift: in.Lift, Note: in.Note}
	if in.From != nil {
		from := in.From.String()
		t.From = &from
	}
	return t
}

// auditLimit gives a limit in the shape of the audit.
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

// carryOutLimit adds the limit of an approved proposal.
func carryOutLimit(tx *store.Tx, actor access.Actor, p proposal.Proposal) (any, error) {
	in, err := fieldsOf(tx, p)
	if err != nil {
		return nil, err
	}
	made, err := applyLimit(tx, actor, in)
	return approvals.MadeID{ID: made.ID}, err
}

// fieldsOf reads the limit of a proposal. It begins on the day of the approval at the earliest: payments of earlier days are
// judged already, and that stays as it is.
func fieldsOf(tx *store.Tx, p proposal.Proposal) (LimitFields, error) {
	terms, err := approvals.PayloadOf[termsOfLimit](p)
	if err != nil {
		return LimitFields{}, err
	}
	in := LimitFields{
		Scope: terms.Scope, ChannelID: terms.ChannelID, Amount: terms.Amount, Currency: terms.Currency, Lift: terms.Lift,
		Note: terms.Note,
	}
	if terms.From != nil {
		from, err := civil.ParseDay(*terms.From)
		if err != nil {
			return in, err
		}
		from = max(from, civil.DayOf(tx.Now))
		in.From = &from
	}
	return in, nil
}

// effect compares the limit of a proposal with the current limit, and with today's uses.
func (l *Limits) effect(tx *store.Tx, p proposal.Proposal) (effect proposal.Effect, err error) {
	in, err := fieldsOf(tx, p)
	if err != nil {
		return effect, err
	}
	limit, err := in.limit(tx, access.System(p.SiteID))
	if err != nil {
		return effect, err
	}
	limits, err := LimitsUpTo(tx, p.SiteID, limit.FromDay)
	if err != nil {
		return effect, err
	}
	effect.Currency = limit.Currency
	var before any
	if now, ok := limits.InForce(limit.Scope, limit.ChannelID, limit.FromDay, everything); ok {
		before = auditLimit(now)
	}
	if effect.Changes, err = approvals.Changes(before, auditLimit(limit)); err != nil || limit.Lifted {
		return effect, err
	}
	uses, err := runningUses(tx, p.SiteID)
	if err != nil {
		return effect, err
	}
	effect.Figures, err = figuresOf(limit, uses, newValuing(tx, p.SiteID, civil.DayOf(tx.Now), limit.Currency))
	return effect, err
}

// figuresOf computes the effect of a limit on today's uses. A limit of every channel is compared with all of them.
func figuresOf(limit protection.Limit, uses *uses, v valuing) (list []proposal.Figure, err error) {
	everyChannel := limit.Scope == protection.LimitChannel && limit.ChannelID == 0
	var exceeded int64
	var last useKey
	for _, k := range uses.sorted() {
		done := last.scope == k.scope && last.object == k.object // a use has a key for each of its currencies
		last = k
		if done || k.scope != limit.Scope || limit.ChannelID != 0 && k.object != limit.ChannelID {
			continue
		}
		use, known, err := uses.in(v, k.scope, k.object, limit.Currency)
		switch {
		case err != nil:
			return nil, err
		case everyChannel && use > limit.Amount:
			exceeded++
		case !everyChannel && known:
			list = append(list, proposal.AmountOf("use", use, limit.Currency),
				proposal.AmountOf("headroom_after", limit.Headroom(use), limit.Currency),
				proposal.AmountOf("over_after", max(0, use-limit.Amount), limit.Currency))
		}
	}
	if everyChannel {
		list = append(list, proposal.CountOf("channels_over_after", exceeded))
	}
	return list, nil
}

// NotCounting sets LimitsNotCounting of a policy: the ids of the limits that its payments do not count against. These are
// the limits in another currency that are in force on a day of the policy, today or later.
func NotCounting(tx *store.Tx, siteID int64, p *terms.Policy) error {
	p.LimitsNotCounting = []int64{}
	limits, err := LimitsUpTo(tx, siteID, civil.LastDay)
	if err != nil {
		return err
	}
	for _, l := range limits {
		// On this day both the limit and the policy are in force, unless a newer one has taken the place of either.
		day := max(p.FromDay, l.FromDay, civil.DayOf(tx.Now))
		counts, ok := limits.InForce(l.Scope, l.ChannelID, day, everything)
		if l.Currency == p.Currency || !ok || counts.ID != l.ID {
			continue
		}
		current, err := merchants.PolicyOn(tx, siteID, day)
		if err != nil {
			return err
		}
		if p.ID == current.ID || p.ID == 0 && current.FromDay <= p.FromDay { // ID 0: a proposed policy comes after the current one
			p.LimitsNotCounting = append(p.LimitsNotCounting, l.ID)
		}
	}
	return nil
}
