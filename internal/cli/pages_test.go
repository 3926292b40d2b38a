package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/notify/schedules"
	"holdfast/internal/web"
	"holdfast/internal/web/certificate"
	"holdfast/internal/web/checkout"
	"holdfast/internal/web/dashboard"
	"holdfast/internal/web/kit"
	"holdfast/internal/web/modal"
	"holdfast/internal/web/outbox"
)

// TestClassesOfPages: each pattern matches a page, and all other pages share the default class.
func TestClassesOfPages(t *testing.T) {
	t.Parallel()
	frame, err := dashboard.New(kit.Config{Base: "http://localhost", Log: slog.New(slog.DiscardHandler)}, &app.App{Schedules: &schedules.Schedules{}})
	if err != nil {
		t.Fatal(err)
	}
	p := &program{dashboard: frame}
	class := func(pattern string) api.Class {
		method, path, _ := strings.Cut(strings.NewReplacer("{site}", "demo", "{id}", "7").Replace(pattern), " ")
		return p.classOfDashboard(httptest.NewRequest(method, path, nil))
	}
	for pattern, want := range pageClasses {
		if got := class(pattern); got != want || got == api.ClassOrdinary {
			t.Errorf("%s: class %d, not %d", pattern, got, want)
		}
	}
	for _, pattern := range []string{
		"GET /dashboard/sign-in", "GET /dashboard/sites/{site}/bookings/import", "POST /dashboard/sites/{site}/bookings/new", "POST /dashboard/no/page",
	} {
		if got := class(pattern); got != api.ClassOrdinary {
			t.Errorf("%s: class %d", pattern, got)
		}
	}
}

// TestEveryPageIsLimited: every set of pages has a class with slots. The API serves everything else, and its table has a class for each
// route.
func TestEveryPageIsLimited(t *testing.T) {
	t.Parallel()
	frame, err := dashboard.New(kit.Config{Base: "http://localhost", Log: slog.New(slog.DiscardHandler)}, &app.App{Schedules: &schedules.Schedules{}})
	if err != nil {
		t.Fatal(err)
	}
	outbox, err := outbox.New(nil, access.Actor{})
	if err != nil {
		t.Fatal(err)
	}
	page := httptest.NewRecorder()
	frame.ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/dashboard/sign-in", nil))
	style := regexp.MustCompile(`href="(/dashboard/assets/[^"]+\.css)"`).FindStringSubmatch(page.Body.String())
	if style == nil {
		t.Fatalf("%d %s", page.Code, page.Body)
	}
	p := &program{
		dashboard: frame, pages: web.New(web.Config{}), modal: new(modal.Modal), certificates: new(certificate.Pages), bank: http.NotFoundHandler(),
		shop: new(checkout.Shop), outbox: outbox,
	}
	sets := p.pageSets()
	seen := make([]bool, len(sets))
	for path, want := range map[string]api.Class{
		"/": api.ClassFiles, "/docs": api.ClassFiles, "/docs/search": api.ClassFiles, "/docs/assets/x/docs.css": api.ClassFiles,
		"/favicon.ico": api.ClassFiles, "/robots.txt": api.ClassFiles, modal.Path + "modal.js": api.ClassFiles, modal.Path + "assets/x/frame.js": api.ClassFiles,
		modal.Path + "frame": api.ClassOrdinary, modal.Path + "return": api.ClassOrdinary, "/certificate/key": api.ClassOrdinary,
		"/checkout": api.ClassFiles, "/checkout/quote": api.ClassFiles, "/outbox/7": api.ClassOrdinary, "/sandbox/challenge/a/b": api.ClassOrdinary,
		"/dashboard": api.ClassOrdinary, "/dashboard/sites/demo/exposure": api.ClassOrdinary, style[1]: api.ClassFiles,
	} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		at := slices.IndexFunc(sets, func(s pageSet) bool { return s.serves(r) })
		if at < 0 {
			t.Errorf("%s is served by no set of pages", path)
			continue
		}
		seen[at] = true
		if got := sets[at].class(r); got != want || !slices.Contains(api.Classes, got) || sets[at].pages == nil {
			t.Errorf("%s: class %d, want %d", path, got, want)
		}
	}
	if i := slices.Index(seen, false); i >= 0 {
		t.Errorf("no page of set %d was requested", i)
	}
}

// connection is a ResponseWriter with deadlines.
type connection struct {
	*httptest.ResponseRecorder
	set int
}

func (c *connection) SetReadDeadline(time.Time) error {
	c.set++
	return nil
}

// TestDeadlinesReachTheConnection through the wrapper that delays rejections: otherwise slow bodies could not be cut
// off.
func TestDeadlinesReachTheConnection(t *testing.T) {
	t.Parallel()
	c := &connection{ResponseRecorder: httptest.NewRecorder()}
	err := http.NewResponseController(&heldRefusal{ResponseWriter: c}).SetReadDeadline(time.Time{})
	if err != nil || c.set != 1 {
		t.Errorf("%v, set %d times", err, c.set)
	}
}

func TestPagesThatAreNotThereAreErrorsOfTheAPI(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a page") })
	mux.HandleFunc("GET /challenge", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Challenge not found.", http.StatusNotFound)
	})
	mux.HandleFunc("POST /page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", "GET")
		http.Error(w, "Read only.", http.StatusMethodNotAllowed)
	})
	service := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "the API says so")
	})
	p := &program{app: &app.App{Config: app.Config{Random: strings.NewReader(strings.Repeat("random", 20)), Log: slog.New(slog.DiscardHandler)}}}
	for _, c := range []struct {
		method, path string
		status       int
		says, allow  string
	}{
		{"GET", "/page", 200, "a page", ""},
		{"GET", "/challenge", 404, "Challenge not found", ""}, // people read it
		{"GET", "/nothing", 404, "the API says so", ""},
		{"POST", "/page", 405, `"code":"rest_no_route"`, "GET"}, // also when a page rejects
		{"DELETE", "/page", 405, `"code":"rest_no_route"`, "GET, HEAD, POST"},
		{"OPTIONS", "/page", 204, "", "GET, HEAD, POST, OPTIONS"},
	} {
		w := httptest.NewRecorder()
		if r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil); !p.showPage(w, r, mux) {
			service.ServeHTTP(w, r)
		}
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) || w.Header().Get("Allow") != c.allow ||
			c.says == "" && w.Body.Len() > 0 {
			t.Errorf("%s %s: answered %d %v %q", c.method, c.path, w.Code, w.Header(), w.Body)
		}
	}
}

// TestPagesAndTheAPIShareOneLog: each request has one line with its route, and no line has secrets from a URL or a form.
func TestPagesAndTheAPIShareOneLog(t *testing.T) {
	t.Parallel()
	s := onSQLite(t)
	s.must("site", "create", "acme", "--name", "Acme", "--currency", "EUR")
	p := s.start("serve", "--log-format", "json")
	routes := map[string]int{}
	for _, c := range []struct {
		method, path, form, route string
		status                    int
	}{
		{"GET", "/dashboard/sign-in?back=kept-secret", "", "/dashboard/sign-in", 200},
		{"POST", "/dashboard/sign-in", "username=kept-secret&password=kept-secret", "/dashboard/sign-in", 403},
		{"GET", "/dashboard/sites/acme/bookings?search=kept-secret", "", "/dashboard/sites/{site}/bookings", 303},
		{"GET", "/dashboard/password/kept-secret", "", "/dashboard/password/{secret}", 303},
		{"GET", "/certificate/kept-secret", "", "/certificate/{key}", 404},
		{"GET", "/docs/?q=kept-secret", "", "/docs/{page}", 200},
		{"GET", "/healthz?kept-secret", "", "/healthz", 200},
		{"GET", "/dashboard/kept-secret", "", "/dashboard/{page}", 303},
		{"GET", "/modal/v1/kept-secret", "", "", 404}, // answered by the API
	} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, c.method, p.base+c.path, strings.NewReader(c.form))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", p.base)
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		routes[fmt.Sprintf("%s %s %d %s", c.method, c.route, c.status, response.Header.Get("X-Request-Id"))]++
	}
	p.stop()
	for line := range strings.Lines(p.log.String()) {
		var l struct {
			Msg, Route, Method string
			Status             int
			Duration           *int64 `json:"duration_ms"`
			ID                 string `json:"request_id"`
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Msg != "request" {
			continue
		}
		if key := fmt.Sprintf("%s %s %d %s", l.Method, l.Route, l.Status, l.ID); routes[key] != 1 || l.Duration == nil || l.ID == "" {
			t.Errorf("unexpected: %s", line)
		} else {
			delete(routes, key)
		}
	}
	if len(routes) > 0 || strings.Contains(p.log.String(), "kept-secret") {
		t.Errorf("without a line are %v; the log is\n%s", routes, p.log)
	}
}
