package identity

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"time"
	"unicode/utf8"

	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/merchants"
	"holdfast/internal/travel"
)

// FailureLife is how long failed logins are counted after the last of them. Without it an address that many people
// share would collect the typing errors of years.
const FailureLife = 24 * time.Hour

// sitesShown is how many sites a session lists at most: an operator may see thousands.
const sitesShown = 1000

// Login is the input of a login.
type Login struct {
	Username string
	Password string
	Code     string // of the second factor: six digits, or a recovery code
	Path     string // of the site; "" for a login without a site
	Address  string // from which the request comes
}

// Session is the answer to a login or a refresh.
type Session struct {
	User         auth.User
	Actor        auth.Actor   // on the default site, if there is one
	Default      *travel.Site // nil for an operator of a deployment that has no sites
	Sites        []travel.Site
	SiteCount    int64 // of all sites of the user; Sites may list fewer
	Token        string
	RefreshToken string
}

// Login checks a user name, a password and the second factor, if the account has one, and opens a session. A wrong
// name and a wrong password get the same answer after the same work, so that nobody can find out which names exist.
// After failures the next login has to wait (see auth.Backoff).
func (s *Sessions) Login(ctx context.Context, in Login) (Session, error) {
	in.Username = strings.ToLower(in.Username)
	user, err := s.judge(ctx, in)
	if err != nil {
		return Session{}, err
	}
	return s.open(ctx, user, in.Path)
}

// judge returns the user whose login it is. It counts a failure and uses up a code in the same transaction.
func (s *Sessions) judge(ctx context.Context, in Login) (auth.User, error) {
	select {
	case s.hashing <- struct{}{}:
		defer func() { <-s.hashing }()
	case <-ctx.Done():
		return auth.User{}, ctx.Err()
	}
	user, known, err := s.userNamed(ctx, in)
	if err != nil {
		return auth.User{}, err
	}
	right, rehash, err := s.checkPassword(user, known, in.Password)
	if err != nil {
		return auth.User{}, err
	}
	var refused error
	err = s.Store.Write(ctx, func(tx *db.Tx) (err error) {
		refused = nil
		if !right {
			refused = fault.New(fault.LoginFailed, "The user name or the password is wrong.")
		} else if refused, err = useSecondFactor(tx, user, in.Code); err != nil {
			return err
		}
		switch {
		case fault.Is(refused, fault.TwoFactorRequired): // the code is asked for: this is no failure
			return nil
		case refused != nil:
			return countFailure(tx, in)
		case rehash != "":
			return errors.Join(ForgetFailedLogins(tx, in.subjects()), rehashPassword(tx, user, rehash))
		default:
			return ForgetFailedLogins(tx, in.subjects())
		}
	})
	return user, errors.Join(err, refused)
}

// userNamed reads the user with the name of the login. It refuses if logins with that name or from that address have
// to wait. known: there is such a user.
func (s *Sessions) userNamed(ctx context.Context, in Login) (user auth.User, known bool, err error) {
	err = s.Store.Read(ctx, func(tx *db.Tx) error {
		until, err := BlockedUntil(tx, in.subjects())
		if err != nil {
			return err
		}
		if wait := until.Sub(tx.Now); wait > 0 {
			return &fault.Error{Kind: fault.TooMany, RetryAfter: wait, Message: "Too many failed logins: wait before the next one."}
		}
		user, err = UserNamed(tx, in.Username)
		known = err == nil
		if errors.Is(err, db.ErrNotFound) {
			return nil
		}
		return err
	})
	return user, known, err
}

// checkPassword does the same work whether or not there is such a user. rehash is a new hash of the right password, if
// the stored hash has another cost than new ones have today, and else "".
func (s *Sessions) checkPassword(user auth.User, known bool, password string) (right bool, rehash string, err error) {
	if !known {
		return s.Cost.CheckDecoy(password), "", nil
	}
	right, err = auth.CheckPassword(user.PasswordHash, password)
	if err == nil && right && s.Cost.Outdated(user.PasswordHash) {
		rehash, err = s.Cost.HashPassword(password)
	}
	return right, rehash, err
}

// useSecondFactor uses up a code, if the user has a second factor. refused is the answer to a missing or wrong code.
func useSecondFactor(tx *db.Tx, user auth.User, code string) (refused, err error) {
	if user.TwoFactorConfirmedAt.IsZero() {
		return nil, nil
	}
	if code == "" {
		return fault.New(fault.TwoFactorRequired, "This account needs the code of its second factor."), nil
	}
	if step, ok := auth.CheckTOTP(user.TwoFactorSecret, code, tx.Now, user.TwoFactorLastStep); ok {
		err = UseStep(tx, user.ID, step)
	} else {
		err = UseRecoveryCode(tx, user.ID, auth.HashRecoveryCode(code))
	}
	if errors.Is(err, db.ErrNotFound) { // the code is wrong, or was used before
		return fault.New(fault.TwoFactorInvalid, "The code of the second factor is wrong."), nil
	}
	return nil, err
}

func countFailure(tx *db.Tx, in Login) error {
	for _, subject := range in.subjects() {
		if err := CountFailedLogin(tx, subject, tx.Now.Add(-FailureLife), auth.Backoff); err != nil {
			return err
		}
	}
	return nil
}

// account is the subject for which failures of a user name are counted, whether or not there is such a user.
func (in Login) account() string {
	name := in.Username
	if utf8.RuneCountInString(name) > travel.MaxText {
		name = string([]rune(name)[:travel.MaxText])
	}
	return "account:" + name
}

// subjects are the name and the address: failures are counted for both. Every login locks their rows in this order, so
// that no two logins wait for each other.
func (in Login) subjects() []string {
	addr, err := netip.ParseAddr(in.Address)
	if err != nil {
		return []string{in.account()}
	}
	// Somebody who has one IPv6 address has the 2^64 around it.
	if addr = addr.Unmap(); addr.Is6() {
		prefix, _ := addr.WithZone("").Prefix(64) // no error: an IPv6 address has 128 bits
		addr = prefix.Addr()
	}
	return []string{in.account(), "address:" + addr.String()}
}

// open reads the sites of a session and makes its tokens.
func (s *Sessions) open(ctx context.Context, user auth.User, path string) (Session, error) {
	session := Session{User: user}
	if err := s.readSites(ctx, &session, path); err != nil {
		return Session{}, err
	}
	ring, err := s.keys.ring(ctx, true) // the key that signs may just have been rotated or revoked by another process
	if err != nil {
		return Session{}, err
	}
	session.Token, err = auth.SignAccess(ring, auth.Claims{UserID: user.ID, Generation: user.RefreshGeneration}, s.Clock())
	if err != nil {
		return Session{}, err
	}
	session.RefreshToken, err = auth.SignRefresh(ring,
		auth.Claims{UserID: user.ID, Generation: user.RefreshGeneration}, user.RefreshBeganAt)
	return session, err
}

// readSites reads the sites on which the user may act. The default one is the site of the path, or else the first.
func (s *Sessions) readSites(ctx context.Context, session *Session, path string) error {
	return s.Store.Read(ctx, func(tx *db.Tx) error {
		memberships, err := membershipsOf(tx, session.User.ID)
		if err != nil {
			return err
		}
		filter := travel.SiteFilter{}
		for _, m := range memberships {
			filter.Include = append(filter.Include, m.SiteID)
		}
		if session.User.Operator {
			filter.Include = nil
		} else if len(memberships) == 0 {
			return errOtherSite()
		}
		page := travel.Page{Number: 1, Size: sitesShown, Offset: -1, OrderBy: "id", Count: true}
		list, err := merchants.SitesPage(tx, filter, page)
		if err != nil {
			return err
		}
		session.Sites, session.SiteCount = list.Items, list.Total
		if path == "" && len(list.Items) > 0 {
			path = list.Items[0].Path
		}
		if path == "" { // an operator of a deployment that has no sites
			session.Actor, _ = session.User.ActorAt(auth.Membership{})
			return nil
		}
		site, actor, err := entrance(tx, session.User, path)
		session.Default, session.Actor = &site, actor
		return err
	})
}

// ForgetFailures removes a number of failed logins that no longer count. more: there may be some left.
func (s *Sessions) ForgetFailures(ctx context.Context) (more bool, err error) {
	err = s.Store.Write(ctx, func(tx *db.Tx) error {
		n, err := ForgetFailedLoginsBefore(tx, tx.Now.Add(-FailureLife), core.ForgetAtOnce)
		more = n == core.ForgetAtOnce
		return err
	})
	return more, err
}
