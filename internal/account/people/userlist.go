package people

import (
	"slices"
	"strings"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// UserRow is a user in a list, with what they may do on one site. A user of several sites has a row for each. An operator may
// do everything on all sites, and has one row without a site.
type UserRow struct {
	User
	Membership Membership
	SitePath   string // "" for a user without a site
	// InvitedUntil is the end of an open invitation; zero for none.
	InvitedUntil time.Time
}

// UserFilter picks users from a list. An empty field picks all.
type UserFilter struct {
	SiteID int64
	UserID int64
	Find   string // a part of the user name, the name or the e-mail address
}

// UsersPage reads a page, and one row more if there is a next one.
func UsersPage(tx *store.Tx, f UserFilter, page store.Page) (rows []UserRow, err error) {
	direction := "ASC"
	if page.Descending {
		direction = "DESC"
	}
	query := `SELECT ` + userColumns + `, member_site, member_role, member_pays, member_accepted, member_path, COALESCE((SELECT MAX(ends_at)
			FROM password_links l WHERE l.user_id = listed.id AND l.site_id = member_site AND l.kind IN ('invitation', 'access') AND l.ends_at > $4), 0)
		FROM (
			SELECT u.*, COALESCE(m.site_id, 0) AS member_site, COALESCE(m.role, '') AS member_role,
				COALESCE(m.can_sign_off_payout, FALSE) AS member_pays, COALESCE(m.accepted, TRUE) AS member_accepted, COALESCE(s.path, '') AS member_path
			FROM users u LEFT JOIN memberships m ON m.user_id = u.id LEFT JOIN sites s ON s.id = m.site_id) listed
		WHERE ($1 = 0 OR member_site = $1) AND ($6 = 0 OR id = $6) AND ($5 = '' OR lower(username || ' ' || display_name || ' ' || email) LIKE $5 ESCAPE '\')
		ORDER BY id ` + direction + `, member_site ` + direction + ` LIMIT $2 OFFSET $3`
	err = tx.Query(query, []any{f.SiteID, page.Size + 1, page.Skip(), store.Micros(tx.Now), containing(f.Find), f.UserID}, func(scan func(dest ...any) error) error {
		var r UserRow
		var until int64
		user, err := scanUser(func(dest ...any) error {
			return scan(append(dest, &r.Membership.SiteID, &r.Membership.Role, &r.Membership.CanSignOffPayout, &r.Membership.Accepted, &r.SitePath, &until)...)
		})
		r.User, r.Membership.UserID = user, user.ID
		if until > 0 {
			r.InvitedUntil = store.Instant(until)
		}
		rows = append(rows, r)
		return err
	})
	return rows, err
}

// containing is the pattern of LIKE for a part of a text; "" for no text.
func containing(text string) string {
	if text = strings.ToLower(strings.TrimSpace(text)); text == "" {
		return ""
	}
	return "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(text) + "%"
}

// Managers returns the e-mail addresses of the people who manage a site, without duplicates and at most limit. These are its member_admins,
// except open invitations. If none of them has an address, they are the operators.
func Managers(tx *store.Tx, siteID int64, limit int) ([]string, error) {
	found, err := addressesOf(tx, `SELECT u.email FROM users u JOIN memberships m ON m.user_id = u.id
		WHERE m.site_id = $1 AND m.role = $2 AND m.accepted AND u.email <> '' ORDER BY u.id LIMIT $3`, siteID, access.MemberAdmin, limit)
	if err != nil || len(found) > 0 {
		return found, err
	}
	return Operators(tx, siteID, limit)
}

// Signers returns the e-mail addresses of the people who may sign off the payouts of a site, without duplicates and at most limit. These are
// the members with can_sign_off_payout, except read_only and open invitations. If none of them has an address, they are the operators.
func Signers(tx *store.Tx, siteID int64, limit int) ([]string, error) {
	found, err := addressesOf(tx, `SELECT u.email FROM users u JOIN memberships m ON m.user_id = u.id
		WHERE m.site_id = $1 AND m.can_sign_off_payout AND m.role <> $2 AND m.accepted AND u.email <> ''
		ORDER BY u.id LIMIT $3`, siteID, access.ReadOnly, limit)
	if err != nil || len(found) > 0 {
		return found, err
	}
	return Operators(tx, siteID, limit)
}

// Operators reads the addresses of the operator's people, each once. They are the same for each site.
func Operators(tx *store.Tx, _ int64, limit int) ([]string, error) {
	return addressesOf(tx, `SELECT email FROM users WHERE operator AND email <> '' ORDER BY id LIMIT $1`, limit)
}

func addressesOf(tx *store.Tx, query string, args ...any) (list []string, err error) {
	err = tx.Query(query, args, func(scan func(dest ...any) error) error {
		var address string
		err := scan(&address)
		if !slices.Contains(list, address) {
			list = append(list, address)
		}
		return err
	})
	return list, err
}

// Invited reports whether the user has not accepted the invitation yet.
func (r UserRow) Invited() bool { return secrets.NoPassword(r.PasswordHash) || !r.Membership.Accepted }

// Role is operator, or the role on the site; "" for none.
func (r UserRow) Role() access.Role {
	if r.Operator {
		return access.Operator
	}
	return r.Membership.Role
}
