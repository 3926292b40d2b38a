package api

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"holdfast/internal/domain/access"
)

// TestACrowdOfStrangersTakesFewPlaces repeats an attack: three hundred callers with made-up tokens took all slots, so
// that known callers were rejected.
func TestACrowdOfStrangersTakesFewPlaces(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{})
	answered := func(method, path, token string) int {
		w, body := ask(t, h, method, path, "Authorization", "Bearer "+token)
		if w.Code == http.StatusServiceUnavailable && (body.Code != "service_unavailable" || w.Header().Get("Retry-After") == "") {
			t.Errorf("refused by %+v %v", body, w.Header())
		}
		return w.Code
	}
	const sites = "/demo/rest/svc/v2/sites"
	for n := range 2 { // each releases its slot
		if got := answered("GET", sites, fmt.Sprint("made up ", n)); got == 503 {
			t.Errorf("a stranger, when there is a place: %d", got)
		}
	}
	h.door.strangers = noPlace()
	if got := answered("GET", sites, "made up, too"); got != 503 {
		t.Errorf("one stranger too many: %d", got)
	}
	h.door.known.learn("1|secret", access.Actor{UserID: 7, TokenID: 1})
	if got := answered("GET", sites, "1|secret"); got == 503 {
		t.Errorf("one who is known: %d", got)
	}
	if got := answered("GET", "/modal/v1/bookings/1", "of a traveller"); got == 503 {
		t.Errorf("a traveller, whose token is none of a site: %d", got)
	}
}

// TestAStrangerIsMetOnce: the slot is released exactly once: when the token has been looked up, or when the request
// ends.
func TestAStrangerIsMetOnce(t *testing.T) {
	t.Parallel()
	h, _, _ := service(t, Config{})
	at := h.door.strangers
	for _, meets := range []bool{true, false} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Header.Set("Authorization", "Bearer made up")
		c := &call{ResponseWriter: httptest.NewRecorder(), r: r, ctx: t.Context(), address: "192.0.2.1"}
		stop := errors.New("stop")
		err := h.door.pass(c, Route{Name: "listBookings", access: mayRead}, func() error {
			if at.Taken() != 1 {
				t.Errorf("meanwhile %d are looked up", at.Taken())
			}
			if meets {
				c.meet()
				if at.Taken() != 0 {
					t.Errorf("after the look %d are looked up", at.Taken())
				}
			}
			return stop
		})
		if !errors.Is(err, stop) || at.Taken() != 0 {
			t.Errorf("%v; left: %d", err, at.Taken())
		}
	}
}
