// Package webtest gives tests of pages a dashboard with one site, and users of it. Only tests import it.
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

// Base is the URL of the service in tests.
const Base = "http://127.0.0.1:8080"

// House is a world and its dashboard.
type House struct {
	*apptest.World
	Frame *kit.Frame
	t     testing.TB
}

// New creates a house on a SQLite database. Pages contain no SQL, so one engine is enough.
func New(t testing.TB) *House {
	t.Helper()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	f, err := dashboard.New(kit.Config{
		Log: slog.New(slog.DiscardHandler), Base: Base, Profile: string(merchant.ProtectionOnlyProfile), API: "/rest/svc/v2", Clock: w.Now,
	}, w.App)
	if err != nil {
		t.Fatal(err)
	}
	return &House{w, f, t}
}

// Password is the password of every user.
const Password = "correct horse battery"

// Browser is a browser in which a user may be signed in.
type Browser struct {
	h       *House
	cookies map[string]string
}

// Browser opens a browser without a signed-in user.
func (h *House) Browser() *Browser { return &Browser{h, map[string]string{}} }

// As creates a user with a role, named after it, and signs them in.
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

// SignIn signs a user in and fails the test if that does not work.
func (b *Browser) SignIn(name, password string) {
	b.h.t.Helper()
	a := b.Post("/sign-in", url.Values{"username": {name}, "password": {password}})
	if a.Status != http.StatusSeeOther {
		b.h.t.Fatalf("signing in: %d\n%s", a.Status, a.Text())
	}
}

// Answer is a response to a browser.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	To     string // the target of a redirect
}

// tags matches everything that is not text.
var tags = regexp.MustCompile(`(?s)<script.*?</script>|<svg.*?</svg>|<[^>]*>`)

// Text is the text of a page, without tags and with one space between words.
func (a Answer) Text() string {
	return strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(a.Body, " "))), " ")
}

// Get opens a page by its path below /dashboard, or by its full URL.
func (b *Browser) Get(path string) Answer {
	b.h.t.Helper()
	return b.send(http.MethodGet, path, nil, nil)
}

// Post sends a form.
func (b *Browser) Post(path string, values url.Values) Answer {
	b.h.t.Helper()
	return b.From(map[string]string{"Origin": Base}, path, values)
}

// From sends a form with custom headers, for example to forge one.
func (b *Browser) From(headers map[string]string, path string, values url.Values) Answer {
	b.h.t.Helper()
	with := maps.Clone(headers)
	with["Content-Type"] = "application/x-www-form-urlencoded"
	return b.send(http.MethodPost, path, with, strings.NewReader(values.Encode()))
}

// Send sends a body of any type, such as a form with a file.
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

// Must opens a page that must exist and contain some texts.
func (b *Browser) Must(path string, says ...string) Answer {
	b.h.t.Helper()
	a := b.Get(path)
	if a.Status != http.StatusOK {
		b.h.t.Fatalf("%s: %d %s\n%s", path, a.Status, a.To, a.Text())
	}
	for _, want := range says {
		if !strings.Contains(a.Text(), want) {
			b.h.t.Errorf("%s does not contain %q:\n%s", path, want, a.Text())
		}
	}
	return a
}

// At is a path below the site of the house.
func (h *House) At(below string) string { return kit.Path + "/sites/" + h.World.Site.Path + below }
