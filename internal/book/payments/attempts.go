package payments

import (
	"errors"
	"strconv"

	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// makeModalRequest makes a request for a payment in the modal, if makeRequest has made none. Such a payment is never
// recorded as reported: without a processor there is no payment.
func (r *intake) makeModalRequest() error {
	if r.in.Modal == nil || r.request != nil {
		return nil
	}
	o := r.newRequest()
	err := o.charge(r)
	if errors.Is(err, store.ErrNotFound) {
		return errs.NotPossibleBecause("not_processing",
			"This channel does not take payments in the modal. The booking has been logged. Take the payment elsewhere.")
	}
	r.in.PSP, r.request = o.row.Processor, o
	return err
}

// checkAttempt checks whether the modal may try to pay this booking, or try again. The booking is locked, so of two concurrent attempts
// the second sees the first.
func (r *intake) checkAttempt() error {
	if r.in.Modal == nil {
		return nil
	}
	before, err := modalAttempts(r.tx, r.site.ID, r.in.Modal.BookingID)
	if err != nil {
		return err
	}
	return payment.AnotherAttempt(before, r.in.Modal.AuthHash)
}

// checkConversion rejects a payment of the modal if its conversion is far from our own fixings. An auth string is signed
// for an amount, not for a booking: the amount of a cheap booking must not pay for an expensive one.
func (r *intake) checkConversion(deviates, known bool) error {
	if r.in.Modal == nil || known && !deviates {
		return nil
	}
	return errs.NotPossibleBecause("forex_rate",
		"At the exchange rates on file, the amount in %s does not match the amount in %s left to pay for the booking.",
		r.t.Currency, r.t.BaseCurrency)
}

// keepAttempt stores that the transaction is a payment in the modal, with the other verified fields.
func (r *intake) keepAttempt() error {
	s := r.in.Modal
	if s == nil {
		return nil
	}
	r.t.ModalAllocations = s.Verified["allocations"]
	r.t.ModalCharge, _ = ParsePositive(s.Verified["charge_channel"])
	return insertModalPayment(r.tx, r.t, s.BookingID, s.AuthHash)
}

// ParsePositive parses a positive number, such as an id in the verified fields of the modal. It returns false for any other
// text.
func ParsePositive(text string) (int64, bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0
}
