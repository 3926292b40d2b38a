package developers_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/notify/webhooks"
	"holdfast/internal/testkit/webtest"
	"holdfast/internal/web/kit"
)

// secret finds what a page shows once.
var secret = regexp.MustCompile(`id="secret">([^<]+)<`)

// TestATokenIsMadeShownOnceAndDeleted: section 5.2 of the service document, by its page.
func TestATokenIsMadeShownOnceAndDeleted(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.MemberAdmin)
	b.Must(h.At("/developers"), "No API tokens yet", "New token")
	a := b.Post(h.At("/developers/tokens"), url.Values{"name": {""}, "expires": {"on"}, "may": {"some"}, "addresses": {"192.0.2.1\nnowhere"}})
	if a.Status != http.StatusBadRequest || strings.Count(a.Body, `class="problem"`) != 4 || !strings.Contains(a.Text(), "Line 2:") {
		t.Fatalf("an empty form: %d\n%s", a.Status, a.Text())
	}
	a = b.Post(h.At("/developers/tokens"), url.Values{"name": {"booking system"}, "expires": {"on"}, "expires_at": {"2024-06-30"},
		"may": {"some"}, "abilities": {"read", "reports"}, "addresses": {"192.0.2.0/24"}})
	found := secret.FindStringSubmatch(a.Body)
	if a.Status != http.StatusCreated || found == nil || a.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("it was not made: %d\n%s", a.Status, a.Text())
	}
	shown := b.Must(h.At("/developers"), "booking system", "Read, Reports", "192.0.2.0/24", "30 Jun 2024 23:59 GMT", "Never")
	if strings.Contains(shown.Body, found[1]) {
		t.Error("the value is shown again")
	}
	// From here on the page may show its last use, which is recorded asynchronously.
	actor, err := h.App.Sessions.Authenticate(t.Context(), h.Site.Path, found[1], "192.0.2.9")
	if err != nil || actor.SiteID != h.Site.ID || !slices.Equal(actor.Abilities.Names(), []string{"read", "reports"}) {
		t.Errorf("the value is no token: %+v %v", actor, err)
	}
	if a := b.Post(h.At("/developers/tokens"), url.Values{"name": {"spare"}, "expires": {"never"}}); a.Status != http.StatusCreated {
		t.Fatalf("a second one: %d %s", a.Status, a.Text())
	}
	full := b.Must(h.At("/developers"), "Never", "two API tokens, including expired ones")
	if strings.Contains(full.Text(), "New token") {
		t.Error("it offers a third one")
	}
	if a := b.Post(h.At("/developers/tokens"), url.Values{"name": {"third"}, "expires": {"never"}}); a.Status != http.StatusConflict {
		t.Errorf("a third one: %d", a.Status)
	}
	list, _ := h.App.Tokens.List(t.Context(), h.Actor)
	at := h.At("/developers/tokens/" + kit.Ident(list[0].ID).Plain + "/delete")
	b.Must(at, "Delete the API token booking system?", "cannot be undone")
	if a := b.Post(at, nil); a.To != h.At("/developers") {
		t.Errorf("deleting: %d %s", a.Status, a.Text())
	}
	if left, _ := h.App.Tokens.List(t.Context(), h.Actor); len(left) != 1 || left[0].Name != "spare" {
		t.Errorf("left: %v", left)
	}
}

// TestASecretNeedsTheNewPassword: an unattended browser shows no secret and creates no token.
func TestASecretNeedsTheNewPassword(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.MemberAdmin)
	h.Advance(time.Hour)
	for _, path := range []string{"/developers/tokens/new", "/developers/webhooks/new", "/developers/webhooks/1/secret"} {
		if a := b.Get(h.At(path)); a.To != "/dashboard/prove?back="+url.QueryEscape(h.At(path)) {
			t.Errorf("%s leads to %q", path, a.To)
		}
	}
	a := b.Post(h.At("/developers/tokens"), url.Values{"name": {"mine"}, "expires": {"never"}})
	if list, _ := h.App.Tokens.List(t.Context(), h.Actor); len(list) != 0 || !strings.HasPrefix(a.To, "/dashboard/prove") {
		t.Errorf("a token was made: %v, %q", list, a.To)
	}
}

// TestWhoMayOnlyReadChangesNothing: the pages show no forms, and forged requests are rejected.
func TestWhoMayOnlyReadChangesNothing(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	made, err := h.App.Webhooks.Create(t.Context(), h.Actor, webhooks.EndpointFields{URL: new("https://example.com/hooks")})
	if err != nil {
		t.Fatal(err)
	}
	one := "/developers/webhooks/" + kit.Ident(made.ID).Plain
	forms := map[string]url.Values{
		"/developers/tokens": {"name": {"mine"}, "expires": {"never"}}, "/developers/tokens/1/delete": nil,
		"/developers/webhooks": {"url": {"https://example.com/2"}}, one: {"url": {"https://example.com/3"}}, one + "/test": nil,
		one + "/state": {"state": {"disabled"}}, one + "/secret": nil, one + "/delete": nil, one + "/replay": {"event": {"1"}},
		"/developers/origins": {"permitted_urls": {"https://evil.example"}},
	}
	for _, role := range []access.Role{access.ReadOnly, access.Finance} {
		b := h.As(role)
		for path, says := range map[string]string{
			"/developers": "No API tokens yet", "/developers/webhooks": "https://example.com/hooks", one: "No deliveries yet",
			"/developers/events": "webhook", "/developers/origins": "origins",
		} {
			a := b.Must(h.At(path), says)
			for _, offer := range []string{"New token", "New webhook", "Delete", "Save", "Disable", "Send a test"} {
				if strings.Contains(a.Text(), offer) {
					t.Errorf("%s: %s offers %q", role, path, offer)
				}
			}
		}
		for path, form := range forms {
			if a := b.Post(h.At(path), form); a.Status != http.StatusForbidden {
				t.Errorf("%s: %s answers %d", role, path, a.Status)
			}
		}
	}
	after, err := h.App.Webhooks.Get(t.Context(), h.Actor, made.ID)
	if err != nil || after.Version != made.Version {
		t.Errorf("the webhook has changed: %+v %v", after, err)
	}
}

// TestAWebhookByItsPages: created, changed, tested, disabled, enabled, with a rotated secret, and deleted.
func TestAWebhookByItsPages(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.MemberAdmin)
	b.Must(h.At("/developers/webhooks/new"), "All of transaction", "transaction.completed")
	if a := b.Post(h.At("/developers/webhooks"), url.Values{"url": {"ftp://x"}, "which": {"some"}}); a.Status != http.StatusBadRequest || strings.Count(a.Body, `class="problem"`) != 2 {
		t.Errorf("a wrong form: %d\n%s", a.Status, a.Text())
	}
	a := b.Post(h.At("/developers/webhooks"), url.Values{"url": {"https://example.com/hooks"}, "which": {"some"}, "types": {"booking.*", "webhook.test"}})
	first := secret.FindStringSubmatch(a.Body)
	if a.Status != http.StatusCreated || first == nil || !strings.HasPrefix(first[1], "whsec_") {
		t.Fatalf("it was not made: %d\n%s", a.Status, a.Text())
	}
	list, _ := h.App.Webhooks.List(t.Context(), h.Actor)
	one := h.At("/developers/webhooks/" + kit.Ident(list[0].ID).Plain)
	if edit := b.Must(one + "/edit"); strings.Count(edit.Body, " checked") != 3 { // some, and two types
		t.Errorf("the form has other choices:\n%s", edit.Body)
	}
	for _, step := range []struct {
		below string
		form  url.Values
		says  []string
	}{
		{"", url.Values{"url": {"https://example.com/new"}, "which": {"all"}}, []string{"https://example.com/new", "Webhook saved."}},
		{"/test", nil, []string{"Test event sent."}},
		{"/state", url.Values{"state": {"disabled"}}, []string{"Reason disabled by member_admin", "Enable"}},
		{"/state", url.Values{"state": {"enabled"}}, []string{"Disable", "Send a test event"}},
	} {
		if a := b.Post(one+step.below, step.form); a.To != one {
			t.Fatalf("%s: %d\n%s", step.below, a.Status, a.Text())
		}
		b.Must(one, step.says...)
	}
	b.Must(one+"/secret", "for 24 hours")
	second := secret.FindStringSubmatch(b.Post(one+"/secret", url.Values{"now": {"1"}}).Body)
	if second == nil || second[1] == first[1] {
		t.Errorf("the secret is %v, before it was %v", second, first)
	}
	if file := b.Get(h.At("/developers/webhooks?format=csv")); !strings.Contains(file.Body, "https://example.com/new,All,enabled") {
		t.Errorf("the file is\n%s", file.Body)
	}
	b.Must(one+"/delete", "Delete this webhook?", "https://example.com/new")
	b.Post(one+"/delete", nil)
	b.Must(h.At("/developers/webhooks"), "Webhook deleted.", "No webhooks yet")
}

// TestEventsAndOrigins: the feed by type and object, older ones, its file, and the origins of the modal.
func TestEventsAndOrigins(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.MemberAdmin)
	c := h.Channel("test", "EUR")
	for range 51 {
		h.Booking(c, 1000, "2024-09-14")
	}
	first := b.Must(h.At("/developers/events"), "booking.created", "Load older")
	if strings.Contains(first.Text(), "mode: test") {
		t.Error("the first page has the oldest event")
	}
	older := regexp.MustCompile(`href="([^"]+before=[0-9]+)"`).FindStringSubmatch(first.Body)
	b.Must(strings.ReplaceAll(older[1], "&amp;", "&"), "channel.created", "mode: test", "Newest")
	b.Must(h.At("/developers/events?kind=booking&object=7"), "Booking 7")
	b.Must(h.At("/developers/events?kind=booking&object=x"), "Enter an ID")
	file := b.Get(h.At("/developers/events?type=booking.*&format=csv"))
	rows, err := csv.NewReader(strings.NewReader(file.Body)).ReadAll()
	if err != nil || len(rows) != 52 || rows[51][2] != "Booking 1" {
		t.Errorf("the file has %d rows: %v", len(rows), err)
	}
	if a := b.Post(h.At("/developers/origins"), url.Values{"permitted_urls": {"https://shop.example\nnothing"}}); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "Line 2") {
		t.Errorf("a wrong origin: %d %s", a.Status, a.Text())
	}
	b.Post(h.At("/developers/origins"), url.Values{"permitted_urls": {"https://shop.example\r\nhttps://www.shop.example"}})
	if site, _ := h.App.Sites.Get(t.Context(), h.Actor, h.Site.ID); !slices.Equal(site.PermittedURLs, []string{"https://shop.example", "https://www.shop.example"}) {
		t.Errorf("the origins are %v", site.PermittedURLs)
	}
}
