package kit

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"holdfast/internal/errs"
)

// TestARequestUnderWayIsShownAgain: a form that was sent twice at once is no mistake of ours. Sent again, it finds what the first did.
func TestARequestUnderWayIsShownAgain(t *testing.T) {
	t.Parallel()
	for _, kind := range []errs.Kind{errs.IdempotencyInFlight, errs.IdempotencyMismatch} {
		v, form := &Visit{}, Filled("key", "k")
		if ok, err := v.Took(form, errs.New(kind, "Wait.")); ok || err != nil || v.status != http.StatusConflict || form.Message == "" {
			t.Errorf("%v: %t, %v, %d, %q", kind, ok, err, v.status, form.Message)
		}
	}
}

// TestNamesOfFilesAreOurs: nothing in a name ends it.
func TestNamesOfFilesAreOurs(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	(&Visit{W: w}).attach("a\"; filename*=UTF-8''b.html\r\nX: y.csv", "text/csv")
	if got, want := w.Header().Get("Content-Disposition"), `attachment; filename="a-filename-UTF-8-b.html-X-y.csv"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
