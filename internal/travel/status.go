package travel

import "holdfast/internal/civil"

// BookingStatus is the state of a booking (section 3).
type BookingStatus string

// The states of a booking.
const (
	BookingUnpaid         BookingStatus = "unpaid"
	BookingAuthorized     BookingStatus = "authorized"
	BookingPartialPayment BookingStatus = "partial-payment"
	BookingPaid           BookingStatus = "paid"
	BookingCompleted      BookingStatus = "completed"
	BookingLocked         BookingStatus = "locked"
	BookingDraft          BookingStatus = "draft"
)

// BookingStatuses lists the states that a caller can filter by.
var BookingStatuses = []BookingStatus{
	BookingAuthorized, BookingCompleted, BookingDraft, BookingLocked, BookingPaid, BookingPartialPayment, BookingUnpaid,
}

// BookingSums is what the linked transactions of a booking come to, in its currency. It is kept with the booking, and
// every transaction changes it in the same write.
type BookingSums struct {
	Net            int64 // completed purchases and captures less refunds
	Held           int64 // what counts against the total: also open authorisations, pending and incomplete payments
	OpenAuthorised int64 // of authorisations that can still be captured
	LockedPayments int64 // how many payments are charged back
}

// StoredStatus is the state as far as it follows from the booking alone. Of the other two states one follows from the
// channel and one from the date; StatusOn adds them.
func (b Booking) StoredStatus() BookingStatus {
	switch {
	case b.Sums.LockedPayments > 0:
		return BookingLocked
	case b.ModalDraft:
		return BookingDraft
	// A booking that costs nothing stays unpaid, as every booking begins (section 3): nothing was paid for it.
	case b.Sums.Net > 0 && b.Sums.Net >= b.Total:
		return BookingPaid
	case b.Sums.Net > 0:
		return BookingPartialPayment
	case b.Sums.OpenAuthorised > 0:
		return BookingAuthorized
	default: // also after a full refund
		return BookingUnpaid
	}
}

// StatusOn is the state of the booking on a day.
func (b Booking) StatusOn(today civil.Day) BookingStatus {
	stored := b.StoredStatus()
	switch {
	case b.ChannelLocked:
		return BookingLocked
	case stored == BookingPaid && today > b.End:
		return BookingCompleted
	default:
		return stored
	}
}
