package core

import (
	"database/sql"
	"time"

	"holdfast/internal/db"
	"holdfast/internal/travel"
)

// keyClaim is what is stored about an idempotency key.
type keyClaim struct {
	Hash    string
	Outcome Outcome   // of the first request; empty while it is being answered
	Until   time.Time // until then the first request holds the key
}

// ClaimKey takes an idempotency key until the given instant. It also takes a key whose first request has not finished in
// time. mine reports whether it was taken; if not, claim is the one that holds it. The error is db.ErrNotFound when that
// claim has gone meanwhile.
func ClaimKey(tx *db.Tx, siteID, userID int64, key travel.IdempotencyKey, until time.Time) (claim keyClaim, mine bool, err error) {
	err = tx.Each(`INSERT INTO idempotency_keys (site_id, user_id, key, request_hash, claimed_until, created_at)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (site_id, user_id, key) DO UPDATE SET claimed_until = $5
			WHERE idempotency_keys.object_id IS NULL AND idempotency_keys.proposal_id IS NULL
				AND idempotency_keys.claimed_until <= $6 AND idempotency_keys.request_hash = $4
		RETURNING request_hash`,
		[]any{siteID, userID, key.Key, key.Hash, db.Micros(until), db.Micros(tx.Now)},
		func(scan func(dest ...any) error) error {
			mine = true
			return scan(&claim.Hash)
		})
	if err != nil || mine {
		return claim, mine, err
	}
	var object, proposal sql.NullInt64
	var held int64
	err = tx.Row(`SELECT request_hash, object_id, proposal_id, claimed_until FROM idempotency_keys
		WHERE site_id = $1 AND user_id = $2 AND key = $3`, []any{siteID, userID, key.Key}, &claim.Hash, &object, &proposal,
		&held)
	claim.Outcome, claim.Until = Outcome{ID: object.Int64, ProposalID: proposal.Int64}, db.Instant(held)
	return claim, false, err
}

// finishKey stores what a request made under its idempotency key, in the transaction that makes it. The error is
// db.ErrNotFound when the claim ran out, and another request has finished or released the key.
func finishKey(tx *db.Tx, siteID, userID int64, key travel.IdempotencyKey, made Outcome) error {
	n, err := tx.Exec(`UPDATE idempotency_keys SET object_id = $5, proposal_id = $6
		WHERE site_id = $1 AND user_id = $2 AND key = $3 AND request_hash = $4
			AND object_id IS NULL AND proposal_id IS NULL`,
		siteID, userID, key.Key, key.Hash, db.MaybeID(made.ID), db.MaybeID(made.ProposalID))
	if err == nil && n == 0 {
		return db.ErrNotFound
	}
	return err
}

// releaseKey frees a key that was claimed until the given instant, so that the caller can try again.
func releaseKey(tx *db.Tx, siteID, userID int64, key travel.IdempotencyKey, until time.Time) error {
	_, err := tx.Exec(`DELETE FROM idempotency_keys
		WHERE site_id = $1 AND user_id = $2 AND key = $3 AND object_id IS NULL AND proposal_id IS NULL
			AND claimed_until = $4`,
		siteID, userID, key.Key, db.Micros(until))
	return err
}

// FreeKey frees the key of a request whose object was not made after all, so that the caller can try again.
func FreeKey(tx *db.Tx, siteID, userID int64, key travel.IdempotencyKey, objectID int64) error {
	_, err := tx.Exec(`DELETE FROM idempotency_keys WHERE site_id = $1 AND user_id = $2 AND key = $3 AND object_id = $4`,
		siteID, userID, key.Key, objectID)
	return err
}

// forgetKeysBefore removes idempotency keys that were first used before the instant, up to limit keys, and returns how
// many.
func forgetKeysBefore(tx *db.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(`DELETE FROM idempotency_keys WHERE (site_id, user_id, key) IN (
		SELECT site_id, user_id, key FROM idempotency_keys WHERE created_at < $1 LIMIT $2)`, db.Micros(before), limit)
}
