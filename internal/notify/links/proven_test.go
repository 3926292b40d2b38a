package links_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/notify/mail"
	"holdfast/internal/testkit/apptest"
)

// TestAMadeUpUserEntersNoOtherSite: anyone who saw an invitation link may have opened the account. Another site that
// invites the same person only grants access once an e-mail has verified the address.
func TestAMadeUpUserEntersNoOtherSite(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		boss := apptest.ActorOf(h.User(t, "boss", access.MemberAdmin), access.MemberAdmin)
		other := another(t, h, "other")
		operator := other
		other.Role, other.UserID = access.MemberAdmin, 77
		invite := func(by access.Actor, name string, want errs.Kind, doing string) (people.User, string) {
			t.Helper()
			in := people.UserFields{Username: name, Email: name + "@big.example"}
			user, secret, err := h.Links.Invite(ctx, by, in, access.Finance, false)
			apptest.WantKind(t, err, want, doing)
			return user, secret
		}
		// stranger invites the same person to the other site, where they get a new account. The site is not notified.
		stranger := func(known people.User, doing string) {
			t.Helper()
			made, link := invite(other, known.Username, errs.Internal, doing)
			found, err := h.Links.Look(ctx, link)
			if err != nil || made.ID == known.ID || made.Username != known.Username || made.Open == "" || found.Kind != people.Invitation {
				t.Errorf("%s: %+v by a link of the kind %s, %v", doing, made, found.Kind, err)
			}
			invite(other, known.Username, errs.Invalid, "twice")
			apptest.WantKind(t, h.Accounts.RemoveMembership(ctx, operator, made.ID), errs.Internal, "taking it back")
		}
		anna, shown := invite(boss, "anna", errs.Internal, "without a mail server")
		stranger(anna, "before she came")
		apptest.WantKind(t, h.Links.Choose(ctx, shown, "", newPassword, ""), errs.Internal, "a password for her")
		stranger(anna, "a user with an unverified address")
		invite(operator, "anna", errs.Invalid, "by the operator")

		h.Mails.Transport = &mail.SMTP{}
		asked(t, h, "anna")
		_, sent := posted(t, h)
		apptest.WantKind(t, h.Links.Choose(ctx, sent[len(sent)-1], "", newPassword, ""), errs.Internal, "a password set by the recipient")
		invite(other, "anna", errs.Internal, "who is proven")

		// A link that is shown later revokes the verification by e-mail; a mailed one ends the one that was shown.
		bert, _ := invite(boss, "bert", errs.Internal, "by mail")
		h.Mails.Transport = nil
		again := func() {
			t.Helper()
			_, _, err := h.Links.InviteAgain(ctx, boss, bert.ID)
			apptest.WantKind(t, err, errs.Internal, "again")
		}
		again()
		stranger(bert, "a user whose link was shown")
		h.Mails.Transport = &mail.SMTP{}
		again()
		invite(other, "bert", errs.Internal, "whose link is in the mail")
		h.Mails.Transport = nil
		invite(operator, "carl", errs.Internal, "made by the operator")
		invite(boss, "carl", errs.Internal, "whom the operator answers for")
	})
}

// TestRequestsLockNoOneOut: the hour of a name and of an address begins with the first request, and those over the
// limit do not count.
func TestRequestsLockNoOneOut(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		h.Mails.Transport = &mail.SMTP{}
		h.User(t, "ada", access.Finance)
		mails := func() int { answered(t, h); kinds, _ := posted(t, h); return strings.Count(kinds, "\n") }
		for range 6 * 3 { // one every 20 minutes
			asked(t, h, "ada")
			h.Now.Move(20 * time.Minute)
		}
		if n := mails(); n != 6*3 {
			t.Errorf("%d mails in six hours", n)
		}
		for i := range 30 * 3 { // many more than a name may, from everywhere
			if err := h.Links.Ask(ctx, "ada", fmt.Sprintf("198.51.100.%d", i)); err != nil {
				t.Fatal(err)
			}
			h.Now.Move(59 * time.Second)
		}
		before := mails()
		h.Now.Move(time.Hour)
		asked(t, h, "ada")
		if n := mails(); n != before+1 {
			t.Errorf("%d mails more, after others have asked all the time", n-before)
		}

		h.Now.Move(time.Hour)
		for i := range 20 {
			if err := h.Links.Ask(ctx, fmt.Sprint("nobody", i), "192.0.2.9"); err != nil {
				t.Fatal(err)
			}
		}
		h.Now.Move(59 * time.Minute)
		err := h.Links.Ask(ctx, "ada", "192.0.2.9")
		apptest.WantKind(t, err, errs.TooMany, "the limit of an address")
		if f, _ := errors.AsType[*errs.Error](err); f == nil || f.RetryAfter != time.Minute {
			t.Errorf("it has to wait: %+v", f)
		}
		h.Now.Move(time.Minute)
		apptest.WantKind(t, h.Links.Ask(ctx, "ada", "192.0.2.9"), errs.Internal, "an hour after the first")
	})
}

// TestANameLikeAnAddressBlocksNoMail: a user name may be the address of another user.
func TestANameLikeAnAddressBlocksNoMail(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		h.Mails.Transport = &mail.SMTP{}
		h.User(t, "ada", access.Finance)
		in := people.UserFields{Username: "ada@example.com", Email: "else@example.com", Password: apptest.GoodPassword}
		_, err := h.Accounts.CreateUser(t.Context(), access.System(1), in, access.Finance, false)
		apptest.WantKind(t, err, errs.Internal, "a user with such a name")
		asked(t, h, "ada@example.com")
		if kinds, _ := posted(t, h); kinds != "password else@example.com\npassword ada@example.com\n" {
			t.Errorf("the mails are\n%s", kinds)
		}
	})
}
