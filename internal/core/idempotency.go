package core

import (
	"context"
	"errors"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// Lifetimes of idempotency keys: how long a request holds one before another may take over, which is longer than any
// request lives, and how long a key is remembered.
const (
	claimLife = 30 * time.Second
	keyLife   = 24 * time.Hour
)

// Idempotency makes a create that is repeated under its idempotency key answer with what the first one made.
type Idempotency struct{ *Core }

// Do runs create, unless the key was used before: then id is what the first request made, and replayed is true. The
// create itself must finish the claim in its own transaction (see once), so that the key and what it stands for cannot
// come apart. Without a key it just runs.
func (o *Idempotency) Do(ctx context.Context, actor auth.Actor, key travel.Once, create func() (int64, error)) (id int64, replayed bool, err error) {
	if key.Key == "" {
		id, err = create()
		return id, false, err
	}
	id, until, err := o.claim(ctx, actor, key)
	if err != nil || id != 0 {
		return id, true, err
	}
	if id, err = create(); err != nil {
		// Given up even when the caller has gone: who tries again must not find the key taken.
		release := o.Store.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
			return ReleaseKey(tx, actor.SiteID, actor.UserID, key, until)
		})
		return 0, false, errors.Join(err, release)
	}
	return id, false, nil
}

// claim takes the key until the given instant, or returns the id of what was made under it.
func (o *Idempotency) claim(ctx context.Context, actor auth.Actor, key travel.Once) (madeID int64, until time.Time, err error) {
	err = o.Store.Write(ctx, func(tx *db.Tx) error {
		madeID, until = 0, tx.Now.Add(claimLife)
		held, mine, err := ClaimKey(tx, actor.SiteID, actor.UserID, key, until)
		switch {
		case mine:
			return nil
		case errors.Is(err, db.ErrNotFound):
			return errInFlight()
		case err != nil:
			return err
		case held.Hash != key.Hash:
			return fault.New(fault.IdempotencyMismatch, "This idempotency key was used before for another request.")
		case held.ObjectID == 0:
			return errInFlight()
		}
		madeID = held.ObjectID
		return nil
	})
	return madeID, until, err
}

// ForgetAtOnce bounds how many rows one write of the housekeeping removes.
const ForgetAtOnce = 1000

// Forget removes keys that nobody will repeat any more; more says that there are some left.
func (o *Idempotency) Forget(ctx context.Context) (more bool, err error) {
	err = o.Store.Write(ctx, func(tx *db.Tx) error {
		n, err := ForgetKeysBefore(tx, tx.Now.Add(-keyLife), ForgetAtOnce)
		more = n == ForgetAtOnce
		return err
	})
	return more, err
}

// FinishKey finishes the claim of a create in the create's own transaction. A claim that another request has finished
// meanwhile undoes this create: one key makes one thing.
func FinishKey(tx *db.Tx, actor auth.Actor, key travel.Once, id int64) error {
	if key.Key == "" {
		return nil
	}
	err := finishKey(tx, actor.SiteID, actor.UserID, key, id)
	if errors.Is(err, db.ErrNotFound) {
		return errInFlight()
	}
	return err
}

func errInFlight() error {
	return fault.New(fault.IdempotencyInFlight, "The first request with this idempotency key is still being answered.")
}
