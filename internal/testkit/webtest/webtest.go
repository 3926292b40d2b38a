// Package webtest gives tests of pages a dashboard over a world with one site, and people who use it. Only tests import it.
package webtest

import (
	"html"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
	"holdfast/internal/web/dashboard"
	"holdfast/internal/web/kit"
)

// Base is the address of the service in tests.
const Base = "http://127.0.0.1:8080"

// House is a world and its dashboard.
type House struct {
	*apptest.World
	Frame *kit.Frame
	t     testing.TB
}

// New makes a house over a SQLite database. Pages have no SQL, so that one engine is enough for them.
func New(t testing.TB) *House {
	t.Helper()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	f, err := dashboard.New(kit.Config{
		Log: slog.New(slog.DiscardHandler), Base: Base, Profile: string(merchant.ProtectionOnlyProfile), API: "/rest/svc/v2", Clock: w.Now,
		AddressOf: func(*http.Request) string { return "192.0.2.1" }, Noting: w.App.Health.NotingLag,
	}, w.App)
	if err != nil {
		t.Fatal(err)
	}
	return &House{w, f, t}
}

// Password is that of everybody.
const Password = "correct horse battery"

// Browser is one in which somebody may be signed in.
type Browser struct {
	h       *House
	cookies map[string]string
}

// Browser opens one in which nobody is signed in.
func (h *House) Browser() *Browser { return &Browser{h, map[string]string{}} }

// As makes a user with a role, named like it, and signs them in.
func (h *House) As(role access.Role) *Browser {
	h.t.Helper()
	fields := people.UserFields{Username: string(role), Email: string(role) + "@example.com", Password: Password}
	if _, err := h.App.Accounts.CreateUser(h.t.Context(), access.System(h.Site.ID), fields, role, false); err != nil {
		h.t.Fatal(err)
	}
	b := h.Browser()
	b.SignIn(string(role), Password)
	return b
}

// SignIn signs somebody in, and fails the test if that does not work.
func (b *Browser) SignIn(name, password string) {
	b.h.t.Helper()
	a := b.Post("/sign-in", url.Values{"username": {name}, "password": {password}})
	if a.Status != http.StatusSeeOther {
		b.h.t.Fatalf("signing in: %d\n%s", a.Status, a.Text())
	}
}

// Answer is what a browser got.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	To     string // where it leads
}

// tags are what is not text.
var tags = regexp.MustCompile(`(?s)<script.*?</script>|<svg.*?</svg>|<[^>]*>`)

// Text is what a page says, without its tags and with one space between words.
func (a Answer) Text() string {
	return strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(a.Body, " "))), " ")
}

// Get opens a page below /dashboard, or at a whole address of it.
func (b *Browser) Get(path string) Answer {
	b.h.t.Helper()
	return b.send(http.MethodGet, path, nil, nil)
}

// Post sends a form.
func (b *Browser) Post(path string, values url.Values) Answer {
	b.h.t.Helper()
	return b.From(map[string]string{"Origin": Base}, path, values)
}

// From sends a form with headers of the test's own, as somebody does who forges one.
func (b *Browser) From(headers map[string]string, path string, values url.Values) Answer {
	b.h.t.Helper()
	with := maps.Clone(headers)
	with["Content-Type"] = "application/x-www-form-urlencoded"
	return b.send(http.MethodPost, path, with, strings.NewReader(values.Encode()))
}

// Send sends a body of some type, such as a form with a file.
func (b *Browser) Send(path, kind, body string) Answer {
	b.h.t.Helper()
	return b.send(http.MethodPost, path, map[string]string{"Origin": Base, "Content-Type": kind}, strings.NewReader(body))
}

func (b *Browser) send(method, path string, headers map[string]string, body io.Reader) Answer {
	b.h.t.Helper()
	path = strings.TrimPrefix(path, Base)
	if !strings.HasPrefix(path, kit.Path) {
		path = kit.Path + path
	}
	r := httptest.NewRequestWithContext(b.h.t.Context(), method, Base+path, body)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	recorder := httptest.NewRecorder()
	b.h.Frame.ServeHTTP(recorder, r)
	for _, c := range recorder.Result().Cookies() {
		b.cookies[c.Name] = c.Value
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return Answer{recorder.Code, recorder.Header(), recorder.Body.String(), recorder.Header().Get("Location")}
}

// Must opens a page that has to be there and to say some texts.
func (b *Browser) Must(path string, says ...string) Answer {
	b.h.t.Helper()
	a := b.Get(path)
	if a.Status != http.StatusOK {
		b.h.t.Fatalf("%s: %d %s\n%s", path, a.Status, a.To, a.Text())
	}
	for _, want := range says {
		if !strings.Contains(a.Text(), want) {
			b.h.t.Errorf("%s does not say %q:\n%s", path, want, a.Text())
		}
	}
	return a
}

// At is an address below the site of the house.
func (h *House) At(below string) string { return kit.Path + "/sites/" + h.World.Site.Path + below }
