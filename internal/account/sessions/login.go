package sessions

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"
	"unicode/utf8"

	"holdfast/internal/account/credentials"
	"holdfast/internal/account/people"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/platform/leases"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// FailureLife is how long failed logins are counted after the last of them. Without it an address that many people
// share would collect the typing errors of years.
const FailureLife = 24 * time.Hour

// sitesShown is how many sites a session lists at most: an operator may see thousands.
const sitesShown = 1000

// maxDevices is how many devices of a login are looked at: a browser has one for each of its users.
const maxDevices = 8

// Login is the input of a login.
type Login struct {
	Username string
	Password string
	Code     string   // of the second factor: six digits, or a recovery code
	Path     string   // of the site; "" for a login without a site
	Address  string   // from which the request comes
	Devices  []string // the device token from earlier logins (see Session.Device)
	// Rotate starts a family of refresh tokens (decision 0007): each refresh returns the next one, and using an older one
	// ends all tokens that came from this login. Without it the refresh token stays the same.
	Rotate bool
}

// Session is the answer to a login or a refresh.
type Session struct {
	User         people.User
	Actor        access.Actor   // on the default site, if there is one
	Default      *merchant.Site // nil for an operator of a deployment that has no sites
	Sites        []merchant.Site
	SiteCount    int64 // of all sites of the user; Sites may list fewer
	Token        string
	RefreshToken string
	// Device says at the next login that the user has logged in on this device before. It is no credential. "" after a refresh.
	Device string
}

// Login checks a user name, a password and the second factor, if the account has one, and opens a session. A wrong name
// and a wrong password get the same response after the same work, so that existing names cannot be discovered. After
// failures the next login has to wait (see Backoff). Too many concurrent logins are rejected (see hashing).
func (s *Sessions) Login(ctx context.Context, in Login) (Session, error) {
	in.Username = strings.ToLower(in.Username)
	a, err := s.judge(ctx, in)
	if err != nil {
		return Session{}, err
	}
	session, err := s.open(ctx, a.user, in.Path, func() (family, error) {
		if !in.Rotate {
			return family{}, nil
		}
		return s.beginFamily(ctx, a.user)
	})
	if err != nil {
		return Session{}, err
	}
	if in.Address != "" { // the command line keeps nothing
		session.Device, err = s.rememberDevice(ctx, a)
	}
	return session, err
}

// attempt is the state of one login.
type attempt struct {
	Login
	user     people.User
	known    bool   // there is such a user
	deviceID string // of a device on which the user has logged in before; "" for any other
	codeUsed bool   // the second factor is right, and its code used up
}

// judge returns the attempt if it may open a session. It counts a failure and uses up a code in the same transaction.
func (s *Sessions) judge(ctx context.Context, in Login) (attempt, error) {
	a, err := s.begin(ctx, in)
	if err != nil {
		return a, err
	}
	queue, caller := s.hashing.strangers, AddressGroup(in.Address)
	if a.deviceID != "" {
		queue, caller = s.hashing.devices, a.own()
	}
	release, err := await(ctx, queue, caller)
	if err != nil {
		return a, err
	}
	defer release()
	if !a.codeUsed { // other attempts may have failed meanwhile
		if a, err = s.begin(ctx, in); err != nil {
			return a, err
		}
	}
	right, rehash, err := s.checkPassword(a.user, a.known, in.Password)
	if err != nil {
		return a, err
	}
	var refused error
	err = s.Store.Write(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		refused = nil
		if !right {
			refused = errs.New(errs.LoginFailed, "Incorrect user name or password.")
		} else if !a.codeUsed {
			if refused, err = a.checkSecondFactor(s.Room, tx); err != nil {
				return err
			}
		}
		switch {
		case errs.Is(refused, errs.TwoFactorRequired), errs.Is(refused, errs.TooMany): // no code was tried: this is no failure
			return nil
		case refused != nil:
			return a.countFailure(tx)
		case rehash != "":
			return errors.Join(ForgetFailedLogins(tx, a.subjects()), people.RehashPassword(tx, a.user, rehash))
		default:
			return ForgetFailedLogins(tx, a.subjects())
		}
	})
	return a, errors.Join(err, refused)
}

// begin reads the user with the name of the login, and whether the device is known. It rejects the login if such logins
// have to wait. The correct code of a second factor does not wait: its sender is not a stranger. It is used up by that,
// so that no other password can be tried with it.
func (s *Sessions) begin(ctx context.Context, in Login) (a attempt, err error) {
	a.Login = in
	devices, err := s.readDevices(ctx, in.Devices)
	if err != nil {
		return a, err
	}
	var wait time.Duration
	step, proven := int64(0), false
	err = s.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		user, err := people.UserNamed(tx, in.Username)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		a.user, a.known = user, err == nil
		if a.known {
			a.deviceID = devices[user.ID]
		}
		until, err := BlockedUntil(tx, a.own())
		wait = until.Sub(tx.Now)
		if err != nil || !a.known || user.TwoFactorConfirmedAt.IsZero() {
			return err
		}
		secret, err := secretOf(s.Room, user)
		if err != nil {
			return err
		}
		step, proven = credentials.CheckTOTP(secret, in.Code, tx.Now, user.TwoFactorLastStep)
		guessed, err := a.secondFactorBlocked(tx)
		proven = proven && guessed <= 0
		return err
	})
	if err != nil || wait <= 0 {
		return a, err
	}
	refused := &errs.Error{Kind: errs.TooMany, RetryAfter: wait, Message: "Too many failed logins. Wait before you try again."}
	if !proven {
		return a, refused
	}
	err = s.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error { return people.UseStep(tx, a.user.ID, step) })
	if errors.Is(err, store.ErrNotFound) { // another login has just used it
		return a, refused
	}
	a.codeUsed = err == nil
	return a, err
}

// readDevices returns the ids of devices by the users who have logged in on them. Unknown devices are left out.
func (s *Sessions) readDevices(ctx context.Context, tokens []string) (map[int64]string, error) {
	devices := map[int64]string{}
	for _, token := range tokens[:min(len(tokens), maxDevices)] {
		claims, err := s.keys.verify(ctx, token, credentials.Device)
		switch {
		case err == nil:
			devices[claims.UserID] = claims.DeviceID
		case !errs.Is(err, errs.JWTInvalid):
			return nil, err
		}
	}
	return devices, nil
}

// rememberDevice creates the token that the device sends at the next login. A device keeps its id.
func (s *Sessions) rememberDevice(ctx context.Context, a attempt) (string, error) {
	ring, err := s.keys.ring(ctx, false)
	if err == nil && a.deviceID == "" {
		a.deviceID, err = credentials.NewDevice(s.Random)
	}
	if err != nil {
		return "", err
	}
	return credentials.SignDevice(ring, a.user.ID, a.deviceID, s.Clock())
}

// checkPassword does the same work whether or not there is such a user. rehash is a new hash of the right password, if
// the stored hash has another cost than new ones have today, and else "".
func (s *Sessions) checkPassword(user people.User, known bool, password string) (right bool, rehash string, err error) {
	if !known || secrets.NoPassword(user.PasswordHash) { // an invited user who has not chosen a password is treated as unknown
		return s.Cost.CheckDecoy(password), "", nil
	}
	right, err = secrets.CheckPassword(user.PasswordHash, password)
	if err == nil && right && s.Cost.Outdated(user.PasswordHash) {
		rehash, err = s.Cost.HashPassword(password)
	}
	return right, rehash, err
}

// checkSecondFactor is useSecondFactor for an attempt with the right password. Wrong codes are counted for the account,
// whatever the address: otherwise someone with the password could guess from many addresses. A known device is counted
// separately.
func (a attempt) checkSecondFactor(c *people.Room, tx *store.Tx) (refused, err error) {
	if a.Code != "" {
		if wait, err := a.secondFactorBlocked(tx); err != nil || wait > 0 {
			return &errs.Error{Kind: errs.TooMany, RetryAfter: wait, Message: "Too many wrong two-factor codes. Wait before you try again."}, err
		}
	}
	refused, err = useSecondFactor(c, tx, a.user, a.Code)
	if err == nil && errs.Is(refused, errs.TwoFactorInvalid) && a.deviceID == "" {
		err = CountFailedLogin(tx, a.secondFactor(), tx.Now.Add(-FailureLife), Backoff)
	}
	return refused, err
}

// secondFactorBlocked is how long codes of the account have to wait; 0 or less if they do not.
func (a attempt) secondFactorBlocked(tx *store.Tx) (time.Duration, error) {
	if a.deviceID != "" {
		return 0, nil
	}
	until, err := BlockedUntil(tx, a.secondFactor())
	return until.Sub(tx.Now), err
}

// secondFactor is the subject for which wrong codes of an account are counted.
func (a attempt) secondFactor() string { return fmt.Sprintf("second-factor:%d", a.user.ID) }

// useSecondFactor uses up a code, if the user has a second factor. refused is the answer to a missing or wrong code.
func useSecondFactor(c *people.Room, tx *store.Tx, user people.User, code string) (refused, err error) {
	if user.TwoFactorConfirmedAt.IsZero() {
		return nil, nil
	}
	if code == "" {
		return errs.New(errs.TwoFactorRequired, "This account requires a two-factor code."), nil
	}
	secret, err := secretOf(c, user)
	if err != nil {
		return nil, err
	}
	if step, ok := credentials.CheckTOTP(secret, code, tx.Now, user.TwoFactorLastStep); ok {
		err = people.UseStep(tx, user.ID, step)
	} else {
		err = people.UseRecoveryCode(tx, user.ID, credentials.HashRecoveryCode(code))
	}
	if errors.Is(err, store.ErrNotFound) { // the code is wrong, or was used before
		return errs.New(errs.TwoFactorInvalid, "The two-factor code is wrong."), nil
	}
	return nil, err
}

// countFailure counts a failed login, so that the next one like it has to wait. For a known device nothing else is
// counted. Otherwise, an account or address with many failures leaves each pair a single try.
func (a attempt) countFailure(tx *store.Tx) error {
	forget, backoff := tx.Now.Add(-FailureLife), Backoff
	if a.deviceID == "" {
		for _, subject := range []string{a.account(), a.address()} {
			n, err := countFailed(tx, subject, forget)
			if err != nil {
				return err
			}
			if n > AttackFailures {
				backoff = BackoffUnderAttack
			}
		}
	}
	return CountFailedLogin(tx, a.own(), forget, backoff)
}

// account is the subject for which failures of a user name are counted, whether or not there is such a user.
func (in Login) account() string {
	name := in.Username
	if utf8.RuneCountInString(name) > check.MaxText {
		name = string([]rune(name)[:check.MaxText])
	}
	return "account:" + name
}

func (in Login) address() string { return "address:" + AddressGroup(in.Address) }

// own is the subject that decides whether an attempt has to wait: the device, or the pair of account and address.
func (a attempt) own() string {
	if a.deviceID != "" {
		return fmt.Sprintf("device:%d:%s", a.user.ID, a.deviceID)
	}
	return a.pair()
}

// pair is the subject of an account and an address.
func (in Login) pair() string { return "pair:" + AddressGroup(in.Address) + " " + in.account() }

// subjects are all for which a failure of the attempt is counted. Every login locks their rows in this order, so that no two
// logins wait for each other.
func (a attempt) subjects() []string {
	if a.deviceID != "" {
		return []string{a.own()}
	}
	return []string{a.account(), a.address(), a.own(), a.secondFactor()}
}

// AddressGroup is the address, or for IPv6 its /64 network: the owner of one IPv6 address has all of that network. A login
// without an address comes from the command line.
func AddressGroup(address string) string {
	addr, err := netip.ParseAddr(address)
	if err != nil {
		return "local"
	}
	if addr = addr.Unmap(); addr.Is6() {
		prefix, _ := addr.WithZone("").Prefix(64) // no error: an IPv6 address has 128 bits
		addr = prefix.Addr()
	}
	return addr.String()
}

// open reads the sites of a session and makes its tokens. descend begins the family of the tokens or continues it. It comes
// last, so that a request which is refused for another reason uses up no token.
func (s *Sessions) open(ctx context.Context, user people.User, path string, descend func() (family, error)) (Session, error) {
	session := Session{User: user}
	if err := s.readSites(ctx, &session, path); err != nil {
		return Session{}, err
	}
	ring, err := s.keys.ring(ctx, true) // the key that signs may just have been rotated or revoked by another process
	if err != nil {
		return Session{}, err
	}
	f, err := descend()
	if err != nil {
		return Session{}, err
	}
	claims := credentials.Claims{UserID: user.ID, Generation: user.RefreshGeneration, Secret: f.Secret, Number: f.Number}
	if session.Token, err = credentials.SignAccess(ring, claims, s.Clock()); err != nil {
		return Session{}, err
	}
	began := user.RefreshBeganAt
	if f.Secret != "" {
		began = f.RotatedAt
	}
	session.RefreshToken, err = credentials.SignRefresh(ring, claims, began)
	return session, err
}

// readSites reads the sites on which the user may act. The default one is the site of the path, or else the first.
func (s *Sessions) readSites(ctx context.Context, session *Session, path string) error {
	return s.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		memberships, err := people.MembershipsOf(tx, session.User.ID)
		if err != nil {
			return err
		}
		page := store.Page{Number: 1, Size: sitesShown, Offset: -1, OrderBy: "id", Count: true}
		for _, m := range memberships {
			page.Include = append(page.Include, m.SiteID)
		}
		if session.User.Operator {
			page.Include = nil
		} else if len(memberships) == 0 {
			return access.ErrOtherSite()
		}
		list, err := merchants.SitesPage(tx, merchants.SiteFilter{}, page)
		if err != nil {
			return err
		}
		session.Sites, session.SiteCount = list.Items, list.Total
		if path == "" && len(list.Items) > 0 {
			path = list.Items[0].Path
		}
		if path == "" { // an operator of a deployment that has no sites
			session.Actor, _ = session.User.ActorAt(people.Membership{})
			return nil
		}
		site, actor, err := entrance(tx, session.User, path)
		session.Default, session.Actor = &site, actor
		return err
	})
}

// ForgetFailures removes a number of failed logins that no longer count. more: there may be some left.
func (s *Sessions) ForgetFailures(ctx context.Context) (more bool, err error) {
	err = s.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		n, err := ForgetFailedLoginsBefore(tx, tx.Now.Add(-FailureLife), leases.ForgetAtOnce)
		more = n == leases.ForgetAtOnce
		return err
	})
	return more, err
}
