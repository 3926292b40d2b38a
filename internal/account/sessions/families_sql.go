package sessions

import (
	"errors"
	"time"

	"holdfast/internal/account/credentials"
	"holdfast/internal/account/people"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// family is the chain of refresh tokens from one login with rotation. The zero family is a login that
// did not.
type family struct {
	ID        string // the hash of Secret
	Secret    string // only its refresh tokens have it; the database does not
	Number    int64  // of the present token
	RotatedAt time.Time
}

// insertFamily stores a family whose first token is issued now.
func insertFamily(tx *store.Tx, userID int64, f family) error {
	_, err := tx.Exec(`INSERT INTO refresh_families (user_id, id, number, rotated_at) VALUES ($1, $2, $3, $4)`,
		userID, f.ID, f.Number, store.Micros(f.RotatedAt))
	return err
}

// lockFamily reads a family and keeps it from all other writes until this one ends. If it has ended, lockFamily returns
// store.ErrNotFound.
func lockFamily(tx *store.Tx, userID int64, id string) (family, error) {
	f := family{ID: id}
	var rotated int64
	err := tx.QueryRow(`UPDATE refresh_families SET number = number WHERE user_id = $1 AND id = $2 RETURNING number, rotated_at`,
		[]any{userID, id}, &f.Number, &rotated)
	f.RotatedAt = store.Instant(rotated)
	return f, err
}

// setFamily stores the number of the present token of a family, and when it was issued.
func setFamily(tx *store.Tx, userID int64, f family) error {
	return store.ExecOne(tx, `UPDATE refresh_families SET number = $3, rotated_at = $4 WHERE user_id = $1 AND id = $2`,
		userID, f.ID, f.Number, store.Micros(f.RotatedAt))
}

// familyIsValid reports whether the family of a JWT has not ended. It is true for a JWT without a family.
func familyIsValid(tx *store.Tx, c credentials.Claims) (bool, error) {
	if c.FamilyID() == "" {
		return true, nil
	}
	return store.Exists(tx, `SELECT 1 FROM refresh_families WHERE user_id = $1 AND id = $2`, c.UserID, c.FamilyID())
}

// endFamily ends a family with all its access tokens. It does nothing if the family has ended already.
func endFamily(tx *store.Tx, userID int64, id string) error {
	_, err := tx.Exec(`DELETE FROM refresh_families WHERE user_id = $1 AND id = $2`, userID, id)
	return err
}

// endFamilies ends all families of a user.
func endFamilies(tx *store.Tx, userID int64) error {
	_, err := tx.Exec(`DELETE FROM refresh_families WHERE user_id = $1`, userID)
	return err
}

// makeRoom ends the families of a user that were last rotated at or before an instant and, beyond a maximum number, the
// least recently used ones.
func makeRoom(tx *store.Tx, userID int64, unused time.Time, keep int) error {
	_, err := tx.Exec(`DELETE FROM refresh_families WHERE user_id = $1 AND (rotated_at <= $2 OR id IN (
			SELECT f.id FROM refresh_families f WHERE f.user_id = $1 ORDER BY f.rotated_at DESC, f.id LIMIT 1000 OFFSET $3))`,
		userID, store.Micros(unused), keep)
	return err
}

// ChangePassword stores the hash of a new password, and ends all access tokens, refresh tokens, sign-ins and links of the user.
func ChangePassword(tx *store.Tx, userID int64, hash string) error {
	before, err := people.UserByID(tx, userID)
	if err != nil {
		return err
	}
	if secrets.NoPassword(before.PasswordHash) { // setting the first password accepts the invitations
		if err := people.AcceptInvitations(tx, userID, 0); err != nil {
			return err
		}
	}
	if err := people.SetPasswordHash(tx, userID, hash); err != nil {
		return err
	}
	return errors.Join(endFamilies(tx, userID), endSignIns(tx, userID), people.EndPasswordLinks(tx, userID))
}

// endGeneration ends the refresh tokens of a generation and everything derived from them. If they have ended already,
// it returns store.ErrNotFound.
func endGeneration(tx *store.Tx, userID, generation int64) error {
	if err := people.EndRefresh(tx, userID, generation); err != nil {
		return err
	}
	return errors.Join(endFamilies(tx, userID), endSignIns(tx, userID))
}
