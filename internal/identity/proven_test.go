package identity_test

import (
	"testing"

	"holdfast/internal/apptest"
	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/mail"
	"holdfast/internal/travel"
)

// TestAMadeUpUserEntersNoOtherSite: whoever saw the link of an invitation may have opened the account. Another site that invites the same
// person lets them in after a mail has proved the address, and not before.
func TestAMadeUpUserEntersNoOtherSite(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		boss := apptest.ActorOf(h.User(t, "boss", auth.MemberAdmin), auth.MemberAdmin)
		other := another(t, h, "other")
		operator := other
		other.Role, other.UserID = auth.MemberAdmin, 77
		invite := func(by auth.Actor, name string, want fault.Kind, doing string) (auth.User, string) {
			t.Helper()
			in := travel.UserFields{Username: name, Email: name + "@big.example"}
			user, secret, err := h.Links.Invite(ctx, by, in, auth.Finance, false)
			apptest.WantKind(t, err, want, doing)
			return user, secret
		}
		_, shown := invite(boss, "anna", fault.Internal, "where no mail goes out")
		invite(other, "anna", fault.Invalid, "before she came")
		apptest.WantKind(t, h.Links.Choose(ctx, shown, newPassword, ""), fault.Internal, "a password for her")
		invite(other, "anna", fault.Invalid, "somebody whom nobody has proven")
		invite(operator, "anna", fault.Invalid, "by the operator")

		h.Mails.Transport = &mail.SMTP{}
		asked(t, h, "anna")
		_, sent := posted(t, h)
		apptest.WantKind(t, h.Links.Choose(ctx, sent[len(sent)-1], newPassword, ""), fault.Internal, "the password of who reads the mail")
		invite(other, "anna", fault.Internal, "who is proven")

		// A link that is shown later takes back what a mailed one has proven; a mailed one ends the one that was shown.
		bert, _ := invite(boss, "bert", fault.Internal, "by mail")
		h.Mails.Transport = nil
		again := func() {
			t.Helper()
			_, _, err := h.Links.InviteAgain(ctx, boss, bert.ID)
			apptest.WantKind(t, err, fault.Internal, "again")
		}
		again()
		invite(other, "bert", fault.Invalid, "whose link was shown")
		h.Mails.Transport = &mail.SMTP{}
		again()
		invite(other, "bert", fault.Internal, "whose link is in the mail")
		h.Mails.Transport = nil
		invite(operator, "carl", fault.Internal, "made by the operator")
		invite(boss, "carl", fault.Internal, "whom the operator answers for")
	})
}
