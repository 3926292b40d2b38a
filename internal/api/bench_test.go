package api_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"holdfast/internal/testkit/dbtest"
)

// BenchmarkGetBooking reads a booking by its id, from the first line of the API to the last, on SQLite:
//
//	go test ./internal/api -run none -bench GetBooking -benchtime 20000x -count 5
func BenchmarkGetBooking(b *testing.B) {
	w := newWorld(b, dbtest.SQLite(b), io.Discard)
	request := func(method, path, body string) *http.Request {
		r := httptest.NewRequest(method, "/demo/rest/svc/v2/"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer 1|"+tokenSecret)
		r.Header.Set("Content-Type", "application/json")
		return r
	}
	made := httptest.NewRecorder()
	w.handler.ServeHTTP(made, request(http.MethodPost, "bookings", `{"channels": 3, "currencies": "EUR", "total": 90000, "content": "A week", "firstname": "Ada",
		"date": "2026-08-31", "countries": "PT", "surname": "Byron", "email": "ada@example.org", "reference": "B-1"}`))
	if made.Code != http.StatusCreated {
		b.Fatalf("a booking is answered %d: %s", made.Code, made.Body)
	}
	var id int
	if _, err := fmt.Sscanf(made.Body.String(), `{"id":%d`, &id); err != nil {
		b.Fatalf("%v: %s", err, made.Body)
	}
	r, path := request(http.MethodGet, "", ""), fmt.Sprintf("/demo/rest/svc/v2/bookings/%d", id)
	answer := httptest.NewRecorder()
	b.ReportAllocs()
	for b.Loop() {
		answer.Body.Reset()
		clear(answer.Header())
		r.URL.Path = path
		w.handler.ServeHTTP(answer, r)
		if answer.Code != http.StatusOK {
			b.Fatalf("it is answered %d: %s", answer.Code, answer.Body)
		}
	}
}
