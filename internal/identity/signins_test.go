package identity_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/internal/apptest"
	"holdfast/internal/auth"
	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/fault"
	"holdfast/internal/identity"
)

// enters signs somebody in to the dashboard, and returns the cookie.
func enters(t *testing.T, h *apptest.House, name, browser string) string {
	t.Helper()
	in := identity.Login{Username: name, Password: apptest.GoodPassword, Address: "192.0.2.7"}
	cookie, device, err := h.SignIns.SignIn(t.Context(), in, browser)
	if err != nil || device == "" {
		t.Fatalf("signing %s in: %v", name, err)
	}
	return cookie
}

// signInsKept counts the rows.
func signInsKept(t *testing.T, h *apptest.House) (n int) {
	t.Helper()
	dbtest.Read(t, h.DB, func(tx *db.Tx) error { return tx.Row(`SELECT COUNT(*) FROM sign_ins`, nil, &n) })
	return n
}

// visits wants a kind of answer to a request with a cookie.
func visits(t *testing.T, h *apptest.House, cookie, path string, want fault.Kind, doing string) identity.Visit {
	t.Helper()
	v, err := h.SignIns.Visit(t.Context(), path, cookie, "192.0.2.9")
	apptest.WantKind(t, err, want, doing)
	return v
}

func TestASignInIsOneUserOnTheSitesThatTheyHaveNow(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		ada := h.User(t, "ada", auth.Finance)
		cookie := enters(t, h, "Ada", strings.Repeat("x", 199)+"é and more")
		v := visits(t, h, cookie, "demo", fault.Internal, "a page of the site")
		if v.User.ID != ada.ID || v.Actor.Role != auth.Finance || v.Actor.SiteID != 1 || v.Site.Path != "demo" || v.Actor.Address != "192.0.2.9" {
			t.Errorf("the visit is by %+v", v.Actor)
		}
		if v.SignIn.Browser != strings.Repeat("x", 199) || v.SignIn.Address != "192.0.2.7" {
			t.Errorf("it is kept as %q from %s", v.SignIn.Browser, v.SignIn.Address)
		}
		alone := visits(t, h, cookie, "", fault.Internal, "a page of no site")
		if alone.Actor.Role != "" || alone.Actor.Can(auth.Read) {
			t.Errorf("on no site she is %+v", alone.Actor)
		}
		visits(t, h, cookie, "elsewhere", fault.Forbidden, "an unknown site")
		for _, wrong := range []string{"", "1", "1.", "x.y", fmt.Sprintf("%d.wrong", ada.ID), "999" + cookie[strings.Index(cookie, "."):]} {
			visits(t, h, wrong, "demo", fault.NotLoggedIn, "the cookie "+wrong)
		}
		apptest.WantKind(t, h.Accounts.SetMembership(ctx, auth.System(1), ada.ID, auth.ReadOnly, false), fault.Internal, "a lesser role")
		if v := visits(t, h, cookie, "demo", fault.Internal, "after it"); v.Actor.Role != auth.ReadOnly {
			t.Errorf("she still is %s", v.Actor.Role)
		}
		apptest.WantKind(t, h.Accounts.RemoveMembership(ctx, auth.System(1), ada.ID), fault.Internal, "no role")
		visits(t, h, cookie, "demo", fault.Forbidden, "after that")
	})
}

func TestASignInEndsByTimeByItsUserAndWithThePassword(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		ada := h.User(t, "ada", auth.Finance)
		h.User(t, "bob", auth.Finance)
		bobs := enters(t, h, "bob", "")
		idle, used := enters(t, h, "ada", ""), enters(t, h, "ada", "")
		h.Now.Move(identity.SignInIdle - time.Second)
		visits(t, h, used, "", fault.Internal, "just in time")
		h.Now.Move(time.Second)
		visits(t, h, idle, "", fault.NotLoggedIn, "without a request for too long")
		for range 10 {
			visits(t, h, used, "", fault.Internal, "used each hour")
			visits(t, h, bobs, "", fault.NotLoggedIn, "of somebody who went")
			h.Now.Move(time.Hour)
		}
		visits(t, h, used, "", fault.NotLoggedIn, "after its whole life")

		first, second := enters(t, h, "ada", "first"), enters(t, h, "ada", "second")
		bobs = enters(t, h, "bob", "")
		v := visits(t, h, first, "", fault.Internal, "the first")
		apptest.WantKind(t, h.SignIns.SignOut(ctx, visits(t, h, bobs, "", fault.Internal, "bob"), v.SignIn.ID), fault.Internal, "another's sign-in")
		list, err := h.SignIns.List(ctx, visits(t, h, first, "", fault.Internal, "still in"))
		if err != nil || len(list) != 2 {
			t.Errorf("the list is %+v, %v", list, err)
		}
		apptest.WantKind(t, h.SignIns.SignOut(ctx, v, v.SignIn.ID), fault.Internal, "her own")
		visits(t, h, first, "", fault.NotLoggedIn, "signed out")
		apptest.WantKind(t, h.SignIns.SignOutEverywhere(ctx, visits(t, h, second, "", fault.Internal, "the other")), fault.Internal, "everywhere")
		visits(t, h, second, "", fault.NotLoggedIn, "signed out everywhere")
		visits(t, h, bobs, "", fault.Internal, "bob has nothing to do with it")

		third := enters(t, h, "ada", "")
		err = h.Accounts.SetPassword(ctx, auth.System(1), ada.ID, "another good password", false)
		apptest.WantKind(t, err, fault.Internal, "another password")
		visits(t, h, third, "", fault.NotLoggedIn, "the password has changed")
	})
}

func TestThePasswordCountsAsGivenForTenMinutes(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		h.User(t, "ada", auth.Finance)
		cookie := enters(t, h, "ada", "")
		proven := func() (identity.Visit, bool) {
			v := visits(t, h, cookie, "", fault.Internal, "a visit")
			return v, v.SignIn.Proven(h.Now.Read())
		}
		if _, ok := proven(); !ok {
			t.Error("signing in is no proof")
		}
		h.Now.Move(identity.ProofLife)
		v, ok := proven()
		if ok {
			t.Error("it counts for too long")
		}
		in := identity.Login{Username: "bob", Password: "a guess of twelve", Address: "192.0.2.7"}
		apptest.WantKind(t, h.SignIns.Prove(t.Context(), v, in), fault.LoginFailed, "a wrong password")
		if _, ok := proven(); ok {
			t.Error("a wrong password is a proof")
		}
		in.Password = apptest.GoodPassword
		apptest.WantKind(t, h.SignIns.Prove(t.Context(), v, in), fault.Internal, "the password")
		if _, ok := proven(); !ok {
			t.Error("the password is no proof")
		}
	})
}

// TestEndedSignInsAreForgotten: by the job, a number at a time; and a user never has more than fifty.
func TestEndedSignInsAreForgotten(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		h.User(t, "ada", auth.Finance)
		h.User(t, "bob", auth.Finance)
		oldest := enters(t, h, "ada", "")
		h.Now.Move(time.Minute)
		next := enters(t, h, "ada", "")
		h.Now.Move(time.Minute)
		for range 49 {
			enters(t, h, "ada", "")
		}
		visits(t, h, oldest, "", fault.NotLoggedIn, "the one that was not used for the longest time")
		visits(t, h, next, "", fault.Internal, "the fiftieth")

		h.Now.Move(identity.SignInIdle)
		fresh := enters(t, h, "bob", "")
		more, err := h.SignIns.Forget(ctx)
		if err != nil || more {
			t.Fatalf("forgetting: %v, %v", more, err)
		}
		visits(t, h, fresh, "", fault.Internal, "a sign-in that counts")
		if left := signInsKept(t, h); left != 1 {
			t.Errorf("%d sign-ins are left, want bob's", left)
		}
		for range 11 {
			h.Now.Move(time.Hour)
			visits(t, h, fresh, "", fault.Internal, "used each hour")
		}
		h.Now.Move(identity.SignInIdle) // nobody can use it any more
		if _, err := h.SignIns.Forget(ctx); err != nil {
			t.Fatal(err)
		}
		if left := signInsKept(t, h); left != 0 {
			t.Errorf("%d are left after their whole life", left)
		}
	})
}
