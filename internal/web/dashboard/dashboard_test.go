package dashboard_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"holdfast/internal/account/sessions"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/testkit/webtest"
)

// TestWhoIsNotSignedInSeesNothing: every URL redirects to the sign-in page, and from there back.
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
	h.As(access.ReadOnly)
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

// TestTheSearchShowsOnlyPagesThatOpen: users do not find pages that they may not open.
func TestTheSearchShowsOnlyPagesThatOpen(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	link := regexp.MustCompile(`<li><a href="([^"]+)">`)
	found := map[access.Role]int{}
	for _, role := range []access.Role{access.ReadOnly, access.Finance, access.MemberAdmin, access.Operator} {
		b := h.As(role)
		seen := map[string]bool{}
		for letter := 'a'; letter <= 'z'; letter++ {
			a := b.Get(h.At("/search?q=" + string(letter)))
			_, body, _ := strings.Cut(a.Body, `class="found"`)
			body, _, _ = strings.Cut(body, "</ul>")
			for _, m := range link.FindAllStringSubmatch(body, -1) {
				seen[html.UnescapeString(m[1])] = true
			}
		}
		for address := range seen {
			if a := b.Get(address); a.Status != http.StatusOK {
				t.Errorf("%s finds %s, and gets %d", role, address, a.Status)
			}
		}
		found[role] = len(seen)
	}
	if found[access.ReadOnly] < 20 || found[access.Operator] <= found[access.MemberAdmin] || found[access.MemberAdmin] <= found[access.ReadOnly] {
		t.Errorf("found are %v", found)
	}
}

// TestASignInEnds: when idle, when old, by signing out, and with a new password.
func TestASignInEnds(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.MemberAdmin)
	for range 11 {
		h.Advance(time.Hour)
		b.Must(h.At(""))
	}
	h.Advance(time.Hour)
	if a := b.Get(h.At("")); a.Status != http.StatusSeeOther {
		t.Errorf("after %s it still counts", sessions.SignInLife)
	}
	b.SignIn("member_admin", webtest.Password)
	h.Advance(sessions.SignInIdle)
	if a := b.Get(h.At("")); a.Status != http.StatusSeeOther {
		t.Errorf("after %s without a request it still counts", sessions.SignInIdle)
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

// TestFormsComeFromOurPages: pages of other sites and other programs cannot submit them.
func TestFormsComeFromOurPages(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.MemberAdmin)
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

// TestTablesLeaveWithWhoMayExport: read-only users see the page, but cannot export it.
func TestTablesLeaveWithWhoMayExport(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	h.Booking(h.Channel(merchant.ModeTest, "EUR"), 60000, "2024-09-14")
	for role, may := range map[access.Role]bool{access.ReadOnly: false, access.Finance: true, access.MemberAdmin: true} {
		b := h.As(role)
		page := b.Must(h.At("/bookings"))
		if offered := strings.Contains(page.Body, "format=csv"); offered != may {
			t.Errorf("%s is offered files: %t", role, offered)
		}
		want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[may]
		for _, format := range []string{"csv", "xlsx"} {
			if a := b.Get(h.At("/bookings?format=" + format)); a.Status != want {
				t.Errorf("%s gets %s with %d", role, format, a.Status)
			}
		}
	}
}

// TestPagesFarBehindTheEnd: no page number overflows.
func TestPagesFarBehindTheEnd(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.Operator)
	for _, list := range []string{"/settings/limits", "/bookings", "/payments", "/channels", "/settings/audit"} {
		if a := b.Get(h.At(list + "?page=9223372036854775807")); a.Status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", list, a.Status, a.Text())
		}
	}
}
