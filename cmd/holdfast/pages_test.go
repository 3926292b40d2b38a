package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"holdfast/internal/core"
)

func TestPagesThatAreNotThereAreErrorsOfTheAPI(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a page") })
	mux.HandleFunc("GET /challenge", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "There is no such challenge.", http.StatusNotFound)
	})
	mux.HandleFunc("POST /page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", "GET")
		http.Error(w, "Read only.", http.StatusMethodNotAllowed)
	})
	service := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "the API says so")
	})
	p := &program{core: &core.Core{Random: strings.NewReader(strings.Repeat("random", 20)), Log: slog.New(slog.DiscardHandler)}}
	for _, c := range []struct {
		method, path string
		status       int
		says, allow  string
	}{
		{"GET", "/page", 200, "a page", ""},
		{"GET", "/challenge", 404, "no such challenge", ""}, // people read it
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
