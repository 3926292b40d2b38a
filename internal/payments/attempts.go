package payments

import (
	"errors"
	"strconv"

	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// makeModalRequest has what the modal pays carried out where makeRequest leaves it to be logged as reported: nothing is
// reported here, a payment that no processor takes is none.
func (r *intake) makeModalRequest() error {
	if r.in.Modal == nil || r.request != nil {
		return nil
	}
	o := &gatewayRequest{row: travel.GatewayCharge{
		SiteID: r.site.ID, ChannelID: r.channel.ID, Operation: *r.in.Type, State: travel.ProcessingCalled,
	}}
	err := o.charge(r)
	if errors.Is(err, db.ErrNotFound) {
		return fault.NotPossibleBecause("not_processing",
			"This channel takes no payments in the modal. The booking is logged; the payment has to be taken elsewhere.")
	}
	r.in.PSP, r.request = o.row.Processor, o
	return err
}

// checkAttempt answers whether the modal may try to pay (again). The booking is locked, so that of two tries at once the
// second sees the first.
func (r *intake) checkAttempt() error {
	if r.in.Modal == nil {
		return nil
	}
	before, err := modalAttempts(r.tx, r.site.ID, r.in.Modal.BookingID)
	if err != nil {
		return err
	}
	return travel.AnotherAttempt(before, r.in.Modal.AuthHash)
}

// checkConversion refuses a payment of the modal whose currency was converted at a rate that our own fixings do not bear
// out. An auth string vouches for an amount, not for the booking: it must not pay a dear one for the price of a cheap one.
func (r *intake) checkConversion(deviates, known bool) error {
	if r.in.Modal == nil || known && !deviates {
		return nil
	}
	return fault.NotPossibleBecause("forex_rate", "The payment in %s is not what is open of the booking in %s, by the rates on file.",
		r.t.Currency, r.t.BaseCurrency)
}

// keepAttempt notes that the transaction is one of the modal, with what was verified besides.
func (r *intake) keepAttempt() error {
	s := r.in.Modal
	if s == nil {
		return nil
	}
	r.t.ModalAllocations = s.Verified["allocations"]
	r.t.ModalCharge, _ = ParsePositive(s.Verified["charge_channel"])
	return insertModalPayment(r.tx, r.t, s.BookingID, s.AuthHash)
}

// ParsePositive reads an id of the verified fields.
func ParsePositive(text string) (int64, bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0
}
