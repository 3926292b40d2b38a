package view

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
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

// ShowPayment gives a payment: a part of a transaction that is for one booking.
func ShowPayment(p payment.Payment) paymentShape {
	return paymentShape{p.ID, p.TransactionID, p.BookingID, p.Currency, p.Total, civil.FormatInstant(p.CreatedAt)}
}
