package sessions_test

import (
	"context"
	"testing"
	"time"

	"holdfast/internal/account/credentials"
	"holdfast/internal/account/people"
	"holdfast/internal/account/sessions"
	"holdfast/internal/account/tokens"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"

	"github.com/pquerna/otp/totp"
)

func TestATokenEndsForGoodWithTheAccessOfItsCreator(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		admin := h.User(t, "admin", access.MemberAdmin)
		make := func(by access.Actor) (text string, err error) {
			name := "Server"
			_, text, err = h.Tokens.Create(ctx, by, tokens.TokenFields{Name: &name})
			return text, err
		}
		text, err := make(apptest.ActorOf(admin, access.MemberAdmin))
		apptest.WantKind(t, err, errs.Internal, "making a token")
		colleague := h.User(t, "colleague", access.MemberAdmin)
		theirs, err := make(apptest.ActorOf(colleague, access.MemberAdmin))
		apptest.WantKind(t, err, errs.Internal, "a colleague's token")
		act := func(want access.Role, kind errs.Kind) {
			t.Helper()
			actor, err := h.Sessions.Authenticate(ctx, "demo", text, "")
			apptest.WantKind(t, err, kind, "using it")
			if err == nil && (actor.Role != want || actor.UserID != admin.ID || actor.TokenID == 0) {
				t.Errorf("the token acts as %+v, want role %s", actor, want)
			}
		}
		act(access.MemberAdmin, errs.Internal)
		apptest.WantKind(t, h.Accounts.SetMembership(ctx, access.System(1), admin.ID, access.ReadOnly, false), errs.Internal, "a lesser role")
		act(access.ReadOnly, errs.Internal)
		apptest.WantKind(t, h.Accounts.RemoveMembership(ctx, access.System(1), admin.ID), errs.Internal, "no role")
		act("", errs.TokenInvalid)
		apptest.WantKind(t, h.Accounts.RemoveMembership(ctx, access.System(1), admin.ID), errs.SettingNotFound, "no role to take")
		_, err = make(apptest.ActorOf(admin, access.MemberAdmin)) // a request that was authenticated just before
		apptest.WantKind(t, err, errs.Forbidden, "a token for a user without access")

		apptest.WantKind(t, h.Accounts.SetMembership(ctx, access.System(1), admin.ID, access.MemberAdmin, false), errs.Internal, "the role again")
		act("", errs.TokenInvalid)
		_, err = h.Sessions.Authenticate(ctx, "demo", theirs, "")
		apptest.WantKind(t, err, errs.Internal, "the colleague's token")
		text, err = make(apptest.ActorOf(admin, access.MemberAdmin))
		apptest.WantKind(t, err, errs.Internal, "a new token, in the place of the old one")
		act(access.MemberAdmin, errs.Internal)
		entries, err := h.Audit.List(ctx, access.System(1), audit.Filter{}, store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"})
		apptest.WantKind(t, err, errs.Internal, "reading the audit")
		ended := 0
		for _, entry := range entries.Items {
			if entry.Action == "token.delete" && entry.Object == "token 1" {
				ended++
			}
		}
		if ended != 1 {
			t.Errorf("the audit log has %d records of the deleted token", ended)
		}

		apptest.WantKind(t, h.Tokens.DeleteAll(ctx, access.System(1)), errs.Internal, "deleting all")
		operator := h.User(t, "operator", access.Operator)
		apptest.WantKind(t, h.Accounts.SetMembership(ctx, access.System(1), operator.ID, access.Finance, false), errs.Internal, "an operator's role")
		theirs, err = make(apptest.ActorOf(operator, ""))
		apptest.WantKind(t, err, errs.Internal, "an operator's token")
		apptest.WantKind(t, h.Accounts.RemoveMembership(ctx, access.System(1), operator.ID), errs.Internal, "an operator without the role")
		_, err = h.Sessions.Authenticate(ctx, "demo", theirs, "")
		apptest.WantKind(t, err, errs.Internal, "the token of an operator, who needs no role")
	})
}

func TestAPasswordEndsTokensIfWanted(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		admin := h.User(t, "admin", access.MemberAdmin)
		colleague := h.User(t, "colleague", access.MemberAdmin)
		name := "Server"
		var texts []string
		for _, by := range []people.User{admin, colleague} {
			_, text, err := h.Tokens.Create(ctx, apptest.ActorOf(by, access.MemberAdmin), tokens.TokenFields{Name: &name})
			apptest.WantKind(t, err, errs.Internal, "a token")
			texts = append(texts, text)
		}
		for _, c := range []struct {
			end        bool
			own, other errs.Kind
		}{{false, errs.Internal, errs.Internal}, {true, errs.TokenInvalid, errs.Internal}} {
			apptest.WantKind(t, h.Accounts.SetPassword(ctx, access.System(0), admin.ID, "another good password", c.end), errs.Internal, "the change")
			_, err := h.Sessions.Authenticate(ctx, "demo", texts[0], "")
			apptest.WantKind(t, err, c.own, "the user's token")
			_, err = h.Sessions.Authenticate(ctx, "demo", texts[1], "")
			apptest.WantKind(t, err, c.other, "a colleague's token")
		}
		entries, err := h.Audit.List(ctx, access.System(1), audit.Filter{}, store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"})
		apptest.WantKind(t, err, errs.Internal, "reading the audit")
		if last := entries.Items[len(entries.Items)-1]; last.Action != "token.delete" {
			t.Errorf("the last record of the site is %s", last.Action)
		}
	})
}

func TestTheEndOfARefreshTokenEndsItsAccessTokensInEveryProcess(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		h.User(t, "admin", access.MemberAdmin)
		h.User(t, "colleague", access.MemberAdmin)
		second := apptest.Process(t, h.DB, h.Now)
		logIn := func(name string) sessions.Session {
			t.Helper()
			session, err := h.Login(t, name, apptest.GoodPassword)
			apptest.WantKind(t, err, errs.Internal, "login of "+name)
			return session
		}
		theirs := logIn("colleague")
		for _, by := range []func(sessions.Session) string{
			func(s sessions.Session) string { return s.Token },
			func(s sessions.Session) string { return s.RefreshToken },
		} {
			first := logIn("admin")
			later, err := second.Sessions.Refresh(ctx, "demo", first.RefreshToken)
			apptest.WantKind(t, err, errs.Internal, "a refresh")
			for _, token := range []string{first.Token, later.Token} {
				_, err = second.Sessions.Authenticate(ctx, "demo", token, "")
				apptest.WantKind(t, err, errs.Internal, "an access token")
			}
			apptest.WantKind(t, h.Sessions.EndRefresh(ctx, "demo", by(first)), errs.Internal, "the end")
			for _, process := range []*apptest.House{h, second} {
				for _, token := range []string{first.Token, later.Token} {
					_, err = process.Sessions.Authenticate(ctx, "demo", token, "")
					apptest.WantKind(t, err, errs.JWTInvalid, "an access token after the end")
				}
				_, err = process.Sessions.Refresh(ctx, "", first.RefreshToken)
				apptest.WantKind(t, err, errs.JWTInvalid, "the refresh token after the end")
				_, err = process.Sessions.Authenticate(ctx, "demo", theirs.Token, "")
				apptest.WantKind(t, err, errs.Internal, "a colleague's access token")
			}
		}
	})
}

// Only an operator can distinguish another site from one that does not exist. An attacker with a signing key knows user
// ids, but not when a generation of refresh tokens began.
func TestARefreshTokenIsNotMadeWithTheKeyAlone(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		admin := h.User(t, "admin", access.MemberAdmin)
		session, err := h.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, errs.Internal, "a login")
		ring, err := credentials.NewKeyring([]credentials.Key{h.LoginKey(t)})
		apptest.WantKind(t, err, errs.Internal, "the key")
		claims := credentials.Claims{UserID: admin.ID, Generation: admin.RefreshGeneration}
		for _, off := range []time.Duration{-time.Second, -24 * time.Hour} {
			forged, err := credentials.SignRefresh(ring, claims, admin.RefreshBeganAt.Add(off))
			apptest.WantKind(t, err, errs.Internal, "the forgery")
			_, err = h.Sessions.Refresh(t.Context(), "", forged)
			apptest.WantKind(t, err, errs.JWTInvalid, "a forged refresh token")
		}
		_, err = h.Sessions.Refresh(t.Context(), "", session.RefreshToken)
		apptest.WantKind(t, err, errs.Internal, "the true one")
	})
}

func TestAnUnknownSiteLooksLikeAForeignOne(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		path, title, currency := "other", "Other", money.Currency("EUR")
		_, err := h.Sites.Create(ctx, access.System(0), merchant.SiteFields{Path: &path, Name: &title, Currency: &currency, Sandbox: true})
		apptest.WantKind(t, err, errs.Internal, "another site")
		admin, operator := h.User(t, "admin", access.MemberAdmin), h.User(t, "operator", access.Operator)
		day := civil.DayOf(h.Now.Read()) + 1
		_, token, err := h.Tokens.Create(ctx, apptest.ActorOf(admin, access.MemberAdmin), tokens.TokenFields{Name: &title, Expires: &day})
		apptest.WantKind(t, err, errs.Internal, "a token")
		_, operators, err := h.Tokens.Create(ctx, apptest.ActorOf(operator, ""), tokens.TokenFields{Name: &title})
		apptest.WantKind(t, err, errs.Internal, "an operator's token")
		session, err := h.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, errs.Internal, "login")
		// The clock of the other site is ahead: it must not say when the tokens of this one end.
		h.Now.Move(2 * time.Second)
		_, err = h.Rates.MoveClock(ctx, access.System(2), h.Now.Read().Add(72*time.Hour))
		apptest.WantKind(t, err, errs.Internal, "moving its clock")
		all, err := h.Login(t, "operator", apptest.GoodPassword)
		apptest.WantKind(t, err, errs.Internal, "an operator's login")
		for _, c := range []struct {
			name, bearer    string
			foreign, absent errs.Kind
		}{
			{"nobody", "", errs.NotLoggedIn, errs.NotLoggedIn},
			{"nonsense", "nonsense", errs.JWTInvalid, errs.JWTInvalid},
			{"no token", "x|y", errs.TokenInvalid, errs.TokenInvalid},
			{"an unknown token", "99|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", errs.TokenInvalid, errs.TokenInvalid},
			{"an access token", session.Token, errs.Forbidden, errs.Forbidden},
			{"an API token", token, errs.Forbidden, errs.Forbidden},
			{"an operator's API token", operators, errs.Forbidden, errs.Forbidden},
			{"an operator", all.Token, errs.Internal, errs.NoRoute},
		} {
			_, err := h.Sessions.Authenticate(ctx, "other", c.bearer, "")
			apptest.WantKind(t, err, c.foreign, c.name+" at a site of others")
			_, err = h.Sessions.Authenticate(ctx, "nowhere", c.bearer, "")
			apptest.WantKind(t, err, c.absent, c.name+" at a site that does not exist")
		}
		for _, path := range []string{"other", "nowhere"} {
			_, err = h.Sessions.Login(ctx, sessions.Login{Username: "admin", Password: apptest.GoodPassword, Path: path})
			apptest.WantKind(t, err, errs.Forbidden, "login at "+path)
			_, err = h.Sessions.Login(ctx, sessions.Login{Username: "admin", Password: "wrong", Path: path})
			apptest.WantKind(t, err, errs.LoginFailed, "login with a wrong password at "+path)
			_, err = h.Sessions.Refresh(ctx, path, session.RefreshToken)
			apptest.WantKind(t, err, errs.Forbidden, "refresh at "+path)
			apptest.WantKind(t, h.Sessions.EndRefresh(ctx, path, session.RefreshToken), errs.Forbidden, "the end of a session at "+path)
		}
		apptest.WantKind(t, h.Sessions.EndRefresh(ctx, "nowhere", all.RefreshToken), errs.NoRoute, "the end of an operator's session")
		h.Now.Move(48 * time.Hour)
		for _, path := range []string{"demo", "other", "nowhere"} {
			_, err := h.Sessions.Authenticate(ctx, path, token, "")
			apptest.WantKind(t, err, errs.TokenInvalid, "an expired token at "+path)
		}
	})
}

func TestAPasswordEndsTheSessionsOfTheOneBefore(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		user := h.User(t, "admin", access.MemberAdmin)
		session, err := h.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, errs.Internal, "login")
		apptest.WantKind(t, h.Accounts.SetPassword(t.Context(), access.System(1), user.ID, "short", false), errs.Invalid, "a short password")
		apptest.WantKind(t, h.Accounts.SetPassword(t.Context(), access.System(1), 99, "another good password", false), errs.SettingNotFound, "nobody's password")
		reader := h.User(t, "reader", access.ReadOnly)
		apptest.WantKind(t, h.Accounts.SetPassword(t.Context(), apptest.ActorOf(reader, access.ReadOnly), user.ID, "another good password", false),
			errs.Forbidden, "another user's password")
		byToken := apptest.ActorOf(user, access.MemberAdmin)
		byToken.TokenID = 1
		apptest.WantKind(t, h.Accounts.SetPassword(t.Context(), byToken, user.ID, "another good password", false), errs.Forbidden, "by API token")
		apptest.WantKind(t, h.Accounts.SetPassword(t.Context(), apptest.ActorOf(user, access.MemberAdmin), user.ID, "another good password", false),
			errs.Internal, "one's own password")

		_, err = h.Sessions.Authenticate(t.Context(), "demo", session.Token, "")
		apptest.WantKind(t, err, errs.JWTInvalid, "the access token")
		_, err = h.Sessions.Refresh(t.Context(), "", session.RefreshToken)
		apptest.WantKind(t, err, errs.JWTInvalid, "the refresh token")
		_, err = h.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, errs.LoginFailed, "the old password")
		fresh, err := h.Login(t, "admin", "another good password")
		apptest.WantKind(t, err, errs.Internal, "the new password")
		if fresh.RefreshToken == session.RefreshToken {
			t.Error("the refresh token is the old one")
		}
	})
}

// TestALeakedKeyEndsAtOnce: an attacker with a leaked key can sign for anyone, until it is revoked.
func TestALeakedKeyEndsAtOnce(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		admin := h.User(t, "admin", access.MemberAdmin)
		second := apptest.Process(t, h.DB, h.Now)
		own, err := second.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, errs.Internal, "login")
		leaked := h.LoginKey(t)
		ring, err := credentials.NewKeyring([]credentials.Key{leaked})
		if err != nil {
			t.Fatal(err)
		}
		forge := func() string {
			token, err := credentials.SignAccess(ring, credentials.Claims{UserID: admin.ID, Generation: 1}, h.Now.Read())
			if err != nil {
				t.Fatal(err)
			}
			return token
		}
		houses := []*apptest.House{h, second}
		try := func(want errs.Kind, what string) {
			t.Helper()
			for _, house := range houses {
				_, err := house.Sessions.Authenticate(t.Context(), "demo", forge(), "")
				apptest.WantKind(t, err, want, what)
			}
		}
		try(errs.Internal, "a forged token while the key is valid")
		apptest.WantKind(t, h.Sessions.RotateKeys(t.Context(), access.System(1)), errs.Internal, "rotation")
		h.Now.Move(17 * time.Minute)
		try(errs.JWTInvalid, "a forged token after the rotation")

		apptest.WantKind(t, h.Sessions.RevokeKey(t.Context(), apptest.ActorOf(admin, access.MemberAdmin), leaked.ID), errs.Forbidden, "a customer revokes")
		apptest.WantKind(t, h.Sessions.RevokeKey(t.Context(), access.System(1), "nokey"), errs.Invalid, "no such key")
		_, err = second.Sessions.Refresh(t.Context(), "", own.RefreshToken)
		apptest.WantKind(t, err, errs.Internal, "the refresh token of a key that was only rotated")
		apptest.WantKind(t, h.Sessions.RevokeKey(t.Context(), access.System(1), leaked.ID), errs.Internal, "revocation")
		_, err = second.Sessions.Refresh(t.Context(), "", own.RefreshToken)
		apptest.WantKind(t, err, errs.JWTInvalid, "the refresh token of a revoked key, in a process that has its keys in memory")

		// The signing key: a new one replaces it, and every process signs with it immediately.
		for _, house := range houses {
			_, err := house.Login(t, "admin", apptest.GoodPassword)
			apptest.WantKind(t, err, errs.Internal, "login")
		}
		leaked = h.LoginKey(t)
		if ring, err = credentials.NewKeyring([]credentials.Key{leaked}); err != nil {
			t.Fatal(err)
		}
		try(errs.Internal, "a forged token of the new key")
		apptest.WantKind(t, h.Sessions.RevokeKey(t.Context(), access.System(1), leaked.ID), errs.Internal, "revocation of the key that signs")
		try(errs.JWTInvalid, "a forged token of a revoked key")
		for _, house := range houses {
			fresh, err := house.Login(t, "admin", apptest.GoodPassword)
			apptest.WantKind(t, err, errs.Internal, "login after it")
			for _, other := range houses {
				_, err = other.Sessions.Authenticate(t.Context(), "demo", fresh.Token, "")
				apptest.WantKind(t, err, errs.Internal, "the token of the next key")
			}
		}
	})
}

func TestKeysRotateWithoutLoggingAnyoneOut(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		user := h.User(t, "admin", access.MemberAdmin)
		second := apptest.Process(t, h.DB, h.Now)
		before, err := h.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, errs.Internal, "login")
		if again, _ := second.Login(t, "admin", apptest.GoodPassword); again.RefreshToken != before.RefreshToken {
			t.Error("another login gives another refresh token")
		}
		apptest.WantKind(t, h.Sessions.RotateKeys(t.Context(), apptest.ActorOf(user, access.MemberAdmin)), errs.Forbidden, "rotation by a customer")
		apptest.WantKind(t, h.Sessions.RotateKeys(t.Context(), access.System(1)), errs.Internal, "rotation")
		after, err := h.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, errs.Internal, "login after it")
		if after.RefreshToken == before.RefreshToken {
			t.Error("the refresh token is still signed with the old key")
		}
		for _, process := range []*apptest.House{h, second} {
			for _, session := range []sessions.Session{before, after} {
				_, err := process.Sessions.Authenticate(t.Context(), "demo", session.Token, "")
				apptest.WantKind(t, err, errs.Internal, "access token")
				_, err = process.Sessions.Refresh(t.Context(), "", session.RefreshToken)
				apptest.WantKind(t, err, errs.Internal, "refresh token")
			}
		}
		// A process that has not seen a token of the new key loads it by itself, and signs with it.
		third := apptest.Process(t, h.DB, h.Now)
		h.Now.Move(time.Second)
		if _, err := third.Login(t, "admin", apptest.GoodPassword); err != nil {
			t.Fatal(err)
		}
		h.Now.Move(time.Second)
		apptest.WantKind(t, h.Sessions.RotateKeys(t.Context(), access.System(1)), errs.Internal, "a second rotation")
		h.Now.Move(2 * time.Minute)
		mine, err := h.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, errs.Internal, "login here")
		if theirs, _ := third.Login(t, "admin", apptest.GoodPassword); theirs.RefreshToken != mine.RefreshToken {
			t.Error("after two minutes another process still signs with the old key")
		}
	})
}

func TestASecondFactorCountsOnceConfirmed(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		user := h.User(t, "admin", access.MemberAdmin)
		self := apptest.ActorOf(user, access.MemberAdmin)
		_, err := h.Accounts.ConfirmTwoFactor(ctx, self, user.ID, "")
		apptest.WantKind(t, err, errs.TwoFactorInvalid, "confirming what was not begun")
		secret, uri, err := h.Accounts.BeginTwoFactor(ctx, self, user.ID)
		apptest.WantKind(t, err, errs.Internal, "beginning")
		if uri == "" {
			t.Error("there is no URI")
		}
		if _, err := h.Login(t, "admin", apptest.GoodPassword); err != nil {
			t.Errorf("not confirmed, it is asked for: %v", err)
		}
		_, err = h.Accounts.ConfirmTwoFactor(ctx, self, user.ID, "000000")
		apptest.WantKind(t, err, errs.TwoFactorInvalid, "confirming with a wrong code")
		code := func() string {
			text, err := totp.GenerateCode(secret, h.Now.Read())
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		recovery, err := h.Accounts.ConfirmTwoFactor(ctx, self, user.ID, code())
		apptest.WantKind(t, err, errs.Internal, "confirming")
		_, _, err = h.Accounts.BeginTwoFactor(ctx, self, user.ID)
		apptest.WantKind(t, err, errs.NotPossible, "beginning again")
		try := func(code string, kind errs.Kind, doing string) {
			t.Helper()
			_, err := h.Sessions.Login(ctx, sessions.Login{Username: "admin", Password: apptest.GoodPassword, Code: code})
			apptest.WantKind(t, err, kind, doing)
		}
		try("", errs.TwoFactorRequired, "no code")
		try(code(), errs.TwoFactorInvalid, "the code that confirmed")
		h.Now.Move(time.Minute)
		try(code(), errs.Internal, "a code")
		for _, code := range recovery {
			try(code, errs.Internal, "a recovery code")
		}
		try(recovery[0], errs.TwoFactorInvalid, "a recovery code again")
		apptest.WantKind(t, h.Accounts.RemoveTwoFactor(ctx, self, user.ID), errs.Forbidden, "removing one's own")
		apptest.WantKind(t, h.Accounts.RemoveTwoFactor(ctx, access.System(1), user.ID), errs.Internal, "removing")
		try("", errs.Internal, "no code after the removal")
	})
}

func TestAnOldPasswordHashIsMadeAnew(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		user := h.User(t, "admin", access.MemberAdmin)
		dearer := apptest.Process(t, h.DB, h.Now)
		dearer.Accounts.Cost.Iterations = 2
		before, err := h.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, errs.Internal, "login")
		_, err = dearer.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, errs.Internal, "login at another cost")
		found, err := h.Accounts.UserNamed(t.Context(), access.System(1), "admin")
		apptest.WantKind(t, err, errs.Internal, "reading the user")
		if found.PasswordHash == user.PasswordHash || dearer.Accounts.Cost.Outdated(found.PasswordHash) {
			t.Error("the hash is still of the old cost")
		}
		_, err = h.Sessions.Authenticate(t.Context(), "demo", before.Token, "")
		apptest.WantKind(t, err, errs.Internal, "the session of the old hash")
	})
}

func TestWhoMayMakeUsersAndSites(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := context.WithoutCancel(t.Context())
		admin := apptest.ActorOf(h.User(t, "admin", access.MemberAdmin), access.MemberAdmin)
		fields := people.UserFields{Username: "next", Email: "next@example.com", Password: apptest.GoodPassword}
		_, err := h.Accounts.CreateUser(ctx, admin, fields, access.ReadOnly, false)
		apptest.WantKind(t, err, errs.Forbidden, "a user by a customer")
		_, err = h.Accounts.CreateUser(ctx, access.System(1), people.UserFields{Username: "ADMIN", Email: "x", Password: "x"}, "boss", false)
		apptest.WantKind(t, err, errs.Invalid, "a user with everything wrong")
		if params := paramsOf(err); len(params) != 4 {
			t.Errorf("wrong are %v, want username, email, role and password", params)
		}
		apptest.WantKind(t, h.Accounts.SetMembership(ctx, access.System(1), admin.UserID, access.Operator, false), errs.Invalid, "an operator of one site")
		apptest.WantKind(t, h.Accounts.SetMembership(ctx, access.System(1), 99, access.Finance, false), errs.SettingNotFound, "nobody's role")

		currency := money.Currency("GBP")
		create := func(actor access.Actor, path string) error {
			name := "A site"
			_, err := h.Sites.Create(ctx, actor, merchant.SiteFields{Path: &path, Name: &name, Currency: &currency})
			return err
		}
		apptest.WantKind(t, create(admin, "mine"), errs.Forbidden, "a site by a customer")
		for _, path := range []string{"a", "Upper", "under_score", "wp", "auth", "docs", "healthz", "demo", ""} {
			apptest.WantKind(t, create(access.System(0), path), errs.Invalid, "the path "+path)
		}
		_, err = h.Sites.Create(ctx, access.System(0), merchant.SiteFields{})
		apptest.WantKind(t, err, errs.Missing, "a site without anything")
		apptest.WantKind(t, create(access.System(0), "second-site"), errs.Internal, "a site")
		site, err := h.Sites.At(ctx, access.System(0), "second-site")
		if err != nil || site.ChannelCount != 1 || site.Policy.Currency != currency {
			t.Errorf("the site is %+v (%v), want one channel and a policy in %s", site, err, currency)
		}
	})
}

func paramsOf(err error) map[string]string {
	if f, ok := err.(*errs.Error); ok {
		return f.Params
	}
	return nil
}
