package sessions

import (
	"database/sql"
	"errors"
	"time"

	"holdfast/internal/account/people"
	"holdfast/internal/store"
)

// BlockedUntil is the instant until which logins of a subject have to wait, or the zero time. Failures are counted by
// subject, such as a pair of account and address.
func BlockedUntil(tx *store.Tx, subject string) (time.Time, error) {
	var until sql.NullInt64
	err := tx.QueryRow(`SELECT MAX(blocked_until) FROM login_attempts WHERE subject = $1`, []any{subject}, &until)
	return store.MaybeInstant(until), err
}

// CountFailedLogin counts one more failed login of a subject, and blocks it for as long as backoff says. If the last
// failure was before forgetBefore, the count starts again.
func CountFailedLogin(tx *store.Tx, subject string, forgetBefore time.Time, backoff func(failures int) time.Duration) error {
	failures, err := countFailed(tx, subject, forgetBefore)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE login_attempts SET blocked_until = $2 WHERE subject = $1`,
		subject, store.Micros(tx.Now.Add(backoff(failures))))
	return err
}

// countFailed counts one more failed login of a subject, and returns how many there are.
func countFailed(tx *store.Tx, subject string, forgetBefore time.Time) (failures int, err error) {
	err = tx.QueryRow(`INSERT INTO login_attempts (subject, failures, blocked_until, last_at) VALUES ($1, 1, 0, $2)
		ON CONFLICT (subject) DO UPDATE SET last_at = $2,
			failures = CASE WHEN login_attempts.last_at < $3 THEN 1 ELSE login_attempts.failures + 1 END
		RETURNING failures`, []any{subject, store.Micros(tx.Now), store.Micros(forgetBefore)}, &failures)
	return failures, err
}

// ForgetFailedLogins clears the counts of subjects, one after the other: logins lock their rows in the same order.
func ForgetFailedLogins(tx *store.Tx, subjects []string) error {
	for _, subject := range subjects {
		if _, err := tx.Exec(`DELETE FROM login_attempts WHERE subject = $1`, subject); err != nil {
			return err
		}
	}
	return nil
}

// ForgetFailedLoginsBefore clears the counts of subjects whose last failure was before an instant, as many as the
// limit allows. It returns how many.
func ForgetFailedLoginsBefore(tx *store.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(`DELETE FROM login_attempts WHERE subject IN (
		SELECT subject FROM login_attempts WHERE last_at < $1 LIMIT $2)`, store.Micros(before), limit)
}

// CountAsk counts a request of a subject, up to a limit per hour, starting with the first one. Beyond the limit it
// counts nothing, so that repeated requests lock no one out, and returns the rest of the hour.
func CountAsk(tx *store.Tx, subject string, limit int) (wait time.Duration, err error) {
	err = store.ExecOne(tx, `INSERT INTO login_attempts (subject, failures, blocked_until, last_at) VALUES ($1, 1, $3, $2)
		ON CONFLICT (subject) DO UPDATE SET
			failures = 1 + CASE WHEN login_attempts.blocked_until <= $2 THEN 0 ELSE login_attempts.failures END,
			last_at = CASE WHEN login_attempts.blocked_until <= $2 THEN $2 ELSE login_attempts.last_at END,
			blocked_until = CASE WHEN login_attempts.blocked_until <= $2 THEN $3 ELSE login_attempts.blocked_until END
		WHERE login_attempts.blocked_until <= $2 OR login_attempts.failures < $4`,
		subject, store.Micros(tx.Now), store.Micros(tx.Now.Add(people.AskLife)), limit)
	if !errors.Is(err, store.ErrNotFound) {
		return 0, err
	}
	until, err := BlockedUntil(tx, subject)
	return until.Sub(tx.Now), err
}

// ForgetFailures forgets the failed logins of a user name from an address.
func ForgetFailures(tx *store.Tx, username, address string) error {
	return ForgetFailedLogins(tx, []string{Login{Username: username, Address: address}.pair()})
}
