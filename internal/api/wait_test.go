package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"holdfast/internal/api"
	"holdfast/internal/testkit/dbtest"
)

// TestWaitingForEvents: a waiting request holds no slot, a caller can have four of them, and all get the next event.
func TestWaitingForEvents(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := newWorld(t, dbtest.SQLite(t), &log)
	service := api.New(w.app, api.Config{BaseURL: baseURL, RequestsAtOnce: 1})
	askUntil := func(ctx context.Context, method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(ctx, method, "/demo/rest/svc/v2"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer 1|"+tokenSecret)
		r.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		service.ServeHTTP(answer, r)
		return answer
	}
	ask := func(method, path, body string) *httptest.ResponseRecorder {
		return askUntil(t.Context(), method, path, body)
	}
	const waiting = "/events?after=now&types=booking.created&wait=20"
	answers := make(chan *httptest.ResponseRecorder, 5)
	// The token becomes known by a waiting request. Meanwhile an unknown one is looked up, for which there is one slot.
	ctx, leave := context.WithCancel(t.Context())
	go func() { answers <- askUntil(ctx, "GET", waiting, "") }()
	for len(w.app.DB.Store.Listening()) == 0 {
		runtime.Gosched()
	}
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/demo/rest/svc/v2/bookings", http.NoBody)
	r.Header.Set("Authorization", "Bearer 9|made-up")
	answer := httptest.NewRecorder()
	if service.ServeHTTP(answer, r); answer.Code != http.StatusUnauthorized {
		t.Errorf("a stranger is answered %d %s", answer.Code, answer.Body)
	}
	leave()
	<-answers
	for range cap(answers) {
		go func() { answers <- ask("GET", waiting, "") }()
	}
	if first := <-answers; first.Code != http.StatusTooManyRequests || first.Header().Get("Retry-After") == "" {
		t.Fatalf("the fifth is answered %d %s", first.Code, first.Body)
	}
	if got := ask("GET", "/bookings", ""); got.Code != http.StatusOK || len(answers) > 0 {
		t.Fatalf("while four wait: %d %s, and %d of them are over", got.Code, got.Body, len(answers))
	}
	if got := ask("GET", "/events?wait=21", ""); got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), `"wait"`) {
		t.Errorf("too long: %d %s", got.Code, got.Body)
	}
	if got := ask("GET", "/events?per_page=1&after=now", ""); got.Code != http.StatusOK {
		t.Errorf("without waiting: %d %s", got.Code, got.Body)
	}
	made := ask("POST", "/bookings", `{"channels": 4, "currencies": "EUR", "total": 90000, "countries": "FR", "firstname": "Ada",
		"surname": "Lovelace", "email": "ada@example.org", "date": "2026-09-14", "content": "A week in Nice"}`)
	if made.Code != http.StatusOK && made.Code != http.StatusCreated {
		t.Fatalf("a booking: %d %s", made.Code, made.Body)
	}
	for range 4 {
		var feed struct{ Events []struct{ Type string } }
		answer := <-answers
		must(t, json.Unmarshal(answer.Body.Bytes(), &feed))
		if answer.Code != http.StatusOK || len(feed.Events) != 1 || feed.Events[0].Type != "booking.created" {
			t.Errorf("one that waits is answered %d %s", answer.Code, answer.Body)
		}
	}
	// A caller disconnects while it waits: its slot is then free.
	ctx, leave = context.WithCancel(t.Context())
	go func() { answers <- askUntil(ctx, "GET", waiting, "") }()
	for len(w.app.DB.Store.Listening()) == 0 {
		runtime.Gosched()
	}
	ask("GET", "/bookings", "")
	leave()
	if <-answers; strings.Contains(log.String(), "request failed") {
		t.Errorf("a caller who goes is a failure:\n%s", log.String())
	}
	go func() { answers <- ask("GET", waiting, "") }()
	service.Stop()
	if last := <-answers; last.Code != http.StatusOK || !strings.Contains(last.Body.String(), `"events": []`) && !strings.Contains(last.Body.String(), `"events":[]`) {
		t.Errorf("while the service stops: %d %s", last.Code, last.Body)
	}
}
