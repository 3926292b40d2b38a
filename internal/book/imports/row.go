package imports

import (
	"cmp"
	"fmt"
	"slices"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
)

// ImportedPayment is one row of a file of payments from another system (docs/import.md): a payment, and the booking
// that it is for. Unreadable cells are in the Problems of Booking and Payment, under the field names of section
// 2.
type ImportedPayment struct {
	Line int // in the file; the header is line 1
	// Refused says why the whole row is rejected, for example because of a card number. Then the fields below are not set.
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

// Scan is the result of scanning a file before its import.
type Scan struct {
	Rows int
	Notes
}

// Notes are warnings about a file whose rows can be imported.
type Notes struct {
	Unused  []UnusedColumn `json:"unused_columns"`
	Schemes []string       `json:"unknown_card_types"` // words in card_types that name no known scheme
}

// UnusedColumn is a column that the import ignores. Nearest is the column that was probably meant, or "" if none is similar.
type UnusedColumn struct {
	Name    string `json:"name"`
	Nearest string `json:"nearest"`
}

// Total is a control total: how many payments of one type and currency an import creates, and their sum in minor units
// of that currency. It can be compared with the source system.
type Total struct {
	Type     payment.TransactionType `json:"transaction_types"`
	Currency money.Currency          `json:"currencies"`
	Payments int64                   `json:"payments"`
	Amount   int64                   `json:"total"`
}

// String formats a total for people, such as "purchase: 2, €720.00".
func (t Total) String() string {
	return fmt.Sprintf("%s: %d, %s", t.Type, t.Payments, money.FormatSigned(t.Amount, t.Currency))
}

// String formats a column for messages, with the column that was probably meant.
func (c UnusedColumn) String() string {
	if c.Nearest == "" {
		return c.Name
	}
	return c.Name + " (did you mean " + c.Nearest + "?)"
}

// addTotals adds control totals to others, in order of type and currency. The error is money.ErrRange.
func addTotals(to []Total, more ...Total) ([]Total, error) {
	for _, t := range more {
		at, found := slices.BinarySearchFunc(to, t, func(a, b Total) int {
			return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Currency, b.Currency))
		})
		if !found {
			to = slices.Insert(to, at, t)
			continue
		}
		sum, err := money.Add(to[at].Amount, t.Amount)
		if err != nil {
			return nil, err
		}
		to[at].Payments, to[at].Amount = to[at].Payments+t.Payments, sum
	}
	return to, nil
}

// bookingCells and paymentCells are the cells of a row whose names differ from their fields. Booking and payment
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
