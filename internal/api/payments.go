package api

import (
	"net/http"

	"holdfast/internal/api/view"
	"holdfast/internal/book/payments"
)

func (s *server) listPayments(c *call) error {
	q := c.query()
	page := q.Page(payments.PaymentOrders)
	filter := payments.PaymentFilter{
		Created:      q.Span(""),
		Transactions: q.Ids("transactions"),
		Bookings:     q.Ids("bookings"),
		Channels:     q.Ids("channels"),
	}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Payments.ListPayments(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowPayment)
}

func (s *server) getPayment(c *call) error {
	found, err := s.app.Payments.Payment(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{id: found.ID, body: view.ShowPayment(found)})
}
