package sessions

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/leases"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// How long people stay signed in to the dashboard, by the real clock.
const (
	SignInIdle   = 2 * time.Hour    // without a request
	SignInLife   = 12 * time.Hour   // in all
	ProofLife    = 10 * time.Minute // how long an entered password is accepted before it is asked for again
	seenEvery    = time.Minute      // a request within it writes nothing
	maxSignIns   = 50               // per user; one more ends the least recently used
	longestAgent = 200              // bytes of a User-Agent that are kept
)

// SignIn is one browser in which a user is signed in to the dashboard.
type SignIn struct {
	UserID     int64
	ID         string // the hash of what its cookie has
	Generation int64
	BeganAt    time.Time
	SeenAt     time.Time
	ProvenAt   time.Time // when the password was given last
	Address    string
	Browser    string
}

// Proven reports whether the password was entered recently enough not to be requested again.
func (s SignIn) Proven(now time.Time) bool { return now.Sub(s.ProvenAt) < ProofLife }

// isValid reports whether a sign-in is valid at an instant, for the current state of the user.
func (s SignIn) isValid(user people.User, now time.Time) bool {
	return s.Generation == user.RefreshGeneration && now.Sub(s.SeenAt) < SignInIdle && now.Sub(s.BeganAt) < SignInLife
}

// Visit is a request from a signed-in user.
type Visit struct {
	SignIn SignIn
	User   people.User
	// Actor is who they are on the site, with the rights that they have there now. On no site it is an operator of the whole
	// deployment, or a user who may only change their own account.
	Actor access.Actor
	Site  merchant.Site // zero on no site
}

// SignIns signs people in to the dashboard, and authenticates requests with its cookie.
type SignIns struct{ Sessions *Sessions }

// SignIn checks a login like Sessions.Login, and remembers the browser. cookie is the value that the browser sends from now on, in the
// form `<user>.<secret>`; device is the value that it sends at later logins. The errors are those of Sessions.Login.
func (s *SignIns) SignIn(ctx context.Context, in Login, browser string) (cookie, device string, err error) {
	in.Username = strings.ToLower(in.Username)
	a, err := s.Sessions.judge(ctx, in)
	if err != nil {
		return "", "", err
	}
	if device, err = s.Sessions.rememberDevice(ctx, a); err != nil {
		return "", "", err
	}
	cookie, err = s.begin(ctx, a.user, in.Address, browser)
	return cookie, device, err
}

// begin creates a sign-in for an authenticated user.
func (s *SignIns) begin(ctx context.Context, user people.User, address, browser string) (cookie string, err error) {
	secret, err := secrets.NewSecret(s.Sessions.Random)
	if err != nil {
		return "", err
	}
	err = s.Sessions.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		if err := makeRoomForSignIn(tx, user.ID, tx.Now.Add(-SignInLife), maxSignIns-1); err != nil {
			return err
		}
		return insertSignIn(tx, SignIn{
			UserID: user.ID, ID: secrets.HashSecret(secret), Generation: user.RefreshGeneration, BeganAt: tx.Now, SeenAt: tx.Now,
			ProvenAt: tx.Now, Address: address, Browser: strings.ToValidUTF8(browser[:min(len(browser), longestAgent)], ""),
		})
	})
	return strconv.FormatInt(user.ID, 10) + "." + secret, err
}

// Visit authenticates a cookie, and returns what its user may do on the site with a path, or on none. The error has the
// kind errs.NotLoggedIn if the sign-in is no longer valid; otherwise the errors are those of Sessions.Authenticate.
func (s *SignIns) Visit(ctx context.Context, path, cookie, address string) (v Visit, err error) {
	userID, id, ok := parseCookie(cookie)
	if !ok {
		return Visit{}, errNotLoggedIn()
	}
	var late bool
	err = s.Sessions.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		if v.SignIn, err = signIn(tx, userID, id); err == nil {
			v.User, err = people.UserByID(tx, userID)
		}
		if errors.Is(err, store.ErrNotFound) || err == nil && !v.SignIn.isValid(v.User, tx.Now) {
			return errNotLoggedIn()
		} else if err != nil {
			return err
		}
		late = tx.Now.Sub(v.SignIn.SeenAt) >= seenEvery
		if path == "" {
			v.Actor, _ = v.User.ActorAt(people.Membership{})
			return nil
		}
		v.Site, v.Actor, err = entrance(tx, v.User, path)
		return err
	})
	if err != nil {
		return Visit{}, err
	}
	v.Actor.Address = address
	if late { // that it could not be noted ends no visit
		_ = s.Sessions.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error { return seeSignIn(tx, userID, id) })
	}
	return v, nil
}

// As is a visit of a user without a browser, for what the program makes for them while they are away: on the site with a path, or on
// none. The errors are those of Visit; RecordNotFound says that there is no such user.
func (s *SignIns) As(ctx context.Context, userID int64, path string) (v Visit, err error) {
	err = s.Sessions.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		if v.User, err = people.UserByID(tx, userID); err != nil {
			return people.UnknownUser(err)
		}
		if path == "" {
			v.Actor, _ = v.User.ActorAt(people.Membership{})
			return nil
		}
		v.Site, v.Actor, err = entrance(tx, v.User, path)
		return err
	})
	return v, err
}

// Prove checks the password and the second factor of a visit again, and notes it. The errors are those of Sessions.Login, and failures
// count like those of a login.
func (s *SignIns) Prove(ctx context.Context, v Visit, in Login) error {
	in.Username = v.User.Username
	if _, err := s.Sessions.judge(ctx, in); err != nil {
		return err
	}
	return s.Sessions.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error { return proveSignIn(tx, v.User.ID, v.SignIn.ID) })
}

// SignOut ends one sign-in of the user of a visit. It does nothing if it has ended already.
func (s *SignIns) SignOut(ctx context.Context, v Visit, id string) error {
	return s.Sessions.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error { return endSignIn(tx, v.User.ID, id) })
}

// SignOutEverywhere ends everything in which a user is signed in: all browsers, and all sessions of the API. API tokens stay.
func (s *SignIns) SignOutEverywhere(ctx context.Context, v Visit) error {
	return s.Sessions.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		user, err := people.UserByID(tx, v.User.ID)
		if err != nil {
			return people.UnknownUser(err)
		}
		if err := endGeneration(tx, user.ID, user.RefreshGeneration); err != nil {
			return err
		}
		return audit.Record(tx, v.Actor, "user.sign_out_everywhere", UserObject(user.ID), nil, AuditedUser{Username: user.Username})
	})
}

// ChangePassword changes the password of the user of a visit, who gives the old one in a login. It ends all other
// sessions of the user, and returns a new cookie for this browser. With endTokens it also deletes the API tokens that
// act as the user. The errors are those of Sessions.Login, and Invalid about the field `password`.
func (s *SignIns) ChangePassword(
	ctx context.Context, v Visit, in Login, password string, endTokens bool, browser string,
) (cookie string, err error) {
	in.Username = v.User.Username
	if err := secrets.CheckBounds(password); err != nil { // before a code is used up for it
		return "", err
	}
	if _, err := s.Sessions.judge(ctx, in); err != nil {
		return "", err
	}
	accounts := &Accounts{Room: s.Sessions.Room}
	if err := accounts.SetPassword(ctx, audit.OfDeployment(v.Actor), v.User.ID, password, endTokens); err != nil {
		return "", err
	}
	return s.beginAgain(ctx, v, in.Address, browser)
}

// ConfirmSecondFactor turns the second factor of the user of a visit on, as Accounts.ConfirmTwoFactor does. The browser stays
// signed in, with another cookie.
func (s *SignIns) ConfirmSecondFactor(ctx context.Context, v Visit, code, address, browser string) (cookie string, codes []string, err error) {
	accounts := &Accounts{Room: s.Sessions.Room}
	if codes, err = accounts.ConfirmTwoFactor(ctx, v.Actor, v.User.ID, code); err != nil {
		return "", nil, err
	}
	cookie, err = s.beginAgain(ctx, v, address, browser)
	return cookie, codes, err
}

// beginAgain signs the user of a visit in after a change that has ended all sign-ins.
func (s *SignIns) beginAgain(ctx context.Context, v Visit, address, browser string) (cookie string, err error) {
	var user people.User
	err = s.Sessions.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		user, err = people.UserByID(tx, v.User.ID)
		return err
	})
	if err != nil {
		return "", err
	}
	return s.begin(ctx, user, address, browser)
}

// RemoveSecondFactor removes the second factor of the user of a visit, who gives the password and a code of it in a login. The errors are
// those of Sessions.Login.
func (s *SignIns) RemoveSecondFactor(ctx context.Context, v Visit, in Login) error {
	in.Username = v.User.Username
	if _, err := s.Sessions.judge(ctx, in); err != nil {
		return err
	}
	accounts := &Accounts{Room: s.Sessions.Room}
	return accounts.audited(ctx, audit.OfDeployment(v.Actor), "user.two_factor_remove", v.User.ID, func(tx *store.Tx) error {
		return people.RemoveTwoFactor(tx, v.User.ID)
	})
}

// List lists the browsers in which the user of a visit is signed in, the last used first.
func (s *SignIns) List(ctx context.Context, v Visit) (list []SignIn, err error) {
	err = s.Sessions.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		all, err := signInsOf(tx, v.User.ID)
		list = nil
		for _, one := range all {
			if one.isValid(v.User, tx.Now) {
				list = append(list, one)
			}
		}
		return err
	})
	return list, err
}

// Sites lists the sites on which the user of a visit may act, at most a thousand, and how many there are.
func (s *SignIns) Sites(ctx context.Context, v Visit) (list []merchant.Site, total int64, err error) {
	session := Session{User: v.User}
	if err := s.Sessions.readSites(ctx, &session, ""); err != nil && !errs.Is(err, errs.Forbidden) {
		return nil, 0, err
	}
	return session.Sites, session.SiteCount, nil
}

// Forget deletes a number of sign-ins that are no longer valid, by the time of their last request. more reports whether
// there may be some left.
func (s *SignIns) Forget(ctx context.Context) (more bool, err error) {
	err = s.Sessions.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		n, err := forgetSignIns(tx, tx.Now.Add(-SignInIdle), leases.ForgetAtOnce)
		more = n == leases.ForgetAtOnce
		return err
	})
	return more, err
}

func parseCookie(cookie string) (userID int64, id string, ok bool) {
	number, secret, ok := strings.Cut(cookie, ".")
	userID, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || secret == "" {
		return 0, "", false
	}
	return userID, secrets.HashSecret(secret), true
}
