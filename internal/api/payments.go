package api

import (
	"net/http"

	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// paymentShape is a payment record on the wire: the part of a transaction that belongs to one booking. Its id is one
// of the payment_ids of the transaction.
type paymentShape struct {
	ID          int64          `json:"id"`
	Transaction int64          `json:"transaction"`
	Booking     int64          `json:"booking"`
	Currencies  money.Currency `json:"currencies"`
	Total       int64          `json:"total"`
	Created     string         `json:"created"`
}

func showPayment(p travel.Payment) paymentShape {
	return paymentShape{p.ID, p.TransactionID, p.BookingID, p.Currency, p.Total, civil.FormatInstant(p.CreatedAt)}
}

func (s *server) listPayments(c *call) error {
	q := c.query()
	page := q.page(travel.PaymentOrders)
	filter := travel.PaymentFilter{
		Include:      q.ids("include"),
		Exclude:      q.ids("exclude"),
		Created:      q.span(""),
		Transactions: q.ids("transactions"),
		Bookings:     q.ids("bookings"),
		Channels:     q.ids("channels"),
	}
	if err := q.err(); err != nil {
		return err
	}
	found, err := s.app.Payments.ListPayments(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, showPayment)
}

func (s *server) getPayment(c *call) error {
	found, err := s.app.Payments.Payment(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{id: found.ID, body: showPayment(found)})
}
