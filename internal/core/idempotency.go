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

// Outcome is what a request made, or the proposal that it became where another person has to agree. One of the two is 0.
type Outcome struct {
	ID         int64
	ProposalID int64
}

// Create is the one way of a request that makes something, from its idempotency key to its answer. create runs in a
// write by the clock of the actor's site, and the key is finished in that same write: the key and what it stands for
// cannot come apart. A request that is repeated under its key makes nothing: find reads what the first one made. Without
// a key create just runs. The caller has checked what the actor may do.
//
// Errors: IdempotencyMismatch where the key was used for another request, IdempotencyInFlight where the first one is still
// being answered, and what create and find answer. After an error of create the key is free again.
func Create[T any](
	ctx context.Context, c *Core, actor auth.Actor, key travel.Once,
	create func(tx *db.Tx) (T, Outcome, error), find func(ctx context.Context, made Outcome) (T, error),
	riders ...Rider,
) (made T, err error) {
	if key.Key == "" {
		err = c.WriteAs(ctx, actor, func(tx *db.Tx) (err error) {
			made, _, err = create(tx)
			return err
		}, riders...)
		return made, err
	}
	before, until, err := claim(ctx, c, actor, key)
	if err != nil {
		return made, err
	}
	if before != (Outcome{}) {
		return find(ctx, before)
	}
	err = c.WriteAs(ctx, actor, func(tx *db.Tx) error {
		var outcome Outcome
		var err error
		if made, outcome, err = create(tx); err != nil {
			return err
		}
		err = finishKey(tx, actor.SiteID, actor.UserID, key, outcome)
		// The claim ran out, and another request has finished it: this one is undone. One key makes one thing.
		if errors.Is(err, db.ErrNotFound) {
			return errInFlight()
		}
		return err
	}, riders...)
	if err == nil {
		return made, nil
	}
	// Given up even when the caller has gone: a repetition must not find the key taken.
	release := c.Store.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		return releaseKey(tx, actor.SiteID, actor.UserID, key, until)
	})
	var nothing T
	return nothing, errors.Join(err, release)
}

// claim takes the key until the given instant, or returns what was made under it.
func claim(ctx context.Context, c *Core, actor auth.Actor, key travel.Once) (before Outcome, until time.Time, err error) {
	err = c.Store.Write(ctx, func(tx *db.Tx) error {
		before, until = Outcome{}, tx.Now.Add(claimLife)
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
		case held.Outcome == Outcome{}:
			return errInFlight()
		}
		before = held.Outcome
		return nil
	})
	return before, until, err
}

// Idempotency keeps the keys of requests that were answered.
type Idempotency struct{ *Core }

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

func errInFlight() error {
	return fault.New(fault.IdempotencyInFlight, "The first request with this idempotency key is still being answered.")
}
