package sessions

import (
	"database/sql"
	"time"

	"holdfast/internal/account/people"
	"holdfast/internal/account/tokens"
	"holdfast/internal/domain/access"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Caller is what every request needs to know about who sent it. One query reads it: the user, the site of the path, the
// user's present role there, and the API token if it was sent. If one of these is missing, its id is 0.
type Caller struct {
	User       people.User // without the fields that only a login needs
	Membership people.Membership
	Token      tokens.APIToken
	Ahead      time.Duration // how far the site's clock is ahead of the real one
	Stands     bool          // of an access token: its key was not revoked, and its family has not ended
	Version    int64         // of the site, with an API token: another one when any of this may have changed; 0: the site has none
}

// callerColumns are the columns that Caller.dest takes: s is the site, m the membership, u the user.
const callerColumns = `COALESCE(s.id, 0), COALESCE(s.clock_ahead, 0), u.id, u.username, u.display_name, u.operator,
	u.refresh_generation, COALESCE(m.role, ''), COALESCE(m.can_sign_off_payout, FALSE)`

// dest says where callerColumns go. The caller's Ahead is read into ahead, as microseconds.
func (c *Caller) dest(ahead *int64, more ...any) []any {
	return append([]any{&c.Membership.SiteID, ahead, &c.User.ID, &c.User.Username, &c.User.DisplayName, &c.User.Operator,
		&c.User.RefreshGeneration, &c.Membership.Role, &c.Membership.CanSignOffPayout}, more...)
}

// CallerByUser reads a user at the site with a path. Without such a user it returns store.ErrNotFound. Without such a site
// the user has no role. keyID is the key of the user's access token, and family its family or "": the same statement
// checks whether they are valid. In a cluster, only the coordinator has families; the rest is on every node.
func CallerByUser(tx *store.Tx, path string, userID int64, keyID, family string) (c Caller, err error) {
	var ahead int64
	inFamily, args := "", []any{keyID, path, userID}
	if family != "" {
		inFamily, args = ` AND EXISTS (SELECT 1 FROM refresh_families f WHERE f.user_id = u.id AND f.id = $4)`, append(args, family)
	}
	err = tx.QueryRow(`SELECT `+callerColumns+`, EXISTS (SELECT 1 FROM jwt_keys k WHERE k.id = $1)`+inFamily+`
		FROM users u
		LEFT JOIN sites s ON s.path = $2
		LEFT JOIN memberships m ON m.site_id = s.id AND m.user_id = u.id
		WHERE u.id = $3`, args, c.dest(&ahead, &c.Stands)...)
	c.Ahead = sites.Microseconds(ahead)
	return c, err
}

// CallerByToken reads an API token of a site, and the user who made it. If the site has no such token, it returns store.ErrNotFound.
func CallerByToken(tx *store.Tx, siteID, tokenID int64) (c Caller, err error) {
	var ahead int64
	var used, expires sql.NullInt64
	var limits tokens.Limits
	err = tx.QueryRow(`SELECT `+callerColumns+`, t.id, t.secret_hash, t.abilities, t.addresses, l.used_at, t.expires_at,
			COALESCE(v.version, 0)
		FROM site_places p JOIN sites s ON s.id = p.site_id
		JOIN api_tokens t ON t.site_id = s.id AND t.id = $2
		JOIN users u ON u.id = t.user_id
		LEFT JOIN memberships m ON m.site_id = s.id AND m.user_id = u.id
		LEFT JOIN site_versions v ON v.site_id = p.site_id
		LEFT JOIN token_uses l ON l.site_id = p.site_id AND l.token_id = t.id
		WHERE p.site_id = $1`, []any{siteID, tokenID}, c.dest(&ahead, &c.Token.ID, &c.Token.SecretHash, &limits.Abilities,
		&limits.Addresses, &used, &expires, &c.Version)...)
	if err != nil {
		return c, err
	}
	c.Ahead, c.Token.SiteID = sites.Microseconds(ahead), c.Membership.SiteID
	c.Token.LastUsedAt, c.Token.ExpiresAt = store.MaybeInstant(used), store.MaybeInstant(expires)
	return c, limits.Read(&c.Token)
}

// AccessNow reads who a user is on a site now, with the rights that they have now. It is for work that is done later than it was
// requested. tokenID is the API token of the request, or 0; userID is 0 for the program itself. The error is
// store.ErrNotFound when the user no longer has access, or when the token has been deleted or has expired.
func AccessNow(tx *store.Tx, siteID, userID, tokenID int64) (access.Actor, error) {
	site, err := sites.Alone(tx, siteID)
	if err != nil {
		return access.Actor{}, err
	}
	actor := access.System(siteID)
	actor.Ahead = site.ClockAhead
	if userID == 0 {
		return actor, nil
	}
	var caller Caller
	if tokenID != 0 {
		caller, err = CallerByToken(tx, siteID, tokenID)
	} else {
		caller, err = CallerByUser(tx, site.Path, userID, "", "")
	}
	if err != nil {
		return access.Actor{}, err
	}
	now := sites.RealNow(tx).Add(caller.Ahead)
	actor, ok := caller.User.ActorAt(caller.Membership)
	if !ok || caller.User.ID != userID || secrets.TokenExpired(caller.Token.ExpiresAt, now) {
		return access.Actor{}, store.ErrNotFound
	}
	actor.TokenID, actor.Abilities, actor.Ahead = caller.Token.ID, caller.Token.Abilities, caller.Ahead
	return actor, nil
}
