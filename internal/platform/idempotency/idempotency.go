// Package idempotency answers a repeated request with the result of the first one. It owns the tables idempotency_keys
// and last_states. Start at Once.
package idempotency

import (
	"context"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/platform/leases"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// keyLife is how long a key is remembered.
const keyLife = 30 * 24 * time.Hour

// inFlightWait is how long to wait for a request that holds the key: its duration is unknown, but it is a write.
const inFlightWait = time.Second

// Outcome is what a request created, changed or removed: an object, or a proposal if another person has to approve first. One
// of the two ids is 0. What belongs to the whole site has the id of the site.
type Outcome struct {
	ID         int64
	ProposalID int64
}

// Once handles a request that makes or changes something, with the idempotency key of its actor. A use case calls it once at most. do runs
// in a write by the clock of the actor's site. The same write stores the outcome under the key, so that both are stored or neither is. A
// request that repeats a key does nothing: find reads what the first request made, as it is now or, if it has been deleted, as it was last
// (OrLast). Without a key, do just runs.
//
// A key belongs to the site, so another user's request with it is also a repetition. The caller therefore checks first
// what the actor may do, and find reads with the actor's own permissions. Callers without permission learn nothing
// about a key.
//
// Only the write itself holds the key. So a key is free again when its write ends, however it ends: if the program or
// its machine dies, the database rolls it back. On SQLite a second request with the key waits for the first one, like
// every write. On PostgreSQL it does not wait.
//
// Errors: IdempotencyMismatch when the key was used for another request, IdempotencyInFlight while the first request is
// still being answered, and the errors of do and find. After an error of do the key is free.
func Once[T any](
	ctx context.Context, c *sites.DB, actor access.Actor,
	do func(tx *store.Tx) (T, Outcome, error), find func(ctx context.Context, made Outcome) (T, error),
) (made T, err error) {
	var before Outcome
	err = c.WriteAs(ctx, actor, func(tx *store.Tx) (err error) {
		if actor.Key.Key == "" {
			made, _, err = do(tx)
			return err
		}
		if before, err = heldBefore(tx, actor); err != nil || before != (Outcome{}) {
			return err
		}
		var outcome Outcome
		if made, outcome, err = do(tx); err != nil {
			return err
		}
		return finishKey(tx, actor, outcome)
	})
	if err == nil && before != (Outcome{}) {
		if made, err = find(ctx, before); err == nil && actor.Key.Replayed != nil {
			*actor.Key.Replayed = true
		}
	}
	if err != nil {
		var nothing T
		return nothing, err
	}
	return made, nil
}

// OnceGone is Once for a request that removes the thing with an id. Its answer does not need the thing.
func OnceGone(ctx context.Context, c *sites.DB, actor access.Actor, id int64, remove func(tx *store.Tx) error) error {
	_, err := Once(ctx, c, actor, func(tx *store.Tx) (struct{}, Outcome, error) {
		return struct{}{}, Outcome{ID: id}, remove(tx)
	}, func(context.Context, Outcome) (struct{}, error) { return struct{}{}, nil })
	return err
}

// heldBefore holds the actor's key until the end of the write, and returns the outcome of an earlier request with it.
func heldBefore(tx *store.Tx, actor access.Actor) (Outcome, error) {
	free, err := tx.Lock(fmt.Sprintf("idempotency key %d %s", actor.SiteID, actor.Key.Key))
	if err != nil {
		return Outcome{}, err
	}
	if !free {
		return Outcome{}, errInFlight(inFlightWait)
	}
	held, err := storedKey(tx, actor)
	switch left := held.Until.Sub(sites.RealNow(tx)); {
	case errors.Is(err, store.ErrNotFound):
		return Outcome{}, nil
	case err != nil:
		return Outcome{}, err
	case held.Hash != actor.Key.Hash:
		return Outcome{}, errs.New(errs.IdempotencyMismatch, "This idempotency key was already used for another request.")
	case held.Outcome == Outcome{} && left > 0:
		return Outcome{}, errInFlight(left)
	}
	return held.Outcome, nil
}

// Restored frees the keys of requests that were being answered when the backup was taken. They have made nothing in it.
func Restored(tx *store.Tx) error {
	_, err := tx.Exec(`DELETE FROM idempotency_keys WHERE object_id IS NULL AND proposal_id IS NULL`)
	return err
}

// Keys removes old idempotency keys.
type Keys struct{ *sites.DB }

// Forget deletes keys older than thirty days, and the last states of objects deleted before then. more reports that there may be more to
// delete.
func (o *Keys) Forget(ctx context.Context) (more bool, err error) {
	more, err = sites.Each(ctx, o.DB, sites.Older("idempotency_keys", "created_at", "", keyLife), leases.ForgetAtOnce, forgetKeys)
	if err != nil {
		return false, err
	}
	left, err := sites.Each(ctx, o.DB, sites.Older("last_states", "deleted_at", "", keyLife), leases.ForgetAtOnce, forgetLast)
	return more || left, err
}

func errInFlight(wait time.Duration) error {
	return &errs.Error{
		Kind: errs.IdempotencyInFlight, RetryAfter: wait,
		Message: "The first request with this idempotency key is still in progress.",
	}
}
