// Package intake creates and changes bookings: it validates and stores them, and updates their payments. It is a
// layer above payments and limits, because changing a booking re-dates its payments. The tables belong to package
// bookings. Start at Bookings.
package intake

import (
	"context"
	"errors"
	"sync"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/limits"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/errs"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Bookings are the use cases of bookings.
type Bookings struct {
	*payments.Room
	payments *payments.Payments
}

// NewBookings creates the use cases. Expired authorisations are ended before bookings are read or changed.
func NewBookings(room *payments.Room, taken *payments.Payments) *Bookings {
	return &Bookings{Room: room, payments: taken}
}

// Create logs a booking in a channel of the actor's site.
func (b *Bookings) Create(ctx context.Context, actor access.Actor, in booking.BookingFields) (booking.Booking, error) {
	if err := actor.Require(access.WriteBookings); err != nil {
		return booking.Booking{}, err
	}
	uuid := sync.OnceValue(b.NewUUID) // the write may run more than once, and must make the same booking
	return idempotency.Once(ctx, b.DB, actor, func(tx *store.Tx) (booking.Booking, idempotency.Outcome, error) {
		made, err := b.Make(tx, actor, uuid(), in)
		return made, idempotency.Outcome{ID: made.ID}, err
	}, b.Again(actor))
}

// Again returns the function that reads the booking of an earlier request with the same idempotency key, even if it is in the trash.
func (b *Bookings) Again(actor access.Actor) func(ctx context.Context, made idempotency.Outcome) (booking.Booking, error) {
	return func(ctx context.Context, made idempotency.Outcome) (booking.Booking, error) {
		found, err := b.Get(ctx, actor, made.ID)
		if !errs.Is(err, errs.RecordNotFound) {
			return found, err
		}
		found, err = sites.Read(ctx, b.DB, actor, func(tx *store.Tx) (booking.Booking, error) {
			return bookings.InTrash(tx, actor.SiteID, made.ID)
		})
		return found, unknownBooking(err, made.ID)
	}
}

// Make checks and stores a booking inside a write. The caller checks first what the actor may do.
func (b *Bookings) Make(
	tx *store.Tx, actor access.Actor, uuid string, in booking.BookingFields,
) (booking.Booking, error) {
	made, err := b.Check(tx, actor, in)
	if err != nil {
		return made, err
	}
	made.UUID, made.Version, made.CreatedAt, made.ModifiedAt = uuid, 1, tx.Now, tx.Now
	made.ID, err = bookings.Insert(tx, made)
	return made, err
}

// Check checks the fields of a new booking, and returns the booking that they describe.
func (b *Bookings) Check(tx *store.Tx, actor access.Actor, in booking.BookingFields) (made booking.Booking, err error) {
	in.Profile = b.Profile
	problems := in.Problems.Clone()
	made = in.NewBooking(&problems)
	made.SiteID = actor.SiteID
	made.AuthorID, made.Author, made.AuthorName = actor.UserID, actor.Username, actor.DisplayName
	if in.ChannelID != nil {
		if err := placeBooking(tx, &made, &problems); err != nil {
			return made, err
		}
	}
	if err := merchants.NoteUnknownSuppliers(tx, actor.SiteID, made.Suppliers, &problems); err != nil {
		return made, err
	}
	if in.Modal != nil { // the callback of the modal has only one shape for all problems of a booking
		problems.MissingIsWrong()
	}
	return made, problems.Err()
}

// Find reads one booking with its transactions. The error is store.ErrNotFound when the site has no such booking.
func (b *Bookings) Find(tx *store.Tx, siteID, id int64) (booking.Booking, error) {
	found, err := bookings.Alone(tx, siteID, id)
	if err != nil {
		return found, err
	}
	return found, b.addTransactions(tx, siteID, &found)
}

// lock locks one booking for a change, and reads it with its transactions.
func (b *Bookings) lock(tx *store.Tx, siteID, id int64) (booking.Booking, error) {
	found, err := bookings.Lock(tx, siteID, id)
	if err != nil {
		return found, err
	}
	return found, b.addTransactions(tx, siteID, &found)
}

// addTransactions fills in the transactions of all the bookings, with one statement.
func (b *Bookings) addTransactions(tx *store.Tx, siteID int64, list ...*booking.Booking) error {
	ids := make([]int64, len(list))
	for i, booking := range list {
		ids[i] = booking.ID
	}
	found, err := payments.TransactionsOfBookings(tx, siteID, ids)
	for _, booking := range list {
		booking.TransactionIDs = found[booking.ID]
	}
	return err
}

// placeBooking checks a booking against its channel, which must be a channel of the same site.
func placeBooking(tx *store.Tx, b *booking.Booking, p *errs.Problems) error {
	channel, err := merchants.ChannelAlone(tx, b.SiteID, b.ChannelID)
	if errors.Is(err, store.ErrNotFound) {
		p.Wrong("channels", "Channel %d not found.", b.ChannelID)
		return nil
	}
	if err != nil {
		return err
	}
	b.CheckChannel(channel, p)
	b.ChannelLocked, b.ChannelProtection = channel.Locked, channel.OtherProtection
	return nil
}

// Get reads one booking of the actor's site.
func (b *Bookings) Get(ctx context.Context, actor access.Actor, id int64) (booking.Booking, error) {
	found, err := sites.LookupAfter(ctx, b.DB, actor, b.payments.Due(), func(tx *store.Tx) (booking.Booking, error) {
		return b.Find(tx, actor.SiteID, id)
	})
	return found, unknownBooking(err, id)
}

// List reads one page of the bookings of the actor's site.
func (b *Bookings) List(
	ctx context.Context, actor access.Actor, filter bookings.BookingFilter, page store.Page,
) (store.List[booking.Booking], error) {
	if err := sites.EndDue(ctx, b.DB, actor, b.payments.Due()); err != nil {
		return store.List[booking.Booking]{}, err
	}
	return sites.ReadPage(ctx, b.DB, actor, page, func(tx *store.Tx) (store.List[booking.Booking], error) {
		list, err := bookings.Page(tx, actor.SiteID, filter, page)
		if err != nil {
			return list, err
		}
		found := make([]*booking.Booking, len(list.Items))
		for i := range list.Items {
			found[i] = &list.Items[i]
		}
		return list, b.addTransactions(tx, actor.SiteID, found...)
	})
}

// Update sets the given fields of a booking.
func (b *Bookings) Update(ctx context.Context, actor access.Actor, id int64, in booking.BookingFields) (booking.Booking, error) {
	if err := actor.Require(access.WriteBookings); err != nil {
		return booking.Booking{}, err
	}
	if _, err := b.payments.ExpireDue(ctx, actor.SiteID); err != nil {
		return booking.Booking{}, err
	}
	in.Profile = b.Profile
	changed, err := idempotency.Once(ctx, b.DB, actor, func(tx *store.Tx) (booking.Booking, idempotency.Outcome, error) {
		changed, err := b.change(tx, actor, id, in)
		return changed, idempotency.Outcome{ID: id}, err
	}, b.Again(actor))
	return changed, unknownBooking(err, id)
}

// change sets the given fields of a booking inside a write.
func (b *Bookings) change(tx *store.Tx, actor access.Actor, id int64, in booking.BookingFields) (changed booking.Booking, err error) {
	stored, err := b.lock(tx, actor.SiteID, id)
	if err != nil {
		return changed, err
	}
	if err := errs.CheckVersion(in.IfVersion, stored.Version-1); err != nil {
		return changed, err
	}
	problems := in.Problems.Clone()
	changed = in.Change(stored, &problems)
	if err := checkMove(tx, stored, &changed, &problems); err != nil {
		return changed, err
	}
	if in.Suppliers != nil {
		if err := merchants.NoteUnknownSuppliers(tx, actor.SiteID, changed.Suppliers, &problems); err != nil {
			return changed, err
		}
	}
	if err := problems.Err(); err != nil {
		return changed, err
	}
	if booking.Same(stored, changed) {
		stored.Version--
		return stored, nil
	}
	changed.ModifiedAt = bookings.Modified(tx, changed)
	if err := limits.Redate(tx, b.Rulepacks, stored, changed); err != nil {
		return changed, err
	}
	return changed, bookings.Update(tx, changed)
}

// checkMove checks a booking that moves to another channel or gets another currency. A booking that does neither is not
// checked: it can be corrected even when its channel has been closed since.
func checkMove(tx *store.Tx, before booking.Booking, after *booking.Booking, p *errs.Problems) error {
	if after.ChannelID == before.ChannelID && after.Currency == before.Currency {
		return nil
	}
	if err := placeBooking(tx, after, p); err != nil {
		return err
	}
	if after.ChannelID == before.ChannelID || after.ImportKey == "" {
		return nil
	}
	_, err := bookings.ByImportKey(tx, after.SiteID, after.ChannelID, after.ImportKey)
	switch {
	case err == nil:
		p.Wrong("channels", "The channel already has an imported booking with this reference.")
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	return nil
}

// Delete puts a booking without transactions into the trash. ifVersion is the version that the caller has read, 0 for
// any. Errors: RecordNotFound, Precondition, and InUse when the booking has transactions.
func (b *Bookings) Delete(ctx context.Context, actor access.Actor, id, ifVersion int64) error {
	if err := actor.Require(access.WriteBookings); err != nil {
		return err
	}
	err := idempotency.OnceGone(ctx, b.DB, actor, id, func(tx *store.Tx) error {
		stored, err := b.lock(tx, actor.SiteID, id)
		if err != nil {
			return err
		}
		if err := errs.CheckVersion(ifVersion, stored.Version-1); err != nil {
			return err
		}
		if len(stored.TransactionIDs) > 0 {
			return errs.New(errs.InUse, "Booking %d has transactions and cannot be deleted.", id)
		}
		return bookings.Trash(tx, actor.SiteID, id)
	})
	return unknownBooking(err, id)
}

func unknownBooking(err error, id int64) error {
	return store.NotFoundAs(errs.RecordNotFound, err, "Booking %d not found.", id)
}

// RecordCompleted records the events of bookings that are completed. more reports whether there may be others.
func (b *Bookings) RecordCompleted(ctx context.Context) (more bool, err error) {
	return bookings.RecordCompleted(ctx, b.DB)
}
