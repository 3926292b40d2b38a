package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

const pageBytes = 256 << 10 // of the body of a page in tests

// reading is a page that reads the body and returns its length.
var reading = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	switch _, tooLarge := errors.AsType[*http.MaxBytesError](err); {
	case tooLarge:
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	default:
		_, _ = fmt.Fprint(w, len(body))
	}
})

// TestASlowSenderHoldsNoPlaceOfPages: the form is read before it takes a slot. There is one slot, and another page gets
// it meanwhile.
func TestASlowSenderHoldsNoPlaceOfPages(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{RequestsAtOnce: 1, RequestsWaiting: 1})
	pages := h.Admit(ClassOrdinary, pageBytes, reading)
	body, sender := io.Pipe()
	slow, ended := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(ended)
		pages.ServeHTTP(slow, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/page", body))
	}()
	_, _ = io.WriteString(sender, "a=") // returns once it is read
	if w, _ := ask(t, pages, "GET", "/page"); w.Code != http.StatusOK {
		t.Errorf("another page: %d", w.Code)
	}
	_, _ = io.WriteString(sender, "b")
	_ = sender.Close()
	if <-ended; slow.Code != http.StatusOK || slow.Body.String() != "3" {
		t.Errorf("the slow one: %d %s", slow.Code, slow.Body)
	}
	empty(t, h.door.classes[ClassOrdinary])
}

// TestAFormHasToCome: without the form, the page responds with the error.
func TestAFormHasToCome(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{})
	h.door.bodies.time = time.Nanosecond
	address := serving(t, h.Admit(ClassLogins, pageBytes, reading))
	if response, text := speak(t, address, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"); response.StatusCode != 400 || text != "" {
		t.Errorf("%d %s", response.StatusCode, text)
	}
}

func TestFormsHaveABound(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{})
	pages := h.Admit(ClassOrdinary, pageBytes, reading)
	for n, status := range map[int]int{0: 200, 1: 200, smallBody: 200, pageBytes: 200, pageBytes + 1: 413} {
		if w := post(t, pages, "/page", strings.Repeat("a", n)); w.Code != status || status == 200 && w.Body.String() != fmt.Sprint(n) {
			t.Errorf("%d bytes: %d %s", n, w.Code, w.Body)
		}
	}
	empty(t, h.door.bodies.strangers.bytes)
	h.door.bodies.strangers.bytes = noPlace()
	if w := post(t, pages, "/page", strings.Repeat("a", pageBytes)); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("more than all may have: %d %s", w.Code, w.Body)
	}
	empty(t, h.door.classes[ClassOrdinary])
}

// TestPagesHaveClasses: each page only waits for the slots of its own class.
func TestPagesHaveClasses(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{})
	classes := Classes
	for i, full := range classes {
		h.door.classes[full] = noPlace()
		for j, class := range classes {
			want := http.StatusOK
			if j <= i { // the earlier ones are full too
				want = http.StatusServiceUnavailable
			}
			if w := post(t, h.Admit(class, pageBytes, reading), "/page", "a=b"); w.Code != want {
				t.Errorf("class %d while %d is full: %d", class, full, w.Code)
			}
		}
	}
}

// TestEveryRouteHasPlaces: no route is without a limit.
func TestEveryRouteHasPlaces(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{})
	for _, class := range Classes {
		if h.door.classes[class] == nil {
			t.Errorf("class %d has no places", class)
		}
	}
	if len(h.door.classes) != len(Classes) {
		t.Errorf("there are %d classes, and %d with places", len(Classes), len(h.door.classes))
	}
	for _, r := range Routes(Config{}) {
		if !slices.Contains(Classes, r.class) {
			t.Errorf("%s %s has class %d", r.Method, r.Pattern, r.class)
		}
	}
}

// deadlines records the read deadlines that were set.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.set = append(d.set, at)
	return nil
}

// TestAFileOfAPageHasItsTime: uploads have a separate deadline. Requests without a body that the page reads do not get
// it, and the rest of a body gets no extension.
func TestAFileOfAPageHasItsTime(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{Timeout: time.Nanosecond, UploadTime: time.Hour})
	over := time.Unix(1, 0)
	for _, c := range []struct {
		what string
		read int
		want []time.Time
	}{
		{"nothing is read", 0, nil},
		{"a part is read", 2, []time.Time{{}, over}},
		{"all is read", 100, []time.Time{{}}},
	} {
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		body := io.MultiReader(strings.NewReader("the "), strings.NewReader("file"))
		h.Admit(ClassUploads, 1, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(io.LimitReader(r.Body, int64(c.read))); err != nil || r.Context().Err() != nil {
				t.Errorf("%s: %v, %v", c.what, err, r.Context().Err())
			}
		})).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/page", body))
		if !slices.EqualFunc(w.set, c.want, time.Time.Equal) {
			t.Errorf("%s: the ends are %v", c.what, w.set)
		}
	}
	late, _, _ := service(t, Config{UploadTime: time.Nanosecond})
	address := serving(t, late.Admit(ClassUploads, 1, reading))
	if response, _ := speak(t, address, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"); response.StatusCode != 400 {
		t.Errorf("a file that does not come: %d", response.StatusCode)
	}
	empty(t, late.door.classes[ClassUploads])
}

// TestPagesAreInTheLogOfRequests: each page has one line, with its route instead of the URL. The API logs the requests
// that it answers.
func TestPagesAreInTheLogOfRequests(t *testing.T) {
	t.Parallel()
	gone, leave := context.WithCancel(t.Context())
	leave()
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for name, c := range map[string]struct {
		ctx    context.Context
		page   http.HandlerFunc // nil: no such page
		status string
	}{
		"a page":                          {t.Context(), func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }, "status=200 duration_ms=0 bytes=5"},
		"an empty page":                   {t.Context(), func(http.ResponseWriter, *http.Request) {}, "status=200"},
		"page not found":                  {t.Context(), status(404), "status=404"},
		"a failure":                       {t.Context(), status(500), "status=500"},
		"a panic":                         {t.Context(), func(http.ResponseWriter, *http.Request) { panic("a mistake") }, "status=500"},
		"client gone before the response": {gone, func(http.ResponseWriter, *http.Request) {}, "status=499"},
		"client gone, page failed":        {gone, status(503), "status=499"},
		"client gone after the response":  {gone, status(200), "status=200"},
		"not a page":                      {t.Context(), nil, "status=404"},
		"not a page, client gone":         {gone, nil, "status=404"},
	} {
		h, log, _ := service(t, Config{})
		r := httptest.NewRequestWithContext(c.ctx, http.MethodGet, "/secret/address?token=secret", nil)
		r.Header.Set("X-Request-Id", "mine")
		w := httptest.NewRecorder()
		func() {
			defer func() { _ = recover() }()
			h.Page(w, r, "/pages/{key}", func(w http.ResponseWriter) bool {
				if c.page != nil {
					h.Admit(ClassOrdinary, pageBytes, c.page).ServeHTTP(w, r)
				}
				return c.page != nil
			})
		}()
		text := log.String()
		route := `route=/pages/{key} method=GET `
		if c.page == nil {
			route = "method=GET "
		}
		if strings.Count(text, "msg=request ") != 1 || strings.Contains(text, "secret") || w.Header().Get("X-Request-Id") != "mine" ||
			!strings.Contains(text, route+c.status) || !strings.Contains(text, "request_id=mine") {
			t.Errorf("%s: header %v, log\n%s", name, w.Header(), text)
		}
	}
}

// TestRefusedPagesDoNotFillTheLog: only the first rejection is logged, with the same id as its response.
func TestRefusedPagesDoNotFillTheLog(t *testing.T) {
	t.Parallel()
	h, log, _ := service(t, Config{})
	h.door.classes[ClassOrdinary] = noPlace()
	for range 10 {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/page", nil)
		h.Page(w, r, "/page", func(w http.ResponseWriter) bool {
			h.Admit(ClassOrdinary, pageBytes, reading).ServeHTTP(w, r)
			return true
		})
		if id := w.Header().Get("X-Request-Id"); w.Code != 503 || id == "" || !strings.Contains(w.Body.String(), id) {
			t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
		}
	}
	if text := log.String(); strings.Count(text, "msg=request ") != 1 || !strings.Contains(text, "route=/page method=GET status=503") {
		t.Errorf("the log:\n%s", text)
	}
}
