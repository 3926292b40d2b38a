package mail_test

import (
	"context"
	"encoding/json"
	"net"
	"strings"
	"testing"

	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/event"
	"holdfast/internal/notify/mail"
	"holdfast/internal/notify/webhooks"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// user creates a user; without a role, one without access to the site.
func (p *post) user(name, email string, role access.Role) {
	p.t.Helper()
	dbtest.Write(p.t, p.App.DB.Store, func(tx *store.Tx) error {
		made, err := people.InsertUser(tx, people.User{Username: name, Email: email, DisplayName: name, Operator: role == access.Operator})
		if err != nil || role == "" || role == access.Operator {
			return err
		}
		return people.SetMembership(tx, people.Membership{SiteID: p.Site.ID, UserID: made.ID, Role: role, Accepted: true})
	})
}

// refuses creates a webhook whose receiver responds with 410, and sends it an event, so that it is disabled.
func (p *post) refuses() webhooks.Endpoint {
	p.t.Helper()
	receiver, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = receiver.Close() })
	go func() {
		for {
			c, err := receiver.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096))
			_, _ = c.Write([]byte("HTTP/1.1 410 Gone\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
			_ = c.Close()
		}
	}()
	hooks := p.App.Webhooks
	hooks.Private = true
	hooks.Show = func(_ context.Context, _ int64, list []event.Event) ([]json.RawMessage, error) {
		return make([]json.RawMessage, len(list)), nil
	}
	address := "http://" + receiver.Addr().String() + "/hooks?key=secret"
	made, err := hooks.Create(p.t.Context(), p.Actor, webhooks.EndpointFields{URL: &address})
	if err != nil {
		p.t.Fatal(err)
	}
	p.Booking(p.channel, 1000, "2024-09-14")
	if _, err := hooks.Send(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	return made
}

// TestADisabledWebhookIsMailed: to people who can fix it, and to operators if the site has none.
func TestADisabledWebhookIsMailed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		p.user("nobody", "nobody@example.org", "")
		first := p.refuses()
		p.follow()
		p.want("webhook  dead") // it is seen in the list
		p.user("ops", "ops@example.org", access.Operator)
		p.refuses()
		p.follow()
		p.want("webhook  dead", "webhook ops@example.org waiting")
		p.user("eve", "eve@example.org", access.Finance)
		p.user("ada", "ada@example.org", access.MemberAdmin)
		p.user("mute", "", access.MemberAdmin)
		p.user("bob", "bob@example.org", access.MemberAdmin)
		p.user("twin", "ada@example.org", access.MemberAdmin)
		p.refuses()
		p.follow()
		p.want("webhook  dead", "webhook ops@example.org waiting", "webhook ada@example.org waiting", "webhook bob@example.org waiting")
		_, text, err := p.App.Mails.Get(t.Context(), p.Actor, p.list()[2].ID)
		if err != nil || !strings.Contains(text.Text, "410") || !strings.Contains(text.Text, "/hooks") || strings.Contains(text.Text, "secret") {
			t.Errorf("the mail says\n%s%v", text.Text, err)
		}
		if err := p.send(); err != nil {
			t.Fatal(err)
		}
		// Webhooks that were enabled again immediately, or deleted, are no news.
		on := true
		again, gone := p.refuses(), p.refuses()
		if _, err := p.App.Webhooks.Change(t.Context(), p.Actor, again.ID, webhooks.EndpointFields{Enabled: &on}); err != nil {
			t.Fatal(err)
		}
		remove := func(list ...webhooks.Endpoint) {
			for _, e := range list {
				if err := p.App.Webhooks.Delete(t.Context(), p.Actor, e.ID, 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		remove(first, gone)
		p.follow()
		remove(again)
		p.App.Mails.Sandboxes = false
		p.refuses()
		p.follow()
		p.want("webhook  dead", "webhook ops@example.org sent", "webhook ada@example.org sent", "webhook bob@example.org sent",
			"webhook ada@example.org outbox", "webhook bob@example.org outbox")
	})
}

// TestWhyAWebhookWasDisabled: days without a response, or a receiver that responds with 410.
func TestWhyAWebhookWasDisabled(t *testing.T) {
	t.Parallel()
	letter := mail.Letter{Language: "enGB", Sender: "Acme", Address: "https://shop.example/hooks"}
	for days, want := range map[int64]string{0: "no longer wants events", 3: "for 3 days"} {
		letter.Days = days
		made, err := mail.Write(letter, mail.Webhook, "")
		if err != nil || made.Subject != "Webhook endpoint disabled: shop.example" || !strings.Contains(made.Text, want) ||
			!strings.Contains(made.Text, "for 90 days") || !strings.Contains(made.Text, "https://shop.example/hooks") {
			t.Errorf("%d days: %q, %v\n%s", days, made.Subject, err, made.Text)
		}
	}
}
