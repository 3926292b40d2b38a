package people

import (
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/store"
)

const linkColumns = `user_id, hash, secret, kind, site_id, made_at, ends_at, address`

// InsertLink stores a link.
func InsertLink(tx *store.Tx, l Link) error {
	_, err := tx.Exec(`INSERT INTO password_links (`+linkColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		l.UserID, l.Hash, l.Sealed, l.Kind, l.SiteID, store.Micros(l.MadeAt), store.Micros(l.EndsAt), l.NewAddress)
	return err
}

// OpenLink reads a link that has not ended, or returns store.ErrNotFound.
func OpenLink(tx *store.Tx, hash string) (l Link, err error) {
	var made, ends int64
	err = tx.QueryRow(`SELECT `+linkColumns+` FROM password_links WHERE hash = $1 AND ends_at > $2`, []any{hash, store.Micros(tx.Now)},
		&l.UserID, &l.Hash, &l.Sealed, &l.Kind, &l.SiteID, &made, &ends, &l.NewAddress)
	l.MadeAt, l.EndsAt = store.Instant(made), store.Instant(ends)
	return l, err
}

// UseLink ends an open link. Without one it returns store.ErrNotFound: of two who use it at the same time one comes first.
func UseLink(tx *store.Tx, hash string) error {
	return store.ExecOne(tx, `DELETE FROM password_links WHERE hash = $1 AND ends_at > $2`, hash, store.Micros(tx.Now))
}

// EndLinksLike ends the links of a user of one kind and site.
func EndLinksLike(tx *store.Tx, l Link) error {
	_, err := tx.Exec(`DELETE FROM password_links WHERE user_id = $1 AND kind = $2 AND site_id = $3`, l.UserID, l.Kind, l.SiteID)
	return err
}

// EndPasswordLinks revokes all links for choosing a user's password.
func EndPasswordLinks(tx *store.Tx, userID int64) error {
	_, err := tx.Exec(`DELETE FROM password_links WHERE user_id = $1 AND kind <> $2`, userID, Access)
	return err
}

// EndLinksToSite ends the invitations of a user to a site.
func EndLinksToSite(tx *store.Tx, siteID, userID int64) error {
	_, err := tx.Exec(`DELETE FROM password_links WHERE user_id = $1 AND site_id = $2`, userID, siteID)
	return err
}

// ForgetLinks removes links that have ended, as many as the limit allows.
func ForgetLinks(tx *store.Tx, limit int) (int64, error) {
	return tx.Exec(`DELETE FROM password_links WHERE (user_id, hash) IN (
		SELECT user_id, hash FROM password_links WHERE ends_at <= $1 ORDER BY ends_at LIMIT $2)`, store.Micros(tx.Now), limit)
}

// NoteAsked records a password reset request for a name.
func NoteAsked(tx *store.Tx, name, address string) error {
	_, err := tx.Exec(`INSERT INTO password_asks (name, address, asked_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING`,
		name, address, store.Micros(tx.Now))
	return err
}

// NamesAsked lists names with a pending reset request, oldest request first.
func NamesAsked(tx *store.Tx, limit int) (names []string, err error) {
	err = tx.Query(`SELECT name FROM password_asks ORDER BY asked_at, name LIMIT $1`, []any{limit}, func(scan func(dest ...any) error) error {
		var name string
		err := scan(&name)
		names = append(names, name)
		return err
	})
	return names, err
}

// TakeAsked takes a name out of the queue, or returns store.ErrNotFound: another process has it.
func TakeAsked(tx *store.Tx, name string) (at time.Time, err error) {
	var asked int64
	err = tx.QueryRow(`DELETE FROM password_asks WHERE name = $1 RETURNING asked_at`, []any{name}, &asked)
	return store.Instant(asked), err
}

// UsersAsked are the users that a name can refer to: the one with this user name first, then those with this e-mail
// address. A user name can look like someone else's address, and must not block their mail.
func UsersAsked(tx *store.Tx, name string, limit int) (list []User, err error) {
	err = tx.Query(`SELECT `+userColumns+` FROM users WHERE username = $1 OR lower(email) = $1
			ORDER BY CASE WHEN username = $1 THEN 0 ELSE 1 END, id LIMIT $2`,
		[]any{name, limit}, func(scan func(dest ...any) error) error {
			u, err := scanUser(scan)
			list = append(list, u)
			return err
		})
	return list, err
}

// ReuseUser overwrites the data of a user who was invited but never joined.
func ReuseUser(tx *store.Tx, u User) error {
	return store.ExecOne(tx, `UPDATE users SET email = $2, display_name = $3, operator = $4, modified_at = $5, proven = $6 WHERE id = $1`,
		u.ID, u.Email, u.DisplayName, u.Operator, store.Micros(tx.Now), u.Proven)
}

// SetProven records whether a user's address is verified, unless the password has changed in the meantime: then it returns
// store.ErrNotFound.
func SetProven(tx *store.Tx, u User, proven bool) error {
	return store.ExecOne(tx, `UPDATE users SET proven = $3 WHERE id = $1 AND password_hash = $2`, u.ID, u.PasswordHash, proven)
}

// LockAdmins keeps the member_admins of a site as they are until the write ends.
func LockAdmins(tx *store.Tx, siteID int64) error {
	_, err := tx.Exec(`UPDATE memberships SET role = role WHERE site_id = $1 AND role = $2`, siteID, access.MemberAdmin)
	return err
}

// CountAdmins counts the people who manage a site, without open invitations.
func CountAdmins(tx *store.Tx, siteID int64) (n int, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM memberships WHERE site_id = $1 AND role = $2 AND accepted`, []any{siteID, access.MemberAdmin}, &n)
	return n, err
}
