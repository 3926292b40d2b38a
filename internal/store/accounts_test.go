package store_test

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/dbtest"
	"holdfast/internal/fault"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

// write runs fn in a write that must succeed.
func write(t *testing.T, db *store.DB, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := db.Write(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// read runs fn in a read that must succeed.
func read(t *testing.T, db *store.DB, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := db.Read(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// aSite makes a site with that path and a user who is a member of it.
func aSite(t *testing.T, db *store.DB, path string) (travel.Site, auth.User) {
	t.Helper()
	var site travel.Site
	var user auth.User
	write(t, db, func(tx *store.Tx) (err error) {
		site, err = dbtest.InsertSite(tx, travel.Site{Path: path, Name: "Site " + path, Policy: travel.DefaultPolicy("GBP")})
		if err != nil {
			return err
		}
		if user, err = store.InsertUser(tx, auth.User{Username: "user-of-" + path, Email: "u@example.com"}); err != nil {
			return err
		}
		return store.SetMembership(tx, auth.Membership{SiteID: site.ID, UserID: user.ID, Role: auth.MemberAdmin})
	})
	return site, user
}

func TestNoThirdTokenWhateverTheInterleaving(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		site, user := aSite(t, db, "demo")
		var group sync.WaitGroup
		for i := range 20 {
			group.Go(func() {
				err := db.Write(t.Context(), func(tx *store.Tx) error {
					if err := store.LockSite(tx, site.ID); err != nil {
						return err
					}
					n, err := store.CountTokens(tx, site.ID)
					if err != nil || n >= auth.MaxTokens {
						return errors.Join(err, fault.New(fault.TokenLimit, "full"))
					}
					_, err = store.InsertToken(tx, auth.APIToken{SiteID: site.ID, UserID: user.ID, Name: strconv.Itoa(i), SecretHash: "h"})
					return err
				})
				if err != nil && !fault.Is(err, fault.TokenLimit) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		read(t, db, func(tx *store.Tx) error {
			tokens, err := store.Tokens(tx, site.ID)
			if len(tokens) != auth.MaxTokens {
				t.Errorf("the site has %d tokens, want %d", len(tokens), auth.MaxTokens)
			}
			return err
		})
	})
}

func TestCallersAreReadWithTheirPresentRole(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		site, user := aSite(t, db, "demo")
		other, _ := aSite(t, db, "other")
		expires := start.Add(time.Hour)
		var token auth.APIToken
		write(t, db, func(tx *store.Tx) (err error) {
			token, err = store.InsertToken(tx, auth.APIToken{SiteID: site.ID, UserID: user.ID, Name: "n", SecretHash: "h", ExpiresAt: expires})
			return err
		})
		check := func(role auth.Role) {
			t.Helper()
			read(t, db, func(tx *store.Tx) error {
				byUser, err := store.CallerByUser(tx, "demo", user.ID)
				byToken, tokenErr := store.CallerByToken(tx, "demo", token.ID)
				for _, c := range []store.Caller{byUser, byToken} {
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
		check(auth.MemberAdmin)
		write(t, db, func(tx *store.Tx) error {
			return store.SetMembership(tx, auth.Membership{SiteID: site.ID, UserID: user.ID, Role: auth.ReadOnly})
		})
		check(auth.ReadOnly)
		write(t, db, func(tx *store.Tx) error { return store.RemoveMembership(tx, site.ID, user.ID) })
		check("")
		read(t, db, func(tx *store.Tx) error {
			elsewhere, err := store.CallerByToken(tx, "other", token.ID)
			if elsewhere.Token.ID != 0 || elsewhere.User.ID != 0 || elsewhere.Membership.SiteID != other.ID {
				t.Errorf("at another site the token gives %+v", elsewhere)
			}
			if _, err := store.CallerByToken(tx, "nowhere", token.ID); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("a site that does not exist: %v", err)
			}
			if _, err := store.CallerByUser(tx, "nowhere", user.ID); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("a site that does not exist: %v", err)
			}
			return err
		})
	})
}

func TestTokensAreTouchedOnceAMinute(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		site, user := aSite(t, db, "demo")
		touch := func(id int64, used time.Time) {
			write(t, db, func(tx *store.Tx) error { return store.TouchToken(tx, site.ID, id, used, used.Add(-time.Minute)) })
		}
		var token auth.APIToken
		write(t, db, func(tx *store.Tx) (err error) {
			token, err = store.InsertToken(tx, auth.APIToken{SiteID: site.ID, UserID: user.ID, Name: "n", SecretHash: "h"})
			return err
		})
		for _, step := range []struct{ used, want time.Duration }{{0, 0}, {59 * time.Second, 0}, {time.Minute, time.Minute}, {time.Second, time.Minute}} {
			touch(token.ID, start.Add(step.used))
			read(t, db, func(tx *store.Tx) error {
				found, err := store.TokenOfAnySite(tx, token.ID)
				if !found.LastUsedAt.Equal(start.Add(step.want)) {
					t.Errorf("used at +%s, the record says %s, want +%s", step.used, found.LastUsedAt, step.want)
				}
				return err
			})
		}
	})
}

func TestOnlyOneLoginUsesASecondFactor(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		_, user := aSite(t, db, "demo")
		write(t, db, func(tx *store.Tx) error {
			return errors.Join(store.BeginTwoFactor(tx, user.ID, "S"), store.ConfirmTwoFactor(tx, user.ID, 7, []string{"one", "two"}))
		})
		for name, use := range map[string]func(tx *store.Tx) error{
			"step":     func(tx *store.Tx) error { return store.UseStep(tx, user.ID, 8) },
			"recovery": func(tx *store.Tx) error { return store.UseRecoveryCode(tx, user.ID, "one") },
		} {
			var group sync.WaitGroup
			var mu sync.Mutex
			used := 0
			for range 10 {
				group.Go(func() {
					err := db.Write(t.Context(), use)
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
				t.Errorf("the %s was used %d times", name, used)
			}
		}
		write(t, db, func(tx *store.Tx) error { return store.RemoveTwoFactor(tx, user.ID) })
		write(t, db, func(tx *store.Tx) error {
			found, err := store.User(tx, user.ID)
			if found.TwoFactorSecret != "" || !found.TwoFactorConfirmedAt.IsZero() || found.TwoFactorLastStep != 0 {
				t.Errorf("after its removal: %+v", found)
			}
			if err := store.UseRecoveryCode(tx, user.ID, "two"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("a recovery code outlived the second factor: %v", err)
			}
			return err
		})
	})
}

func TestFailedLoginsAreAllCounted(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		subjects := []string{"account:a", "address:b"}
		fail := func(forgetBefore time.Time) {
			write(t, db, func(tx *store.Tx) error {
				for _, subject := range subjects {
					err := store.CountFailedLogin(tx, subject, forgetBefore, func(n int) time.Duration { return time.Duration(n) * time.Second })
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
		blocked := func(want time.Time, of ...string) {
			t.Helper()
			read(t, db, func(tx *store.Tx) error {
				until, err := store.BlockedUntil(tx, of)
				if !until.Equal(want) {
					t.Errorf("%v blocked until %s, want %s", of, until, want)
				}
				return err
			})
		}
		blocked(time.Time{}, subjects...)
		var group sync.WaitGroup
		for range 12 {
			group.Go(func() { fail(start) })
		}
		group.Wait()
		blocked(start.Add(12*time.Second), subjects...)
		write(t, db, func(tx *store.Tx) error { return store.ForgetFailedLogins(tx, "account:a") })
		blocked(time.Time{}, "account:a")
		blocked(start.Add(12*time.Second), subjects...)
		fail(start.Add(time.Microsecond)) // all before are too old
		blocked(start.Add(time.Second), subjects...)
		for _, want := range []int64{1, 1, 0} { // one at a time
			write(t, db, func(tx *store.Tx) error {
				n, err := store.ForgetFailedLoginsBefore(tx, start.Add(time.Microsecond), 1)
				if n != want {
					t.Errorf("%d counts forgotten, want %d", n, want)
				}
				return err
			})
		}
		blocked(time.Time{}, subjects...)
	})
}

func TestPoliciesAreDated(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		site, _ := aSite(t, db, "demo")
		today := civil.DayOf(start)
		write(t, db, func(tx *store.Tx) error {
			for i, from := range []civil.Day{today - 10, today, today, today + 10} {
				p := travel.DefaultPolicy("EUR")
				p.FromDay, p.LateLogDays = from, int64(100+i)
				if _, err := store.InsertPolicy(tx, site.ID, p); err != nil {
					return err
				}
			}
			return nil
		})
		read(t, db, func(tx *store.Tx) error {
			for day, want := range map[civil.Day]int64{0: 3, today - 11: 3, today - 10: 100, today - 1: 100, today: 102, today + 9: 102, today + 10: 103} {
				p, err := store.PolicyOn(tx, site.ID, day)
				if err != nil || p.LateLogDays != want {
					t.Errorf("on %s: %d days, want %d (%v)", day, p.LateLogDays, want, err)
				}
			}
			found, err := store.Site(tx, site.ID)
			if found.Policy.LateLogDays != 102 {
				t.Errorf("the site has the policy %+v today", found.Policy)
			}
			return err
		})
	})
}

func TestSitesArePaged(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		paths := []string{"a-one", "b-two", "c-three", "d-four", "e-five", "f-six", "g-seven"}
		for _, path := range paths {
			aSite(t, db, path)
		}
		var got []string
		for number := 1; number <= 3; number++ {
			read(t, db, func(tx *store.Tx) error {
				list, err := store.Sites(tx, travel.SiteFilter{}, travel.Page{Number: number, Size: 3, Offset: -1, OrderBy: "path", Descending: true, Count: true})
				for _, s := range list.Items {
					got = append(got, s.Path)
				}
				if list.Total != int64(len(paths)) {
					t.Errorf("%d sites in all, want %d", list.Total, len(paths))
				}
				return err
			})
		}
		slices.Reverse(paths)
		if !slices.Equal(got, paths) {
			t.Errorf("pages of three give %v, want %v", got, paths)
		}
		err := db.Write(t.Context(), func(tx *store.Tx) error {
			_, err := dbtest.InsertSite(tx, travel.Site{Path: "a-one", Policy: travel.DefaultPolicy("GBP")})
			return err
		})
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("a path that is taken: %v", err)
		}
	})
}

func TestKeysComeBackAsTheyWere(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		key := auth.Key{ID: "k1", Secret: []byte("0123456789abcdef0123456789abcdef"), CreatedAt: start}
		write(t, db, func(tx *store.Tx) error { return store.InsertJWTKey(tx, key) })
		write(t, db, func(tx *store.Tx) error {
			return errors.Join(store.RetireJWTKeys(tx), store.InsertJWTKey(tx, auth.Key{ID: "k2", Secret: key.Secret, CreatedAt: start}))
		})
		read(t, db, func(tx *store.Tx) error {
			keys, err := store.JWTKeys(tx)
			if len(keys) != 2 || string(keys[0].Secret) != string(key.Secret) || !keys[0].CreatedAt.Equal(start) ||
				!keys[0].RetiredAt.Equal(start) || !keys[1].RetiredAt.IsZero() {
				t.Errorf("keys %+v", keys)
			}
			return err
		})
	})
}
