package identity_test

import (
	"context"
	"testing"
	"time"

	"holdfast/internal/apptest"
	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/identity"
	"holdfast/internal/money"
	"holdfast/internal/travel"

	"github.com/pquerna/otp/totp"
)

func TestATokenDiesWithTheAccessOfItsCreator(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		admin := h.User(t, "admin", auth.MemberAdmin)
		name := "Server"
		_, text, err := h.Tokens.Create(t.Context(), apptest.ActorOf(admin, auth.MemberAdmin), travel.TokenFields{Name: &name})
		apptest.WantKind(t, err, fault.Internal, "making a token")
		act := func(want auth.Role, kind fault.Kind) {
			t.Helper()
			actor, err := h.Sessions.Authenticate(t.Context(), "demo", text)
			apptest.WantKind(t, err, kind, "using it")
			if err == nil && (actor.Role != want || actor.UserID != admin.ID || actor.TokenID == 0) {
				t.Errorf("the token acts as %+v, want role %s", actor, want)
			}
		}
		act(auth.MemberAdmin, fault.Internal)
		apptest.WantKind(t, h.Accounts.SetMembership(t.Context(), auth.System(1), admin.ID, auth.ReadOnly, false), fault.Internal, "a lesser role")
		act(auth.ReadOnly, fault.Internal)
		apptest.WantKind(t, h.Accounts.RemoveMembership(t.Context(), auth.System(1), admin.ID), fault.Internal, "no role")
		act("", fault.TokenInvalid)
		apptest.WantKind(t, h.Accounts.RemoveMembership(t.Context(), auth.System(1), admin.ID), fault.SettingNotFound, "no role to take")
	})
}

func TestAPasswordEndsTheSessionsOfTheOneBefore(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		user := h.User(t, "admin", auth.MemberAdmin)
		session, err := h.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, fault.Internal, "login")
		apptest.WantKind(t, h.Accounts.SetPassword(t.Context(), auth.System(1), user.ID, "short"), fault.Invalid, "a short password")
		apptest.WantKind(t, h.Accounts.SetPassword(t.Context(), auth.System(1), 99, "another good password"), fault.SettingNotFound, "nobody's password")
		reader := h.User(t, "reader", auth.ReadOnly)
		apptest.WantKind(t, h.Accounts.SetPassword(t.Context(), apptest.ActorOf(reader, auth.ReadOnly), user.ID, "another good password"),
			fault.Forbidden, "another user's password")
		byToken := apptest.ActorOf(user, auth.MemberAdmin)
		byToken.TokenID = 1
		apptest.WantKind(t, h.Accounts.SetPassword(t.Context(), byToken, user.ID, "another good password"), fault.Forbidden, "by API token")
		apptest.WantKind(t, h.Accounts.SetPassword(t.Context(), apptest.ActorOf(user, auth.MemberAdmin), user.ID, "another good password"),
			fault.Internal, "one's own password")

		_, err = h.Sessions.Authenticate(t.Context(), "demo", session.Token)
		apptest.WantKind(t, err, fault.JWTInvalid, "the access token")
		_, err = h.Sessions.Refresh(t.Context(), "", session.RefreshToken)
		apptest.WantKind(t, err, fault.JWTInvalid, "the refresh token")
		_, err = h.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, fault.LoginFailed, "the old password")
		fresh, err := h.Login(t, "admin", "another good password")
		apptest.WantKind(t, err, fault.Internal, "the new password")
		if fresh.RefreshToken == session.RefreshToken {
			t.Error("the refresh token is the old one")
		}
	})
}

func TestKeysRotateWithoutLoggingAnyoneOut(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		user := h.User(t, "admin", auth.MemberAdmin)
		second := apptest.Process(t, h.DB, h.Now)
		before, err := h.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, fault.Internal, "login")
		if again, _ := second.Login(t, "admin", apptest.GoodPassword); again.RefreshToken != before.RefreshToken {
			t.Error("another login gives another refresh token")
		}
		apptest.WantKind(t, h.Sessions.RotateKeys(t.Context(), apptest.ActorOf(user, auth.MemberAdmin)), fault.Forbidden, "rotation by a customer")
		apptest.WantKind(t, h.Sessions.RotateKeys(t.Context(), auth.System(1)), fault.Internal, "rotation")
		after, err := h.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, fault.Internal, "login after it")
		if after.RefreshToken == before.RefreshToken {
			t.Error("the refresh token is still signed with the old key")
		}
		for _, process := range []*apptest.House{h, second} {
			for _, session := range []identity.Session{before, after} {
				_, err := process.Sessions.Authenticate(t.Context(), "demo", session.Token)
				apptest.WantKind(t, err, fault.Internal, "access token")
				_, err = process.Sessions.Refresh(t.Context(), "", session.RefreshToken)
				apptest.WantKind(t, err, fault.Internal, "refresh token")
			}
		}
		// A process that has not met a token of the new key learns of it by itself, and signs with it.
		third := apptest.Process(t, h.DB, h.Now)
		h.Now.Move(time.Second)
		if _, err := third.Login(t, "admin", apptest.GoodPassword); err != nil {
			t.Fatal(err)
		}
		h.Now.Move(time.Second)
		apptest.WantKind(t, h.Sessions.RotateKeys(t.Context(), auth.System(1)), fault.Internal, "a second rotation")
		h.Now.Move(2 * time.Minute)
		mine, err := h.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, fault.Internal, "login here")
		if theirs, _ := third.Login(t, "admin", apptest.GoodPassword); theirs.RefreshToken != mine.RefreshToken {
			t.Error("after two minutes another process still signs with the old key")
		}
	})
}

func TestASecondFactorCountsOnceConfirmed(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		user := h.User(t, "admin", auth.MemberAdmin)
		self := apptest.ActorOf(user, auth.MemberAdmin)
		_, err := h.Accounts.ConfirmTwoFactor(ctx, self, user.ID, "")
		apptest.WantKind(t, err, fault.TwoFactorInvalid, "confirming what was not begun")
		secret, uri, err := h.Accounts.BeginTwoFactor(ctx, self, user.ID)
		apptest.WantKind(t, err, fault.Internal, "beginning")
		if uri == "" {
			t.Error("there is no URI")
		}
		if _, err := h.Login(t, "admin", apptest.GoodPassword); err != nil {
			t.Errorf("not confirmed, it is asked for: %v", err)
		}
		_, err = h.Accounts.ConfirmTwoFactor(ctx, self, user.ID, "000000")
		apptest.WantKind(t, err, fault.TwoFactorInvalid, "confirming with a wrong code")
		code := func() string {
			text, err := totp.GenerateCode(secret, h.Now.Read())
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		recovery, err := h.Accounts.ConfirmTwoFactor(ctx, self, user.ID, code())
		apptest.WantKind(t, err, fault.Internal, "confirming")
		_, _, err = h.Accounts.BeginTwoFactor(ctx, self, user.ID)
		apptest.WantKind(t, err, fault.NotPossible, "beginning again")
		try := func(code string, kind fault.Kind, doing string) {
			t.Helper()
			_, err := h.Sessions.Login(ctx, identity.Login{Username: "admin", Password: apptest.GoodPassword, Code: code})
			apptest.WantKind(t, err, kind, doing)
		}
		try("", fault.TwoFactorRequired, "no code")
		try(code(), fault.TwoFactorInvalid, "the code that confirmed")
		h.Now.Move(time.Minute)
		try(code(), fault.Internal, "a code")
		for _, code := range recovery {
			try(code, fault.Internal, "a recovery code")
		}
		try(recovery[0], fault.TwoFactorInvalid, "a recovery code again")
		apptest.WantKind(t, h.Accounts.RemoveTwoFactor(ctx, self, user.ID), fault.Forbidden, "removing one's own")
		apptest.WantKind(t, h.Accounts.RemoveTwoFactor(ctx, auth.System(1), user.ID), fault.Internal, "removing")
		try("", fault.Internal, "no code after the removal")
	})
}

func TestAnOldPasswordHashIsMadeAnew(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		user := h.User(t, "admin", auth.MemberAdmin)
		dearer := apptest.Process(t, h.DB, h.Now)
		dearer.Core.Cost.Iterations = 2
		before, err := h.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, fault.Internal, "login")
		_, err = dearer.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, fault.Internal, "login at another cost")
		found, err := h.Accounts.UserNamed(t.Context(), auth.System(1), "admin")
		apptest.WantKind(t, err, fault.Internal, "reading the user")
		if found.PasswordHash == user.PasswordHash || dearer.Core.Cost.Outdated(found.PasswordHash) {
			t.Error("the hash is still of the old cost")
		}
		_, err = h.Sessions.Authenticate(t.Context(), "demo", before.Token)
		apptest.WantKind(t, err, fault.Internal, "the session of the old hash")
	})
}

func TestWhoMayMakeUsersAndSites(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := context.WithoutCancel(t.Context())
		admin := apptest.ActorOf(h.User(t, "admin", auth.MemberAdmin), auth.MemberAdmin)
		fields := travel.UserFields{Username: "next", Email: "next@example.com", Password: apptest.GoodPassword}
		_, err := h.Accounts.CreateUser(ctx, admin, fields, auth.ReadOnly, false)
		apptest.WantKind(t, err, fault.Forbidden, "a user by a customer")
		_, err = h.Accounts.CreateUser(ctx, auth.System(1), travel.UserFields{Username: "ADMIN", Email: "x", Password: "x"}, "boss", false)
		apptest.WantKind(t, err, fault.Invalid, "a user with everything wrong")
		if params := paramsOf(err); len(params) != 4 {
			t.Errorf("wrong are %v, want username, email, role and password", params)
		}
		apptest.WantKind(t, h.Accounts.SetMembership(ctx, auth.System(1), admin.UserID, auth.Operator, false), fault.Invalid, "an operator of one site")
		apptest.WantKind(t, h.Accounts.SetMembership(ctx, auth.System(1), 99, auth.Finance, false), fault.SettingNotFound, "nobody's role")

		currency := money.Currency("GBP")
		create := func(actor auth.Actor, path string) error {
			name := "A site"
			_, err := h.Sites.Create(ctx, actor, travel.SiteFields{Path: &path, Name: &name, Currency: &currency})
			return err
		}
		apptest.WantKind(t, create(admin, "mine"), fault.Forbidden, "a site by a customer")
		for _, path := range []string{"a", "Upper", "under_score", "wp", "auth", "docs", "healthz", "demo", ""} {
			apptest.WantKind(t, create(auth.System(0), path), fault.Invalid, "the path "+path)
		}
		_, err = h.Sites.Create(ctx, auth.System(0), travel.SiteFields{})
		apptest.WantKind(t, err, fault.Missing, "a site without anything")
		apptest.WantKind(t, create(auth.System(0), "second-site"), fault.Internal, "a site")
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
