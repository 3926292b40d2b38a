package sessions_test

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"holdfast/internal/account/credentials"
	"holdfast/internal/account/people"
	"holdfast/internal/account/sessions"
	"holdfast/internal/account/tokens"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

func TestNoThirdTokenWhateverTheInterleaving(t *testing.T) {
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site, user := dbtest.ASite(t, db, "demo")
		var group sync.WaitGroup
		for i := range 20 {
			group.Go(func() {
				err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
					if err := sites.Lock(tx, site.ID); err != nil {
						return err
					}
					n, err := tokens.CountTokens(tx, site.ID)
					if err != nil || n >= tokens.MaxTokens {
						return errors.Join(err, errs.New(errs.TokenLimit, "full"))
					}
					_, err = tokens.InsertToken(tx, tokens.APIToken{SiteID: site.ID, UserID: user.ID, Name: strconv.Itoa(i), SecretHash: "h"})
					return err
				})
				if err != nil && !errs.Is(err, errs.TokenLimit) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		dbtest.Read(t, db, func(tx *store.Tx) error {
			made, err := tokens.TokensOf(tx, site.ID)
			if len(made) != tokens.MaxTokens {
				t.Errorf("the site has %d tokens, want %d", len(made), tokens.MaxTokens)
			}
			return err
		})
	})
}

func TestCallersAreReadWithTheirPresentRole(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site, user := dbtest.ASite(t, db, "demo")
		other, _ := dbtest.ASite(t, db, "other")
		expires := dbtest.Start.Add(time.Hour)
		var token tokens.APIToken
		dbtest.Write(t, db, func(tx *store.Tx) (err error) {
			token, err = tokens.InsertToken(tx, tokens.APIToken{SiteID: site.ID, UserID: user.ID, Name: "n", SecretHash: "h", ExpiresAt: expires})
			return err
		})
		check := func(role access.Role) {
			t.Helper()
			dbtest.Read(t, db, func(tx *store.Tx) error {
				byUser, err := sessions.CallerByUser(tx, "demo", user.ID, "", "")
				byToken, tokenErr := sessions.CallerByToken(tx, site.ID, token.ID)
				for _, c := range []sessions.Caller{byUser, byToken} {
					if c.User.ID != user.ID || c.Membership.SiteID != site.ID || c.Membership.Role != role {
						t.Errorf("caller %+v, want user %d with role %q", c, user.ID, role)
					}
				}
				if byToken.Token.SecretHash != "h" || !byToken.Token.ExpiresAt.Equal(expires) || !byToken.Token.LastUsedAt.IsZero() {
					t.Errorf("token %+v", byToken.Token)
				}
				return errors.Join(err, tokenErr)
			})
		}
		check(access.MemberAdmin)
		dbtest.Write(t, db, func(tx *store.Tx) error {
			return people.SetMembership(tx, people.Membership{SiteID: site.ID, UserID: user.ID, Role: access.ReadOnly})
		})
		check(access.ReadOnly)
		dbtest.Write(t, db, func(tx *store.Tx) error { return people.RemoveMembership(tx, site.ID, user.ID) })
		check("")
		dbtest.Read(t, db, func(tx *store.Tx) error {
			for _, id := range []int64{other.ID, 99} {
				if _, err := sessions.CallerByToken(tx, id, token.ID); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("the token at site %d: %v", id, err)
				}
			}
			found, err := sessions.CallerByUser(tx, "nowhere", user.ID, "", "")
			if found.User.ID != user.ID || found.Membership.SiteID != 0 || found.Membership.Role != "" {
				t.Errorf("at a site that does not exist, the user is %+v", found)
			}
			if _, err := sessions.CallerByUser(tx, "demo", 99, "", ""); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("a user who does not exist: %v", err)
			}
			return err
		})
	})
}

func TestTokensAreTouchedOnceAMinute(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site, user := dbtest.ASite(t, db, "demo")
		touch := func(id int64, used time.Time) {
			dbtest.Write(t, db, func(tx *store.Tx) error { return tokens.TouchToken(tx, site.ID, id, used, used.Add(-time.Minute)) })
		}
		var token tokens.APIToken
		dbtest.Write(t, db, func(tx *store.Tx) (err error) {
			token, err = tokens.InsertToken(tx, tokens.APIToken{SiteID: site.ID, UserID: user.ID, Name: "n", SecretHash: "h"})
			return err
		})
		for _, step := range []struct{ used, want time.Duration }{{0, 0}, {59 * time.Second, 0}, {time.Minute, time.Minute}, {time.Second, time.Minute}} {
			touch(token.ID, dbtest.Start.Add(step.used))
			dbtest.Read(t, db, func(tx *store.Tx) error {
				found, err := sessions.CallerByToken(tx, site.ID, token.ID)
				if !found.Token.LastUsedAt.Equal(dbtest.Start.Add(step.want)) {
					t.Errorf("used at +%s, the record says %s, want +%s", step.used, found.Token.LastUsedAt, step.want)
				}
				return err
			})
		}
	})
}

func TestOnlyOneLoginUsesASecondFactor(t *testing.T) {
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		_, user := dbtest.ASite(t, db, "demo")
		dbtest.Write(t, db, func(tx *store.Tx) error {
			return errors.Join(people.BeginTwoFactor(tx, user.ID, "S"), people.ConfirmTwoFactor(tx, user.ID, 7, []string{"one", "two"}))
		})
		for _, c := range []struct {
			name string
			use  func(tx *store.Tx) error
		}{
			{"step", func(tx *store.Tx) error { return people.UseStep(tx, user.ID, 8) }},
			{"recovery code", func(tx *store.Tx) error { return people.UseRecoveryCode(tx, user.ID, "one") }},
		} {
			var group sync.WaitGroup
			var mu sync.Mutex
			used := 0
			for range 10 {
				group.Go(func() {
					err := db.Write(t.Context(), store.Deployment, c.use)
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						used++
					} else if !errors.Is(err, store.ErrNotFound) {
						t.Error(err)
					}
				})
			}
			group.Wait()
			if used != 1 {
				t.Errorf("the %s was used %d times", c.name, used)
			}
		}
		dbtest.Write(t, db, func(tx *store.Tx) error { return people.RemoveTwoFactor(tx, user.ID) })
		dbtest.Write(t, db, func(tx *store.Tx) error {
			found, err := people.UserByID(tx, user.ID)
			if found.SealedTOTP != "" || !found.TwoFactorConfirmedAt.IsZero() || found.TwoFactorLastStep != 0 {
				t.Errorf("after its removal: %+v", found)
			}
			if err := people.UseRecoveryCode(tx, user.ID, "two"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("a recovery code outlived the second factor: %v", err)
			}
			return err
		})
	})
}

func TestFailedLoginsAreAllCounted(t *testing.T) {
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		fail := func(forgetBefore time.Time) {
			dbtest.Write(t, db, func(tx *store.Tx) error {
				return sessions.CountFailedLogin(tx, "pair:a", forgetBefore, func(n int) time.Duration { return time.Duration(n) * time.Second })
			})
		}
		blocked := func(want time.Time, of string) {
			t.Helper()
			dbtest.Read(t, db, func(tx *store.Tx) error {
				until, err := sessions.BlockedUntil(tx, of)
				if !until.Equal(want) {
					t.Errorf("%v blocked until %s, want %s", of, until, want)
				}
				return err
			})
		}
		blocked(time.Time{}, "pair:a")
		var group sync.WaitGroup
		for range 12 {
			group.Go(func() { fail(dbtest.Start) })
		}
		group.Wait()
		blocked(dbtest.Start.Add(12*time.Second), "pair:a")
		dbtest.Write(t, db, func(tx *store.Tx) error { return sessions.ForgetFailedLogins(tx, []string{"pair:b"}) })
		blocked(time.Time{}, "pair:b")
		blocked(dbtest.Start.Add(12*time.Second), "pair:a")
		fail(dbtest.Start.Add(time.Microsecond)) // all earlier ones are too old
		blocked(dbtest.Start.Add(time.Second), "pair:a")
		for _, want := range []int64{1, 0} {
			dbtest.Write(t, db, func(tx *store.Tx) error {
				n, err := sessions.ForgetFailedLoginsBefore(tx, dbtest.Start.Add(time.Microsecond), 1)
				if n != want {
					t.Errorf("%d counts forgotten, want %d", n, want)
				}
				return err
			})
		}
		blocked(time.Time{}, "pair:a")
	})
}

func TestKeysComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		key := sessions.StoredKey{Key: credentials.Key{ID: "k1", CreatedAt: dbtest.Start}, Sealed: "s1.k.sealed"}
		dbtest.Write(t, db, func(tx *store.Tx) error { return sessions.InsertJWTKey(tx, key) })
		dbtest.Write(t, db, func(tx *store.Tx) error {
			return errors.Join(sessions.RetireJWTKeys(tx), sessions.InsertJWTKey(tx, sessions.StoredKey{Key: credentials.Key{ID: "k2", CreatedAt: dbtest.Start}}))
		})
		dbtest.Read(t, db, func(tx *store.Tx) error {
			keys, err := sessions.JWTKeys(tx)
			if len(keys) != 2 || keys[0].Sealed != key.Sealed || !keys[0].CreatedAt.Equal(dbtest.Start) ||
				!keys[0].RetiredAt.Equal(dbtest.Start) || !keys[1].RetiredAt.IsZero() {
				t.Errorf("keys %+v", keys)
			}
			return err
		})
	})
}
