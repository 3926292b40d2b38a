package payments

import (
	"cmp"
	"slices"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/bookings"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/ledger"
	"holdfast/internal/limits"
	"holdfast/internal/merchants"
	"holdfast/internal/psp"
	"holdfast/internal/travel"
)

// What the content of a transaction says where the processor has no words of its own.
const (
	saysApproved  = "Approved"
	saysDeclined  = "Declined"
	saysUnknown   = "The outcome is not known yet."
	saysAbsent    = "The processor never got the request."
	saysAbandoned = "The shopper did not finish the authentication in time."
)

// How often a processor is asked about a payment that waits for its shopper, and about one that turned out absent: once
// more, in case it was on a long way.
const (
	challengePause = time.Minute
	absentPause    = 10 * time.Minute
)

// gatewayOutcome is a recorded transaction whose outcome is being written. The transaction is locked, and with it the row of
// its processing; so is the one that it adjusts, before it. Whatever is told twice is written once.
type gatewayOutcome struct {
	*intake
	p travel.GatewayCharge
}

// outcomeOf takes the rows that an outcome depends on.
func outcomeOf(c *core.Core, tx *db.Tx, p travel.GatewayCharge) (*gatewayOutcome, error) {
	r := &intake{core: c, tx: tx}
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
	// With all that an answer tells of it, which the lock does not read.
	if r.t, err = Transaction(tx, p.SiteID, p.TransactionID); err != nil {
		return nil, err
	}
	r.in = travel.NewTransaction{Type: &r.t.Type, Total: &r.t.Total, Currency: &r.t.Currency}
	if r.site, err = merchants.Site(tx, p.SiteID); err != nil {
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

// settle writes what a processor says of the transaction.
func (s *gatewayOutcome) apply(result psp.Result) error {
	switch {
	case s.p.State == travel.ProcessingAbsent && result.Outcome == psp.Approved:
		// It came after all. What was given back to others meanwhile may be gone: what happened is recorded all the same.
		if err := s.hold(); err != nil {
			return err
		}
	case s.t.Type == travel.Refund && s.t.Status == travel.StatusComplete && result.Outcome == psp.Declined:
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
		status := travel.StatusFailed
		if result.Decline == psp.DeclineAbandoned {
			status = travel.StatusExpired
		}
		return s.fail(status, travel.ProcessingConcluded, cmp.Or(result.Message, saysDeclined))
	case psp.Pending:
		// A shopper who comes back over and over does not put off the end of their time.
		if again := core.RealNow(s.tx).Add(challengePause); s.p.State != travel.ProcessingChallenged || again.Before(s.p.AskAt) {
			s.p.AskAt = again
		}
		s.p.State = travel.ProcessingChallenged
		s.t.Status = travel.StatusPending
		return s.save()
	case psp.Absent:
		if core.RealNow(s.tx).Before(s.p.AskedForAt.Add(core.GatewaySettingsOf(s.core).CallTimeout + callMargin)) {
			return s.wait() // it may be on its way
		}
		return s.fail(travel.StatusFailed, travel.ProcessingAbsent, saysAbsent)
	default:
		return s.wait()
	}
}

// hear notes what a processor tells besides the outcome. What it leaves out stays as it was told before.
func (s *gatewayOutcome) hear(result psp.Result) {
	tell := func(target *string, said string) { *target = cmp.Or(said, *target) }
	tell(&s.p.ProcessorID, result.ProcessorID)
	tell(&s.p.Code, result.Code)
	tell(&s.t.AuthCode, result.AuthCode)
	tell(&s.t.CardType, result.Scheme)
	// More digits of a card than these are not kept, whoever sends them.
	if n := len(result.BIN); n == 6 || n == 8 {
		tell(&s.t.BIN, result.BIN)
	}
	if len(result.LastFour) == 4 {
		tell(&s.t.LastFour, result.LastFour)
	}
	s.p.Decline = cmp.Or(string(result.Decline), s.p.Decline)
	if result.ThreeDS != (psp.ThreeDS{}) {
		s.p.ThreeDS = travel.ThreeDS(result.ThreeDS)
	}
	s.p.Challenge = travel.Challenge{}
	if result.Challenge != nil {
		s.p.Challenge = travel.Challenge(*result.Challenge)
	}
}

// takeOwnBookings locks the bookings of the transaction, in order of their ids, in which its payments were made.
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

// changeSums takes the bookings and changes what their transactions come to.
func (s *gatewayOutcome) changeSums(
	change func(b *travel.Booking, part travel.Payment),
) error {
	if err := s.takeOwnBookings(); err != nil {
		return err
	}
	for i := range s.bookings {
		b := &s.bookings[i]
		change(b, s.t.Payments[i])
		if err := bookings.SaveSums(s.tx, *b); err != nil {
			return err
		}
	}
	return nil
}

// succeed writes that money moved, and everything that follows.
func (s *gatewayOutcome) succeed(result psp.Result) error {
	if err := s.changeSums(s.completed); err != nil {
		return err
	}
	s.t.Status, s.t.Content = travel.StatusComplete, cmp.Or(result.Message, saysApproved)
	if s.t.Type.Takes() || s.t.Type == travel.Authorize {
		s.t.Remaining = s.t.Total
		for i := range s.t.Payments {
			s.t.Payments[i].Remaining = s.t.Payments[i].Total
		}
	}
	if result.Amount != s.t.Total {
		s.core.Log.Error("a processor moved another amount than it was asked for", "site", s.t.SiteID, "transaction", s.t.ID,
			"asked", s.t.Total, "moved", result.Amount)
		s.t.Flags = append(s.t.Flags, travel.FlagAmountDiffers)
	}
	s.p.State, s.p.AskAt = travel.ProcessingConcluded, time.Time{}
	if s.t.Type != travel.Refund { // which may still come back
		s.p.Reserved = 0
	}
	if err := s.decide(); err != nil {
		return err
	}
	// The row says what the payment is before the rules of protection read it.
	if err := s.save(); err != nil {
		return err
	}
	return s.follow()
}

// fail writes that no money moved, and gives free what was held for it.
func (s *gatewayOutcome) fail(status travel.TransactionStatus, state travel.ProcessingState, says string) error {
	err := s.changeSums(func(b *travel.Booking, part travel.Payment) {
		if s.takesMore() {
			b.Sums.Held -= part.Total
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
	if state == travel.ProcessingAbsent {
		s.p.AskAt = core.RealNow(s.tx).Add(absentPause)
	}
	if status == travel.StatusExpired && s.p.ThreeDS.Status == "" {
		s.p.ThreeDS.Status = "abandoned"
	}
	return s.save()
}

// undoRefund writes that a refund which the processor had accepted did not reach the card: the money is the merchant's
// again. What was reported meanwhile stays as it was; from now on the refund counts as not made.
func (s *gatewayOutcome) undoRefund(says string) error {
	s.core.Log.Warn("a refund came back", "site", s.t.SiteID, "transaction", s.t.ID)
	// What was paid since in its place may bring a booking above its total: what happened is recorded all the same.
	err := s.changeSums(func(b *travel.Booking, part travel.Payment) {
		b.Sums.Net += part.Total
		b.Sums.Held += part.Total
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
	s.t.Status, s.t.Content, s.p.Reserved = travel.StatusFailed, says, 0
	if err := s.save(); err != nil {
		return err
	}
	if err := ledger.Adjust(s.tx, s.t, -1, s.tx.Now); err != nil {
		return err
	}
	limits.NoteChange(s.tx, s.site.ID, limits.ChangeEvent, s.t.ID, 0)
	return nil
}

// hold takes again what fail has given free, as far as it is still there.
func (s *gatewayOutcome) hold() error {
	if err := s.changeSums(func(b *travel.Booking, part travel.Payment) {
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

// wait writes that nobody knows what became of the transaction, and when to ask. One whose challenge is known goes on
// waiting for the shopper.
func (s *gatewayOutcome) wait() error {
	s.p.AskAt = core.RealNow(s.tx).Add(askPause(s.p))
	if s.p.State != travel.ProcessingChallenged {
		s.p.State, s.t.Status, s.t.Content = travel.ProcessingUnknown, travel.StatusIncomplete, saysUnknown
	}
	return s.save()
}

// refuse writes that the processor took no request, and lets the caller try the same again: under the same payment
// reference and under the same idempotency key.
func (s *gatewayOutcome) refuse(why *psp.Error, actor auth.Actor, key travel.IdempotencyKey) error {
	if !s.p.State.Open() {
		return nil
	}
	s.p.Code = why.Code
	if err := s.fail(travel.StatusFailed, travel.ProcessingConcluded, why.Message); err != nil {
		return err
	}
	if err := freeReference(s.tx, s.t.SiteID, s.t.ID); err != nil || key.Key == "" {
		return err
	}
	return core.FreeKey(s.tx, actor.SiteID, actor.UserID, key, s.t.ID)
}

func (s *gatewayOutcome) save() error {
	s.t.Content, s.t.ModifiedAt = storable(s.t.Content), s.tx.Now // what is answered now is what is read later
	kept := s.p
	s.t.GatewayCharge = &kept
	s.t.Flags = slices.Compact(s.t.Flags)
	if err := saveOutcome(s.tx, s.t); err != nil {
		return err
	}
	return saveGatewayCharge(s.tx, s.p)
}

// storable keeps a processor's words within what a content may have and hold.
func storable(text string) string {
	if travel.HoldsCardNumber(text) {
		return "(The processor's message held a card number.)"
	}
	if runes := []rune(text); len(runes) > travel.MaxContent {
		return string(runes[:travel.MaxContent])
	}
	return text
}

// askPatience is how often a processor is asked in vain, about a day long, before it is asked less often.
const askPatience = 2880

// askPause is how long to wait before a processor is asked again: a little longer each time, and not so long that a
// processor which is back would not be asked within a minute.
func askPause(p travel.GatewayCharge) time.Duration {
	if p.Asks > askPatience {
		return 10 * time.Minute
	}
	return min(2*time.Second<<min(p.Asks, 10), 30*time.Second)
}
