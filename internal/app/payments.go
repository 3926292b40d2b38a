package app

import (
	"context"
	"fmt"

	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

// Payments records transactions (section 4.6) and reads them and their payment records. What it records of a purchase
// or capture it also decides the protection of, in the same write. On channels that take payments themselves it has the
// processor carry them out.
type Payments struct {
	*Core
	processing *Processing
}

// Create records a transaction as reported, or has it carried out by the channel's processor. created is false where the
// caller reported the same payment before: the stored one is given back.
func (p *Payments) Create(
	ctx context.Context, actor auth.Actor, in travel.NewTransaction,
) (t travel.Transaction, created bool, err error) {
	if err := actor.RequireEither(auth.WriteTransactions, auth.LogPayment); err != nil {
		return travel.Transaction{}, false, err
	}
	var made *order
	slot := p.processing.slot()
	defer slot.release()
	err = p.change(ctx, actor, func(tx *store.Tx) error {
		site, err := store.Site(tx, actor.SiteID)
		if err != nil {
			return err
		}
		r := newRecording(p.Core, tx, actor, site, in)
		r.slot = slot
		if t, created, err = r.run(); err != nil {
			return err
		}
		made = r.order
		return once(tx, actor, in.Once, t.ID)
	})
	if err != nil {
		return travel.Transaction{}, false, err
	}
	if made == nil || !created {
		return t, created, nil
	}
	t, err = p.processing.carryOut(ctx, actor, t, made, in.Once)
	return t, err == nil, err
}

// Get reads one transaction.
func (p *Payments) Get(ctx context.Context, actor auth.Actor, id int64) (travel.Transaction, error) {
	found, err := read(ctx, p.Core, actor, func(tx *store.Tx) (travel.Transaction, error) {
		return store.Transaction(tx, actor.SiteID, id)
	})
	return found, unknownAs(fault.UnknownPost, err, "There is no transaction %d.", id)
}

// List reads one page of transactions.
func (p *Payments) List(
	ctx context.Context, actor auth.Actor, filter travel.TransactionFilter, page travel.Page,
) (travel.List[travel.Transaction], error) {
	return read(ctx, p.Core, actor, func(tx *store.Tx) (travel.List[travel.Transaction], error) {
		return store.Transactions(tx, actor.SiteID, filter, page)
	})
}

// Payment reads one payment record.
func (p *Payments) Payment(ctx context.Context, actor auth.Actor, id int64) (travel.Payment, error) {
	found, err := read(ctx, p.Core, actor, func(tx *store.Tx) (travel.Payment, error) {
		return store.Payment(tx, actor.SiteID, id)
	})
	return found, unknownAs(fault.UnknownPost, err, "There is no payment %d.", id)
}

// ListPayments reads one page of payment records.
func (p *Payments) ListPayments(
	ctx context.Context, actor auth.Actor, filter travel.PaymentFilter, page travel.Page,
) (travel.List[travel.Payment], error) {
	return read(ctx, p.Core, actor, func(tx *store.Tx) (travel.List[travel.Payment], error) {
		return store.Payments(tx, actor.SiteID, filter, page)
	})
}

// expireBatch bounds how many authorisations one run of the job lets expire.
const expireBatch = 200

// ExpireAuthorisations makes void what was not captured in time, a bounded number at each call, and returns how many.
func (p *Payments) ExpireAuthorisations(ctx context.Context) (expired int, err error) {
	var due []store.OpenAuthorisation
	err = p.Store.Read(ctx, func(tx *store.Tx) error {
		due, err = store.AuthorisationsOlderThan(tx, travel.AuthorisationLife, expireBatch)
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, a := range due {
		done := false
		err := p.WriteBy(ctx, a.Clock, func(tx *store.Tx) (err error) {
			done, err = p.expire(tx, a)
			return err
		})
		if err != nil {
			return expired, fmt.Errorf("authorisation %d-%d: %w", a.SiteID, a.ID, err)
		}
		if done {
			expired++
		}
	}
	return expired, nil
}

func (p *Payments) expire(tx *store.Tx, a store.OpenAuthorisation) (done bool, err error) {
	t, err := store.LockTransaction(tx, a.SiteID, a.ID)
	if err != nil {
		return false, err
	}
	// Captured, voided or expired since it was listed: another process was faster.
	if t.Status != travel.StatusComplete || t.Remaining == 0 {
		return false, nil
	}
	if ready, err := beginRelease(tx, t); err != nil || !ready {
		return false, err
	}
	for _, part := range t.Payments {
		b, err := store.LockBooking(tx, t.SiteID, part.BookingID)
		if err != nil {
			return false, err
		}
		b.Sums.Held -= part.Remaining
		b.Sums.OpenAuthorised -= part.Remaining
		if err := store.SaveBookingSums(tx, b); err != nil {
			return false, err
		}
	}
	// What remains stays known: a capture that was made in time may still be logged.
	t.Status = travel.StatusExpired
	return true, store.SaveTransaction(tx, t)
}

// record stores one transaction inside a write, as reported (see recording.run).
func (p *Payments) record(
	tx *store.Tx, actor auth.Actor, site travel.Site, in travel.NewTransaction,
) (t travel.Transaction, created bool, err error) {
	return newRecording(p.Core, tx, actor, site, in).run()
}
