package booking

import "holdfast/internal/domain/civil"

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

// BookingStatuses lists the states for the filter of a list.
var BookingStatuses = []BookingStatus{
	BookingAuthorized, BookingCompleted, BookingDraft, BookingLocked, BookingPaid, BookingPartialPayment, BookingUnpaid,
}

// BookingSums are sums over the linked transactions of a booking, in minor units of its currency. They are stored
// with the booking, and each transaction changes them in its own write.
type BookingSums struct {
	Net            int64 // completed purchases and captures, minus refunds and chargebacks
	Held           int64 // Net with open authorisations and with pending and incomplete payments: the least possible total
	OpenAuthorised int64 // the part of authorisations that can still be captured
	LockedPayments int64 // number of payments that are charged back
}

// StoredStatus is the state that depends on the booking alone. StatusOn also considers the channel and
// the day.
func (b Booking) StoredStatus() BookingStatus {
	switch {
	case b.ModalDraft:
		return BookingDraft
	// A booking with a total of zero stays unpaid, as each booking begins (section 3).
	case b.Sums.Net > 0 && b.Sums.Net >= b.Total:
		return BookingPaid
	case b.Sums.Net > 0:
		return BookingPartialPayment
	case b.Sums.OpenAuthorised > 0:
		return BookingAuthorized
	default: // a booking whose payments were all refunded or charged back is also unpaid
		return BookingUnpaid
	}
}

// StatusOn is the state of the booking on a day (section 3).
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
