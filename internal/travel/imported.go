package travel

// ImportedPayment is one row of a file of payments that is taken over from another system: a payment and the booking
// that it was made for. What the reader of the file could not read is noted in the Problems of Booking and Payment,
// under the names of the wire.
type ImportedPayment struct {
	Line int // of the file, the header being line 1
	// Refused says why the row as a whole cannot be taken (it holds a card number, it is no row at all); the fields
	// below then mean nothing.
	Refused error
	Channel string         // by name: ids differ between systems
	Booking BookingFields  // without channel; its ImportKey is the booking's natural key in the channel
	Payment NewTransaction // without channel, bookings and link; its ImportKey is the payment's natural key
	// BaseTotal is the part of the payment for the booking, in the booking's currency.
	BaseTotal int64
	Linked    string // natural key of the payment that this one adjusts, "" for none
}

// Both nouns have a total, a currency and a reference, and a row has one name for each of its cells. These are the
// fields whose cell is called otherwise.
var (
	bookingCells = map[string]string{"channels": "channel", "reference": "booking_reference"}
	paymentCells = map[string]string{
		"channels": "channel", "currencies": "payment_currencies", "total": "payment_total", "bookings": "booking_total",
		"reference": "payment_reference", "linked_id": "linked_reference", "effective_at": "paid_at",
	}
)

// BookingCell names the cell of a row that fills a field of the booking, for people who look for what is wrong.
func BookingCell(field string) string { return cellOf(bookingCells, field) }

// PaymentCell names the cell of a row that fills a field of the payment.
func PaymentCell(field string) string { return cellOf(paymentCells, field) }

func cellOf(cells map[string]string, field string) string {
	if cell, ok := cells[field]; ok {
		return cell
	}
	return field
}
