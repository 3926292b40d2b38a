package app_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/store"
	"holdfast/internal/dbtest"
	"holdfast/internal/travel"
)

const goodPassword = "correct horse battery"

// house is one process over a database, with a clock that the test sets.
type house struct {
	*app.App
	core *app.Core
	db   *store.DB
	now  *clock
}

type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// onBothEngines runs one test on each engine, over a database with the site demo (1).
func onBothEngines(t *testing.T, test func(t *testing.T, h *house)) {
	t.Helper()
	dbtest.OnBoth(t, func(t *testing.T, url string) {
		now := &clock{at: time.Date(2026, 3, 2, 10, 20, 30, 0, time.UTC)}
		h := process(t, dbtest.Open(t, url, now.read), now)
		path, title, currency := "demo", "Demo", money.Currency("GBP")
		if _, err := h.Sites.Create(t.Context(), auth.System(0), travel.SiteFields{Path: &path, Name: &title, Currency: &currency}); err != nil {
			t.Fatal(err)
		}
		test(t, h)
	})
}

// process makes one more process over the database.
func process(t *testing.T, db *store.DB, now *clock) *house {
	t.Helper()
	var mu sync.Mutex
	n := 0
	core := &app.Core{
		Store: db, Clock: now.read, Random: rand.Reader, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		NewUUID: func() string {
			mu.Lock()
			defer mu.Unlock()
			n++
			return fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
		},
		Cost:          auth.PasswordCost{MemoryKiB: 8, Iterations: 1, Parallelism: 1},
		ReservedPaths: []string{"wp"},
	}
	h := &house{App: app.New(core), core: core, db: db, now: now}
	t.Cleanup(h.Close)
	return h
}

// user makes a user of the site demo.
func (h *house) user(t *testing.T, name string, role auth.Role) auth.User {
	t.Helper()
	made, err := h.Accounts.CreateUser(t.Context(), auth.System(1),
		travel.UserFields{Username: name, Email: name + "@example.com", Password: goodPassword}, role, false)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (h *house) login(t *testing.T, name, password string) (app.Session, error) {
	t.Helper()
	return h.Sessions.Login(t.Context(), app.Login{Username: name, Password: password})
}

// wantKind fails the test unless err is a fault of that kind, or nil where kind is Internal.
func wantKind(t *testing.T, err error, kind fault.Kind, doing string) {
	t.Helper()
	if (err == nil) != (kind == fault.Internal) || err != nil && !fault.Is(err, kind) {
		t.Errorf("%s: %v, want kind %d", doing, err, kind)
	}
}

func TestATokenDiesWithTheAccessOfItsCreator(t *testing.T) {
	onBothEngines(t, func(t *testing.T, h *house) {
		admin := h.user(t, "admin", auth.MemberAdmin)
		name := "Server"
		_, text, err := h.Tokens.Create(t.Context(), actorOf(admin, auth.MemberAdmin), travel.TokenFields{Name: &name})
		wantKind(t, err, fault.Internal, "making a token")
		act := func(want auth.Role, kind fault.Kind) {
			t.Helper()
			actor, err := h.Sessions.Authenticate(t.Context(), "demo", text)
			wantKind(t, err, kind, "using it")
			if err == nil && (actor.Role != want || actor.UserID != admin.ID || actor.TokenID == 0) {
				t.Errorf("the token acts as %+v, want role %s", actor, want)
			}
		}
		act(auth.MemberAdmin, fault.Internal)
		wantKind(t, h.Accounts.SetMembership(t.Context(), auth.System(1), admin.ID, auth.ReadOnly, false), fault.Internal, "a lesser role")
		act(auth.ReadOnly, fault.Internal)
		wantKind(t, h.Accounts.RemoveMembership(t.Context(), auth.System(1), admin.ID), fault.Internal, "no role")
		act("", fault.TokenInvalid)
		wantKind(t, h.Accounts.RemoveMembership(t.Context(), auth.System(1), admin.ID), fault.UnknownTerm, "no role to take")
	})
}

func actorOf(u auth.User, role auth.Role) auth.Actor {
	actor, _ := u.ActorAt(auth.Membership{SiteID: 1, UserID: u.ID, Role: role})
	return actor
}

func TestAPasswordEndsTheSessionsOfTheOneBefore(t *testing.T) {
	onBothEngines(t, func(t *testing.T, h *house) {
		user := h.user(t, "admin", auth.MemberAdmin)
		session, err := h.login(t, "admin", goodPassword)
		wantKind(t, err, fault.Internal, "login")
		wantKind(t, h.Accounts.SetPassword(t.Context(), auth.System(1), user.ID, "short"), fault.Invalid, "a short password")
		wantKind(t, h.Accounts.SetPassword(t.Context(), auth.System(1), 99, "another good password"), fault.UnknownTerm, "nobody's password")
		reader := h.user(t, "reader", auth.ReadOnly)
		wantKind(t, h.Accounts.SetPassword(t.Context(), actorOf(reader, auth.ReadOnly), user.ID, "another good password"),
			fault.Forbidden, "another user's password")
		byToken := actorOf(user, auth.MemberAdmin)
		byToken.TokenID = 1
		wantKind(t, h.Accounts.SetPassword(t.Context(), byToken, user.ID, "another good password"), fault.Forbidden, "by API token")
		wantKind(t, h.Accounts.SetPassword(t.Context(), actorOf(user, auth.MemberAdmin), user.ID, "another good password"),
			fault.Internal, "one's own password")

		_, err = h.Sessions.Authenticate(t.Context(), "demo", session.Token)
		wantKind(t, err, fault.JWTInvalid, "the access token")
		_, err = h.Sessions.Refresh(t.Context(), "", session.RefreshToken)
		wantKind(t, err, fault.JWTInvalid, "the refresh token")
		_, err = h.login(t, "admin", goodPassword)
		wantKind(t, err, fault.LoginFailed, "the old password")
		fresh, err := h.login(t, "admin", "another good password")
		wantKind(t, err, fault.Internal, "the new password")
		if fresh.RefreshToken == session.RefreshToken {
			t.Error("the refresh token is the old one")
		}
	})
}

func TestKeysRotateWithoutLoggingAnyoneOut(t *testing.T) {
	onBothEngines(t, func(t *testing.T, h *house) {
		user := h.user(t, "admin", auth.MemberAdmin)
		second := process(t, h.db, h.now)
		before, err := h.login(t, "admin", goodPassword)
		wantKind(t, err, fault.Internal, "login")
		if again, _ := second.login(t, "admin", goodPassword); again.RefreshToken != before.RefreshToken {
			t.Error("another login gives another refresh token")
		}
		wantKind(t, h.Sessions.RotateKeys(t.Context(), actorOf(user, auth.MemberAdmin)), fault.Forbidden, "rotation by a customer")
		wantKind(t, h.Sessions.RotateKeys(t.Context(), auth.System(1)), fault.Internal, "rotation")
		after, err := h.login(t, "admin", goodPassword)
		wantKind(t, err, fault.Internal, "login after it")
		if after.RefreshToken == before.RefreshToken {
			t.Error("the refresh token is still signed with the old key")
		}
		for _, process := range []*house{h, second} {
			for _, session := range []app.Session{before, after} {
				_, err := process.Sessions.Authenticate(t.Context(), "demo", session.Token)
				wantKind(t, err, fault.Internal, "access token")
				_, err = process.Sessions.Refresh(t.Context(), "", session.RefreshToken)
				wantKind(t, err, fault.Internal, "refresh token")
			}
		}
		// A process that has not met a token of the new key learns of it by itself, and signs with it.
		third := process(t, h.db, h.now)
		h.now.move(time.Second)
		if _, err := third.login(t, "admin", goodPassword); err != nil {
			t.Fatal(err)
		}
		h.now.move(time.Second)
		wantKind(t, h.Sessions.RotateKeys(t.Context(), auth.System(1)), fault.Internal, "a second rotation")
		h.now.move(2 * time.Minute)
		mine, err := h.login(t, "admin", goodPassword)
		wantKind(t, err, fault.Internal, "login here")
		if theirs, _ := third.login(t, "admin", goodPassword); theirs.RefreshToken != mine.RefreshToken {
			t.Error("after two minutes another process still signs with the old key")
		}
	})
}

func TestASecondFactorCountsOnceConfirmed(t *testing.T) {
	onBothEngines(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		user := h.user(t, "admin", auth.MemberAdmin)
		self := actorOf(user, auth.MemberAdmin)
		_, err := h.Accounts.ConfirmTwoFactor(ctx, self, user.ID, "")
		wantKind(t, err, fault.TwoFactorInvalid, "confirming what was not begun")
		secret, uri, err := h.Accounts.BeginTwoFactor(ctx, self, user.ID)
		wantKind(t, err, fault.Internal, "beginning")
		if uri == "" {
			t.Error("there is no URI")
		}
		if _, err := h.login(t, "admin", goodPassword); err != nil {
			t.Errorf("not confirmed, it is asked for: %v", err)
		}
		_, err = h.Accounts.ConfirmTwoFactor(ctx, self, user.ID, "000000")
		wantKind(t, err, fault.TwoFactorInvalid, "confirming with a wrong code")
		code := func() string {
			text, err := totp.GenerateCode(secret, h.now.read())
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		recovery, err := h.Accounts.ConfirmTwoFactor(ctx, self, user.ID, code())
		wantKind(t, err, fault.Internal, "confirming")
		_, _, err = h.Accounts.BeginTwoFactor(ctx, self, user.ID)
		wantKind(t, err, fault.NotPossible, "beginning again")
		try := func(code string, kind fault.Kind, doing string) {
			t.Helper()
			_, err := h.Sessions.Login(ctx, app.Login{Username: "admin", Password: goodPassword, Code: code})
			wantKind(t, err, kind, doing)
		}
		try("", fault.TwoFactorRequired, "no code")
		try(code(), fault.TwoFactorInvalid, "the code that confirmed")
		h.now.move(time.Minute)
		try(code(), fault.Internal, "a code")
		for _, code := range recovery {
			try(code, fault.Internal, "a recovery code")
		}
		try(recovery[0], fault.TwoFactorInvalid, "a recovery code again")
		wantKind(t, h.Accounts.RemoveTwoFactor(ctx, self, user.ID), fault.Forbidden, "removing one's own")
		wantKind(t, h.Accounts.RemoveTwoFactor(ctx, auth.System(1), user.ID), fault.Internal, "removing")
		try("", fault.Internal, "no code after the removal")
	})
}

func TestAnOldPasswordHashIsMadeAnew(t *testing.T) {
	onBothEngines(t, func(t *testing.T, h *house) {
		user := h.user(t, "admin", auth.MemberAdmin)
		dearer := process(t, h.db, h.now)
		dearer.core.Cost.Iterations = 2
		before, err := h.login(t, "admin", goodPassword)
		wantKind(t, err, fault.Internal, "login")
		_, err = dearer.login(t, "admin", goodPassword)
		wantKind(t, err, fault.Internal, "login at another cost")
		found, err := h.Accounts.UserNamed(t.Context(), auth.System(1), "admin")
		wantKind(t, err, fault.Internal, "reading the user")
		if found.PasswordHash == user.PasswordHash || dearer.core.Cost.Outdated(found.PasswordHash) {
			t.Error("the hash is still of the old cost")
		}
		_, err = h.Sessions.Authenticate(t.Context(), "demo", before.Token)
		wantKind(t, err, fault.Internal, "the session of the old hash")
	})
}

func TestWhoMayMakeUsersAndSites(t *testing.T) {
	onBothEngines(t, func(t *testing.T, h *house) {
		ctx := context.WithoutCancel(t.Context())
		admin := actorOf(h.user(t, "admin", auth.MemberAdmin), auth.MemberAdmin)
		fields := travel.UserFields{Username: "next", Email: "next@example.com", Password: goodPassword}
		_, err := h.Accounts.CreateUser(ctx, admin, fields, auth.ReadOnly, false)
		wantKind(t, err, fault.Forbidden, "a user by a customer")
		_, err = h.Accounts.CreateUser(ctx, auth.System(1), travel.UserFields{Username: "ADMIN", Email: "x", Password: "x"}, "boss", false)
		wantKind(t, err, fault.Invalid, "a user with everything wrong")
		if params := paramsOf(err); len(params) != 4 {
			t.Errorf("wrong are %v, want username, email, role and password", params)
		}
		wantKind(t, h.Accounts.SetMembership(ctx, auth.System(1), admin.UserID, auth.Operator, false), fault.Invalid, "an operator of one site")
		wantKind(t, h.Accounts.SetMembership(ctx, auth.System(1), 99, auth.Finance, false), fault.UnknownTerm, "nobody's role")

		currency := money.Currency("GBP")
		create := func(actor auth.Actor, path string) error {
			name := "A site"
			_, err := h.Sites.Create(ctx, actor, travel.SiteFields{Path: &path, Name: &name, Currency: &currency})
			return err
		}
		wantKind(t, create(admin, "mine"), fault.Forbidden, "a site by a customer")
		for _, path := range []string{"a", "Upper", "under_score", "wp", "auth", "docs", "healthz", "demo", ""} {
			wantKind(t, create(auth.System(0), path), fault.Invalid, "the path "+path)
		}
		_, err = h.Sites.Create(ctx, auth.System(0), travel.SiteFields{})
		wantKind(t, err, fault.Missing, "a site without anything")
		wantKind(t, create(auth.System(0), "second-site"), fault.Internal, "a site")
		site, err := h.Sites.At(ctx, auth.System(0), "second-site")
		if err != nil || site.ChannelCount != 1 || site.Policy.Currency != currency {
			t.Errorf("the site is %+v (%v), want one channel and a policy in %s", site, err, currency)
		}
	})
}

func paramsOf(err error) map[string]string {
	if f, ok := err.(*fault.Error); ok {
		return f.Params
	}
	return nil
}
