package identity

import (
	"errors"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/store"
)

const linkColumns = `user_id, hash, secret, kind, site_id, made_at, ends_at, address`

func insertLink(tx *store.Tx, l Link) error {
	_, err := tx.Exec(`INSERT INTO password_links (`+linkColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		l.UserID, l.hash, l.sealed, l.Kind, l.SiteID, store.Micros(l.MadeAt), store.Micros(l.EndsAt), l.address)
	return err
}

// openLink reads a link that has not ended, or returns store.ErrNotFound.
func openLink(tx *store.Tx, hash string) (l Link, err error) {
	var made, ends int64
	err = tx.Row(`SELECT `+linkColumns+` FROM password_links WHERE hash = $1 AND ends_at > $2`, []any{hash, store.Micros(tx.Now)},
		&l.UserID, &l.hash, &l.sealed, &l.Kind, &l.SiteID, &made, &ends, &l.address)
	l.MadeAt, l.EndsAt = store.Instant(made), store.Instant(ends)
	return l, err
}

// useLink ends an open link. Without one it returns store.ErrNotFound: of two who use it at the same time one comes first.
func useLink(tx *store.Tx, hash string) error {
	return changeUser(tx, `DELETE FROM password_links WHERE hash = $1 AND ends_at > $2`, hash, store.Micros(tx.Now))
}

// endLinksLike ends the links of a user of one kind and site.
func endLinksLike(tx *store.Tx, l Link) error {
	_, err := tx.Exec(`DELETE FROM password_links WHERE user_id = $1 AND kind = $2 AND site_id = $3`, l.UserID, l.Kind, l.SiteID)
	return err
}

// endPasswordLinks ends all links with which somebody can choose a password for a user.
func endPasswordLinks(tx *store.Tx, userID int64) error {
	_, err := tx.Exec(`DELETE FROM password_links WHERE user_id = $1 AND kind <> $2`, userID, Access)
	return err
}

// endLinksToSite ends the invitations of a user to a site.
func endLinksToSite(tx *store.Tx, siteID, userID int64) error {
	_, err := tx.Exec(`DELETE FROM password_links WHERE user_id = $1 AND site_id = $2`, userID, siteID)
	return err
}

// forgetLinks removes links that have ended, as many as the limit allows.
func forgetLinks(tx *store.Tx, limit int) (int64, error) {
	return tx.Exec(`DELETE FROM password_links WHERE (user_id, hash) IN (
		SELECT user_id, hash FROM password_links WHERE ends_at <= $1 ORDER BY ends_at LIMIT $2)`, store.Micros(tx.Now), limit)
}

// countAsk counts one more question of a subject, up to a limit in an hour that begins with the first of them. Beyond the limit it counts
// nothing, so that whoever goes on asking keeps nobody out, and returns how long the hour still lasts.
func countAsk(tx *store.Tx, subject string, limit int) (wait time.Duration, err error) {
	err = changeUser(tx, `INSERT INTO login_attempts (subject, failures, blocked_until, last_at) VALUES ($1, 1, $3, $2)
		ON CONFLICT (subject) DO UPDATE SET
			failures = 1 + CASE WHEN login_attempts.blocked_until <= $2 THEN 0 ELSE login_attempts.failures END,
			last_at = CASE WHEN login_attempts.blocked_until <= $2 THEN $2 ELSE login_attempts.last_at END,
			blocked_until = CASE WHEN login_attempts.blocked_until <= $2 THEN $3 ELSE login_attempts.blocked_until END
		WHERE login_attempts.blocked_until <= $2 OR login_attempts.failures < $4`,
		subject, store.Micros(tx.Now), store.Micros(tx.Now.Add(askLife)), limit)
	if !errors.Is(err, store.ErrNotFound) {
		return 0, err
	}
	until, err := BlockedUntil(tx, subject)
	return until.Sub(tx.Now), err
}

// noteAsked notes that a new password was asked for a name.
func noteAsked(tx *store.Tx, name, address string) error {
	_, err := tx.Exec(`INSERT INTO password_asks (name, address, asked_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING`,
		name, address, store.Micros(tx.Now))
	return err
}

// namesAsked lists names that wait for an answer, the first that was asked for first.
func namesAsked(tx *store.Tx, limit int) (names []string, err error) {
	err = tx.Each(`SELECT name FROM password_asks ORDER BY asked_at, name LIMIT $1`, []any{limit}, func(scan func(dest ...any) error) error {
		var name string
		err := scan(&name)
		names = append(names, name)
		return err
	})
	return names, err
}

// takeAsked takes a name out of the queue, or returns store.ErrNotFound: another process has it.
func takeAsked(tx *store.Tx, name string) (at time.Time, err error) {
	var asked int64
	err = tx.Row(`DELETE FROM password_asks WHERE name = $1 RETURNING asked_at`, []any{name}, &asked)
	return store.Instant(asked), err
}

// usersAsked are the users whom a name can mean: the one with this user name first, then those with this e-mail address. A user name can
// look like the address of somebody else, and must not keep the mail from them.
func usersAsked(tx *store.Tx, name string, limit int) (list []User, err error) {
	err = tx.Each(`SELECT `+userColumns+` FROM users WHERE username = $1 OR lower(email) = $1
			ORDER BY CASE WHEN username = $1 THEN 0 ELSE 1 END, id LIMIT $2`,
		[]any{name, limit}, func(scan func(dest ...any) error) error {
			u, err := scanUser(scan)
			list = append(list, u)
			return err
		})
	return list, err
}

// reuseUser gives a user who was invited, and never came, other data.
func reuseUser(tx *store.Tx, u User) error {
	err := changeUser(tx, `UPDATE users SET email = $2, display_name = $3, operator = $4, modified_at = $5, proven = $6 WHERE id = $1`,
		u.ID, u.Email, u.DisplayName, u.Operator, store.Micros(tx.Now), u.Proven)
	if err != nil {
		return err
	}
	return changedForTokensOf(tx, u.ID)
}

// setProven notes whether a user is known by the address, unless somebody has set another password meanwhile: then it returns
// store.ErrNotFound.
func setProven(tx *store.Tx, u User, proven bool) error {
	return changeUser(tx, `UPDATE users SET proven = $3 WHERE id = $1 AND password_hash = $2`, u.ID, u.PasswordHash, proven)
}

// lockAdmins keeps the member_admins of a site as they are until the write ends.
func lockAdmins(tx *store.Tx, siteID int64) error {
	_, err := tx.Exec(`UPDATE memberships SET role = role WHERE site_id = $1 AND role = $2`, siteID, access.MemberAdmin)
	return err
}

func countAdmins(tx *store.Tx, siteID int64) (n int, err error) {
	err = tx.Row(`SELECT COUNT(*) FROM memberships WHERE site_id = $1 AND role = $2`, []any{siteID, access.MemberAdmin}, &n)
	return n, err
}
