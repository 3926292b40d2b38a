package dashboard_test

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/testkit/webtest"
)

// versionField finds the version that a form was filled from.
var versionField = regexp.MustCompile(`name="version" value="([^"]*)"`)

// TestNobodySavesOverWhatAnotherHasSaved: two people open the same form, and the one who saves last gets a warning.
func TestNobodySavesOverWhatAnotherHasSaved(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	h.Channel(merchant.ModeDraft, "EUR")
	b := h.As(access.Operator)
	if a := b.Post(h.At("/developers/webhooks"), url.Values{"url": {"https://example.com/hooks"}, "which": {"all"}}); a.Status != http.StatusCreated {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	for _, c := range []struct {
		form, send    string
		field         string
		first, second string
	}{
		{"/settings/parties", "/settings/parties", "issuer_name", "First Ltd", "Second Ltd"},
		{"/developers/origins", "/developers/origins", "permitted_urls", "https://first.example", "https://second.example"},
		{"/developers/webhooks/1/edit", "/developers/webhooks/1", "url", "https://example.com/first", "https://example.com/second"},
		{"/channels/1/protection", "/channels/1/protection", "company", "First Ltd", "Second Ltd"},
	} {
		version := versionField.FindStringSubmatch(b.Must(h.At(c.form)).Body)
		if version == nil {
			t.Errorf("%s has no version", c.form)
			continue
		}
		in := url.Values{"version": {version[1]}, c.field: {c.first}}
		if a := b.Post(h.At(c.send), in); a.Status != http.StatusSeeOther {
			t.Errorf("%s: %d %s", c.send, a.Status, a.Text())
		}
		late := maps.Clone(in)
		late.Set(c.field, c.second)
		if a := b.Post(h.At(c.send), late); a.Status == http.StatusSeeOther || !strings.Contains(a.Text(), "Somebody else has changed this") {
			t.Errorf("%s saves over what another has saved: %d %s", c.send, a.Status, a.Text())
		} else if !strings.Contains(a.Text(), "Saved value: "+c.first) || !strings.Contains(a.Body, c.second) {
			t.Errorf("%s does not show both what is stored and what was sent: %s", c.send, a.Text())
		} else if late.Set("version", versionField.FindStringSubmatch(a.Body)[1]); late.Get("version") == version[1] {
			t.Errorf("%s keeps the version that was refused", c.send)
		}
		if body := b.Must(h.At(c.form)).Body; !strings.Contains(body, c.first) || strings.Contains(body, c.second) {
			t.Errorf("%s does not keep what was saved first", c.form)
		}
		if a := b.Post(h.At(c.send), late); a.Status != http.StatusSeeOther {
			t.Errorf("%s refuses a form that knows what is stored: %d %s", c.send, a.Status, a.Text())
		}
	}
}

// TestWhatIsOnlyCountedOnASiteRefusesNoForm: a token, a webhook or an import created meanwhile does not change the site
// itself.
func TestWhatIsOnlyCountedOnASiteRefusesNoForm(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.Operator)
	version := versionField.FindStringSubmatch(b.Must(h.At("/settings/parties")).Body)
	if a := b.Post(h.At("/developers/webhooks"), url.Values{"url": {"https://example.com/hooks"}, "which": {"all"}}); a.Status != http.StatusCreated {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	in := url.Values{"version": {version[1]}, "issuer_name": {"First Ltd"}}
	if a := b.Post(h.At("/settings/parties"), in); a.Status != http.StatusSeeOther {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	if a := b.Post(h.At("/settings/parties"), in); a.Status == http.StatusSeeOther {
		t.Error("a change of the site itself leaves its version")
	}
}

// TestAnErrorKeepsTheMenu for signed-in users. Others, and users without access to the site, see none.
func TestAnErrorKeepsTheMenu(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	reader := h.As(access.ReadOnly)
	menu := `href="` + h.At("/bookings") + `"`
	for _, c := range []struct {
		address string
		status  int
		menu    bool
	}{
		{h.At("/nothing-here"), http.StatusNotFound, true}, {h.At("/bookings/999"), http.StatusNotFound, true},
		{h.At("/statements"), http.StatusForbidden, true}, {"/dashboard/sites/elsewhere/nothing-here", http.StatusForbidden, false},
	} {
		a := reader.Get(c.address)
		if a.Status != c.status || strings.Contains(a.Body, menu) != c.menu || strings.Contains(a.Body, `aria-current="page"`) {
			t.Errorf("%s: %d, menu %t\n%s", c.address, a.Status, strings.Contains(a.Body, menu), a.Text())
		}
	}
}
