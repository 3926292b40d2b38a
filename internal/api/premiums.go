package api

import (
	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/domain/protection"
)

func (s *server) listPremiums(c *call) error {
	q := c.query()
	page := q.Page(protection.PremiumOrders)
	filter := protection.PremiumFilter{
		Recorded:     q.Span(""),
		Channels:     q.Ids("channels"),
		Bookings:     q.Ids("bookings"),
		Payments:     q.Ids("payments"),
		Transactions: q.Ids("transactions"),
		Kinds:        input.Words(q, "kind", protection.PremiumKinds),
		Causes:       input.Words(q, "cause", protection.PremiumCauses),
	}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Premiums.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowPremiumLine)
}
