package identity

import (
	"database/sql"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/db"
)

// Caller is what every request needs to know about who sent it. One query reads it: the site of the path, the user,
// the user's present role there, and the API token if there is one. The id of what is missing is 0.
type Caller struct {
	User       auth.User // without the fields that only a login needs
	Membership auth.Membership
	Token      auth.APIToken
	Ahead      time.Duration // how far the site's clock is ahead of the real one
}

const callerColumns = `s.id, s.clock_ahead, COALESCE(u.id, 0), COALESCE(u.username, ''), COALESCE(u.display_name, ''),
	COALESCE(u.operator, FALSE), COALESCE(u.password_epoch, 0), COALESCE(m.role, ''), COALESCE(m.can_sign_off_payout, FALSE)`

func (c *Caller) dest(ahead *int64) []any {
	return []any{&c.Membership.SiteID, ahead, &c.User.ID, &c.User.Username, &c.User.DisplayName, &c.User.Operator,
		&c.User.PasswordEpoch, &c.Membership.Role, &c.Membership.CanSignOffPayout}
}

// CallerByUser reads a user at the site with a path. Without such a site it returns db.ErrNotFound.
func CallerByUser(tx *db.Tx, path string, userID int64) (Caller, error) {
	var c Caller
	var ahead int64
	err := tx.Row(`SELECT `+callerColumns+`
		FROM sites s
		LEFT JOIN users u ON u.id = $2
		LEFT JOIN memberships m ON m.site_id = s.id AND m.user_id = u.id
		WHERE s.path = $1`, []any{path, userID}, c.dest(&ahead)...)
	c.Ahead = core.Microseconds(ahead)
	return c, err
}

// CallerByToken reads an API token of the site with a path, and the user who made it. Without such a site it returns
// db.ErrNotFound.
func CallerByToken(tx *db.Tx, path string, tokenID int64) (Caller, error) {
	var c Caller
	var ahead int64
	var used, expires sql.NullInt64
	err := tx.Row(`SELECT `+callerColumns+`, COALESCE(t.id, 0), COALESCE(t.secret_hash, ''), t.last_used_at, t.expires_at
		FROM sites s
		LEFT JOIN api_tokens t ON t.site_id = s.id AND t.id = $2
		LEFT JOIN users u ON u.id = t.user_id
		LEFT JOIN memberships m ON m.site_id = s.id AND m.user_id = u.id
		WHERE s.path = $1`, []any{path, tokenID},
		append(c.dest(&ahead), &c.Token.ID, &c.Token.SecretHash, &used, &expires)...)
	c.Ahead, c.Token.SiteID = core.Microseconds(ahead), c.Membership.SiteID
	c.Token.LastUsedAt, c.Token.ExpiresAt = db.MaybeInstant(used), db.MaybeInstant(expires)
	return c, err
}
