package sessions_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/internal/account/sessions"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// signInsKept counts the rows.
func signInsKept(t *testing.T, h *apptest.House) (n int) {
	t.Helper()
	dbtest.Read(t, h.DB, func(tx *store.Tx) error { return tx.QueryRow(`SELECT COUNT(*) FROM sign_ins`, nil, &n) })
	return n
}

func TestASignInIsOneUserOnTheSitesThatTheyHaveNow(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		ada := h.User(t, "ada", access.Finance)
		cookie := apptest.Enters(t, h, "Ada", strings.Repeat("x", 199)+"é and more")
		v := apptest.Visits(t, h, cookie, "demo", errs.Internal, "a page of the site")
		if v.User.ID != ada.ID || v.Actor.Role != access.Finance || v.Actor.SiteID != 1 || v.Site.Path != "demo" || v.Actor.Address != "192.0.2.9" {
			t.Errorf("the visit is by %+v", v.Actor)
		}
		if v.SignIn.Browser != strings.Repeat("x", 199) || v.SignIn.Address != "192.0.2.7" {
			t.Errorf("it is kept as %q from %s", v.SignIn.Browser, v.SignIn.Address)
		}
		alone := apptest.Visits(t, h, cookie, "", errs.Internal, "a page of no site")
		if alone.Actor.Role != "" || alone.Actor.Can(access.Read) {
			t.Errorf("on no site she is %+v", alone.Actor)
		}
		apptest.Visits(t, h, cookie, "elsewhere", errs.Forbidden, "an unknown site")
		for _, wrong := range []string{"", "1", "1.", "x.y", fmt.Sprintf("%d.wrong", ada.ID), "999" + cookie[strings.Index(cookie, "."):]} {
			apptest.Visits(t, h, wrong, "demo", errs.NotLoggedIn, "the cookie "+wrong)
		}
		apptest.WantKind(t, h.Accounts.SetMembership(ctx, access.System(1), ada.ID, access.ReadOnly, false), errs.Internal, "a lesser role")
		if v := apptest.Visits(t, h, cookie, "demo", errs.Internal, "after it"); v.Actor.Role != access.ReadOnly {
			t.Errorf("she still is %s", v.Actor.Role)
		}
		apptest.WantKind(t, h.Accounts.RemoveMembership(ctx, access.System(1), ada.ID), errs.Internal, "no role")
		apptest.Visits(t, h, cookie, "demo", errs.Forbidden, "after that")
	})
}

func TestASignInEndsByTimeByItsUserAndWithThePassword(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		ada := h.User(t, "ada", access.Finance)
		h.User(t, "bob", access.Finance)
		bobs := apptest.Enters(t, h, "bob", "")
		idle, used := apptest.Enters(t, h, "ada", ""), apptest.Enters(t, h, "ada", "")
		h.Now.Move(sessions.SignInIdle - time.Second)
		apptest.Visits(t, h, used, "", errs.Internal, "just in time")
		h.Now.Move(time.Second)
		apptest.Visits(t, h, idle, "", errs.NotLoggedIn, "without a request for too long")
		for range 10 {
			apptest.Visits(t, h, used, "", errs.Internal, "used each hour")
			apptest.Visits(t, h, bobs, "", errs.NotLoggedIn, "of somebody who went")
			h.Now.Move(time.Hour)
		}
		apptest.Visits(t, h, used, "", errs.NotLoggedIn, "after its whole life")

		first, second := apptest.Enters(t, h, "ada", "first"), apptest.Enters(t, h, "ada", "second")
		bobs = apptest.Enters(t, h, "bob", "")
		v := apptest.Visits(t, h, first, "", errs.Internal, "the first")
		apptest.WantKind(t, h.SignIns.SignOut(ctx, apptest.Visits(t, h, bobs, "", errs.Internal, "bob"), v.SignIn.ID), errs.Internal, "another's sign-in")
		list, err := h.SignIns.List(ctx, apptest.Visits(t, h, first, "", errs.Internal, "still in"))
		if err != nil || len(list) != 2 {
			t.Errorf("the list is %+v, %v", list, err)
		}
		apptest.WantKind(t, h.SignIns.SignOut(ctx, v, v.SignIn.ID), errs.Internal, "her own")
		apptest.Visits(t, h, first, "", errs.NotLoggedIn, "signed out")
		apptest.WantKind(t, h.SignIns.SignOutEverywhere(ctx, apptest.Visits(t, h, second, "", errs.Internal, "the other")), errs.Internal, "everywhere")
		apptest.Visits(t, h, second, "", errs.NotLoggedIn, "signed out everywhere")
		apptest.Visits(t, h, bobs, "", errs.Internal, "bob has nothing to do with it")

		third := apptest.Enters(t, h, "ada", "")
		err = h.Accounts.SetPassword(ctx, access.System(1), ada.ID, "another good password", false)
		apptest.WantKind(t, err, errs.Internal, "another password")
		apptest.Visits(t, h, third, "", errs.NotLoggedIn, "the password has changed")
	})
}

func TestThePasswordCountsAsGivenForTenMinutes(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		h.User(t, "ada", access.Finance)
		cookie := apptest.Enters(t, h, "ada", "")
		proven := func() (sessions.Visit, bool) {
			v := apptest.Visits(t, h, cookie, "", errs.Internal, "a visit")
			return v, v.SignIn.Proven(h.Now.Read())
		}
		if _, ok := proven(); !ok {
			t.Error("signing in is no proof")
		}
		h.Now.Move(sessions.ProofLife)
		v, ok := proven()
		if ok {
			t.Error("it counts for too long")
		}
		in := sessions.Login{Username: "bob", Password: "a guess of twelve", Address: "192.0.2.7"}
		apptest.WantKind(t, h.SignIns.Prove(t.Context(), v, in), errs.LoginFailed, "a wrong password")
		if _, ok := proven(); ok {
			t.Error("a wrong password is a proof")
		}
		in.Password = apptest.GoodPassword
		apptest.WantKind(t, h.SignIns.Prove(t.Context(), v, in), errs.Internal, "the password")
		if _, ok := proven(); !ok {
			t.Error("the password is no proof")
		}
	})
}

// TestEndedSignInsAreForgotten: the job deletes them in batches; a user never has more than fifty.
func TestEndedSignInsAreForgotten(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		h.User(t, "ada", access.Finance)
		h.User(t, "bob", access.Finance)
		oldest := apptest.Enters(t, h, "ada", "")
		h.Now.Move(time.Minute)
		next := apptest.Enters(t, h, "ada", "")
		h.Now.Move(time.Minute)
		for range 49 {
			apptest.Enters(t, h, "ada", "")
		}
		apptest.Visits(t, h, oldest, "", errs.NotLoggedIn, "the one that was not used for the longest time")
		apptest.Visits(t, h, next, "", errs.Internal, "the fiftieth")

		h.Now.Move(sessions.SignInIdle)
		fresh := apptest.Enters(t, h, "bob", "")
		more, err := h.SignIns.Forget(ctx)
		if err != nil || more {
			t.Fatalf("forgetting: %v, %v", more, err)
		}
		apptest.Visits(t, h, fresh, "", errs.Internal, "a sign-in that counts")
		if left := signInsKept(t, h); left != 1 {
			t.Errorf("%d sign-ins are left, want bob's", left)
		}
		for range 11 {
			h.Now.Move(time.Hour)
			apptest.Visits(t, h, fresh, "", errs.Internal, "used each hour")
		}
		h.Now.Move(sessions.SignInIdle) // it can no longer be used
		if _, err := h.SignIns.Forget(ctx); err != nil {
			t.Fatal(err)
		}
		if left := signInsKept(t, h); left != 0 {
			t.Errorf("%d are left after their whole life", left)
		}
	})
}
