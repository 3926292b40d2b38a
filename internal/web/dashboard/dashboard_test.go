package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/identity"
	"holdfast/internal/web/webtest"
)

// TestWhoIsNotSignedInSeesNothing: every address leads to the page for signing in, and from there back.
func TestWhoIsNotSignedInSeesNothing(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.Browser()
	for _, path := range []string{"/", "/account", h.At(""), "/sites", "/sites/elsewhere", "/nothing"} {
		a := b.Get(path)
		if a.Status != http.StatusSeeOther || !strings.HasPrefix(a.To, "/dashboard/sign-in") {
			t.Errorf("%s: %d to %q", path, a.Status, a.To)
		}
	}
	back := b.Get(h.At("?a=1"))
	if want := "/dashboard/sign-in?back=" + url.QueryEscape(h.At("?a=1")); back.To != want {
		t.Errorf("it leads to %s, want %s", back.To, want)
	}
	h.As(auth.ReadOnly)
	for back, want := range map[string]string{
		h.At("?a=1"): h.At("?a=1"), "https://evil.example/": "/dashboard", "//evil.example": "/dashboard", "/demo": "/dashboard",
		"/dashboard/\\evil": "/dashboard",
	} {
		a := h.Browser().Post("/sign-in", url.Values{"username": {"read_only"}, "password": {webtest.Password}, "back": {back}})
		if a.Status != http.StatusSeeOther || a.To != want {
			t.Errorf("back to %q: %d to %q", back, a.Status, a.To)
		}
	}
}

// TestASignInEnds: when it was not used, when it is old, by signing out, and with the password.
func TestASignInEnds(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(auth.MemberAdmin)
	for range 11 {
		h.Advance(time.Hour)
		b.Must(h.At(""))
	}
	h.Advance(time.Hour)
	if a := b.Get(h.At("")); a.Status != http.StatusSeeOther {
		t.Errorf("after %s it still counts", identity.SignInLife)
	}
	b.SignIn("member_admin", webtest.Password)
	h.Advance(identity.SignInIdle)
	if a := b.Get(h.At("")); a.Status != http.StatusSeeOther {
		t.Errorf("after %s without a request it still counts", identity.SignInIdle)
	}
	other := h.Browser()
	b.SignIn("member_admin", webtest.Password)
	other.SignIn("member_admin", webtest.Password)
	if a := b.Post("/sign-out", nil); a.To != "/dashboard/sign-in" || b.Get("/account").Status != http.StatusSeeOther {
		t.Errorf("signing out leads to %q", a.To)
	}
	other.Must("/account", "192.0.2.1")
	b.SignIn("member_admin", webtest.Password)
	b.Post("/account/sign-out", nil)
	for name, one := range map[string]*webtest.Browser{"this": b, "the other": other} {
		if one.Get("/account").Status != http.StatusSeeOther {
			t.Errorf("%s browser is still signed in", name)
		}
	}
}

// TestFormsComeFromOurPages: another site's page can send nothing, and nor can what is no browser.
func TestFormsComeFromOurPages(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(auth.MemberAdmin)
	for name, header := range map[string]map[string]string{
		"a page elsewhere":    {"Origin": "https://evil.example"},
		"said by the browser": {"Sec-Fetch-Site": "cross-site"},
		"another port":        {"Origin": "http://127.0.0.1:9999"},
		"no browser":          {},
	} {
		if a := b.From(header, "/sign-out", nil); a.Status != http.StatusForbidden {
			t.Errorf("%s: %d", name, a.Status)
		}
	}
	b.Must("/account")
}
