package payments

import (
	"cmp"
	"slices"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/limits"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/payment"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/psp"
	"holdfast/internal/store"
)

// The content of a transaction, if the processor gives no message of its own.
const (
	saysApproved  = "Approved"
	saysDeclined  = "Declined"
	saysUnknown   = "The outcome is not yet known."
	saysAbsent    = "The processor never received the request."
	saysAbandoned = "The shopper did not complete the authentication in time."
)

// The pauses before a processor is asked again: about a payment that waits for its shopper, and about one that the
// processor did not know. The latter is queried once more, because the request may arrive late.
const (
	challengePause = time.Minute
	absentPause    = 10 * time.Minute
)

// gatewayOutcome is a stored transaction whose outcome is being written. The lock on the transaction also covers its
// gateway charge. The transaction that it adjusts is locked before it. A repeated outcome is written once.
type gatewayOutcome struct {
	*intake
	p payment.GatewayCharge
}

// outcomeOf locks and reads the rows that an outcome depends on.
func outcomeOf(room *Room, tx *store.Tx, p payment.GatewayCharge) (*gatewayOutcome, error) {
	r := &intake{room: room, tx: tx}
	var err error
	if p.Original != "" {
		t, err := Transaction(tx, p.SiteID, p.TransactionID)
		if err != nil {
			return nil, err
		}
		if r.original, err = lockTransaction(tx, p.SiteID, t.LinkedID); err != nil {
			return nil, err
		}
	}
	if _, err = lockTransaction(tx, p.SiteID, p.TransactionID); err != nil {
		return nil, err
	}
	// The answer to the caller needs more than the lock reads.
	if r.t, err = Transaction(tx, p.SiteID, p.TransactionID); err != nil {
		return nil, err
	}
	r.in = payment.NewTransaction{Type: &r.t.Type, Total: &r.t.Total, Currency: &r.t.Currency}
	if r.site, err = merchants.SiteInForce(tx, p.SiteID); err != nil {
		return nil, err
	}
	if r.channel, err = merchants.Channel(tx, p.SiteID, p.ChannelID); err != nil {
		return nil, err
	}
	// The lock on the transaction is the lock on this row, too.
	if p, err = gatewayChargeOf(tx, p.SiteID, p.TransactionID); err != nil {
		return nil, err
	}
	r.t.GatewayCharge = &p
	return &gatewayOutcome{intake: r, p: p}, nil
}

// apply writes the outcome of the transaction that a processor gives.
func (s *gatewayOutcome) apply(result psp.Result) error {
	switch {
	case s.p.State == payment.ChargeAbsent && result.Outcome == psp.Approved:
		// The request arrived late, and money moved. The amount that fail released may be used by others now. The
		// payment is still recorded, because it happened.
		if err := s.hold(); err != nil {
			return err
		}
	case s.t.Type == payment.Refund && s.t.Status == payment.StatusComplete && result.Outcome == psp.Declined:
		s.hear(result)
		return s.undoRefund(cmp.Or(result.Message, saysDeclined))
	case !s.p.State.Open():
		return nil
	}
	s.hear(result)
	switch result.Outcome {
	case psp.Approved:
		return s.succeed(result)
	case psp.Declined:
		status := payment.StatusFailed
		if result.Decline == psp.DeclineAbandoned {
			status = payment.StatusExpired
		}
		return s.fail(status, payment.ChargeConcluded, cmp.Or(result.Message, saysDeclined))
	case psp.Pending:
		// A shopper who comes back again and again does not get more time.
		if again := sites.RealNow(s.tx).Add(challengePause); s.p.State != payment.ChargeChallenged || again.Before(s.p.AskAt) {
			s.p.AskAt = again
		}
		s.p.State = payment.ChargeChallenged
		s.t.Status = payment.StatusPending
		return s.save()
	case psp.Absent:
		if sites.RealNow(s.tx).Before(s.p.AskedForAt.Add(s.room.Settings.CallTimeout + callMargin)) {
			return s.wait() // the request may still be on its way
		}
		return s.fail(payment.StatusFailed, payment.ChargeAbsent, saysAbsent)
	default:
		return s.wait()
	}
}

// hear stores the other facts in a processor's response. A fact missing from the response keeps its earlier value.
func (s *gatewayOutcome) hear(result psp.Result) {
	keep := func(target *string, said string) { *target = cmp.Or(said, *target) }
	keep(&s.p.ProcessorID, result.ProcessorID)
	keep(&s.t.ProcessorReference, result.ProcessorID)
	keep(&s.p.Code, result.Code)
	keep(&s.t.AuthCode, result.AuthCode)
	keep(&s.t.CardType, result.Scheme)
	// Never keep more digits of a card than these.
	if n := len(result.BIN); n == 6 || n == 8 {
		keep(&s.t.BIN, result.BIN)
	}
	if len(result.LastFour) == 4 {
		keep(&s.t.LastFour, result.LastFour)
	}
	s.p.Decline = cmp.Or(string(result.Decline), s.p.Decline)
	if result.ThreeDS != (payment.ThreeDS{}) {
		s.p.ThreeDS = result.ThreeDS
	}
	s.p.Challenge = payment.Challenge{}
	if result.Challenge != nil {
		s.p.Challenge = *result.Challenge
	}
}

// takeOwnBookings locks the bookings of the transaction. Its payments are in order of the ids of the bookings.
func (s *gatewayOutcome) takeOwnBookings() error {
	s.bookings = s.bookings[:0]
	for _, part := range s.t.Payments {
		b, err := bookings.Lock(s.tx, s.t.SiteID, part.BookingID)
		if err != nil {
			return err
		}
		s.bookings = append(s.bookings, b)
	}
	return nil
}

// changeSums locks the bookings and changes their sums.
func (s *gatewayOutcome) changeSums(change func(b *booking.Booking, part payment.Payment)) error {
	if err := s.takeOwnBookings(); err != nil {
		return err
	}
	for i := range s.bookings {
		b := &s.bookings[i]
		change(b, s.t.Payments[i])
		if err := bookings.SetSums(s.tx, *b); err != nil {
			return err
		}
	}
	return nil
}

// succeed writes that money moved, and everything that follows from it.
func (s *gatewayOutcome) succeed(result psp.Result) error {
	if err := s.changeSums(s.completed); err != nil {
		return err
	}
	s.t.Status, s.t.Content = payment.StatusComplete, cmp.Or(result.Message, saysApproved)
	if s.t.Type.Takes() || s.t.Type == payment.Authorize {
		s.t.Remaining = s.t.Total
		for i := range s.t.Payments {
			s.t.Payments[i].Remaining = s.t.Payments[i].Total
		}
	}
	if result.Amount != s.t.Total {
		s.room.Log.Error("a processor moved a different amount than requested", "site", s.t.SiteID, "transaction", s.t.ID,
			"asked", s.t.Total, "moved", result.Amount)
		s.t.Flags = append(s.t.Flags, payment.FlagAmountDiffers)
	}
	s.p.State, s.p.AskAt = payment.ChargeConcluded, time.Time{}
	if s.t.Type != payment.Refund { // a refund may still come back: see undoRefund
		s.p.Reserved = 0
	}
	if err := s.decide(); err != nil {
		return err
	}
	// Store the transaction before the ledger and the limits read it.
	if err := s.save(); err != nil {
		return err
	}
	return s.follow()
}

// fail writes that no money moved, and releases the amount that was held for the transaction.
func (s *gatewayOutcome) fail(status payment.TransactionStatus, state payment.ChargeState, says string) error {
	if err := s.readChargebacks(); err != nil {
		return err
	}
	err := s.changeSums(func(b *booking.Booking, part payment.Payment) {
		switch {
		case s.takesMore():
			b.Sums.Held -= part.Total
		case s.t.Type == payment.Refund: // nothing, unless a chargeback came while it was under way
			change := s.regained(part) - part.Total
			b.Sums.Net, b.Sums.Held = b.Sums.Net+change, b.Sums.Held+change
		}
	})
	if err != nil {
		return err
	}
	if s.original.ID != 0 {
		s.original.Remaining += s.p.Reserved
		for _, part := range s.t.Payments {
			s.originalOf(part.BookingID).Remaining += part.Total
		}
		if err := saveTransaction(s.tx, s.original); err != nil {
			return err
		}
	}
	s.t.Status, s.t.Content = status, says
	s.p.State, s.p.AskAt, s.p.Reserved = state, time.Time{}, 0
	if state == payment.ChargeAbsent {
		s.p.AskAt = sites.RealNow(s.tx).Add(absentPause)
	}
	if status == payment.StatusExpired && s.p.ThreeDS.Status == "" {
		s.p.ThreeDS.Status = "abandoned"
	}
	return s.save()
}

// readChargebacks reads those of the original, if it has any.
func (s *gatewayOutcome) readChargebacks() error {
	if s.original.Status != payment.StatusLocked {
		return nil
	}
	return readChargebacks(s.tx, s.t.SiteID, []*payment.Transaction{&s.original})
}

// regained is what a part of the original regains when a refund of it has not happened.
func (s *gatewayOutcome) regained(part payment.Payment) int64 {
	is := *s.originalOf(part.BookingID)
	was := is.Left()
	is.Remaining += part.Total
	return is.Left() - was
}

// undoRefund writes that a refund did not reach the card, though the processor had accepted it. The merchant has the money
// again. Earlier reports stay as they are. From now on the refund counts as not made.
func (s *gatewayOutcome) undoRefund(says string) error {
	s.room.Log.Warn("a refund was returned", "site", s.t.SiteID, "transaction", s.t.ID)
	// If the customer has paid again in the meantime, a booking may be above its total. It is recorded all the same, because it
	// happened.
	if err := s.readChargebacks(); err != nil {
		return err
	}
	err := s.changeSums(func(b *booking.Booking, part payment.Payment) {
		change := s.regained(part)
		b.Sums.Net, b.Sums.Held = b.Sums.Net+change, b.Sums.Held+change
	})
	if err != nil {
		return err
	}
	s.original.Remaining += s.p.Reserved
	for _, part := range s.t.Payments {
		s.originalOf(part.BookingID).Remaining += part.Total
	}
	if err := saveTransaction(s.tx, s.original); err != nil {
		return err
	}
	s.t.Status, s.t.Content, s.p.Reserved = payment.StatusFailed, says, 0
	if err := s.save(); err != nil {
		return err
	}
	if err := ledger.Adjust(s.tx, s.t, -1, s.tx.Now); err != nil {
		return err
	}
	limits.NoteChange(s.tx, s.site.ID, limits.ChangeEvent, s.t.ID, 0)
	return s.flagDoubleRecovery()
}

// hold reserves the amount again that fail has released, up to what is still available.
func (s *gatewayOutcome) hold() error {
	if err := s.changeSums(func(b *booking.Booking, part payment.Payment) {
		b.Sums = s.reserved(b.Sums, part)
	}); err != nil || s.original.ID == 0 {
		return err
	}
	s.original.Remaining = max(0, s.original.Remaining-s.t.Total)
	for _, part := range s.t.Payments {
		taken := s.originalOf(part.BookingID)
		taken.Remaining = max(0, taken.Remaining-part.Total)
	}
	return saveTransaction(s.tx, s.original)
}

// wait writes that the outcome is unknown, and when to ask again. If there is a challenge, the transaction keeps waiting
// for the shopper.
func (s *gatewayOutcome) wait() error {
	s.p.AskAt = sites.RealNow(s.tx).Add(askPause(s.p))
	if s.p.State != payment.ChargeChallenged {
		s.p.State, s.t.Status, s.t.Content = payment.ChargeUnknown, payment.StatusIncomplete, saysUnknown
	}
	return s.save()
}

// refuse writes that the processor refused the request. The caller may then try again with the same payment reference and
// the same idempotency key.
func (s *gatewayOutcome) refuse(why *psp.Error, actor access.Actor) error {
	if !s.p.State.Open() {
		return nil
	}
	s.p.Code = why.Code
	if err := s.fail(payment.StatusFailed, payment.ChargeConcluded, why.Message); err != nil {
		return err
	}
	if err := freeReference(s.tx, s.t.SiteID, s.t.ID); err != nil || actor.Key.Key == "" {
		return err
	}
	return idempotency.Free(s.tx, actor, s.t.ID)
}

func (s *gatewayOutcome) save() error {
	s.t.Content, s.t.ModifiedAt = storable(s.t.Content), s.tx.Now // so that this answer and a later read are the same
	kept := s.p
	s.t.GatewayCharge = &kept
	s.t.Flags = slices.Compact(s.t.Flags)
	if err := saveOutcome(s.tx, s.t); err != nil {
		return err
	}
	return saveGatewayCharge(s.tx, s.p)
}

// storable makes a processor's message fit for the content of a transaction: not too long, and without a card number.
func storable(text string) string {
	if card.HoldsCardNumber(text) {
		return "(The processor's message contained a card number.)"
	}
	if runes := []rune(text); len(runes) > check.MaxContent {
		return string(runes[:check.MaxContent])
	}
	return text
}

// askPatience is how many times a processor is asked without a result, in about a day, before it is asked less often.
const askPatience = 2880

// askPause is the pause before a processor is asked again. It grows each time, but in the first day it stays below a
// minute: a processor that works again is asked soon.
func askPause(p payment.GatewayCharge) time.Duration {
	if p.Asks > askPatience {
		return 10 * time.Minute
	}
	return min(2*time.Second<<min(p.Asks, 10), 30*time.Second)
}
