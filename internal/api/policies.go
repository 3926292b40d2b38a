package api

import (
	"net/http"

	"holdfast/internal/civil"
	"holdfast/internal/fault"
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

func showPolicy(p travel.Policy) policyTermsShape {
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

// ShowPolicy gives the shape of a policy, to be encoded as JSON.
func ShowPolicy(p travel.Policy) any { return showPolicy(p) }

// ReadPolicy reads the fields of a new policy from JSON, as in the body of a request. Problems of single fields are in
// Problems of the result. The error says that the text is not a JSON object, or holds a card number.
func ReadPolicy(raw []byte) (travel.PolicyFields, error) {
	in := &input{problems: &fault.Problems{}}
	var err error
	if in.fields, err = decodeObject(raw, in.problems); err != nil {
		return travel.PolicyFields{}, err
	}
	return policyFields(in), nil
}

func (s *server) listPolicies(c *call) error {
	q := c.query()
	page := q.page(travel.PolicyOrders)
	var on *civil.Day
	if day := q.day("on"); day != civil.NoDay {
		on = &day
	}
	if err := q.err(); err != nil {
		return err
	}
	found, err := s.app.Policies.List(c.ctx, c.actor, on, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, showPolicy)
}

func (s *server) getPolicy(c *call) error {
	found, err := s.findPolicy(c, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, found)
}

func (s *server) findPolicy(c *call, id int64) (object, error) {
	found, err := s.app.Policies.Get(c.ctx, c.actor, id)
	return object{id: found.ID, body: showPolicy(found)}, err
}

func (s *server) createPolicy(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	return s.create(c, func() (object, error) {
		made, err := s.app.Policies.Set(c.ctx, c.actor, policyFields(in))
		return waiting(made.Proposal, object{id: made.ID, body: showPolicy(made)}), err
	})
}

func policyFields(in *input) travel.PolicyFields {
	f := travel.PolicyFields{
		From:              in.day("from"),
		Currency:          in.currency("currency"),
		Recognition:       word[travel.Recognition](in, "recognition"),
		LateLogDays:       in.integer("late_log_days"),
		MaxFixingAgeDays:  in.integer("max_fixing_age_days"),
		RateCard:          in.rateCard("rate_card"),
		PremiumRefundable: in.boolean("premium_refundable"),
		MinimumPerLine:    in.integer("minimum_per_line"),
		MinimumPerMonth:   in.integer("minimum_per_month"),
		TaxCodes:          in.taxCodes("tax_codes"),
		StatementPeriod:   in.text("statement_period"),
		PaymentTermsDays:  in.integer("payment_terms_days"),
	}
	f.Reason = in.reason()
	f.Problems = *in.problems // now that all fields are read
	return f
}

// rateCard reads the lines of a rate card. It is nil when the field is absent.
func (in *input) rateCard(name string) *travel.RateCard {
	items := in.items(name)
	if items == nil {
		return nil
	}
	card := make(travel.RateCard, len(*items))
	for i, item := range *items {
		item.need("lead_from", "ppm")
		card[i] = travel.RateLine{
			ChannelID: valueOr(item.integer("channel"), 0), From: valueOr(item.integer("lead_from"), 0),
			To: valueOr(item.integer("lead_to"), travel.NoEnd), PPM: valueOr(item.integer("ppm"), 0),
		}
	}
	return &card
}

func (in *input) taxCodes(name string) *[]travel.TaxCode {
	items := in.items(name)
	if items == nil {
		return nil
	}
	codes := make([]travel.TaxCode, len(*items))
	for i, item := range *items {
		item.need("rate_ppm")
		codes[i] = travel.TaxCode{
			Code: item.textOr("code"), RatePPM: valueOr(item.integer("rate_ppm"), 0), Label: item.textOr("label"),
		}
	}
	return &codes
}

func valueOr[T any](given *T, absent T) T {
	if given == nil {
		return absent
	}
	return *given
}
