package payments

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/fixings"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// intake is one transaction on its way from the caller's fields to the stored row. First everything is checked, in
// readChannel, repeated and prepare. Then everything is written, in store. So a rejected transaction leaves nothing behind.
type intake struct {
	room     *Room
	tx       *store.Tx
	actor    access.Actor
	site     merchant.Site
	in       payment.NewTransaction
	problems errs.Problems

	channel   merchant.Channel
	original  payment.Transaction // the transaction that this one adjusts; the zero value if it adjusts none
	before    payment.Transaction // the original as it was
	wasLocked bool                // whether the original was charged back before
	reversed  int64               // the chargeback that a reversal names; 0: the payment
	bookings  []booking.Booking   // locked, in order of their ids
	t         payment.Transaction

	within                                  bool // the payment must be within the total of its bookings: see errAboveTotal
	aboveTotal, afterDispute, rateDisagrees bool // flags of R2

	policy   terms.Policy        // of a purchase or capture: in force on the day of the payment
	decision protection.Decision // of a purchase or capture

	semaphore *semaphore      // the slot for a call; if nil, no processor is called
	request   *gatewayRequest // the request to the processor; nil: the payment is recorded as reported
}

func newIntake(
	room *Room, tx *store.Tx, actor access.Actor, site merchant.Site, in payment.NewTransaction,
) *intake {
	return &intake{room: room, tx: tx, actor: actor, site: site, in: in, problems: in.Problems.Clone()}
}

// run checks and stores one transaction, and everything that follows from it: the remaining amount of the transaction
// that it adjusts, the sums of its bookings, and its allocations. If a processor must carry it out, it is stored as
// pending, and the rest follows with the outcome. ledger.SaveChanges must be called afterwards. If run returns an error, it
// has written nothing.
func (r *intake) run() (t payment.Transaction, created bool, err error) {
	if r.in.Type != nil && r.in.Type.Operators() {
		if err := r.actor.Require(access.RecordChargebacks); err != nil {
			return payment.Transaction{}, false, err
		}
	}
	r.in.Check(r.tx.Now, &r.problems)
	if err := r.readChannel(); err != nil {
		return payment.Transaction{}, false, err
	}
	if err := r.makeRequest(); err != nil {
		return payment.Transaction{}, false, err
	}
	if err := r.makeModalRequest(); err != nil {
		return payment.Transaction{}, false, err
	}
	if err := r.allProblems(); err != nil {
		return payment.Transaction{}, false, err
	}
	if before, err := r.repeated(); err == nil || !errors.Is(err, store.ErrNotFound) {
		return before, false, err
	}
	if err := r.prepare(); err != nil {
		return payment.Transaction{}, false, err
	}
	t, err = r.store()
	return t, true, err
}

func (r *intake) readChannel() error {
	if r.in.ChannelID == nil {
		return nil
	}
	c, err := merchants.ChannelAlone(r.tx, r.site.ID, *r.in.ChannelID)
	if errors.Is(err, store.ErrNotFound) {
		r.problems.Wrong("channels", "Channel %d not found.", *r.in.ChannelID)
		return nil
	}
	r.channel = c
	if err == nil && r.in.Token == payment.TestToken && !c.WasTest {
		r.problems.Wrong("token", "This token only works on test channels.")
	}
	return err
}

// repeated returns the stored transaction with the same payment reference, if its fields are the same: a repeated report
// is one payment. Different fields under a known reference are rejected. It returns store.ErrNotFound if the report is new.
func (r *intake) repeated() (payment.Transaction, error) {
	if r.in.Reference == "" {
		return payment.Transaction{}, store.ErrNotFound
	}
	before, err := transactionByReference(r.tx, r.site.ID, r.channel.ID, r.in.PSP, r.in.Reference)
	if err != nil {
		return payment.Transaction{}, err
	}
	if before.ContentHash != r.in.Hash() {
		return payment.Transaction{}, errs.New(errs.ReferenceExists,
			"Transaction %d already has this payment reference, with different fields.", before.ID)
	}
	return before, nil
}

// allProblems returns all problems of the fields, if there are any. It also checks the bookings of the items, so that
// the caller sees everything in one response.
func (r *intake) allProblems() error {
	err := r.problems.Err()
	if err == nil || r.in.Items == nil || len(*r.in.Items) > check.MaxList || r.channel.ID == 0 {
		return err
	}
	if r.in.Type == nil || r.in.Type.Linked() {
		return err
	}
	if err := r.takeBookings(slices.Clone(*r.in.Items)); err != nil {
		return err
	}
	return r.problems.Err()
}

// wrongItem notes a problem with the item of a booking.
func (r *intake) wrongItem(bookingID int64, field, format string, args ...any) {
	name := "bookings"
	if r.in.Items != nil {
		is := func(i payment.Item) bool { return i.BookingID == bookingID }
		name = errs.Item(name, max(0, slices.IndexFunc(*r.in.Items, is)), field)
	}
	r.problems.Wrong(name, format, args...)
}

// prepare locks the rows that the transaction depends on, checks it against them, and makes the row to store.
func (r *intake) prepare() error {
	items := []payment.Item{}
	if r.in.Items != nil {
		items = slices.Clone(*r.in.Items)
	}
	if r.in.Type.Linked() {
		var err error
		if items, err = r.adjust(items); err != nil {
			return err
		}
	}
	if err := r.takeBookings(items); err != nil {
		return err
	}
	if err := r.checkAttempt(); err != nil {
		return err
	}
	r.checkSums(items)
	if err := r.problems.Err(); err != nil {
		return err
	}
	return r.build(items)
}

// errAboveTotal ends the first attempt to record a payment above the total of a booking. The payment is still recorded, but only after
// expired authorisations have released what they hold.
var errAboveTotal = errors.New("the payment is above the total of its booking")

// takeBookings sorts the items by booking, locks the bookings, and notes items that do not fit them. Every write
// locks bookings in this order, so two writes never deadlock.
func (r *intake) takeBookings(items []payment.Item) error {
	slices.SortFunc(items, func(a, b payment.Item) int { return cmp.Compare(a.BookingID, b.BookingID) })
	var tooMuch []string
	for _, item := range items {
		b, err := bookings.Lock(r.tx, r.site.ID, item.BookingID)
		if errors.Is(err, store.ErrNotFound) || err == nil && b.ChannelID != r.channel.ID {
			r.wrongItem(item.BookingID, "id", "Booking %d not found in the channel.", item.BookingID)
			continue
		}
		if err != nil {
			return err
		}
		if item.Currency != b.Currency {
			r.wrongItem(b.ID, "currencies", "Give the amount for booking %d in its base currency, %s.", b.ID, b.Currency)
		}
		if left := b.Total - b.Sums.Held; r.takesMore() && item.Total > left {
			switch {
			case r.carriesOut():
				tooMuch = append(tooMuch, tooMuchFor(b, left))
			case r.within:
				return &errs.Error{Kind: errs.Invalid, Err: errAboveTotal, Message: tooMuchFor(b, left)}
			}
			r.aboveTotal = true
		}
		r.afterDispute = r.afterDispute || r.takesMore() && b.Sums.LockedPayments > 0
		r.bookings = append(r.bookings, b)
	}
	if tooMuch != nil {
		r.problems.Wrong("bookings", "%s", strings.Join(tooMuch, " "))
	}
	return nil
}

// carriesOut reports whether holdfast takes the payment itself, even if only as a test. Everything else has already happened
// and is recorded whether it fits or not (R2).
func (r *intake) carriesOut() bool {
	return r.request != nil || r.isTest() && r.room.Profile.Processes()
}

// takesMore reports whether the transaction uses up more of its bookings' totals. An adjustment does not, because its original did, except
// for a capture that is reported after its authorisation expired.
func (r *intake) takesMore() bool {
	return !r.in.Type.Linked() || *r.in.Type == payment.Capture && r.original.Status == payment.StatusExpired
}

// effectiveAt is the time of the payment, by default now.
func (r *intake) effectiveAt() time.Time {
	if r.in.EffectiveAt.IsZero() {
		return r.tx.Now
	}
	return r.in.EffectiveAt
}

// checkSums adds a problem if the parts do not add up to the total. This can only be checked within one currency.
func (r *intake) checkSums(items []payment.Item) {
	if *r.in.Currency != r.channel.Currency {
		return
	}
	if sum := payment.BaseTotal(items); sum != *r.in.Total {
		r.problems.Wrong("bookings", "The amounts add up to %s, but the total is %s.",
			money.Format(sum, r.channel.Currency), money.Format(*r.in.Total, r.channel.Currency))
	}
}

func (r *intake) build(items []payment.Item) error {
	in := r.in
	r.t = payment.Transaction{
		SiteID: r.site.ID, UUID: r.room.NewUUID(), ChannelID: r.channel.ID, SealedSecret: r.channel.SealedSecret,
		AuthorID: r.actor.UserID, Author: r.actor.Username, AuthorName: r.actor.DisplayName,
		Type: *in.Type, Status: payment.StatusComplete, Currency: *in.Currency, Total: *in.Total,
		BaseCurrency: r.channel.Currency, BaseTotal: payment.BaseTotal(items),
		PSP: in.PSP, Method: cmp.Or(in.Method, r.original.Method, payment.CreditCard),
		PayeeName: in.PayeeName, PayeeSurname: in.PayeeSurname, PayeeEmail: in.PayeeEmail, Country: in.Country,
		Reference: in.Reference, Token: in.Token, IPAddress: in.IPAddress,
		BIN: in.BIN, LastFour: in.LastFour, CardType: in.CardType, AuthCode: in.AuthCode,
		AcquirerReference: in.AcquirerReference, ProcessorReference: in.ProcessorReference,
		Attempt3DS: in.Attempt3DS, RedirectURL: in.RedirectURL, LinkedID: r.original.ID,
		Content: in.Content, ContentHash: in.Hash(), ImportKey: in.ImportKey,
		Simulated: r.channel.WasTest, EffectiveAt: r.effectiveAt(),
	}
	if *in.Type == payment.Authorize {
		r.t.CaptureBy = r.channel.CaptureBy(r.t.EffectiveAt)
	}
	if r.isTest() {
		r.t.Content = payment.TestOutcome
	}
	open := r.request == nil && (in.Type.Takes() || *in.Type == payment.Authorize)
	if open {
		r.t.Remaining = r.t.Total
	}
	if r.request != nil {
		r.t.Status, r.t.Content = payment.StatusPending, ""
	}
	for _, item := range items {
		payment := payment.Payment{BookingID: item.BookingID, Currency: r.channel.Currency, Total: item.Total}
		if open {
			payment.Remaining = item.Total
		}
		if original := r.originalOf(item.BookingID); original != nil {
			payment.LinkedID = original.ID
		}
		r.t.Payments = append(r.t.Payments, payment)
	}
	return r.flag()
}

// flag sets the flags of the transaction, and decides on its protection.
func (r *intake) flag() error {
	if r.t.Currency != r.t.BaseCurrency {
		r.t.ForexRate = money.RateString(r.t.Total, r.t.Currency, r.t.BaseTotal, r.t.BaseCurrency)
		deviates, known, err := r.forexDeviates()
		if err != nil {
			return err
		}
		if deviates {
			r.t.Flags = append(r.t.Flags, payment.FlagForexDeviates)
		}
		if err := r.checkConversion(deviates, known); err != nil {
			return err
		}
	}
	if r.request != nil {
		return nil // the protection is decided after the processor has taken the money
	}
	for flag, set := range map[string]bool{
		payment.FlagInsolvent:  r.channel.Insolvency.InForce(),
		payment.FlagAboveTotal: r.aboveTotal, payment.FlagAfterDispute: r.afterDispute,
		payment.FlagRateDisagrees: r.rateDisagrees,
		payment.FlagLateCapture:   r.t.Type == payment.Capture && !r.original.InTime(r.t.EffectiveAt),
	} {
		if set {
			r.t.Flags = append(r.t.Flags, flag)
		}
	}
	slices.Sort(r.t.Flags)
	return r.decide()
}

// forexDeviates compares the caller's conversion with our own fixings before the day of the payment. A difference of more
// than a tenth is flagged; a reported payment is never rejected for it. known is false if there are no fixings to compare.
func (r *intake) forexDeviates() (deviates, known bool, err error) {
	paid := civil.DayOf(r.t.EffectiveAt)
	fixings, err := fixings.For(r.tx, r.site, paid, r.site.Policy.MaxFixingAgeDays, r.t.BaseCurrency, r.t.Currency)
	if err != nil {
		return false, false, err
	}
	quote, ok := fx.Lock(fixings, r.t.BaseCurrency, r.t.Currency, paid, r.tx.Now, int(r.site.Policy.MaxFixingAgeDays))
	if !ok {
		return false, false, nil
	}
	own, err := quote.Convert(r.t.BaseTotal)
	if errors.Is(err, money.ErrRange) {
		return true, true, nil // our own amount does not fit into 64 bits, so the caller's cannot be near it
	}
	apart := new(big.Int).Abs(big.NewInt(r.t.Total - own))
	return apart.Mul(apart, big.NewInt(10)).Cmp(big.NewInt(own)) > 0, true, err
}

// store writes the transaction and everything that follows from it.
func (r *intake) store() (payment.Transaction, error) {
	var err error
	if r.t, err = InsertTransaction(r.tx, r.t); err != nil {
		return payment.Transaction{}, err
	}
	if err := r.keepAttempt(); err != nil {
		return payment.Transaction{}, err
	}
	for i := range r.bookings {
		b := &r.bookings[i]
		b.Sums = r.reserved(b.Sums, r.t.Payments[i])
		if r.request == nil {
			r.completed(b, r.t.Payments[i])
		}
		b.ModalDraft = false
		if err := bookings.SetSums(r.tx, *b); err != nil {
			return payment.Transaction{}, err
		}
		part := &r.t.Payments[i]
		part.BookingReference, part.BookingCountry, part.BookingLanguage = b.Reference, b.Country, b.Language
	}
	if r.original.ID != 0 {
		if err := r.saveOriginal(); err != nil {
			return payment.Transaction{}, err
		}
	}
	if r.request != nil {
		return r.t, r.keepRequest()
	}
	return r.t, r.follow()
}

// reserved adds a part of the new transaction to the held amount of its booking, before the outcome is known. The amount
// of an adjustment is already held by its original.
func (r *intake) reserved(s booking.BookingSums, part payment.Payment) booking.BookingSums {
	if r.takesMore() {
		s.Held += part.Total
	}
	return s
}

// completed changes a booking after its part of the transaction has succeeded. The part was reserved before.
func (r *intake) completed(b *booking.Booking, part payment.Payment) {
	b.Sums = r.sumsAfter(b.Sums, part)
	if r.t.Type.Takes() {
		b.Payments++
	}
}

// sumsAfter returns the sums of a booking after its part of the transaction has succeeded.
func (r *intake) sumsAfter(s booking.BookingSums, part payment.Payment) booking.BookingSums {
	switch r.t.Type {
	case payment.Purchase:
		s.Net += part.Total
	case payment.Authorize:
		s.OpenAuthorised += part.Total
	case payment.Capture: // already held by its authorisation, unless that has expired
		s.Net += part.Total
		if !r.takesMore() {
			s.OpenAuthorised -= part.Total
		}
	case payment.Void:
		if r.original.Status != payment.StatusExpired {
			s.OpenAuthorised -= part.Total
			s.Held -= part.Total
		}
	case payment.Refund, payment.Chargeback, payment.ChargebackReversal, payment.Prevented:
		change := -part.Total // a refund through a processor has already lowered its original
		if r.before.ID != 0 {
			change = r.changeOf(part.BookingID)
		}
		s.Net, s.Held = s.Net+change, s.Held+change
	}
	return s
}

// tooMuchFor is the message for a payment that exceeds what is left to pay on a booking.
func tooMuchFor(b booking.Booking, left int64) string {
	if left <= 0 {
		return fmt.Sprintf("Booking %d is already fully paid.", b.ID)
	}
	return fmt.Sprintf("Booking %d has only %s %s left to pay.", b.ID, b.Currency, money.Format(left, b.Currency))
}
