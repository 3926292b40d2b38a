package links_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/notify/mail"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

const newPassword = "a password of my own"

func asked(t *testing.T, h *apptest.House, name string) {
	t.Helper()
	if err := h.Links.Ask(t.Context(), name, "192.0.2.7"); err != nil {
		t.Fatal(err)
	}
	answered(t, h)
}

func answered(t *testing.T, h *apptest.House) {
	t.Helper()
	if more, err := h.Links.Answer(t.Context()); err != nil || more {
		t.Fatalf("answering: %v, %v", more, err)
	}
}

// posted returns the secrets of the links in all e-mails; "" for a link that has ended.
func posted(t *testing.T, h *apptest.House) (kinds string, secrets []string) {
	t.Helper()
	var letters []mail.Letter
	dbtest.Read(t, h.DB, func(tx *store.Tx) error {
		return tx.Query(`SELECT kind, recipient, letter FROM mails ORDER BY id`, nil, func(scan func(dest ...any) error) error {
			var kind, to, text string
			err := scan(&kind, &to, &text)
			kinds += kind + " " + to + "\n"
			var letter mail.Letter
			letters = append(letters, letter)
			if err != nil {
				return err
			}
			return json.Unmarshal([]byte(text), &letters[len(letters)-1])
		})
	})
	for _, letter := range letters {
		secrets = append(secrets, apptest.SecretOfLink(t, h.App, letter.Link))
	}
	return kinds, secrets
}

func another(t *testing.T, h *apptest.House, path string) access.Actor {
	t.Helper()
	title, currency := path, money.Currency("GBP")
	made, err := h.Sites.Create(t.Context(), access.System(0), merchant.SiteFields{Path: &path, Name: &title, Currency: &currency})
	if err != nil {
		t.Fatal(err)
	}
	return access.System(made.ID)
}

// TestAForgottenPassword: a link by e-mail, once, for an hour; and nothing that reveals who has an account.
func TestAForgottenPassword(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		h.Mails.Transport = &mail.SMTP{}
		h.User(t, "ada", access.Finance)
		cookie := apptest.Enters(t, h, "ada", "")
		for _, name := range []string{"nobody", "nobody@example.com", " "} {
			if err := h.Links.Ask(ctx, name, "192.0.2.7"); (err != nil) != (name == " ") {
				t.Errorf("asking for %q: %v", name, err)
			}
		}
		answered(t, h)
		if kinds, _ := posted(t, h); kinds != "" {
			t.Errorf("nobody gets %s", kinds)
		}
		asked(t, h, "Ada@Example.com")
		asked(t, h, " ADA ")
		kinds, secrets := posted(t, h)
		if kinds != strings.Repeat("password ada@example.com\n", 2) || secrets[0] != "" || secrets[1] == "" {
			t.Fatalf("the mails are %q with %q", kinds, secrets)
		}
		found, err := h.Links.Look(ctx, secrets[1])
		if err != nil || found.User.Username != "ada" || found.Kind != people.Reset || found.Site.ID != 0 {
			t.Errorf("the link is %+v, %v", found, err)
		}
		apptest.WantKind(t, h.Links.Choose(ctx, secrets[1], "", "short", ""), errs.Invalid, "a short password")
		apptest.WantKind(t, h.Links.Accept(ctx, secrets[1]), errs.SettingNotFound, "it is no invitation")
		apptest.WantKind(t, h.Links.Choose(ctx, secrets[1]+"a", "", newPassword, ""), errs.SettingNotFound, "another secret")
		apptest.WantKind(t, h.Links.Choose(ctx, secrets[1], "", newPassword, "192.0.2.7"), errs.Internal, "a password")
		apptest.WantKind(t, h.Links.Choose(ctx, secrets[1], "", newPassword, ""), errs.SettingNotFound, "the link again")
		apptest.Visits(t, h, cookie, "", errs.NotLoggedIn, "a browser from before")
		_, err = h.Login(t, "ada", newPassword)
		apptest.WantKind(t, err, errs.Internal, "the new password")
		_, err = h.Login(t, "ada", apptest.GoodPassword)
		apptest.WantKind(t, err, errs.LoginFailed, "the old one")
	})
}

// TestALinkEnds: when it expires, with a newer one, and with a password changed in another way.
func TestALinkEnds(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		h.Mails.Transport = &mail.SMTP{}
		ada := h.User(t, "ada", access.Finance)
		last := func() string {
			t.Helper()
			asked(t, h, "ada")
			_, secrets := posted(t, h)
			return secrets[len(secrets)-1]
		}
		open := func(secret string, want errs.Kind, doing string) {
			t.Helper()
			_, err := h.Links.Look(ctx, secret)
			apptest.WantKind(t, err, want, doing)
		}
		first := last()
		h.Now.Move(people.ResetLife - time.Second)
		open(first, errs.Internal, "just in time")
		h.Now.Move(time.Second)
		open(first, errs.SettingNotFound, "too late")
		apptest.WantKind(t, h.Links.Choose(ctx, first, "", newPassword, ""), errs.SettingNotFound, "using it too late")
		second := last()
		third := last()
		open(second, errs.SettingNotFound, "the older one")
		open(third, errs.Internal, "the newer one")
		err := h.Accounts.SetPassword(ctx, access.System(1), ada.ID, "another good password", false)
		apptest.WantKind(t, err, errs.Internal, "another password")
		open(third, errs.SettingNotFound, "after it")
		h.Now.Move(2 * people.ResetLife)
		last()
		h.Now.Move(people.ResetLife)
		if more, err := h.Links.Forget(ctx); err != nil || more {
			t.Fatal(more, err)
		}
		var left int
		dbtest.Read(t, h.DB, func(tx *store.Tx) error { return tx.QueryRow(`SELECT COUNT(*) FROM password_links`, nil, &left) })
		if left != 0 {
			t.Errorf("%d links are kept", left)
		}
	})
}

// TestAskingHasBounds: three e-mails an hour per name, twenty requests an hour per address, and none for old requests.
func TestAskingHasBounds(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		h.Mails.Transport = &mail.SMTP{}
		h.User(t, "ada", access.Finance)
		mails := func() int { kinds, _ := posted(t, h); return strings.Count(kinds, "\n") }
		for range 3 + 2 {
			asked(t, h, "ada")
		}
		if n := mails(); n != 3 {
			t.Errorf("%d mails", n)
		}
		for i := range 20 - 3 - 2 {
			asked(t, h, fmt.Sprint("nobody", i))
		}
		apptest.WantKind(t, h.Links.Ask(t.Context(), "ada", "192.0.2.7"), errs.TooMany, "one more")
		h.Now.Move(time.Hour + time.Second)
		asked(t, h, "ada")
		if n := mails(); n != 3+1 {
			t.Errorf("%d mails an hour later", n)
		}
		if err := h.Links.Ask(t.Context(), "ada", "192.0.2.7"); err != nil {
			t.Fatal(err)
		}
		h.Now.Move(2 * time.Hour)
		answered(t, h)
		if n := mails(); n != 3+1 {
			t.Errorf("%d mails, one to somebody who waits no more", n)
		}
	})
}

// TestALinkIsUsedOnce: by the first request.
func TestALinkIsUsedOnce(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		in := people.UserFields{Username: "eve", Email: "eve@example.com"}
		_, secret, err := h.Links.Invite(t.Context(), access.System(1), in, access.ReadOnly, false)
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.Login(t, "eve", "")
		apptest.WantKind(t, err, errs.LoginFailed, "no password yet")
		var used [4]error
		var all sync.WaitGroup
		for i := range used {
			all.Go(func() { used[i] = h.Links.Choose(t.Context(), secret, "", fmt.Sprint(newPassword, i), "") })
		}
		all.Wait()
		winners := 0
		for i, err := range used {
			if err == nil {
				winners++
				_, err = h.Login(t, "eve", fmt.Sprint(newPassword, i))
				apptest.WantKind(t, err, errs.Internal, "the password that won")
			} else if !errs.Is(err, errs.SettingNotFound) {
				t.Error(err)
			}
		}
		if winners != 1 {
			t.Errorf("%d have used it", winners)
		}
	})
}

// TestWhoCanBeInvited: and by whom, and that no one gets access to another's account.
func TestWhoCanBeInvited(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		h.Mails.Transport = &mail.SMTP{}
		boss := apptest.ActorOf(h.User(t, "boss", access.MemberAdmin), access.MemberAdmin)
		invite := func(by access.Actor, name, email string, role access.Role, want errs.Kind, doing string) (people.User, string) {
			t.Helper()
			user, secret, err := h.Links.Invite(ctx, by, people.UserFields{Username: name, Email: email, DisplayName: "X " + name}, role, false)
			apptest.WantKind(t, err, want, doing)
			return user, secret
		}
		kind := func(secret string) people.LinkKind {
			t.Helper()
			found, err := h.Links.Look(ctx, secret)
			if err != nil {
				t.Error(err)
			}
			return found.Kind
		}
		for _, role := range []access.Role{access.ReadOnly, access.Finance} {
			invite(apptest.ActorOf(people.User{ID: 99}, role), "x1", "x1@example.com", access.ReadOnly, errs.Forbidden, string(role))
		}
		invite(boss, "x1", "x1@example.com", access.Operator, errs.Invalid, "an operator by a customer")
		invite(boss, "x1", "", access.ReadOnly, errs.Invalid, "no address")
		invite(boss, "boss", "boss@example.com", access.ReadOnly, errs.Invalid, "a member already")
		ceo, first := invite(boss, "ceo", "ceo@example.com", access.MemberAdmin, errs.Internal, "a new user")
		if kind(first) != people.Invitation {
			t.Error("the first one chooses no password")
		}

		// Another site has the same person. Its administrators must not be able to choose the password.
		other := another(t, h, "other")
		other.Role = access.MemberAdmin
		other.UserID = 77
		double, third := invite(other, "ceo", "else@example.com", access.ReadOnly, errs.Internal, "a taken name")
		apptest.WantKind(t, h.Links.Choose(ctx, third, "", newPassword, ""), errs.Invalid, "keeping it")
		apptest.WantKind(t, h.Links.Choose(ctx, third, "CEO", newPassword, ""), errs.Invalid, "writing it otherwise")
		apptest.WantKind(t, h.Links.Choose(ctx, third, "ceo~2", newPassword, ""), errs.Invalid, "an invalid name")
		apptest.WantKind(t, h.Links.Choose(ctx, third, "Ceo2", newPassword, ""), errs.Internal, "another name")
		if now, err := h.Accounts.UserNamed(ctx, access.System(0), "ceo2"); err != nil || now.ID != double.ID || now.Open != "" {
			t.Errorf("%+v, %v, want user %d", now, err, double.ID)
		}
		apptest.WantKind(t, h.Accounts.RemoveMembership(ctx, access.System(other.SiteID), double.ID), errs.Internal, "taking it back")
		invite(other, "boss", "Boss@example.com", access.ReadOnly, errs.Internal, "somebody of another site")
		_, second := invite(other, "ceo", "ceo@example.com", access.ReadOnly, errs.Internal, "somebody who was invited elsewhere")
		if kind(second) != people.Access {
			t.Error("the people of another site could choose the password")
		}
		apptest.WantKind(t, h.Links.Choose(ctx, second, "", newPassword, ""), errs.SettingNotFound, "choosing with it")
		_, again, err := h.Links.InviteAgain(ctx, other, ceo.ID)
		if err != nil || kind(again) != people.Access {
			t.Errorf("asking again helps: %v", err)
		}
		apptest.WantKind(t, h.Links.Accept(ctx, again), errs.Internal, "taking it up")
		apptest.WantKind(t, h.Links.Accept(ctx, again), errs.SettingNotFound, "taking it up twice")
		apptest.WantKind(t, h.Links.Choose(ctx, first, "", newPassword, ""), errs.Internal, "the first invitation")
		_, _, err = h.Links.InviteAgain(ctx, boss, ceo.ID)
		apptest.WantKind(t, err, errs.NotPossible, "a user with a password")
		_, _, err = h.Links.InviteAgain(ctx, boss, 999)
		apptest.WantKind(t, err, errs.SettingNotFound, "nobody")
		kinds, _ := posted(t, h)
		want := "invitation ceo@example.com\ninvitation else@example.com\naccess boss@example.com\naccess ceo@example.com\naccess ceo@example.com\n"
		if kinds != want {
			t.Errorf("the mails are\n%s, want\n%s", kinds, want)
		}

		// A wrong address is corrected by another invitation.
		typo, lost := invite(boss, "may", "may@exmaple.com", access.ReadOnly, errs.Internal, "with a wrong address")
		asked(t, h, "may")
		_, sent := posted(t, h)
		apptest.WantKind(t, h.Accounts.RemoveMembership(ctx, boss, typo.ID), errs.Internal, "taking it back")
		apptest.WantKind(t, h.Links.Choose(ctx, lost, "", newPassword, ""), errs.SettingNotFound, "the earlier link")
		mended, _ := invite(boss, "may", "may@example.com", access.ReadOnly, errs.Internal, "with the right one")
		if mended.ID != typo.ID || mended.Email != "may@example.com" {
			t.Errorf("she is %+v", mended)
		}
		apptest.WantKind(t, h.Links.Choose(ctx, sent[len(sent)-1], "", newPassword, ""), errs.SettingNotFound, "the link sent to the wrong address")
		invite(access.System(1), "boss", "x@example.com", access.ReadOnly, errs.Invalid, "a member, by the operator")
		other = access.System(other.SiteID)
		invite(other, "ceo2", "x@example.com", access.ReadOnly, errs.Invalid, "operators learn that the name is taken")
		op, link := invite(access.System(0), "op", "op@example.com", access.Operator, errs.Internal, "an operator by the operator")
		if !op.Operator || kind(link) != people.Invitation {
			t.Errorf("the operator is %+v", op)
		}
	})
}

// TestASiteKeepsAnAdmin: the last one stays, even if two remove each other concurrently.
func TestASiteKeepsAnAdmin(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		ann, bob := h.User(t, "ann", access.MemberAdmin), h.User(t, "bob", access.MemberAdmin)
		op, fin := h.User(t, "op", access.Operator), h.User(t, "fin", access.Finance)
		one, two := apptest.ActorOf(ann, access.MemberAdmin), apptest.ActorOf(bob, access.MemberAdmin)
		apptest.WantKind(t, h.Accounts.SetMembership(ctx, one, fin.ID, access.MemberAdmin, true), errs.Internal, "a better role")
		apptest.WantKind(t, h.Accounts.SetMembership(ctx, one, fin.ID, access.ReadOnly, false), errs.Internal, "a lesser one")
		apptest.WantKind(t, h.Accounts.SetMembership(ctx, one, fin.ID, access.Operator, false), errs.Invalid, "operator")
		apptest.WantKind(t, h.Accounts.SetMembership(ctx, one, op.ID, access.ReadOnly, false), errs.SettingNotFound, "one of the operator's")
		apptest.WantKind(t, h.Accounts.SetMembership(ctx, access.System(1), op.ID, access.ReadOnly, false), errs.Internal, "by the operator")
		apptest.WantKind(t, h.Accounts.RemoveMembership(ctx, one, op.ID), errs.Forbidden, "it is the operator's to take")
		by := apptest.ActorOf(fin, access.Finance)
		apptest.WantKind(t, h.Accounts.SetMembership(ctx, by, fin.ID, access.MemberAdmin, false), errs.Forbidden, "by herself")
		apptest.WantKind(t, h.Accounts.RemoveMembership(ctx, by, ann.ID), errs.Forbidden, "by finance")

		var failures [2]error
		var both sync.WaitGroup
		both.Go(func() { failures[0] = h.Accounts.RemoveMembership(ctx, one, bob.ID) })
		both.Go(func() { failures[1] = h.Accounts.RemoveMembership(ctx, two, ann.ID) })
		both.Wait()
		if (failures[0] == nil) == (failures[1] == nil) || !errs.Is(failures[0], errs.NotPossible) && !errs.Is(failures[1], errs.NotPossible) {
			t.Fatalf("taking each other's access: %v, %v", failures[0], failures[1])
		}
		last, id := one, ann.ID
		if failures[1] == nil {
			last, id = two, bob.ID
		}
		apptest.WantKind(t, h.Accounts.RemoveMembership(ctx, last, id), errs.NotPossible, "the last one")
		apptest.WantKind(t, h.Accounts.SetMembership(ctx, last, id, access.Finance, false), errs.NotPossible, "the last one, to less")
		apptest.WantKind(t, h.Accounts.RemoveMembership(ctx, access.System(1), id), errs.Internal, "by the operator")
	})
}

// TestInviteesDoNotManageTheSite: neither new users without a password nor users of another site.
func TestInviteesDoNotManageTheSite(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		h.User(t, "known", access.Finance)
		op := h.User(t, "op", access.Operator)
		other := another(t, h, "other")
		managers := func(want string) {
			t.Helper()
			dbtest.Read(t, h.DB, func(tx *store.Tx) error {
				list, err := people.Managers(tx, other.SiteID, 9)
				if got := strings.Join(list, " "); got != want {
					t.Errorf("the managers are %s, want %s", got, want)
				}
				return err
			})
		}
		invite := func(by access.Actor, name string) (people.User, string) {
			t.Helper()
			user, secret, err := h.Links.Invite(ctx, by, people.UserFields{Username: name, Email: name + "@example.com"}, access.MemberAdmin, false)
			apptest.WantKind(t, err, errs.Internal, "inviting "+name)
			return user, secret
		}
		managers(op.Email)
		first, link := invite(other, "first")
		managers(op.Email)
		apptest.WantKind(t, h.Links.Choose(ctx, link, "", newPassword, ""), errs.Internal, "her password")
		managers("first@example.com")

		by := apptest.ActorOf(first, access.MemberAdmin)
		by.SiteID = other.SiteID
		fresh, link := invite(by, "fresh")
		known, entry := invite(by, "known")
		h.Now.Move(8 * 24 * time.Hour) // the links have expired, which is not an answer
		apptest.WantKind(t, h.Accounts.RemoveMembership(ctx, by, first.ID), errs.NotPossible, "the only one who has accepted")
		apptest.WantKind(t, h.Accounts.SetMembership(ctx, by, known.ID, access.MemberAdmin, true), errs.Internal, "another role does not accept")
		apptest.WantKind(t, h.Accounts.SetMembership(ctx, by, first.ID, access.Finance, false), errs.NotPossible, "the only one, to a lower role")
		managers("first@example.com")
		list, err := h.Accounts.List(ctx, other, people.UserFilter{SiteID: other.SiteID}, store.Page{Number: 1, Size: 9, Offset: -1})
		for _, u := range list.Items {
			if u.Invited() != (u.ID != first.ID) {
				t.Errorf("%s has not accepted: %t, %v", u.Username, u.Invited(), err)
			}
		}
		apptest.WantKind(t, h.Links.Accept(ctx, entry), errs.SettingNotFound, "too late")
		_, entry, err = h.Links.InviteAgain(ctx, by, known.ID)
		apptest.WantKind(t, err, errs.Internal, "asking again")
		apptest.WantKind(t, h.Links.Accept(ctx, entry), errs.Internal, "coming")
		managers("known@example.com first@example.com")
		apptest.WantKind(t, h.Accounts.RemoveMembership(ctx, by, first.ID), errs.Internal, "one of two")
		managers("known@example.com")
		_, _, err = h.Links.InviteAgain(ctx, other, known.ID)
		apptest.WantKind(t, err, errs.NotPossible, "the invitee has accepted")

		// The operator sets a password for the invited user.
		apptest.WantKind(t, h.Links.Choose(ctx, link, "", newPassword, ""), errs.SettingNotFound, "too late")
		apptest.WantKind(t, h.Accounts.SetPassword(ctx, other, fresh.ID, newPassword, false), errs.Internal, "by the operator")
		managers("known@example.com fresh@example.com")
	})
}

// TestTheListOfPeople: of one's own site only, with invitations, and by a part of a name.
func TestTheListOfPeople(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		ann := h.User(t, "ann_1", access.MemberAdmin)
		h.User(t, "op", access.Operator)
		other := another(t, h, "other")
		in := people.UserFields{Username: "eve", Email: "eve@example.com", DisplayName: "Eve %"}
		for _, by := range []access.Actor{access.System(1), other} {
			if _, _, err := h.Links.Invite(ctx, by, in, access.ReadOnly, false); err != nil {
				t.Fatal(err)
			}
		}
		names := func(by access.Actor, f people.UserFilter, want string) {
			t.Helper()
			list, err := h.Accounts.List(ctx, by, f, store.Page{Number: 1, Size: 50, Offset: -1})
			got := ""
			for _, u := range list.Items {
				got += fmt.Sprint(u.Username, "@", u.SitePath, " ")
				if (u.Username == "eve") == u.InvitedUntil.IsZero() {
					t.Errorf("%s is invited until %s", u.Username, u.InvitedUntil)
				}
			}
			if err != nil || got != want {
				t.Errorf("the list is %q, %v, want %q", got, err, want)
			}
		}
		boss := apptest.ActorOf(ann, access.MemberAdmin)
		names(boss, people.UserFilter{SiteID: 1}, "ann_1@demo eve@demo ")
		names(boss, people.UserFilter{SiteID: 1, Find: "N_1"}, "ann_1@demo ")
		names(boss, people.UserFilter{SiteID: 1, Find: "%"}, "eve@demo ")
		names(access.System(0), people.UserFilter{}, "ann_1@demo op@ eve@demo eve@other ")
		names(access.System(0), people.UserFilter{Find: "example"}, "ann_1@demo op@ eve@demo eve@other ")
		for _, f := range []people.UserFilter{{}, {SiteID: other.SiteID}} {
			_, err := h.Accounts.List(ctx, boss, f, store.Page{Number: 1, Size: 50, Offset: -1})
			apptest.WantKind(t, err, errs.Forbidden, "another site's")
		}
	})
}
