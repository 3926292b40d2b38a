package mail_test

import (
	"io"
	"mime/quotedprintable"
	"strings"
	"testing"

	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/notify/mail"
	"holdfast/internal/store"
)

// TestAOneTimeLinkIsInTheMailAlone: it is sent with the e-mail and never shown; only operators see the e-mail.
func TestAOneTimeLinkIsInTheMailAlone(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		const address = "https://pay.example.org/dashboard/password/"
		p.App.Mails.Addresses.Link = address
		boss := p.Actor
		boss.Role, boss.UserID, boss.DisplayName = access.MemberAdmin, 9, "Ada <b>"
		in := people.UserFields{Username: "eve", Email: "eve@example.org", DisplayName: "Eve"}
		user, first, err := p.App.Links.Invite(t.Context(), boss, in, access.Finance, false)
		if err != nil {
			t.Fatal(err)
		}
		_, second, err := p.App.Links.InviteAgain(t.Context(), boss, user.ID)
		if err != nil {
			t.Fatal(err)
		}
		page := store.Page{Number: 1, Size: 10, Offset: -1, OrderBy: "id"}
		list, err := p.App.Mails.List(t.Context(), p.Actor, mail.Filter{}, page)
		if err != nil || len(list.Items) != 2 {
			t.Fatalf("the operator sees %d mails, %v", len(list.Items), err)
		}
		id := list.Items[1].ID
		if seen, err := p.App.Mails.List(t.Context(), boss, mail.Filter{}, page); err != nil || len(seen.Items) != 0 {
			t.Errorf("others see %+v, %v", seen.Items, err)
		}
		if _, _, err := p.App.Mails.Get(t.Context(), boss, id); !errs.Is(err, errs.SettingNotFound) {
			t.Errorf("others read it: %v", err)
		}
		if _, err := p.App.Mails.Resend(t.Context(), boss, id); !errs.Is(err, errs.SettingNotFound) {
			t.Errorf("others send it again: %v", err)
		}
		_, shown, err := p.App.Mails.Get(t.Context(), p.Actor, id)
		if err != nil || strings.Contains(shown.HTML+shown.Text, second) || !strings.Contains(shown.Text, "the link appears only in the e-mail itself") {
			t.Errorf("it is shown as %s, %v", shown.Text, err)
		}
		if err := p.send(); err != nil {
			t.Fatal(err)
		}
		arrived := p.server.got()
		if len(arrived) != 1 {
			t.Fatalf("%d mails have left", len(arrived))
		}
		text, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(arrived[0].data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Hello Eve,", address + second, "Choose a user name, such as eve, and a password", "Ada &lt;b&gt; has given you access"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("the mail does not say %q:\n%s", want, string(text))
			}
		}
		if strings.Contains(string(text), first) {
			t.Errorf("the mail says too much:\n%s", string(text))
		}
		p.want("invitation eve@example.org dead", "invitation eve@example.org sent")
		if err := p.App.Links.SetAddress(t.Context(), access.System(0), user.ID, "eve@new.example"); err != nil {
			t.Fatal(err)
		}
		list, err = p.App.Mails.List(t.Context(), p.Actor, mail.Filter{Kinds: []mail.Kind{mail.AddressChanged}}, page)
		if err != nil || len(list.Items) != 1 {
			t.Fatalf("%+v %v", list.Items, err)
		}
		_, shown, err = p.App.Mails.Get(t.Context(), p.Actor, list.Items[0].ID)
		if err != nil || list.Items[0].Recipient != "eve@example.org" || !strings.Contains(shown.Text, "The operator has changed") || strings.Contains(shown.Text, "eve@new.example") {
			t.Errorf("the old address gets %q, %v", shown.Text, err)
		}
	})
}
