// Package identity keeps users, their access to sites, their sessions and their API tokens. It owns users,
// memberships, recovery_codes, api_tokens, jwt_keys, login_attempts, refresh_families, sign_ins and password_*. Begin reading at Sessions.
package identity

import (
	"context"
	"errors"
	"runtime"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/loginline"
	"holdfast/internal/merchants"
	"holdfast/internal/travel"
)

// Sessions lets users log in, and finds out who sends a request.
type Sessions struct {
	*core.Core
	keys   *keys
	tokens *Tokens
	memory memory
	// The lines of logins whose passwords wait to be hashed. Strangers have three places at most, and leave one processor free for all
	// others: more would only take memory. Devices that have logged in before have a place of their own: whatever strangers send, they do
	// not wait for it.
	strangers, devices *loginline.Line
}

// NewSessions makes the use cases.
func NewSessions(core *core.Core, tokens *Tokens) *Sessions {
	core.Sealed.Register(sealedColumns...)
	return &Sessions{
		Core: core, keys: &keys{Core: core}, tokens: tokens,
		strangers: loginline.New(min(3, max(1, runtime.NumCPU()-1)), 16, 64), devices: loginline.New(1, 2, 16),
	}
}

// Authenticate finds out who sends a request to the site with a path, and which role this user has there now. bearer
// is an API token or an access token; address is where the request comes from. Errors come in this order: wrong credentials, no access to the site, no such site.
// Only an operator, who has access to all sites, learns that a site does not exist. Everybody else gets the same answer as
// for a site that is not theirs.
func (s *Sessions) Authenticate(ctx context.Context, path, bearer, address string) (auth.Actor, error) {
	switch {
	case bearer == "":
		return auth.Actor{}, errNotLoggedIn()
	case auth.IsAPIToken(bearer):
		return s.byToken(ctx, path, bearer, address)
	default:
		return s.byAccess(ctx, path, bearer)
	}
}

func (s *Sessions) byToken(ctx context.Context, path, bearer, address string) (auth.Actor, error) {
	id, secret, ok := auth.ParseToken(bearer)
	if !ok {
		return auth.Actor{}, errTokenInvalid()
	}
	var caller Caller
	var elsewhere bool
	err := s.Store.Lookup(ctx, db.Deployment, func(tx *db.Tx) (err error) {
		caller, err = CallerByToken(tx, path, id)
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		// A token of another site is judged there, by the clock of its own site. Most that come here are of none.
		elsewhere = true
		err = s.Store.Lookup(ctx, db.Deployment, func(tx *db.Tx) error {
			own, err := siteOfToken(tx, id)
			if err == nil {
				caller, err = CallerByToken(tx, own, id)
			}
			if errors.Is(err, db.ErrNotFound) {
				return nil
			}
			return err
		})
	}
	if err != nil {
		return auth.Actor{}, err
	}
	now := s.Clock()
	actor, err := caller.enter(secret, address, elsewhere, now)
	if err != nil {
		return auth.Actor{}, err
	}
	s.tokens.used(caller.Token, now)
	s.memory.keep(tokenAt{path, id}, caller, now)
	return actor, nil
}

// enter says who comes with an API token and its secret, and whether they may, by what was read of the caller. elsewhere: the token is one
// of another site.
func (c *Caller) enter(secret, address string, elsewhere bool, now time.Time) (auth.Actor, error) {
	if !auth.SecretMatches(c.Token.SecretHash, secret) || auth.TokenExpired(c.Token.ExpiresAt, now.Add(c.Ahead)) {
		return auth.Actor{}, errTokenInvalid()
	}
	actor, ok := c.User.ActorAt(c.Membership)
	switch {
	case !ok: // its creator's access ends in this moment, and the token with it
		return auth.Actor{}, errTokenInvalid()
	case elsewhere:
		return auth.Actor{}, errOtherSite()
	case !c.Token.ComesFrom(address):
		return auth.Actor{}, fault.New(fault.Forbidden, "This API token may not be used from this address.")
	}
	actor.TokenID, actor.Abilities, actor.Ahead = c.Token.ID, c.Token.Abilities, c.Ahead
	return actor, nil
}

func (s *Sessions) byAccess(ctx context.Context, path, bearer string) (auth.Actor, error) {
	claims, err := s.keys.verify(ctx, bearer, auth.Access)
	if err != nil {
		return auth.Actor{}, err
	}
	var caller Caller
	var aheadThen time.Duration
	err = s.Store.Lookup(ctx, db.Deployment, func(tx *db.Tx) (err error) {
		if caller, err = CallerByUser(tx, path, claims.UserID, claims.KeyID, claims.Family); err != nil || caller.Ahead == 0 {
			return err
		}
		// A JWT gives its instants in whole seconds. A clock move in the second of its issue may have come before it.
		aheadThen, err = core.AheadAt(tx, caller.Membership.SiteID, claims.IssuedAt.Add(time.Second))
		return err
	})
	switch {
	case errors.Is(err, db.ErrNotFound): // no such user
		return auth.Actor{}, errJWTInvalid()
	case err != nil:
		return auth.Actor{}, err
	case caller.User.RefreshGeneration != claims.Generation:
		return auth.Actor{}, errJWTInvalid()
	case !caller.Stands: // its family has ended, or its key was revoked after this process read the keys
		return auth.Actor{}, errJWTInvalid()
	}
	actor, ok := caller.User.ActorAt(caller.Membership)
	switch {
	case !ok:
		return auth.Actor{}, errOtherSite()
	case actor.SiteID == 0:
		return auth.Actor{}, errNoSite()
	// A JWT is for all sites of its user, and its instants are those of the real clock. If the clock of this site was
	// moved after its issue, it has lived longer here by that much.
	case !s.Clock().Add(caller.Ahead - aheadThen).Before(claims.ExpiresAt):
		return auth.Actor{}, errJWTInvalid()
	}
	actor.Ahead = caller.Ahead
	return actor, nil
}

// Refresh opens a session with a refresh token. One that rotates is used up by it, and the session has the next (see
// Login.Rotate). path is the site's, or "" as in Login.
func (s *Sessions) Refresh(ctx context.Context, path, bearer string) (Session, error) {
	user, claims, err := s.userOf(ctx, bearer, auth.Refresh)
	if err != nil {
		return Session{}, err
	}
	return s.open(ctx, user, path, func() (family, error) { return s.rotate(ctx, user, claims) })
}

// EndRefresh ends the refresh token of a user, and with it all access tokens that came from it, for every process at
// once. bearer says which: it is an access token or the refresh token itself. A token of a family ends this family alone. Any
// other ends all sessions of the user, those of families too. path is the site's, or "" as in Login.
func (s *Sessions) EndRefresh(ctx context.Context, path, bearer string) error {
	user, claims, err := s.userOf(ctx, bearer, auth.Access)
	if fault.Is(err, fault.JWTInvalid) {
		user, claims, err = s.userOf(ctx, bearer, auth.Refresh)
	}
	if err != nil {
		return err
	}
	err = s.Store.Write(ctx, func(tx *db.Tx) error {
		if path != "" {
			if _, _, err := entrance(tx, user, path); err != nil {
				return err
			}
		}
		if id := claims.FamilyID(); id != "" {
			return endFamily(tx, user.ID, id)
		}
		return endRefresh(tx, user.ID, user.RefreshGeneration)
	})
	if errors.Is(err, db.ErrNotFound) { // another request has just ended it
		return nil
	}
	return err
}

// entrance reads the site with a path and the actor that a user is there. The errors are those of Authenticate.
func entrance(tx *db.Tx, user auth.User, path string) (travel.Site, auth.Actor, error) {
	caller, err := CallerByUser(tx, path, user.ID, "", "")
	if err != nil {
		return travel.Site{}, auth.Actor{}, err
	}
	actor, ok := user.ActorAt(caller.Membership)
	switch {
	case !ok:
		return travel.Site{}, auth.Actor{}, errOtherSite()
	case actor.SiteID == 0:
		return travel.Site{}, auth.Actor{}, errNoSite()
	}
	site, err := merchants.SiteAt(tx, path)
	actor.Ahead = site.ClockAhead
	return site, actor, err
}

// userOf reads the user whose JWT this is, and what it says. It refuses a JWT of another kind.
func (s *Sessions) userOf(ctx context.Context, bearer string, kind auth.Kind) (auth.User, auth.Claims, error) {
	if bearer == "" {
		return auth.User{}, auth.Claims{}, errNotLoggedIn()
	}
	claims, err := s.keys.verify(ctx, bearer, kind)
	if err != nil {
		return auth.User{}, auth.Claims{}, err
	}
	var user auth.User
	var stands bool
	err = s.Store.Read(ctx, db.Deployment, func(tx *db.Tx) (err error) {
		if user, err = User(tx, claims.UserID); errors.Is(err, db.ErrNotFound) {
			return errJWTInvalid()
		} else if err != nil {
			return err
		}
		if stands, err = jwtKeyStands(tx, claims.KeyID); err != nil || !stands {
			return err
		}
		stands, err = familyStands(tx, claims)
		return err
	})
	if err != nil {
		return auth.User{}, auth.Claims{}, err
	}
	if !stands || claims.Generation != user.RefreshGeneration {
		return auth.User{}, auth.Claims{}, errJWTInvalid()
	}
	// Each generation has one refresh token that does not rotate. With a key alone nobody can make it, because its issue is in
	// the database. Nor one that rotates, because of its secret.
	if kind == auth.Refresh && claims.Secret == "" && !claims.IssuedAt.Equal(user.RefreshBeganAt.Truncate(time.Second)) {
		return auth.User{}, auth.Claims{}, errJWTInvalid()
	}
	return user, claims, nil
}

// LoginKey is a key that signs or verifies logins, without its secret.
type LoginKey struct {
	ID        string
	CreatedAt time.Time
	RetiredAt time.Time // zero while it signs
}

// LoginKeys lists the keys of logins, the oldest first.
func (s *Sessions) LoginKeys(ctx context.Context, actor auth.Actor) (list []LoginKey, err error) {
	if err := actor.Require(auth.ManageUsers); err != nil {
		return nil, err
	}
	err = s.Store.Read(ctx, db.Deployment, func(tx *db.Tx) error {
		keys, err := JWTKeys(tx)
		list = nil
		for _, k := range keys {
			list = append(list, LoginKey{k.ID, k.CreatedAt, k.RetiredAt})
		}
		return err
	})
	return list, err
}

// RevokeKey ends a key of logins and all that it has signed, at once and for every process.
func (s *Sessions) RevokeKey(ctx context.Context, actor auth.Actor, id string) error {
	if err := actor.Require(auth.ManageUsers); err != nil {
		return err
	}
	return s.keys.revoke(ctx, actor, id)
}

// RotateKeys makes a new key, which signs JWTs from now on. JWTs that older keys signed stay valid.
func (s *Sessions) RotateKeys(ctx context.Context, actor auth.Actor) error {
	if err := actor.Require(auth.ManageUsers); err != nil {
		return err
	}
	return s.keys.rotate(ctx, actor)
}

func errNotLoggedIn() error {
	return fault.New(fault.NotLoggedIn, "You are not currently logged in.")
}

func errTokenInvalid() error {
	return fault.New(fault.TokenInvalid, "The API token is not valid.")
}

func errJWTInvalid() error {
	return fault.New(fault.JWTInvalid, "The token is not valid or has expired.")
}

func errOtherSite() error {
	return fault.New(fault.Forbidden, "Your account has no access to this site.")
}

// errNoSite is the answer to an operator alone.
func errNoSite() error { return fault.New(fault.NoRoute, "There is no such site.") }
