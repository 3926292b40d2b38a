package checkout

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/modal"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// ModalUse is a session of the payment modal, as one request uses it.
type ModalUse struct {
	Session modal.Session
	Actor   access.Actor
	Over    bool // the session has expired: it can only read how its payment ends
}

// Key is an idempotency key of the session: other shoppers may choose the same one.
func (u ModalUse) Key(given access.IdempotencyKey) access.IdempotencyKey {
	if given.Key != "" {
		given.Key = "modal/" + strconv.FormatInt(u.Session.ID, 10) + "/" + given.Key
	}
	return given
}

// Enter finds the session of a token. A request that writes needs a session that has not expired, and its channel and
// page must still be allowed to take payments. A request that only reads may use an expired session for as long as a
// challenge can take, to see how a payment ends.
func (m *Modals) Enter(ctx context.Context, token string, writes bool) (u ModalUse, err error) {
	if token == "" {
		return u, errs.New(errs.NotLoggedIn, "The token of a payment modal session is required.")
	}
	wrong := modalRefusal("", "The payment modal session is not valid.")
	err = m.Store.Read(ctx, secrets.SiteOfKey(token), func(tx *store.Tx) error {
		s, err := sessionWithToken(tx, secrets.SiteOfKey(token), secrets.HashSecret(token))
		if errors.Is(err, store.ErrNotFound) {
			return wrong
		}
		if err != nil {
			return err
		}
		site, err := sites.Alone(tx, s.SiteID)
		if err != nil {
			return err
		}
		channel, err := merchants.Channel(tx, s.SiteID, s.ChannelID)
		if err != nil {
			return err
		}
		now := tx.Now.Add(site.ClockAhead)
		over := now.After(s.ExpiresAt)
		switch {
		case over && writes, now.After(s.ExpiresAt.Add(m.Settings.ChallengeLife)):
			return errModalOver()
		case writes && (channel.LockedOrInsolvent() || channel.Mode == merchant.ModeClosed || !slices.Contains(site.PermittedURLs, s.Origin)):
			return wrong
		}
		username, display := s.Author()
		u = ModalUse{Session: s, Over: over, Actor: access.Actor{
			SiteID: s.SiteID, Username: username, DisplayName: display, Role: access.Modal, Ahead: site.ClockAhead,
		}}
		return nil
	})
	return u, err
}

func errModalOver() error {
	return modalRefusal(secrets.ModalExpired, "The payment modal session has expired.")
}

// differing refuses fields that differ from those which the auth string vouches for.
func differing(names []string) error {
	if len(names) == 0 {
		return nil
	}
	return modalRefusal("differs", "These fields do not match the auth string: "+strings.Join(names, ", ")+".")
}

// booked is the booking of a session, and whether this request created it.
type booked struct {
	booking.Booking
	created bool
}

// Book creates the booking of the session. given has those of its fields that an auth string can verify, as sent in the request. A session
// has only one booking: if it exists already, Book checks the fields as it would for the first request, and returns the booking with
// created set to false.
func (m *Modals) Book(
	ctx context.Context, u ModalUse, in booking.BookingFields, given map[string]string,
) (b booking.Booking, created bool, err error) {
	s := u.Session
	if err := differing(in.Fill(s, given)); err != nil {
		return b, false, err
	}
	if s.BookingID != 0 && !s.Made {
		return b, false, errOtherBooking()
	}
	uuid := sync.OnceValue(m.NewUUID)
	made, err := idempotency.Once(ctx, m.DB, u.Actor, func(tx *store.Tx) (booked, idempotency.Outcome, error) {
		if s.BookingID != 0 {
			_, err := m.bookings.Check(tx, u.Actor, in)
			return booked{}, idempotency.Outcome{ID: s.BookingID}, err
		}
		made, err := m.bookings.Make(tx, u.Actor, uuid(), in)
		if err != nil {
			return booked{}, idempotency.Outcome{}, err
		}
		return booked{made, true}, idempotency.Outcome{ID: made.ID}, bindBooking(tx, s, made.ID, true)
	}, func(ctx context.Context, before idempotency.Outcome) (booked, error) {
		found, err := m.again(ctx, u, before.ID)
		return booked{found, true}, err
	})
	if err == nil && !made.created {
		made.Booking, err = m.Booking(ctx, u, s.BookingID)
	}
	return made.Booking, made.created, err
}

// again reads the booking of an earlier request with the same idempotency key, even if it is in the trash.
func (m *Modals) again(ctx context.Context, u ModalUse, id int64) (booking.Booking, error) {
	found, err := m.Booking(ctx, u, id)
	if !errs.Is(err, errs.Invalid) {
		return found, err
	}
	failed := m.ReadBy(ctx, sites.ClockFor(u.Actor), func(tx *store.Tx) (err error) {
		found, err = bookings.InTrash(tx, u.Session.SiteID, id)
		return err
	})
	if errors.Is(failed, store.ErrNotFound) {
		return found, err
	}
	return found, failed
}

func errOtherBooking() error {
	return modalRefusal("other_booking", "This payment modal session is for another booking.")
}

// bindBooking binds a session to the booking that it pays. An auth string can be used for few bookings only, so that
// it cannot be used to browse other bookings.
func bindBooking(tx *store.Tx, s modal.Session, id int64, made bool) error {
	used, err := bookingsOf(tx, s.SiteID, s.AuthHash)
	if err != nil {
		return err
	}
	if len(used) >= modalBookings && !slices.Contains(used, id) {
		return &errs.Error{Kind: errs.TooMany, RetryAfter: ModalLife, Message: "This auth string was used for too many bookings. Create a new one."}
	}
	err = bindSession(tx, s, id, made)
	if errors.Is(err, store.ErrNotFound) {
		return errOtherBooking()
	}
	return err
}

// Booking reads the booking of the session. If the session has none yet, the booking becomes the session's, provided
// that it matches the fields that the auth string verifies.
func (m *Modals) Booking(ctx context.Context, u ModalUse, id int64) (booking.Booking, error) {
	s := u.Session
	if s.BookingID != 0 && s.BookingID != id {
		return booking.Booking{}, errOtherBooking()
	}
	if s.BookingID == 0 && u.Over {
		return booking.Booking{}, errModalOver()
	}
	if _, err := m.payments.ExpireDue(ctx, s.SiteID); err != nil {
		return booking.Booking{}, err
	}
	visit := m.ReadBy
	if s.BookingID == 0 {
		visit = func(ctx context.Context, clock sites.Clock, fn func(tx *store.Tx) error) error {
			return m.WriteBy(ctx, clock, fn)
		}
	}
	var found booking.Booking
	err := visit(ctx, sites.ClockFor(u.Actor), func(tx *store.Tx) (err error) {
		var problems errs.Problems
		found, err = m.bookings.Find(tx, s.SiteID, id)
		if errors.Is(err, store.ErrNotFound) {
			booking.RefuseForModal(&problems)
			return problems.Err()
		}
		if err != nil || s.BookingID != 0 {
			return err
		}
		found.FitsModal(s, &problems)
		if err := problems.Err(); err != nil {
			return err
		}
		return bindBooking(tx, s, id, false)
	})
	return found, err
}

// ModalPayment is a payment as the frame sends it.
type ModalPayment struct {
	payment.NewTransaction
	Given    map[string]string // as in Book
	Bookings []payment.Item    // that it names: only the booking of the session is accepted
	Address  string            // of the shopper
}

// differs names the fields of a payment that do not fit the session.
func (p ModalPayment) differs(s modal.Session, b booking.Booking) []string {
	names := s.Differs(p.Given)
	for _, item := range p.Bookings {
		if item.BookingID != b.ID || item.Currency != "" && item != payment.ModalItem(b, s) {
			names = append(names, "bookings")
		}
	}
	return slices.Compact(names)
}

// Pay pays the booking of the session.
func (m *Modals) Pay(ctx context.Context, u ModalUse, p ModalPayment) (t payment.Transaction, created bool, err error) {
	s, in := u.Session, p.NewTransaction
	if s.BookingID == 0 {
		return t, false, errs.NotPossibleBecause("no_booking", "The payment modal session has no booking to pay yet.")
	}
	b, err := m.Booking(ctx, u, s.BookingID)
	if err != nil {
		return t, false, err
	}
	if err := differing(p.differs(s, b)); err != nil {
		return t, false, err
	}
	for _, name := range []string{"allocations", "charge_channel"} {
		if _, verified := s.Verified[name]; !verified && p.Given[name] != "" {
			in.Problems.Wrong(name, "The auth string must verify this field.")
		}
	}
	in.Fill(s, b)
	in.RedirectURL = m.Settings.BaseURL + ModalReturnPath + "?path=" + url.QueryEscape(s.SitePath)
	if _, err := netip.ParseAddr(p.Address); err == nil {
		in.IPAddress = p.Address
	}
	return m.payments.Create(ctx, u.Actor, in)
}

// Payment reads a payment of the session's booking that was made in the modal.
func (m *Modals) Payment(ctx context.Context, u ModalUse, id int64) (t payment.Transaction, err error) {
	err = m.ReadBy(ctx, sites.ClockFor(u.Actor), func(tx *store.Tx) (err error) {
		if err := payments.ModalPaymentOf(tx, u.Session.SiteID, id, u.Session.BookingID); err != nil {
			return err
		}
		t, err = payments.Transaction(tx, u.Session.SiteID, id)
		return err
	})
	return t, store.NotFoundAs(errs.RecordNotFound, err, "Transaction not found.")
}

// TakesTestCards reports whether the channel of the session accepts test cards.
func (m *Modals) TakesTestCards(ctx context.Context, u ModalUse) (takes bool, err error) {
	err = m.ReadBy(ctx, sites.ClockFor(u.Actor), func(tx *store.Tx) error {
		channel, err := merchants.Channel(tx, u.Session.SiteID, u.Session.ChannelID)
		if err != nil {
			return err
		}
		processor, _, _, err := m.GatewayOf(tx, channel)
		takes = err == nil && processor == merchants.SandboxProcessor
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	return takes, err
}
