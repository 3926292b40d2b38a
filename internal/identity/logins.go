package identity

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/db"
)

// BlockedUntil is the instant before which no login of any of the subjects is judged; the zero time where there is
// none.
func BlockedUntil(tx *db.Tx, subjects []string) (time.Time, error) {
	var w db.Where
	db.In(&w, "subject", subjects)
	var until sql.NullInt64
	err := tx.Row(`SELECT MAX(blocked_until) FROM login_attempts WHERE `+w.Text.String(), w.Args, &until)
	return db.MaybeInstant(until), err
}

// CountFailedLogin counts one more failed login of a subject and blocks it for as long as backoff says. Failures
// before forgetBefore, with none since, no longer count.
func CountFailedLogin(tx *db.Tx, subject string, forgetBefore time.Time, backoff func(failures int) time.Duration) error {
	var failures int
	err := tx.Row(`INSERT INTO login_attempts (subject, failures, blocked_until, last_at) VALUES ($1, 1, 0, $2)
		ON CONFLICT (subject) DO UPDATE SET last_at = $2,
			failures = CASE WHEN login_attempts.last_at < $3 THEN 1 ELSE login_attempts.failures + 1 END
		RETURNING failures`, []any{subject, db.Micros(tx.Now), db.Micros(forgetBefore)}, &failures)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE login_attempts SET blocked_until = $2 WHERE subject = $1`,
		subject, db.Micros(tx.Now.Add(backoff(failures))))
	return err
}

// ForgetFailedLogins clears the count of a subject.
func ForgetFailedLogins(tx *db.Tx, subject string) error {
	_, err := tx.Exec(`DELETE FROM login_attempts WHERE subject = $1`, subject)
	return err
}

// ForgetFailedLoginsBefore clears counts that have not grown since the instant, as many as the limit allows, and
// returns how many.
func ForgetFailedLoginsBefore(tx *db.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(`DELETE FROM login_attempts WHERE subject IN (
		SELECT subject FROM login_attempts WHERE last_at < $1 LIMIT $2)`, db.Micros(before), limit)
}

// JWTKeys reads all keys that sign or verify JWTs.
func JWTKeys(tx *db.Tx) ([]auth.Key, error) {
	var keys []auth.Key
	err := tx.Each(`SELECT id, secret, created_at, retired_at FROM jwt_keys ORDER BY created_at, id`, nil,
		func(scan func(dest ...any) error) error {
			var k auth.Key
			var secret string
			var created int64
			var retired sql.NullInt64
			if err := scan(&k.ID, &secret, &created, &retired); err != nil {
				return err
			}
			var err error
			if k.Secret, err = hex.DecodeString(secret); err != nil {
				return fmt.Errorf("the JWT key %s is not hexadecimal", k.ID) // the cause would hold part of it
			}
			k.CreatedAt, k.RetiredAt = db.Instant(created), db.MaybeInstant(retired)
			keys = append(keys, k)
			return nil
		})
	return keys, err
}

// InsertJWTKey stores a key that signs from now on.
func InsertJWTKey(tx *db.Tx, k auth.Key) error {
	_, err := tx.Exec(`INSERT INTO jwt_keys (id, secret, created_at) VALUES ($1, $2, $3)`,
		k.ID, hex.EncodeToString(k.Secret), db.Micros(k.CreatedAt))
	return err
}

// RetireJWTKeys lets every key sign no more.
func RetireJWTKeys(tx *db.Tx) error {
	_, err := tx.Exec(`UPDATE jwt_keys SET retired_at = $1 WHERE retired_at IS NULL`, db.Micros(tx.Now))
	return err
}
