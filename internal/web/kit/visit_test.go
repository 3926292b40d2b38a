package kit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"holdfast/internal/errs"
)

// TestARequestUnderWayIsShownAgain: a form submitted twice concurrently is not an internal error. Submitted again, it
// shows the result of the first.
func TestARequestUnderWayIsShownAgain(t *testing.T) {
	t.Parallel()
	for _, kind := range []errs.Kind{errs.IdempotencyInFlight, errs.IdempotencyMismatch} {
		v, form := &Visit{}, Filled("key", "k")
		if ok, err := v.Took(form, errs.New(kind, "Wait.")); ok || err != nil || v.status != http.StatusConflict || form.Message == "" {
			t.Errorf("%v: %t, %v, %d, %q", kind, ok, err, v.status, form.Message)
		}
	}
}

// TestNamesOfFilesAreOurs: names are escaped.
func TestNamesOfFilesAreOurs(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	(&Visit{W: w}).attach("a\"; filename*=UTF-8''b.html\r\nX: y.csv", "text/csv")
	if got, want := w.Header().Get("Content-Disposition"), `attachment; filename="a-filename-UTF-8-b.html-X-y.csv"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestAPageThatTookTooLongCanBeTriedAgain: after a timeout there is an error page to retry, unless the browser has disconnected.
func TestAPageThatTookTooLongCanBeTriedAgain(t *testing.T) {
	t.Parallel()
	f, err := New(Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, c := range []struct {
		ctx    context.Context
		status int // 0: no answer
	}{{late, http.StatusServiceUnavailable}, {gone, 0}, {t.Context(), http.StatusInternalServerError}} {
		w := &httptest.ResponseRecorder{Body: &bytes.Buffer{}}
		r := httptest.NewRequestWithContext(c.ctx, http.MethodGet, Path, nil)
		f.visit(w, r).fail(fmt.Errorf("reading: %w", cmp.Or(c.ctx.Err(), errors.New("a mistake"))))
		if w.Code != c.status || (w.Header().Get("Retry-After") != "") != (c.status == http.StatusServiceUnavailable) {
			t.Errorf("after %v: %d %v %s", c.ctx.Err(), w.Code, w.Header(), w.Body)
		}
	}
}
