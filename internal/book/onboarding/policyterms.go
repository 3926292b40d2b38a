package onboarding

import (
	"fmt"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/domain/terms"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/store"
)

// The terms of a site change only when two people agree (R0). These are the shapes of policies in proposals and in the
// audit, with the names of the wire.

// termsOfPolicy are the fields of a policy. A field that is absent has the value of the policy before.
type termsOfPolicy struct {
	From              *string            `json:"from,omitempty"`
	Currency          *money.Currency    `json:"currency,omitempty"`
	Recognition       *terms.Recognition `json:"recognition,omitempty"`
	LateLogDays       *int64             `json:"late_log_days,omitempty"`
	MaxFixingAgeDays  *int64             `json:"max_fixing_age_days,omitempty"`
	RateCard          *[]termsOfRate     `json:"rate_card,omitempty"`
	PremiumRefundable *bool              `json:"premium_refundable,omitempty"`
	MinimumPerLine    *int64             `json:"minimum_per_line,omitempty"`
	MinimumPerMonth   *int64             `json:"minimum_per_month,omitempty"`
	TaxCodes          *[]terms.TaxCode   `json:"tax_codes,omitempty"`
	StatementPeriod   *string            `json:"statement_period,omitempty"`
	PaymentTermsDays  *int64             `json:"payment_terms_days,omitempty"`
	terms.CoverFields
}

type termsOfRate struct {
	Channel  int64  `json:"channel,omitempty"` // 0: for every channel that has no lines of its own
	LeadFrom int64  `json:"lead_from"`
	LeadTo   *int64 `json:"lead_to"` // null: the last band
	PPM      int64  `json:"ppm"`
}

func termsOf(f terms.PolicyFields) termsOfPolicy {
	t := termsOfPolicy{
		Currency: f.Currency, Recognition: f.Recognition, LateLogDays: f.LateLogDays, MaxFixingAgeDays: f.MaxFixingAgeDays,
		PremiumRefundable: f.PremiumRefundable, MinimumPerLine: f.MinimumPerLine, MinimumPerMonth: f.MinimumPerMonth,
		TaxCodes: f.TaxCodes, StatementPeriod: f.StatementPeriod, PaymentTermsDays: f.PaymentTermsDays, CoverFields: f.Cover,
	}
	if f.From != nil {
		from := f.From.String()
		t.From = &from
	}
	if f.RateCard != nil {
		lines := make([]termsOfRate, len(*f.RateCard))
		for i, l := range *f.RateCard {
			lines[i] = termsOfRate{Channel: l.ChannelID, LeadFrom: l.From, PPM: l.PPM}
			if l.To != terms.NoEnd {
				lines[i].LeadTo = &l.To
			}
		}
		t.RateCard = &lines
	}
	return t
}

// fields converts the terms of a stored proposal back.
func (t termsOfPolicy) fields() (terms.PolicyFields, error) {
	f := terms.PolicyFields{
		Currency: t.Currency, Recognition: t.Recognition, LateLogDays: t.LateLogDays, MaxFixingAgeDays: t.MaxFixingAgeDays,
		PremiumRefundable: t.PremiumRefundable, MinimumPerLine: t.MinimumPerLine, MinimumPerMonth: t.MinimumPerMonth,
		TaxCodes: t.TaxCodes, StatementPeriod: t.StatementPeriod, PaymentTermsDays: t.PaymentTermsDays, Cover: t.CoverFields,
	}
	if t.RateCard != nil {
		card := make(terms.RateCard, len(*t.RateCard))
		for i, l := range *t.RateCard {
			card[i] = terms.RateLine{ChannelID: l.Channel, From: l.LeadFrom, To: terms.NoEnd, PPM: l.PPM}
			if l.LeadTo != nil {
				card[i].To = *l.LeadTo
			}
		}
		f.RateCard = &card
	}
	if t.From == nil {
		return f, nil
	}
	from, err := civil.ParseDay(*t.From)
	f.From = &from
	return f, err
}

// auditPolicy gives the shape of a policy in the audit, with all its terms.
func auditPolicy(p terms.Policy) any {
	return termsOf(terms.PolicyFields{
		From: &p.FromDay, Currency: &p.Currency, Recognition: &p.Recognition, LateLogDays: &p.LateLogDays,
		MaxFixingAgeDays: &p.MaxFixingAgeDays, RateCard: &p.RateCard, PremiumRefundable: &p.PremiumRefundable,
		MinimumPerLine: &p.MinimumPerLine, MinimumPerMonth: &p.MinimumPerMonth, TaxCodes: &p.TaxCodes,
		StatementPeriod: &p.StatementPeriod, PaymentTermsDays: &p.PaymentTermsDays, Cover: p.Cover.Fields(),
	})
}

func policyObject(p terms.Policy) string { return fmt.Sprintf("policy %d", p.ID) }

// carryOut adds the policy of an approved proposal.
func (p *Policies) carryOut(tx *store.Tx, actor access.Actor, proposal proposal.Proposal) (any, error) {
	next, err := p.proposed(tx, proposal)
	if err != nil {
		return nil, err
	}
	made, err := p.add(tx, actor, next)
	return approvals.MadeID{ID: made.ID}, err
}

// proposed reads the policy of a proposal. It completes and checks it by the policy that is in force now.
func (p *Policies) proposed(tx *store.Tx, proposal proposal.Proposal) (terms.Policy, error) {
	t, err := approvals.PayloadOf[termsOfPolicy](proposal)
	if err != nil {
		return terms.Policy{}, err
	}
	fields, err := t.fields()
	if err != nil {
		return terms.Policy{}, err
	}
	return p.next(tx, proposal.SiteID, fields)
}

// effect compares the policy of a proposal with the policy in force on its first day.
func (p *Policies) effect(tx *store.Tx, asked proposal.Proposal) (effect proposal.Effect, err error) {
	next, err := p.proposed(tx, asked)
	if err != nil {
		return effect, err
	}
	before, err := merchants.PolicyOn(tx, asked.SiteID, next.FromDay)
	if err != nil {
		return effect, err
	}
	effect.Currency = next.Currency
	effect.Figures = []proposal.Figure{proposal.CountOf("limits_not_counting_after", int64(len(next.LimitsNotCounting)))}
	effect.Changes, err = approvals.Changes(auditPolicy(before), auditPolicy(next))
	return effect, err
}
