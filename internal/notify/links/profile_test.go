package links_test

import (
	"slices"
	"strings"
	"testing"

	"holdfast/internal/account/people"
	"holdfast/internal/account/sessions"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/notify/links"
	"holdfast/internal/notify/mail"
	"holdfast/internal/testkit/apptest"
)

// TestANewAddressIsVerifiedByItsLink: until then the old one counts, and the link can do nothing else.
func TestANewAddressIsVerifiedByItsLink(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		user := h.User(t, "ada", access.Finance)
		visit := sessions.Visit{User: user, Actor: apptest.ActorOf(user, access.Finance)}
		is := func() people.User {
			t.Helper()
			found, err := h.Accounts.UserNamed(ctx, access.System(0), "ada")
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		change := func(name, email string) (bool, error) {
			return h.Links.ChangeProfile(ctx, visit, links.Profile{Name: name, Email: email})
		}
		_, err := change("Ada", "new@example.org")
		apptest.WantKind(t, err, errs.NotPossible, "a new address without a mail server")
		if u := is(); u.DisplayName == "Ada" {
			t.Error("half of it was done")
		}
		h.Mails.Transport = &mail.SMTP{}
		if mailed, err := change("Ada Byron", user.Email); err != nil || mailed || is().DisplayName != "Ada Byron" {
			t.Errorf("a new name: %v %v %+v", mailed, err, is())
		}
		_, err = change("Ada Byron", "no address")
		apptest.WantKind(t, err, errs.Invalid, "what is no address")
		for range 2 { // the second link ends the first
			if mailed, err := change("Ada Byron", "new@example.org"); err != nil || !mailed {
				t.Fatalf("%v %v", mailed, err)
			}
		}
		asked(t, h, "ada") // a link to the old address is also open
		kinds, secrets := posted(t, h)
		if !strings.Contains(kinds, "address new@example.org") || len(secrets) != 3 || secrets[0] != "" || is().Email != user.Email {
			t.Fatalf("%s %q %+v", kinds, secrets, is())
		}
		apptest.WantKind(t, h.Links.Choose(ctx, secrets[1], "", newPassword, "192.0.2.7"), errs.SettingNotFound, "a password by the link of an address")
		apptest.WantKind(t, h.Links.Accept(ctx, secrets[1]), errs.SettingNotFound, "access by the link of an address")
		apptest.WantKind(t, h.Links.Confirm(ctx, secrets[2], "192.0.2.7"), errs.SettingNotFound, "an address by the link of a password")
		if err := h.Links.Confirm(ctx, secrets[1], "192.0.2.7"); err != nil {
			t.Fatal(err)
		}
		if u := is(); u.Email != "new@example.org" || !u.Proven {
			t.Errorf("%+v", u)
		}
		apptest.WantKind(t, h.Links.Confirm(ctx, secrets[1], "192.0.2.7"), errs.SettingNotFound, "the same link again")
		if kinds, secrets := posted(t, h); strings.Count(kinds, "address_changed "+user.Email+"\n") != 1 || secrets[len(secrets)-1] != "" {
			t.Errorf("the old address is not notified exactly once, without a link: %s", kinds)
		}
		apptest.WantKind(t, h.Links.Choose(ctx, secrets[2], "", newPassword, "192.0.2.7"), errs.SettingNotFound, "a password by a link to the old address")
		visit.User = is()
		_, err = change("Ada Byron", "third@example.org")
		if err == nil {
			_, err = change("Ada Byron", "fourth@example.org")
		}
		apptest.WantKind(t, err, errs.TooMany, "a fourth link within an hour")
	})
}

// TestTheProgramSetsAnAddress, and no one else: otherwise operators could have another's password reset mailed to
// themselves. Links to the old address end, and it is notified.
func TestTheProgramSetsAnAddress(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx, user, boss := t.Context(), h.User(t, "ada", access.Finance), h.User(t, "olga", access.Operator)
		h.Mails.Transport = &mail.SMTP{}
		asked(t, h, "ada")
		for _, by := range []access.Actor{apptest.ActorOf(boss, access.Operator), apptest.ActorOf(user, access.Finance)} {
			apptest.WantKind(t, h.Links.SetAddress(ctx, by, user.ID, "thief@example.org"), errs.Forbidden, "an address that a person sets")
		}
		program := access.System(0)
		apptest.WantKind(t, h.Links.SetAddress(ctx, program, user.ID, "no address"), errs.Invalid, "what is no address")
		apptest.WantKind(t, h.Links.SetAddress(ctx, program, user.ID, ""), errs.Missing, "no address")
		apptest.WantKind(t, h.Links.SetAddress(ctx, program, 99, "new@example.org"), errs.SettingNotFound, "nobody")
		for range 2 { // the second time nothing changes, and no one is notified
			if err := h.Links.SetAddress(ctx, program, user.ID, "new@example.org"); err != nil {
				t.Fatal(err)
			}
		}
		if found, err := h.Accounts.UserNamed(ctx, program, "ada"); err != nil || found.Email != "new@example.org" || !found.Proven {
			t.Errorf("%+v %v", found, err)
		}
		kinds, secrets := posted(t, h)
		if kinds != "password "+user.Email+"\naddress_changed "+user.Email+"\n" || !slices.Equal(secrets, []string{"", ""}) {
			t.Errorf("%q %q: the old address is not notified exactly once, or its link is open", kinds, secrets)
		}
	})
}
