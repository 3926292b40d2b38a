package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/book/rates"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/proposal"
)

func (s *server) listRates(c *call) error {
	q := c.query()
	page := q.Page(view.RateOrders)
	filter := fx.Filter{
		Currencies: input.Words(q, "currency", money.Currencies()), Providers: input.Words(q, "provider", []fx.Provider{fx.ECB, fx.Manual, fx.Demo}),
		First: q.Day("from"), Last: q.Day("to"),
	}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Rates.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowRate)
}

func (s *server) createRate(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := rates.QuoteFields{
		Currency: in.Currency("currency"), Day: in.Day("day"), Rate: in.Text("rate"), QuoteID: in.Text("quote_id"),
		Expires: in.Instant("expires"), Reason: in.Reason(),
	}
	fields.Problems = *in.Problems
	p, err := s.app.Rates.Quote(c.ctx, c.actor, fields)
	if err != nil {
		return err
	}
	made := waiting(&p, object{})
	if p.State == proposal.Open {
		return s.accepted(c, made)
	}
	c.Header().Set("Location", s.proposalAddress(c, p.ID))
	return c.show(http.StatusCreated, made)
}
