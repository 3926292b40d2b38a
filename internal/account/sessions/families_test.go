package sessions_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/account/credentials"
	"holdfast/internal/account/sessions"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// rotating logs ada in with rotation.
func rotating(t *testing.T, h *apptest.House) sessions.Session {
	t.Helper()
	return logIn(t, h, sessions.Login{Username: "ada", Rotate: true}, errs.Internal, "a login with rotation")
}

// refresh sends a refresh token to a process.
func refresh(t *testing.T, h *apptest.House, token string, want errs.Kind, what string) sessions.Session {
	t.Helper()
	session, err := h.Sessions.Refresh(t.Context(), "demo", token)
	apptest.WantKind(t, err, want, what)
	return session
}

// act sends a request with the access token of a session.
func act(t *testing.T, h *apptest.House, s sessions.Session, want errs.Kind, what string) {
	t.Helper()
	_, err := h.Sessions.Authenticate(t.Context(), "demo", s.Token, "")
	apptest.WantKind(t, err, want, what)
}

// families counts the families in the database.
func families(t *testing.T, h *apptest.House) (n int64) {
	t.Helper()
	dbtest.Read(t, h.DB, func(tx *store.Tx) error { return tx.QueryRow(`SELECT COUNT(*) FROM refresh_families`, nil, &n) })
	return n
}

// onBothWithAda is a house of ada on each engine, with a second process that has a separate connection.
func onBothWithAda(t *testing.T, test func(t *testing.T, h, second *apptest.House)) {
	t.Helper()
	dbtest.OnBoth(t, func(t *testing.T, url string) {
		h := apptest.HouseAt(t, url)
		h.User(t, "ada", access.MemberAdmin)
		test(t, h, apptest.Process(t, dbtest.Open(t, url, h.Now.Read), h.Now))
	})
}

func TestAnOldRefreshTokenEndsItsFamilyInEveryProcess(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]time.Duration{"two uses later": 0, "after the grace": credentials.RotationGrace + time.Microsecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBothWithAda(t, func(t *testing.T, h, second *apptest.House) {
				plain := logIn(t, h, sessions.Login{Username: "ada"}, errs.Internal, "a login without rotation")
				other, first := rotating(t, h), rotating(t, h)
				later := refresh(t, h, first.RefreshToken, errs.Internal, "the first refresh")
				if later.RefreshToken == first.RefreshToken {
					t.Error("the refresh token stays the same")
				}
				if wait == 0 {
					later = refresh(t, second, later.RefreshToken, errs.Internal, "the second refresh")
				}
				h.Now.Move(wait)
				refresh(t, second, first.RefreshToken, errs.JWTInvalid, "the old token")
				for _, process := range []*apptest.House{h, second} {
					act(t, process, first, errs.JWTInvalid, "the first access token")
					act(t, process, later, errs.JWTInvalid, "the last access token")
					refresh(t, process, later.RefreshToken, errs.JWTInvalid, "the last refresh token")
					act(t, process, other, errs.Internal, "another family")
					act(t, process, plain, errs.Internal, "a login without rotation")
				}
				refresh(t, h, other.RefreshToken, errs.Internal, "the refresh token of another family")
				if again := refresh(t, h, plain.RefreshToken, errs.Internal, "without rotation"); again.RefreshToken != plain.RefreshToken {
					t.Error("a token without rotation has rotated")
				}
				all := store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"}
				records, err := h.Audit.List(t.Context(), access.System(0), audit.Filter{}, all)
				apptest.WantKind(t, err, errs.Internal, "reading the audit")
				last := records.Items[len(records.Items)-1]
				if last.Action != "session.reused" || last.Object != "user ada" {
					t.Errorf("the last record is %s of %s", last.Action, last.Object)
				}
			})
		})
	}
}

func TestALostAnswerOfARefreshDoesNoHarm(t *testing.T) {
	t.Parallel()
	onBothWithAda(t, func(t *testing.T, h, second *apptest.House) {
		first := rotating(t, h)
		_, err := h.Sessions.Refresh(t.Context(), "nowhere", first.RefreshToken)
		apptest.WantKind(t, err, errs.Forbidden, "a refresh at another site")
		h.Now.Move(2 * credentials.RotationGrace)
		lost := refresh(t, h, first.RefreshToken, errs.Internal, "a refused refresh used up nothing")
		h.Now.Move(credentials.RotationGrace)
		got := refresh(t, second, first.RefreshToken, errs.Internal, "the same again, after a minute")
		if got.RefreshToken != lost.RefreshToken {
			t.Error("the second answer has another refresh token")
		}
		act(t, h, lost, errs.Internal, "the access token of the lost answer")
		act(t, h, got, errs.Internal, "the access token of the second answer")

		// Another key signs now: the family continues.
		apptest.WantKind(t, h.Sessions.RotateKeys(t.Context(), access.System(0)), errs.Internal, "a new key")
		next := refresh(t, second, got.RefreshToken, errs.Internal, "with a new key")
		refresh(t, h, got.RefreshToken, errs.Internal, "a lost answer with a new key")
		refresh(t, h, next.RefreshToken, errs.Internal, "what the new key signed")
	})
}

// Both processes get the same token concurrently, many times: all return the same next one, and it was rotated once.
// The clock moves meanwhile, so that two rotations would return two texts.
func TestParallelRefreshesGetTheSameToken(t *testing.T) {
	t.Parallel()
	onBothWithAda(t, func(t *testing.T, h, second *apptest.House) {
		session := rotating(t, h)
		for range 3 {
			var group sync.WaitGroup
			answers := make([]sessions.Session, 8)
			for i := range answers {
				process := []*apptest.House{h, second}[i%2]
				group.Go(func() {
					h.Now.Move(time.Second)
					var err error
					answers[i], err = process.Sessions.Refresh(t.Context(), "", session.RefreshToken)
					apptest.WantKind(t, err, errs.Internal, "one of several refreshes")
				})
			}
			group.Wait()
			for _, answer := range answers {
				if answer.RefreshToken != answers[0].RefreshToken || answer.RefreshToken == session.RefreshToken {
					t.Fatal("the answers to one refresh token have different next ones")
				}
				act(t, h, answer, errs.Internal, "an access token")
			}
			session = answers[0]
		}

		// An old token is sent while others refresh: whatever the order, the family has ended when all are done.
		old := session
		session = refresh(t, h, session.RefreshToken, errs.Internal, "the next")
		h.Now.Move(2 * credentials.RotationGrace)
		var group sync.WaitGroup
		for i, token := range []string{old.RefreshToken, session.RefreshToken, old.RefreshToken, session.RefreshToken} {
			process := []*apptest.House{h, second}[i/2]
			group.Go(func() {
				if _, err := process.Sessions.Refresh(t.Context(), "", token); err != nil {
					apptest.WantKind(t, err, errs.JWTInvalid, "a refresh during a reuse")
				}
			})
		}
		group.Wait()
		act(t, second, session, errs.JWTInvalid, "an access token after the reuse")
		if n := families(t, h); n != 0 {
			t.Errorf("%d families are left", n)
		}
	})
}

// One process has rotated a token but not committed yet, and another one gets the same token.
func TestARefreshSeesWhatAnotherProcessDoesToItsFamily(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]errs.Kind{
		`UPDATE refresh_families SET number = 2, rotated_at = rotated_at + 1000000`: errs.Internal,   // a refresh
		`DELETE FROM refresh_families`:                                              errs.JWTInvalid, // the end
	} {
		t.Run(strings.Fields(change)[0], func(t *testing.T) {
			t.Parallel()
			onBothWithAda(t, func(t *testing.T, h, second *apptest.House) {
				session := rotating(t, h)
				h.Now.Move(2 * time.Second)
				over := make(chan struct{})
				dbtest.Write(t, h.DB, func(tx *store.Tx) error {
					_, err := tx.Exec(change)
					go func() {
						defer close(over)
						_, err := second.Sessions.Refresh(t.Context(), "", session.RefreshToken)
						apptest.WantKind(t, err, want, "the refresh of the other process")
					}()
					dbtest.AwaitLock(t, h.DB, over)
					return err
				})
				<-over
				if want == errs.JWTInvalid {
					return
				}
				var number, rotated int64
				dbtest.Read(t, h.DB, func(tx *store.Tx) error {
					return tx.QueryRow(`SELECT number, rotated_at FROM refresh_families`, nil, &number, &rotated)
				})
				if ago := h.Now.Read().Sub(store.Instant(rotated)); number != 2 || ago != time.Second {
					t.Errorf("the present token is number %d, of %v ago: it was rotated twice", number, ago)
				}
			})
		})
	}
}

func TestAFamilyThatIsNotUsedExpires(t *testing.T) {
	t.Parallel()
	onBothWithAda(t, func(t *testing.T, h, second *apptest.House) {
		unused, session := rotating(t, h), rotating(t, h)
		first := session
		for range 3 { // each use gives thirty more days
			h.Now.Move(credentials.FamilyLifetime - time.Microsecond)
			session = refresh(t, second, session.RefreshToken, errs.Internal, "just in time")
		}
		refresh(t, h, unused.RefreshToken, errs.JWTInvalid, "a token that was not used for long")
		refresh(t, h, first.RefreshToken, errs.JWTInvalid, "an old token, however late it comes")
		refresh(t, h, session.RefreshToken, errs.JWTInvalid, "the family that the old token ended")

		session = rotating(t, h)
		h.Now.Move(credentials.FamilyLifetime)
		refresh(t, h, session.RefreshToken, errs.JWTInvalid, "a moment too late")
		if n := families(t, h); n != 0 {
			t.Errorf("%d families are left", n)
		}
	})
}

func TestWhoEndsAFamilyEndsNoMore(t *testing.T) {
	t.Parallel()
	onBothWithAda(t, func(t *testing.T, h, second *apptest.House) {
		ctx := t.Context()
		plain, other := logIn(t, h, sessions.Login{Username: "ada"}, errs.Internal, "without rotation"), rotating(t, h)
		for _, by := range []func(sessions.Session) string{
			func(s sessions.Session) string { return s.Token },
			func(s sessions.Session) string { return s.RefreshToken },
		} {
			session := rotating(t, h)
			apptest.WantKind(t, second.Sessions.EndRefresh(ctx, "demo", by(session)), errs.Internal, "the end")
			act(t, h, session, errs.JWTInvalid, "an access token of the family")
			refresh(t, h, session.RefreshToken, errs.JWTInvalid, "its refresh token")
			apptest.WantKind(t, h.Sessions.EndRefresh(ctx, "", by(session)), errs.JWTInvalid, "the end again")
			act(t, h, other, errs.Internal, "another family")
			act(t, h, plain, errs.Internal, "a login without rotation")
		}
		for what, end := range map[string]func() error{
			"the refresh token without rotation": func() error { return h.Sessions.EndRefresh(ctx, "", plain.RefreshToken) },
			"the password": func() error {
				user, err := h.Accounts.UserNamed(ctx, access.System(1), "ada")
				if err != nil {
					return err
				}
				return h.Accounts.SetPassword(ctx, access.System(0), user.ID, apptest.GoodPassword, false)
			},
		} {
			plain = logIn(t, h, sessions.Login{Username: "ada"}, errs.Internal, "without rotation")
			session := rotating(t, h)
			apptest.WantKind(t, end(), errs.Internal, what)
			act(t, second, session, errs.JWTInvalid, "an access token after the end of "+what)
			refresh(t, second, session.RefreshToken, errs.JWTInvalid, "a refresh token after the end of "+what)
			if n := families(t, h); n != 0 {
				t.Errorf("%d families outlive %s", n, what)
			}
		}
	})
}

func TestAUserHasNotMoreThanAHundredFamilies(t *testing.T) {
	t.Parallel()
	onBothWithAda(t, func(t *testing.T, h, _ *apptest.House) {
		unused, used := rotating(t, h), rotating(t, h)
		h.Now.Move(time.Second)
		used = refresh(t, h, used.RefreshToken, errs.Internal, "the one in use")
		for range 98 {
			rotating(t, h)
		}
		if n := families(t, h); n != 100 {
			t.Fatalf("there are %d families, want 100", n)
		}
		act(t, h, unused, errs.Internal, "the hundredth")
		h.Now.Move(time.Second)
		rotating(t, h)
		if n := families(t, h); n != 100 {
			t.Errorf("one more makes %d families", n)
		}
		act(t, h, unused, errs.JWTInvalid, "the one that was not used for the longest time")
		act(t, h, used, errs.Internal, "the one in use")
		h.Now.Move(credentials.FamilyLifetime)
		rotating(t, h)
		if n := families(t, h); n != 1 {
			t.Errorf("%d families are kept when all others have expired", n)
		}
	})
}

// A signing key, a copy of the database and an access token are not enough to forge a refresh token of a family, or to
// end one.
func TestARotatingTokenIsNotMadeWithTheKeyAlone(t *testing.T) {
	t.Parallel()
	onBothWithAda(t, func(t *testing.T, h, _ *apptest.House) {
		session := rotating(t, h)
		ring, err := credentials.NewKeyring([]credentials.Key{h.LoginKey(t)})
		apptest.WantKind(t, err, errs.Internal, "the key")
		claims, err := credentials.Verify(ring, session.Token, credentials.Access, h.Now.Read())
		apptest.WantKind(t, err, errs.Internal, "reading the access token")
		if claims.Family == "" || claims.Secret != "" || claims.Number != 0 {
			t.Errorf("the access token says %+v", claims)
		}
		for _, secret := range []string{claims.Family, strings.Repeat("A", 32)} {
			forged := credentials.Claims{UserID: claims.UserID, Generation: claims.Generation, Family: claims.Family, Secret: secret, Number: 7}
			token, err := credentials.SignRefresh(ring, forged, h.Now.Read())
			apptest.WantKind(t, err, errs.Internal, "the forgery")
			refresh(t, h, token, errs.JWTInvalid, "a forged token of a family")
		}
		named := credentials.Claims{UserID: claims.UserID, Generation: claims.Generation, Family: claims.Family, Number: 1}
		token, err := credentials.SignRefresh(ring, named, h.Now.Read().Add(-time.Hour))
		apptest.WantKind(t, err, errs.Internal, "the forgery")
		refresh(t, h, token, errs.JWTInvalid, "a forged token that names the family")
		refresh(t, h, session.RefreshToken, errs.Internal, "the true one")
	})
}

// A restored database does not know which tokens were used since: the family ends, and older tokens are useless.
func TestARefreshTokenFromTheFutureEndsItsFamily(t *testing.T) {
	t.Parallel()
	onBothWithAda(t, func(t *testing.T, h, second *apptest.House) {
		session := rotating(t, h)
		later := refresh(t, h, session.RefreshToken, errs.Internal, "a refresh")
		apptest.WantKind(t, h.DB.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			_, err := tx.Exec(`UPDATE refresh_families SET number = 1`)
			return err
		}), errs.Internal, "an earlier state")
		refresh(t, second, later.RefreshToken, errs.JWTInvalid, "a token of later")
		refresh(t, second, session.RefreshToken, errs.JWTInvalid, "the token that the database knows")
	})
}
