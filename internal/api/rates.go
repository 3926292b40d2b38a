package api

import (
	"net/http"

	"holdfast/internal/civil"
	"holdfast/internal/fx"
	"holdfast/internal/money"
	"holdfast/internal/rates"
	"holdfast/internal/travel"
)

// rateShape is a fixing on the wire.
type rateShape struct {
	ID         int64          `json:"id"`
	Provider   fx.Provider    `json:"provider"`
	Currency   money.Currency `json:"currency"`
	Day        civil.Day      `json:"day"`
	Rate       string         `json:"rate"` // decimal text: units of the currency per euro
	RecordedAt string         `json:"recorded_at"`
	QuoteID    *string        `json:"quote_id"`
	Expires    *string        `json:"expires"`
}

func showRate(f fx.Fixing) rateShape {
	shape := rateShape{
		ID: f.ID, Provider: f.Provider, Currency: f.Currency, Day: f.Day, Rate: f.Rate.String(),
		RecordedAt: civil.FormatInstant(f.RecordedAt),
	}
	if f.QuoteID != "" {
		shape.QuoteID = &f.QuoteID
	}
	if !f.ExpiresAt.IsZero() {
		at := civil.FormatInstant(f.ExpiresAt)
		shape.Expires = &at
	}
	return shape
}

// rateOrders lists the attributes by which rates can be sorted.
var rateOrders = []string{"id", "date", "currency"}

func (s *server) listRates(c *call) error {
	q := c.query()
	page := q.page(rateOrders)
	filter := fx.Filter{
		Currencies: words(q, "currency", money.Currencies()), Providers: words(q, "provider", []fx.Provider{fx.ECB, fx.Manual, fx.Demo}),
		First: q.day("from"), Last: q.day("to"),
	}
	if err := q.err(); err != nil {
		return err
	}
	found, err := s.app.Rates.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, showRate)
}

func (s *server) createRate(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := rates.QuoteFields{
		Currency: in.currency("currency"), Day: in.day("day"), Rate: in.text("rate"), QuoteID: in.text("quote_id"),
		Expires: in.instant("expires"), Reason: in.reason(),
	}
	fields.Problems = *in.problems
	p, err := s.app.Rates.Quote(c.ctx, c.actor, fields)
	if err != nil {
		return err
	}
	made := waiting(&p, object{})
	if p.State == travel.ProposalOpen {
		return s.accepted(c, made)
	}
	return c.show(http.StatusCreated, made)
}
