package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/testkit/dbtest"
)

// A browser that sends its cookie is not delayed by others with the same address.
func TestTheCookieOfADevice(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, merchant.ProtectionOnlyProfile, dbtest.Engines[0].Database(t), io.Discard)
	login := func(user, pass string, cookies ...*http.Cookie) *http.Response {
		body := `{"username": "` + user + `", "password": "` + pass + `"}`
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/auth/rest/jwt-auth/v1/token", strings.NewReader(body))
		for _, c := range cookies {
			r.AddCookie(c)
		}
		recorder := httptest.NewRecorder()
		w.handler.ServeHTTP(recorder, r)
		return recorder.Result()
	}
	response := login("admin", password)
	cookies := response.Cookies()
	if len(cookies) != 1 {
		t.Fatalf("a login sets %v", cookies)
	}
	c := cookies[0]
	if !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.MaxAge == 0 || c.Name != "holdfast_device_2" {
		t.Errorf("the cookie is %v", c)
	}
	for range 5 {
		if wrong := login("admin", "wrong"); wrong.StatusCode != http.StatusForbidden || len(wrong.Cookies()) != 0 {
			t.Errorf("a failure is answered with %d and %v", wrong.StatusCode, wrong.Cookies())
		}
	}
	if code := login("admin", password).StatusCode; code != http.StatusTooManyRequests {
		t.Errorf("without the cookie: %d", code)
	}
	if code := login("admin", password, c).StatusCode; code != http.StatusOK {
		t.Errorf("with the cookie: %d", code)
	}
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/demo/rest/svc/v2/sites", nil)
	r.AddCookie(c)
	r.Header.Set("Authorization", "Bearer "+c.Value)
	recorder := httptest.NewRecorder()
	if w.handler.ServeHTTP(recorder, r); recorder.Code != http.StatusForbidden {
		t.Errorf("the cookie as a credential: %d", recorder.Code)
	}
}
