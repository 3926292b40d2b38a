package shapes

import (
	"holdfast/internal/api/wire"
	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// policyTermsShape is a policy in answers, with all its terms.
type policyTermsShape struct {
	ID                int64            `json:"id"`
	From              civil.Day        `json:"from"`
	RecordedAt        string           `json:"recorded_at"`
	Currency          money.Currency   `json:"currency"`
	Recognition       string           `json:"recognition"`
	LateLogDays       int64            `json:"late_log_days"`
	MaxFixingAgeDays  int64            `json:"max_fixing_age_days"`
	RateCard          []rateLineShape  `json:"rate_card"`
	PremiumRefundable bool             `json:"premium_refundable"`
	MinimumPerLine    int64            `json:"minimum_per_line"`
	MinimumPerMonth   int64            `json:"minimum_per_month"`
	TaxCodes          []travel.TaxCode `json:"tax_codes"`
	StatementPeriod   string           `json:"statement_period"`
	PaymentTermsDays  int64            `json:"payment_terms_days"`
	LimitsNotCounting []int64          `json:"limits_not_counting"`
}

type rateLineShape struct {
	ID       int64  `json:"id"`
	Channel  *int64 `json:"channel"` // null: for every channel that has no lines of its own
	LeadFrom int64  `json:"lead_from"`
	LeadTo   *int64 `json:"lead_to"` // null: the last band
	PPM      int64  `json:"ppm"`
}

func showRateLine(l travel.RateLine) rateLineShape {
	shape := rateLineShape{ID: l.ID, LeadFrom: l.From, PPM: l.PPM}
	if l.ChannelID != 0 {
		shape.Channel = &l.ChannelID
	}
	if l.To != travel.NoEnd {
		shape.LeadTo = &l.To
	}
	return shape
}

// ShowPolicy gives the shape of a policy, to be encoded as JSON.
func ShowPolicy(p travel.Policy) policyTermsShape {
	shape := policyTermsShape{
		ID: p.ID, From: p.FromDay, RecordedAt: civil.FormatInstant(p.RecordedAt), Currency: p.Currency,
		Recognition: string(p.Recognition), LateLogDays: p.LateLogDays, MaxFixingAgeDays: p.MaxFixingAgeDays,
		RateCard: make([]rateLineShape, len(p.RateCard)), PremiumRefundable: p.PremiumRefundable,
		MinimumPerLine: p.MinimumPerLine, MinimumPerMonth: p.MinimumPerMonth, TaxCodes: p.TaxCodes,
		StatementPeriod: p.StatementPeriod, PaymentTermsDays: p.PaymentTermsDays,
		LimitsNotCounting: p.LimitsNotCounting,
	}
	for i, l := range p.RateCard {
		shape.RateCard[i] = showRateLine(l)
	}
	return shape
}

// ReadPolicy reads the fields of a new policy from JSON, as in the body of a request. Problems of single fields are in
// problems of the result. The error says that the text is not a JSON object, or holds a card number.
func ReadPolicy(raw []byte) (travel.PolicyFields, error) {
	in, err := wire.ReadInput(raw)
	if err != nil {
		return travel.PolicyFields{}, err
	}
	return PolicyFields(in), nil
}

// PolicyFields reads the fields of a new policy.
func PolicyFields(in *wire.Input) travel.PolicyFields {
	f := travel.PolicyFields{
		From:              in.Day("from"),
		Currency:          in.Currency("currency"),
		Recognition:       wire.Word[travel.Recognition](in, "recognition"),
		LateLogDays:       in.Integer("late_log_days"),
		MaxFixingAgeDays:  in.Integer("max_fixing_age_days"),
		RateCard:          in.RateCard("rate_card"),
		PremiumRefundable: in.Boolean("premium_refundable"),
		MinimumPerLine:    in.Integer("minimum_per_line"),
		MinimumPerMonth:   in.Integer("minimum_per_month"),
		TaxCodes:          in.TaxCodes("tax_codes"),
		StatementPeriod:   in.Text("statement_period"),
		PaymentTermsDays:  in.Integer("payment_terms_days"),
	}
	f.Reason = in.Reason()
	f.Problems = *in.Problems // now that all fields are read
	return f
}
