package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/errs"
)

const pageBytes = 256 << 10 // of the body of a page in tests

// reading is a page that reads what it is sent, and says how many bytes that was.
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

// TestASlowSenderHoldsNoPlaceOfPages: its form is read before its turn. There is one place, and another page gets it meanwhile.
func TestASlowSenderHoldsNoPlaceOfPages(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{RequestsAtOnce: 1, RequestsWaiting: 1})
	pages := h.Admit(LaneOthers, pageBytes, reading)
	body, sender := io.Pipe()
	slow, ended := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(ended)
		pages.ServeHTTP(slow, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/page", body))
	}()
	_, _ = io.WriteString(sender, "a=") // returns when somebody has read it
	if w, _ := ask(t, pages, "GET", "/page"); w.Code != http.StatusOK {
		t.Errorf("another page: %d", w.Code)
	}
	_, _ = io.WriteString(sender, "b")
	_ = sender.Close()
	if <-ended; slow.Code != http.StatusOK || slow.Body.String() != "3" {
		t.Errorf("the slow one: %d %s", slow.Code, slow.Body)
	}
	empty(t, &h.door.others)
}

// TestAFormHasToCome, and it is the page that says so.
func TestAFormHasToCome(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{})
	h.door.bodies.time = time.Nanosecond
	address := serving(t, h.Admit(LaneLogins, pageBytes, reading))
	if response, text := speak(t, address, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"); response.StatusCode != 400 || text != "" {
		t.Errorf("%d %s", response.StatusCode, text)
	}
}

func TestFormsHaveABound(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{})
	pages := h.Admit(LaneOthers, pageBytes, reading)
	for n, status := range map[int]int{0: 200, 1: 200, smallBody: 200, pageBytes: 200, pageBytes + 1: 413} {
		if w := post(t, pages, "/page", strings.Repeat("a", n)); w.Code != status || status == 200 && w.Body.String() != fmt.Sprint(n) {
			t.Errorf("%d bytes: %d %s", n, w.Code, w.Body)
		}
	}
	if h.door.bodies.used != 0 {
		t.Errorf("%d bytes were not given back", h.door.bodies.used)
	}
	h.door.bodies.used = h.door.bodies.most
	if w := post(t, pages, "/page", strings.Repeat("a", pageBytes)); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("more than all may have: %d %s", w.Code, w.Body)
	}
	empty(t, &h.door.others)
}

// TestPagesHaveLanes: each waits at its gate, and at no other.
func TestPagesHaveLanes(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{})
	d := h.door
	gates := []*gate{LaneOthers: &d.others, LaneLogins: &d.logins, LaneFiles: &d.files, LaneRefused: &d.refused}
	for full, g := range gates {
		for i := range g.running + g.waiting {
			arrives(t, g, fmt.Sprint("caller ", i), errs.Internal)
		}
		for lane := range gates {
			want := http.StatusOK
			if lane <= full { // those before are full, too
				want = http.StatusServiceUnavailable
			}
			if w := post(t, h.Admit(Lane(lane), pageBytes, reading), "/page", "a=b"); w.Code != want {
				t.Errorf("lane %d while %d is full: %d", lane, full, w.Code)
			}
		}
	}
}

// deadlines records which ends of reading were set.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.set = append(d.set, at)
	return nil
}

// TestAFileOfAPageHasItsTime, which is not that of other pages. Who sends nothing that a page reads gets none of it, and what is
// left over gets no more.
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
		h.Admit(LaneFiles, 1, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(io.LimitReader(r.Body, int64(c.read))); err != nil || r.Context().Err() != nil {
				t.Errorf("%s: %v, %v", c.what, err, r.Context().Err())
			}
		})).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/page", body))
		if !slices.EqualFunc(w.set, c.want, time.Time.Equal) {
			t.Errorf("%s: the ends are %v", c.what, w.set)
		}
	}
	late, _, _ := service(t, Config{UploadTime: time.Nanosecond})
	address := serving(t, late.Admit(LaneFiles, 1, reading))
	if response, _ := speak(t, address, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"); response.StatusCode != 400 {
		t.Errorf("a file that does not come: %d", response.StatusCode)
	}
	empty(t, &late.door.files)
}
