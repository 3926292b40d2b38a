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

// FailureLife is how long failed logins are counted after the last of them: an address that many share would
// otherwise collect the mistypings of years.
const FailureLife = 24 * time.Hour

// sitesShown bounds the sites listed in a session; an operator may see thousands.
const sitesShown = 1000

// Login is what somebody who logs in says, and from where.
type Login struct {
	Username string
	Password string
	Code     string // of the second factor: six digits, or a recovery code
	Path     string // of the site, "" for the login that names none
	Address  string
}

// Session is what a login or a refresh answers (section 2.2).
type Session struct {
	User         auth.User
	Actor        auth.Actor   // on the default site; without a site where there is none
	Default      *travel.Site // nil: an operator of a deployment without sites
	Sites        []travel.Site
	SiteCount    int64
	Token        string
	RefreshToken string
}

// Login opens a session for who knows a user's name and password and has the second factor, if there is one. Wrong
// name and wrong password get the same answer after the same work; failures are slowed down (see auth.Backoff).
func (s *Sessions) Login(ctx context.Context, in Login) (Session, error) {
	if _, err := s.siteAt(ctx, in.Path); err != nil {
		return Session{}, err
	}
	in.Username = strings.ToLower(in.Username)
	user, err := s.judge(ctx, in)
	if err != nil {
		return Session{}, err
	}
	return s.open(ctx, user, in.Path)
}

// judge says whose login it is. It counts what fails in the same transaction as it uses up a second factor.
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
		case fault.Is(refused, fault.TwoFactorRequired): // asked for, not failed
			return nil
		case refused != nil:
			return countFailure(tx, in)
		case rehash != "":
			return errors.Join(ForgetFailedLogins(tx, in.account()), RehashPassword(tx, user, rehash))
		default:
			return ForgetFailedLogins(tx, in.account())
		}
	})
	return user, errors.Join(err, refused)
}

// userNamed reads the user whose name it is, unless logins under that name or from that address have to wait.
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

// checkPassword does the same work whether or not there is such a user. rehash is the right password at today's cost,
// "" where it is kept at that.
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

// useSecondFactor uses up the code of a user who has a second factor; refused says what is wrong with it.
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
	if errors.Is(err, db.ErrNotFound) { // wrong, or used before
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

// account is the subject under which failures of a name are counted, whether or not there is such a user.
func (in Login) account() string {
	name := in.Username
	if utf8.RuneCountInString(name) > travel.MaxText {
		name = string([]rune(name)[:travel.MaxText])
	}
	return "account:" + name
}

// subjects are what failures are counted for, in the order in which every login takes their rows.
func (in Login) subjects() []string {
	addr, err := netip.ParseAddr(in.Address)
	if err != nil {
		return []string{in.account()}
	}
	// Who has one IPv6 address has the 2^64 around it.
	if addr = addr.Unmap(); addr.Is6() {
		prefix, _ := addr.WithZone("").Prefix(64) // 64 bits there are
		addr = prefix.Addr()
	}
	return []string{in.account(), "address:" + addr.String()}
}

// open makes the tokens of a session and reads what it shows.
func (s *Sessions) open(ctx context.Context, user auth.User, path string) (Session, error) {
	session := Session{User: user}
	if err := s.readSites(ctx, &session, path); err != nil {
		return Session{}, err
	}
	ring, err := s.keys.ring(ctx, false)
	if err != nil {
		return Session{}, err
	}
	session.Token, err = auth.SignAccess(ring, auth.Claims{UserID: user.ID, Generation: user.PasswordEpoch}, s.Clock())
	if err != nil {
		return Session{}, err
	}
	session.RefreshToken, err = auth.SignRefresh(ring,
		auth.Claims{UserID: user.ID, Generation: user.RefreshGeneration}, user.RefreshBeganAt)
	return session, err
}

// readSites reads the sites on which the user may act. The default one is the site of the path, else the first.
func (s *Sessions) readSites(ctx context.Context, session *Session, path string) error {
	return s.Store.Read(ctx, func(tx *db.Tx) error {
		memberships, err := Memberships(tx, session.User.ID)
		if err != nil {
			return err
		}
		filter := travel.SiteFilter{}
		roles := map[int64]auth.Membership{}
		for _, m := range memberships {
			roles[m.SiteID] = m
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
		if len(list.Items) > 0 {
			session.Default = &list.Items[0]
		}
		if path != "" {
			site, err := merchants.SiteAt(tx, path)
			if err != nil {
				return core.NotFoundAs(fault.NoRoute, err, "There is no such site.")
			}
			session.Default = &site
		}
		membership := auth.Membership{UserID: session.User.ID}
		if session.Default != nil {
			membership = roles[session.Default.ID]
			membership.SiteID = session.Default.ID
		}
		var ok bool
		if session.Actor, ok = session.User.ActorAt(membership); !ok {
			return errOtherSite()
		}
		if session.Default != nil {
			session.Actor.Ahead = session.Default.ClockAhead
		}
		return nil
	})
}

// ForgetFailures removes failed logins that no longer count; more says that there are some left.
func (s *Sessions) ForgetFailures(ctx context.Context) (more bool, err error) {
	err = s.Store.Write(ctx, func(tx *db.Tx) error {
		n, err := ForgetFailedLoginsBefore(tx, tx.Now.Add(-FailureLife), core.ForgetAtOnce)
		more = n == core.ForgetAtOnce
		return err
	})
	return more, err
}
