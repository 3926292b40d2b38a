package view

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
)

// policyTermsShape is a policy in answers, with all its terms.
type policyTermsShape struct {
	ID                int64           `json:"id"`
	From              civil.Day       `json:"from"`
	RecordedAt        string          `json:"recorded_at"`
	Currency          money.Currency  `json:"currency"`
	Recognition       string          `json:"recognition"`
	LateLogDays       int64           `json:"late_log_days"`
	MaxFixingAgeDays  int64           `json:"max_fixing_age_days"`
	RateCard          []rateLineShape `json:"rate_card"`
	PremiumRefundable bool            `json:"premium_refundable"`
	MinimumPerLine    int64           `json:"minimum_per_line"`
	MinimumPerMonth   int64           `json:"minimum_per_month"`
	TaxCodes          []terms.TaxCode `json:"tax_codes"`
	StatementPeriod   string          `json:"statement_period"`
	PaymentTermsDays  int64           `json:"payment_terms_days"`
	terms.Cover
	LimitsNotCounting []int64 `json:"limits_not_counting"`
}

type rateLineShape struct {
	ID       int64  `json:"id"`
	Channel  *int64 `json:"channel"` // null: for every channel that has no lines of its own
	LeadFrom int64  `json:"lead_from"`
	LeadTo   *int64 `json:"lead_to"` // null: the last band
	PPM      int64  `json:"ppm"`
}

func showRateLine(l terms.RateLine) rateLineShape {
	shape := rateLineShape{ID: l.ID, LeadFrom: l.From, PPM: l.PPM}
	if l.ChannelID != 0 {
		shape.Channel = &l.ChannelID
	}
	if l.To != terms.NoEnd {
		shape.LeadTo = &l.To
	}
	return shape
}

// ShowPolicy gives the shape of a policy, to be encoded as JSON.
func ShowPolicy(p terms.Policy) policyTermsShape {
	shape := policyTermsShape{
		ID: p.ID, From: p.FromDay, RecordedAt: civil.FormatInstant(p.RecordedAt), Currency: p.Currency,
		Recognition: string(p.Recognition), LateLogDays: p.LateLogDays, MaxFixingAgeDays: p.MaxFixingAgeDays,
		RateCard: make([]rateLineShape, len(p.RateCard)), PremiumRefundable: p.PremiumRefundable,
		MinimumPerLine: p.MinimumPerLine, MinimumPerMonth: p.MinimumPerMonth, TaxCodes: p.TaxCodes,
		StatementPeriod: p.StatementPeriod, PaymentTermsDays: p.PaymentTermsDays, Cover: p.Cover,
		LimitsNotCounting: p.LimitsNotCounting,
	}
	for i, l := range p.RateCard {
		shape.RateCard[i] = showRateLine(l)
	}
	return shape
}
