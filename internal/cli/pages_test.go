package cli

import (
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
	"holdfast/internal/notify/schedules"
	"holdfast/internal/web"
	"holdfast/internal/web/certificate"
	"holdfast/internal/web/checkout"
	"holdfast/internal/web/dashboard"
	"holdfast/internal/web/kit"
	"holdfast/internal/web/modal"
	"holdfast/internal/web/outbox"
)

// TestClassesOfPages: each pattern is one of a page, and what is not named waits with all others.
func TestClassesOfPages(t *testing.T) {
	t.Parallel()
	frame, err := dashboard.New(kit.Config{Base: "http://localhost", Log: slog.New(slog.DiscardHandler)}, &app.App{Orders: &schedules.Orders{}})
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

// TestEveryPageStandsBehindTheDoor: each set of pages has a class that has places, and what the server answers besides is the API's,
// whose table has a class for each route.
func TestEveryPageStandsBehindTheDoor(t *testing.T) {
	t.Parallel()
	frame, err := dashboard.New(kit.Config{Base: "http://localhost", Log: slog.New(slog.DiscardHandler)}, &app.App{Orders: &schedules.Orders{}})
	if err != nil {
		t.Fatal(err)
	}
	outbox, err := outbox.New(outbox.Config{})
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
		t.Errorf("no page of set %d was asked for", i)
	}
}

// connection is an answer whose connection takes deadlines.
type connection struct {
	*httptest.ResponseRecorder
	set int
}

func (c *connection) SetReadDeadline(time.Time) error {
	c.set++
	return nil
}

// TestDeadlinesReachTheConnection through what holds refusals back: without, the door could not end a slow body.
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
		{"POST", "/page", 405, `"code":"rest_no_route"`, "GET"}, // also where a page refuses
		{"DELETE", "/page", 405, `"code":"rest_no_route"`, "GET, HEAD, POST"},
		{"OPTIONS", "/page", 204, "", "GET, HEAD, POST, OPTIONS"},
	} {
		w := httptest.NewRecorder()
		p.showPage(w, httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil), mux, service)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) || w.Header().Get("Allow") != c.allow ||
			c.says == "" && w.Body.Len() > 0 {
			t.Errorf("%s %s: answered %d %v %q", c.method, c.path, w.Code, w.Header(), w.Body)
		}
	}
}
