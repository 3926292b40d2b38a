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

// Lifetimes of idempotency keys.
const (
	claimLife = 30 * time.Second // how long a request holds a key; longer than any request lives
	keyLife   = 24 * time.Hour   // how long a key is remembered
)

// Outcome is what a request made: a thing, or a proposal when another person has to agree first. One of the two ids is 0.
type Outcome struct {
	ID         int64
	ProposalID int64
}

// Create handles a request that makes something, with its idempotency key. create runs in a write by the clock of the
// actor's site. The same write stores the outcome under the key, so that both are stored or neither is. A request that
// repeats a key makes nothing: find reads what the first request made. Without a key, create just runs. The caller checks
// first what the actor may do.
//
// Errors: IdempotencyMismatch when the key was used for another request, IdempotencyInFlight while the first request is
// still being answered, and the errors of create and find. After an error of create the key is free again.
func Create[T any](
	ctx context.Context, c *Core, actor auth.Actor, key travel.IdempotencyKey,
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
		// The claim ran out, and another request has used the key: this write is undone. One key makes one thing.
		if errors.Is(err, db.ErrNotFound) {
			return errInFlight()
		}
		return err
	}, riders...)
	if err == nil {
		return made, nil
	}
	// The key is freed even when the caller has gone: a repeated request must not find it taken.
	release := c.Store.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		return releaseKey(tx, actor.SiteID, actor.UserID, key, until)
	})
	var nothing T
	return nothing, errors.Join(err, release)
}

// claim takes the key and returns until when, or returns what an earlier request made under it.
func claim(ctx context.Context, c *Core, actor auth.Actor, key travel.IdempotencyKey) (before Outcome, until time.Time, err error) {
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

// Idempotency removes old idempotency keys.
type Idempotency struct{ *Core }

// ForgetAtOnce is how many rows one write of the housekeeping removes at most.
const ForgetAtOnce = 1000

// Forget removes keys that are older than a day. more reports that there may be more to remove.
func (o *Idempotency) Forget(ctx context.Context) (more bool, err error) {
	err = o.Store.Write(ctx, func(tx *db.Tx) error {
		n, err := forgetKeysBefore(tx, tx.Now.Add(-keyLife), ForgetAtOnce)
		more = n == ForgetAtOnce
		return err
	})
	return more, err
}

func errInFlight() error {
	return fault.New(fault.IdempotencyInFlight, "The first request with this idempotency key is still being answered.")
}
