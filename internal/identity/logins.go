package identity

import (
	"database/sql"
	"time"

	"holdfast/internal/db"
)

// BlockedUntil is the instant until which logins of the subjects have to wait, or the zero time. A subject is what
// failures are counted for, such as a user name or an address.
func BlockedUntil(tx *db.Tx, subjects []string) (time.Time, error) {
	var w db.Where
	db.In(&w, "subject", subjects)
	var until sql.NullInt64
	err := tx.Row(`SELECT MAX(blocked_until) FROM login_attempts WHERE `+w.Text.String(), w.Args, &until)
	return db.MaybeInstant(until), err
}

// CountFailedLogin counts one more failed login of a subject, and blocks it for as long as backoff says. If the last
// failure was before forgetBefore, the count starts again.
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

// ForgetFailedLogins clears the counts of subjects, one after the other: logins lock their rows in the same order.
func ForgetFailedLogins(tx *db.Tx, subjects []string) error {
	for _, subject := range subjects {
		if _, err := tx.Exec(`DELETE FROM login_attempts WHERE subject = $1`, subject); err != nil {
			return err
		}
	}
	return nil
}

// ForgetFailedLoginsBefore clears the counts of subjects whose last failure was before an instant, as many as the
// limit allows. It returns how many.
func ForgetFailedLoginsBefore(tx *db.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(`DELETE FROM login_attempts WHERE subject IN (
		SELECT subject FROM login_attempts WHERE last_at < $1 LIMIT $2)`, db.Micros(before), limit)
}
