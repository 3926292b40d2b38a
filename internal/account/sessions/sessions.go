// Package sessions handles sign-in, authenticates requests, and changes what people may do. It owns the tables
// jwt_keys, login_attempts, refresh_families and sign_ins. Start at Sessions.
package sessions

import (
	"context"
	"errors"
	"time"

	"holdfast/internal/account/credentials"
	"holdfast/internal/account/people"
	"holdfast/internal/account/tokens"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/lib/cache"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Sessions logs users in and authenticates requests.
type Sessions struct {
	*people.Room
	keys    *keys
	tokens  *tokens.Tokens
	callers cache.Cache[tokenAt, Caller] // callers authenticated with an API token during the last minute
	hashing hashing
}

// NewSessions makes the use cases.
func NewSessions(room *people.Room, tokens *tokens.Tokens) *Sessions {
	room.Vault.Register(sealedColumns...)
	return &Sessions{Room: room, keys: &keys{Room: room}, tokens: tokens, hashing: newHashing()}
}

// Authenticate identifies the caller of a request to the site with a path, and the role this user has there now. bearer
// is an API token or an access token; address is where the request comes from. Errors come in this order: wrong credentials, no access to the site, no such site.
// Only operators, who have access to all sites, see that a site does not exist. Everyone else gets the same response as
// for a site that is not theirs.
func (s *Sessions) Authenticate(ctx context.Context, path, bearer, address string) (access.Actor, error) {
	switch {
	case bearer == "":
		return access.Actor{}, errNotLoggedIn()
	case secrets.IsAPIToken(bearer):
		return s.byToken(ctx, path, bearer, address)
	default:
		return s.byAccess(ctx, path, bearer)
	}
}

func (s *Sessions) byToken(ctx context.Context, path, bearer, address string) (access.Actor, error) {
	id, secret, ok := secrets.ParseToken(bearer)
	if !ok {
		return access.Actor{}, errTokenInvalid()
	}
	at, now := tokenAt{path, id}, s.Clock()
	caller, cached, err := s.cached(ctx, at, now)
	elsewhere := false
	if err == nil && !cached {
		caller, elsewhere, err = s.lookUp(ctx, at)
	}
	if err != nil {
		return access.Actor{}, err
	}
	actor, err := caller.enter(secret, address, elsewhere, now)
	if err != nil || cached {
		return actor, err
	}
	s.tokens.Used(caller.Token, now)
	if now.Sub(caller.Token.LastUsedAt) >= tokens.TouchEvery {
		caller.Token.LastUsedAt = now // it is being recorded
	}
	if caller.Version != 0 {
		s.callers.Put(at, caller)
	}
	return actor, nil
}

// tokenAt is an API token, and the path of the site to which it was sent.
type tokenAt struct {
	path string
	id   int64
}

// cached returns a cached caller, unless something of the site has changed since (see sites.Changed), or the use of the
// token has to be recorded again.
func (s *Sessions) cached(ctx context.Context, at tokenAt, now time.Time) (caller Caller, ok bool, err error) {
	caller, ok = s.callers.Get(at)
	if !ok || now.Sub(caller.Token.LastUsedAt) >= tokens.TouchEvery {
		return Caller{}, false, nil
	}
	var version int64
	err = s.Store.Lookup(ctx, caller.Token.SiteID, func(tx *store.Tx) (err error) {
		version, err = sites.Version(tx, caller.Token.SiteID)
		return err
	})
	return caller, err == nil && version == caller.Version, err
}

// lookUp reads the owner of an API token. elsewhere: the token belongs to another site.
func (s *Sessions) lookUp(ctx context.Context, at tokenAt) (caller Caller, elsewhere bool, err error) {
	var site, own int64
	err = s.Store.Lookup(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		if own, err = tokens.SiteOfToken(tx, at.id); err == nil {
			site, err = sites.IDAt(tx, at.path)
		}
		return err
	})
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return caller, false, err
	case own == 0:
		return caller, true, nil
	}
	// A token of another site is judged there, by the clock of its own site.
	err = s.Store.Lookup(ctx, own, func(tx *store.Tx) (err error) {
		caller, err = CallerByToken(tx, own, at.id)
		return err
	})
	if errors.Is(err, store.ErrNotFound) { // it has just been deleted
		err = nil
	}
	return caller, own != site, err
}

// enter authenticates an API token with its secret, based on the stored data of the caller. elsewhere: the token is one
// of another site.
func (c *Caller) enter(secret, address string, elsewhere bool, now time.Time) (access.Actor, error) {
	if !secrets.SecretMatches(c.Token.SecretHash, secret) || secrets.TokenExpired(c.Token.ExpiresAt, now.Add(c.Ahead)) {
		return access.Actor{}, errTokenInvalid()
	}
	actor, ok := c.User.ActorAt(c.Membership)
	switch {
	case !ok: // its creator's access ends in this moment, and the token with it
		return access.Actor{}, errTokenInvalid()
	case elsewhere:
		return access.Actor{}, access.ErrOtherSite()
	case !c.Token.ComesFrom(address):
		return access.Actor{}, errs.New(errs.Forbidden, "This API token cannot be used from this IP address.")
	}
	actor.TokenID, actor.Abilities, actor.Ahead = c.Token.ID, c.Token.Abilities, c.Ahead
	return actor, nil
}

func (s *Sessions) byAccess(ctx context.Context, path, bearer string) (access.Actor, error) {
	claims, err := s.keys.verify(ctx, bearer, credentials.Access)
	if err != nil {
		return access.Actor{}, err
	}
	var caller Caller
	var aheadThen time.Duration
	err = s.Store.Lookup(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		if caller, err = CallerByUser(tx, path, claims.UserID, claims.KeyID, claims.Family); err != nil || caller.Ahead == 0 {
			return err
		}
		// A JWT gives its instants in whole seconds. A clock move in the second of its issue may have come before it.
		aheadThen, err = sites.AheadAt(tx, caller.Membership.SiteID, claims.IssuedAt.Add(time.Second))
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound): // no such user
		return access.Actor{}, errJWTInvalid()
	case err != nil:
		return access.Actor{}, err
	case caller.User.RefreshGeneration != claims.Generation:
		return access.Actor{}, errJWTInvalid()
	case !caller.Stands: // its family has ended, or its key was revoked after this process read the keys
		return access.Actor{}, errJWTInvalid()
	}
	actor, ok := caller.User.ActorAt(caller.Membership)
	switch {
	case !ok:
		return access.Actor{}, access.ErrOtherSite()
	case actor.SiteID == 0:
		return access.Actor{}, errNoSite()
	// A JWT is for all sites of its user, and its times are by the real clock. If the clock of this site was moved
	// after its issue, it has lived longer here by that much.
	case !s.Clock().Add(caller.Ahead - aheadThen).Before(claims.ExpiresAt):
		return access.Actor{}, errJWTInvalid()
	}
	actor.Ahead = caller.Ahead
	return actor, nil
}

// Refresh opens a session with a refresh token. One that rotates is used up by it, and the session has the next (see
// Login.Rotate). path is the site's, or "" as in Login.
func (s *Sessions) Refresh(ctx context.Context, path, bearer string) (Session, error) {
	user, claims, err := s.userOf(ctx, bearer, credentials.Refresh)
	if err != nil {
		return Session{}, err
	}
	return s.open(ctx, user, path, func() (family, error) { return s.rotate(ctx, user, claims) })
}

// EndRefresh ends the refresh token of a user, and with it all access tokens that came from it, for every process at
// once. bearer says which: it is an access token or the refresh token itself. A token of a family ends this family alone. Any
// other ends all sessions of the user, those of families too. path is the site's, or "" as in Login.
func (s *Sessions) EndRefresh(ctx context.Context, path, bearer string) error {
	user, claims, err := s.userOf(ctx, bearer, credentials.Access)
	if errs.Is(err, errs.JWTInvalid) {
		user, claims, err = s.userOf(ctx, bearer, credentials.Refresh)
	}
	if err != nil {
		return err
	}
	err = s.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		if path != "" {
			if _, _, err := entrance(tx, user, path); err != nil {
				return err
			}
		}
		if id := claims.FamilyID(); id != "" {
			return endFamily(tx, user.ID, id)
		}
		return endGeneration(tx, user.ID, user.RefreshGeneration)
	})
	if errors.Is(err, store.ErrNotFound) { // another request has just ended it
		return nil
	}
	return err
}

// entrance reads the site with a path and the actor that a user is there. The errors are those of Authenticate.
func entrance(tx *store.Tx, user people.User, path string) (merchant.Site, access.Actor, error) {
	caller, err := CallerByUser(tx, path, user.ID, "", "")
	if err != nil {
		return merchant.Site{}, access.Actor{}, err
	}
	actor, ok := user.ActorAt(caller.Membership)
	switch {
	case !ok:
		return merchant.Site{}, access.Actor{}, access.ErrOtherSite()
	case actor.SiteID == 0:
		return merchant.Site{}, access.Actor{}, errNoSite()
	}
	site, err := merchants.SiteAt(tx, path)
	actor.Ahead = site.ClockAhead
	return site, actor, err
}

// userOf reads the user and the claims of a JWT. It refuses a JWT of another kind.
func (s *Sessions) userOf(ctx context.Context, bearer string, kind credentials.Kind) (people.User, credentials.Claims, error) {
	if bearer == "" {
		return people.User{}, credentials.Claims{}, errNotLoggedIn()
	}
	claims, err := s.keys.verify(ctx, bearer, kind)
	if err != nil {
		return people.User{}, credentials.Claims{}, err
	}
	var user people.User
	var valid bool
	err = s.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		if user, err = people.UserByID(tx, claims.UserID); errors.Is(err, store.ErrNotFound) {
			return errJWTInvalid()
		} else if err != nil {
			return err
		}
		if valid, err = jwtKeyIsValid(tx, claims.KeyID); err != nil || !valid {
			return err
		}
		valid, err = familyIsValid(tx, claims)
		return err
	})
	if err != nil {
		return people.User{}, credentials.Claims{}, err
	}
	if !valid || claims.Generation != user.RefreshGeneration {
		return people.User{}, credentials.Claims{}, errJWTInvalid()
	}
	// Each generation has one refresh token that does not rotate. It cannot be forged with a key alone, because its issue is in
	// the database. Nor one that rotates, because of its secret.
	if kind == credentials.Refresh && claims.Secret == "" && !claims.IssuedAt.Equal(user.RefreshBeganAt.Truncate(time.Second)) {
		return people.User{}, credentials.Claims{}, errJWTInvalid()
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
func (s *Sessions) LoginKeys(ctx context.Context, actor access.Actor) (list []LoginKey, err error) {
	if err := actor.Require(access.ManageUsers); err != nil {
		return nil, err
	}
	err = s.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		keys, err := JWTKeys(tx)
		list = nil
		for _, k := range keys {
			list = append(list, LoginKey{k.ID, k.CreatedAt, k.RetiredAt})
		}
		return err
	})
	return list, err
}

// RevokeKey revokes a signing key and all tokens it has signed, immediately and in every process.
func (s *Sessions) RevokeKey(ctx context.Context, actor access.Actor, id string) error {
	if err := actor.Require(access.ManageUsers); err != nil {
		return err
	}
	return s.keys.revoke(ctx, actor, id)
}

// RotateKeys makes a new key, which signs JWTs from now on. JWTs that older keys signed stay valid.
func (s *Sessions) RotateKeys(ctx context.Context, actor access.Actor) error {
	if err := actor.Require(access.ManageUsers); err != nil {
		return err
	}
	return s.keys.rotate(ctx, actor)
}

func errNotLoggedIn() error {
	return errs.New(errs.NotLoggedIn, "You are not signed in.")
}

func errTokenInvalid() error {
	return errs.New(errs.TokenInvalid, "The API token is invalid.")
}

func errJWTInvalid() error {
	return errs.New(errs.JWTInvalid, "The token is invalid or has expired.")
}

// errNoSite is the answer to an operator alone.
func errNoSite() error { return errs.New(errs.NoRoute, "Site not found.") }
