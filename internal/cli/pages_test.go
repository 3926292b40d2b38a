package cli

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/app"
	"holdfast/internal/notify/schedules"
	"holdfast/internal/web/dashboard"
	"holdfast/internal/web/kit"
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
		return p.classOf(httptest.NewRequest(method, path, nil))
	}
	for pattern, want := range pageClasses {
		if got := class(pattern); got != want || got == api.ClassOrdinary {
			t.Errorf("%s: class %d, not %d", pattern, got, want)
		}
	}
	for _, pattern := range []string{
		"GET /dashboard/sign-in", "GET /dashboard/sites/{site}/bookings/import", "POST /dashboard/sites/{site}/bookings/new", "POST /dashboard/no/page", "POST /",
	} {
		if got := class(pattern); got != api.ClassOrdinary {
			t.Errorf("%s: class %d", pattern, got)
		}
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
