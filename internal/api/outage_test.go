package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/app"
	"holdfast/internal/testkit/dbtest"
)

// TestEveryOperationReportsAnOutage: if the database does not respond in time, every operation that needs it returns
// 503 with Retry-After; the others respond as usual.
func TestEveryOperationReportsAnOutage(t *testing.T) {
	t.Parallel()
	for _, engine := range dbtest.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			w := newWorld(t, engine.Database(t), io.Discard)
			talk := &talk{world: w, as: "token", kept: map[string]string{}}
			// No statement is that fast: for the request, the database does not respond.
			w.handler = api.New(w.app, api.Config{BaseURL: baseURL, Timeout: time.Nanosecond})
			for _, route := range api.Routes(api.Config{}) {
				switch route.Pattern {
				case "/healthz", "/docs", "/openapi.yaml", "/openapi.json": // need no database
					continue
				}
				r := httptest.NewRequestWithContext(t.Context(), route.Method, aRequestTo(route), bodyFor(route))
				r.Header.Set("Authorization", "Bearer 1|"+tokenSecret)
				r.Header.Set("Content-Type", "application/json")
				response, body := talk.exchange(t, r)
				var e struct{ Code string }
				must(t, json.Unmarshal(body, &e))
				if response.StatusCode != http.StatusServiceUnavailable || e.Code != "service_unavailable" ||
					response.Header.Get("Retry-After") == "" {
					t.Errorf("%s %s: %d %s", route.Method, route.Pattern, response.StatusCode, body)
				}
			}
		})
	}
}

// TestEveryOperationOwnsUpToItsFaults: an unexpected error is one sentence with the request id, without the cause.
func TestEveryOperationOwnsUpToItsFaults(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := newWorld(t, dbtest.SQLite(t), &log)
	talk := &talk{world: w, as: "token", kept: map[string]string{}}
	for _, route := range api.Routes(api.Config{}) {
		switch route.Pattern {
		case "/healthz", "/readyz", "/docs", "/openapi.yaml", "/openapi.json":
			continue
		}
		// Without its use cases every operation panics.
		w.handler = api.New(&app.App{Config: w.app.Config, DB: w.app.DB, Health: w.app.Health}, api.Config{BaseURL: baseURL})
		r := httptest.NewRequestWithContext(t.Context(), route.Method, aRequestTo(route), bodyFor(route))
		r.Header.Set("Authorization", "Bearer 1|"+tokenSecret)
		r.Header.Set("X-Request-Id", "the-one-that-broke")
		log.Reset()
		response, body := talk.exchange(t, r)
		if response.StatusCode != http.StatusInternalServerError || !strings.Contains(string(body), `"internal_error"`) ||
			!strings.Contains(string(body), "the-one-that-broke") || strings.Contains(string(body), "nil pointer") {
			t.Errorf("%s %s: %d %s", route.Method, route.Pattern, response.StatusCode, body)
		}
		if !strings.Contains(log.String(), "nil pointer") || strings.Contains(log.String(), tokenSecret) {
			t.Errorf("%s %s: the log says %s", route.Method, route.Pattern, log.String())
		}
	}
}

// aRequestTo is a path that matches the route.
func aRequestTo(r api.Route) string {
	return strings.NewReplacer("{site}", "demo", "{id}", "1", "{line}", "1", "{delivery}", "1", "{site_id}", "1", "{channel_id}", "1").Replace(r.Pattern)
}

// bodyFor is a body that reaches the use case of a route, where its problems would be found.
func bodyFor(r api.Route) io.Reader {
	if r.Method != http.MethodPost && r.Method != http.MethodPut {
		return http.NoBody
	}
	if r.Name == "openModalSession" {
		return strings.NewReader(`{"path": "demo", "environment": "test", "origin": "https://shop.example", "booking_auth": "x",
			"channels": 1, "currencies": "GBP", "total": 9900}`)
	}
	return strings.NewReader(`{"username": "admin", "password": "` + password + `", "name": "x"}`)
}
