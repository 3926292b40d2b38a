package imports

import (
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
)

// ImportedPayment is one row of a file of payments from another system (docs/import.md): a payment, and the booking
// that it is for. Unreadable cells are in the Problems of Booking and Payment, under the field names of section
// 2.
type ImportedPayment struct {
	Line int // in the file; the header is line 1
	// Refused says why the whole row is refused, such as a card number in it. Then the fields below are not set.
	Refused error
	// Channel is the name of the channel, and ChannelID its id. A row has one of them or both; 0 and "" mean none.
	Channel   string
	ChannelID int64
	Booking   booking.BookingFields  // without its channel; its ImportKey is unique in the channel
	Payment   payment.NewTransaction // without channel, bookings and linked_id; its ImportKey is unique in the channel
	// BaseTotal is the part of the payment for the booking, in minor units of the booking's currency.
	BaseTotal int64
	Linked    string // ImportKey of the payment that this one adjusts; "" for none
}

// bookingCells and paymentCells are the cells of a row that have another name than their field. Booking and payment
// both have a total, a currency and a reference, but each cell of a row has its own name.
var (
	bookingCells = map[string]string{"channels": "channel", "reference": "booking_reference"}
	paymentCells = map[string]string{
		"channels": "channel", "currencies": "payment_currencies", "total": "payment_total", "bookings": "booking_total",
		"reference": "payment_reference", "linked_id": "linked_reference", "effective_at": "paid_at",
		errs.Item("bookings", 0, "id"): "booking_reference", errs.Item("bookings", 0, "currencies"): "currencies",
		errs.Item("bookings", 0, "total"): "booking_total",
	}
)

// BookingCell is the name of the cell with a field of the booking, for error messages.
func BookingCell(field string) string { return cellOf(bookingCells, field) }

// PaymentCell is the name of the cell with a field of the payment, for error messages.
func PaymentCell(field string) string { return cellOf(paymentCells, field) }

func cellOf(cells map[string]string, field string) string {
	if cell, ok := cells[field]; ok {
		return cell
	}
	return field
}
