package idempotency

import (
	"database/sql"
	"errors"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// keyRow is the stored row of an idempotency key.
type keyRow struct {
	Hash    string
	Outcome Outcome // of the first request
	// Until is for a row without an outcome. Only earlier versions of the program store such rows, before they make
	// anything, and hold the key until then.
	Until time.Time
}

func storedKey(tx *store.Tx, actor access.Actor) (row keyRow, err error) {
	var object, proposal sql.NullInt64
	var held int64
	err = tx.QueryRow(`SELECT request_hash, object_id, proposal_id, claimed_until FROM idempotency_keys
		WHERE site_id = $1 AND key = $2`, []any{actor.SiteID, actor.Key.Key}, &row.Hash, &object, &proposal, &held)
	row.Outcome, row.Until = Outcome{ID: object.Int64, ProposalID: proposal.Int64}, store.Instant(held)
	return row, err
}

// Used reports whether a request of the actor's site was answered under the actor's key. Only Once knows whether it was
// this request.
func Used(tx *store.Tx, actor access.Actor) (bool, error) {
	if actor.Key.Key == "" {
		return false, nil
	}
	held, err := storedKey(tx, actor)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return held.Outcome != (Outcome{}), err
}

// finishKey stores the outcome of a request under its idempotency key, in the same transaction. If another request
// has done so in the meantime, the error is IdempotencyInFlight, and the write is undone: one key makes one thing.
func finishKey(tx *store.Tx, actor access.Actor, made Outcome) error {
	n, err := tx.Exec(`INSERT INTO idempotency_keys
			(site_id, key, request_hash, object_id, proposal_id, claimed_until, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $6)
		ON CONFLICT (site_id, key) DO UPDATE SET object_id = excluded.object_id, proposal_id = excluded.proposal_id
			WHERE idempotency_keys.object_id IS NULL AND idempotency_keys.proposal_id IS NULL
				AND idempotency_keys.request_hash = excluded.request_hash`,
		actor.SiteID, actor.Key.Key, actor.Key.Hash, store.MaybeID(made.ID), store.MaybeID(made.ProposalID), store.Micros(sites.RealNow(tx)))
	if err == nil && n == 0 {
		return errInFlight(inFlightWait)
	}
	return err
}

// Free frees the key of an actor's request whose object was not made after all, so that the caller can try again.
func Free(tx *store.Tx, actor access.Actor, objectID int64) error {
	_, err := tx.Exec(`DELETE FROM idempotency_keys WHERE site_id = $1 AND key = $2 AND object_id = $3`,
		actor.SiteID, actor.Key.Key, objectID)
	return err
}

// forgetKeys removes keys of a site that were first used long ago, at most limit of them, and returns how many.
func forgetKeys(tx *store.Tx, siteID int64, limit int) (int, error) {
	n, err := tx.Exec(`DELETE FROM idempotency_keys WHERE site_id = $1 AND key IN (
		SELECT k.key FROM idempotency_keys k WHERE k.site_id = $1 AND k.created_at < $2 LIMIT $3)`,
		siteID, store.Micros(sites.RealNow(tx).Add(-keyLife)), limit)
	return int(n), err
}

// insertLast stores the last state of an object. Object names are never reused, so there is only one.
func insertLast(tx *store.Tx, siteID int64, object, state string) error {
	_, err := tx.Exec(`INSERT INTO last_states (site_id, object, state, deleted_at) VALUES ($1, $2, $3, $4)`,
		siteID, object, state, store.Micros(sites.RealNow(tx)))
	return err
}

func lastState(tx *store.Tx, siteID int64, object string) (state string, err error) {
	err = tx.QueryRow(`SELECT state FROM last_states WHERE site_id = $1 AND object = $2`, []any{siteID, object}, &state)
	return state, err
}

// forgetLast deletes last states of objects of a site that were deleted long ago, at most limit of them, and returns how many.
func forgetLast(tx *store.Tx, siteID int64, limit int) (int, error) {
	n, err := tx.Exec(`DELETE FROM last_states WHERE site_id = $1 AND object IN (
		SELECT l.object FROM last_states l WHERE l.site_id = $1 AND l.deleted_at < $2 LIMIT $3)`,
		siteID, store.Micros(sites.RealNow(tx).Add(-keyLife)), limit)
	return int(n), err
}
