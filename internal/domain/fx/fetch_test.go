package fx_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"holdfast/internal/domain/fx"
	"holdfast/internal/errs"
)

// bank is a small server that replaces the ECB's.
func bank(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s
}

func TestFetch(t *testing.T) {
	s := bank(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/daily.xml" {
			t.Errorf("asked with %s %s", r.Method, r.URL)
		}
		io.WriteString(w, daily)
	})
	all, err := fx.Fetch(t.Context(), s.Client(), s.URL+"/daily.xml")
	if err != nil || len(all) != 3 {
		t.Errorf("%d fixings, %v", len(all), err)
	}
}

func TestFetchDistinguishesTroubleFromMistakes(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	tests := []struct {
		name   string
		answer http.HandlerFunc
		kind   errs.Kind
		want   string
	}{
		{"server in trouble", status(http.StatusBadGateway), errs.Unavailable, "502"},
		{"server busy", status(http.StatusTooManyRequests), errs.Unavailable, "429"},
		{"wrong address", status(http.StatusNotFound), errs.Invalid, "404"},
		{"nothing in it", status(http.StatusNoContent), errs.Invalid, "204"},
		{"another page", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "<html><body>Down for maintenance</body></html>")
		}, errs.Invalid, "unexpected <html>"},
		{"too large", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, strings.Repeat(" ", 1<<20+1))
		}, errs.Invalid, "too large for"},
		{"broken off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10000")
			io.WriteString(w, daily[:200])
		}, errs.Unavailable, "was cut off"},
		{"hung up", func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, errs.Unavailable, "cannot be reached"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := bank(t, tt.answer)
			all, err := fx.Fetch(t.Context(), s.Client(), s.URL)
			if all != nil || !errs.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, %v (kind %d), want kind %d with %q", all, err, errs.KindOf(err), tt.kind, tt.want)
			}
		})
	}
}

func TestFetchGivesUpWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := bank(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	_, err := fx.Fetch(ctx, s.Client(), s.URL)
	if !errs.Is(err, errs.Unavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestFetchRefusesOtherAddresses(t *testing.T) {
	for _, address := range []string{"", "rates.xml", "file:///rates.xml", "ftp://bank.example/rates", "http://", "https://[::1"} {
		if _, err := fx.Fetch(t.Context(), http.DefaultClient, address); !errs.Is(err, errs.Invalid) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestAnAddressWithAPasswordIsNotRepeated(t *testing.T) {
	s := bank(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	_, err := fx.Fetch(t.Context(), s.Client(), strings.Replace(s.URL, "//", "//rates:hush@", 1))
	if err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("%v", err)
	}
}
