package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// keyLife is how long a key is remembered.
const keyLife = 24 * time.Hour

// inFlightWait is how long to wait for a request that holds the key: nobody knows how long it needs, but it is a write.
const inFlightWait = time.Second

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
// The write itself holds the key, and nothing else does. So a key is free again the moment its write is over, however it
// ends: when its program or its machine dies, the database rolls it back. On SQLite a second request with the key waits
// for the first one, like every write. On PostgreSQL it does not wait.
//
// Errors: IdempotencyMismatch when the key was used for another request, IdempotencyInFlight while the first request is
// still being answered, and the errors of create and find. After an error of create the key is free.
func Create[T any](
	ctx context.Context, c *Core, actor auth.Actor, key travel.IdempotencyKey,
	create func(tx *db.Tx) (T, Outcome, error), find func(ctx context.Context, made Outcome) (T, error),
	riders ...Rider,
) (made T, err error) {
	var before Outcome
	err = c.WriteAs(ctx, actor, func(tx *db.Tx) (err error) {
		if key.Key == "" {
			made, _, err = create(tx)
			return err
		}
		if before, err = heldBefore(tx, actor, key); err != nil || before != (Outcome{}) {
			return err
		}
		var outcome Outcome
		if made, outcome, err = create(tx); err != nil {
			return err
		}
		return finishKey(tx, actor.SiteID, actor.UserID, key, outcome)
	}, riders...)
	if err != nil {
		var nothing T
		return nothing, err
	}
	if before != (Outcome{}) {
		return find(ctx, before)
	}
	return made, nil
}

// heldBefore holds the key to the end of the write, and returns what an earlier request made under it.
func heldBefore(tx *db.Tx, actor auth.Actor, key travel.IdempotencyKey) (Outcome, error) {
	alone, err := tx.Alone(fmt.Sprintf("idempotency key %d %d %s", actor.SiteID, actor.UserID, key.Key))
	if err != nil {
		return Outcome{}, err
	}
	if !alone {
		return Outcome{}, errInFlight(inFlightWait)
	}
	held, err := storedKey(tx, actor.SiteID, actor.UserID, key)
	switch left := held.Until.Sub(RealNow(tx)); {
	case errors.Is(err, db.ErrNotFound):
		return Outcome{}, nil
	case err != nil:
		return Outcome{}, err
	case held.Hash != key.Hash:
		return Outcome{}, fault.New(fault.IdempotencyMismatch, "This idempotency key was used before for another request.")
	case held.Outcome == Outcome{} && left > 0:
		return Outcome{}, errInFlight(left)
	}
	return held.Outcome, nil
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

func errInFlight(wait time.Duration) error {
	return &fault.Error{
		Kind: fault.IdempotencyInFlight, RetryAfter: wait,
		Message: "The first request with this idempotency key is still being answered.",
	}
}
