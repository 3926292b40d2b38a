package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"holdfast/internal/account/sessions"
	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/notify/links"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/testkit/dbtest"
)

const v2 = "/demo/rest/svc/v2"

// commonRequests are frequent requests, by route. Each succeeds as often as it is sent.
func commonRequests(t *testing.T, w *world, bearer string) map[string]func() (int, string, []byte) {
	t.Helper()
	booking := func() (int, string, []byte) {
		return w.send(t, "POST", v2+"/bookings", bearer, `{"channels": 4, "firstname": "Ada", "surname": "Lovelace", "email": "ada@example.com",
			"date": "2026-05-01", "content": "A week", "total": 100000, "currencies": "EUR", "countries": "PT"}`)
	}
	var made struct{ ID int64 }
	status, _, body := booking()
	if must(t, json.Unmarshal(body, &made)); status != http.StatusCreated {
		t.Fatalf("a booking: %d %s", status, body)
	}
	payment := func() (int, string, []byte) {
		return w.send(t, "POST", v2+"/transactions", bearer, fmt.Sprintf(`{"channels": 4, "transaction_types": "purchase", "currencies": "EUR",
			"total": 100, "bookings": [{"id": %d, "currencies": "EUR", "total": 100}], "payment_methods": "credit-card", "payee_name": "Ada", "payee_surname": "Lovelace",
			"payee_email": "ada@example.com", "card_types": "visa", "countries": "PT"}`, made.ID))
	}
	var paid struct{ ID int64 }
	status, _, body = payment()
	if must(t, json.Unmarshal(body, &paid)); status != http.StatusCreated {
		t.Fatalf("a payment: %d %s", status, body)
	}
	get := func(path string) func() (int, string, []byte) {
		return func() (int, string, []byte) { return w.send(t, "GET", path, bearer, "") }
	}
	return map[string]func() (int, string, []byte){
		"createBooking": booking, "createTransaction": payment, "listBookings": get(v2 + "/bookings"), "listTransactions": get(v2 + "/transactions"),
		"getBooking": get(fmt.Sprintf("%s/bookings/%d", v2, made.ID)), "getTransaction": get(fmt.Sprintf("%s/transactions/%d", v2, paid.ID)),
	}
}

// lookedUp reports whether a request looked its sender up.
func lookedUp(w *world, send func()) bool {
	for _, s := range dbtest.Statements(w.app.DB.Store, send) {
		if strings.Contains(s.Query, "api_tokens") && strings.Contains(s.Query, "secret_hash") {
			return true
		}
	}
	return false
}

// TestACachedSenderEndsAtOnce: when another process changes a sender's permissions, the next request of any kind
// applies the change.
func TestACachedSenderEndsAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.OnBoth(t, func(t *testing.T, url string) {
		w := newWorldOf(t, merchant.ProtectionOnlyProfile, url, io.Discard)
		elsewhere := app.New(w.app.Config)
		t.Cleanup(elsewhere.Close)
		system, admin := access.System(1), userID("admin")
		ctx := t.Context()
		member := func(role access.Role) func() error {
			return func() error { return elsewhere.Accounts.SetMembership(ctx, system, admin, role, false) }
		}
		for what, c := range map[string]struct {
			change           func(token int64) error
			reading, writing int
		}{
			"nothing": {func(int64) error { return nil }, 200, 201},
			"the token is deleted": {func(id int64) error {
				return elsewhere.Tokens.Delete(ctx, system, id)
			}, 401, 401},
			"all tokens are deleted": {func(int64) error { return elsewhere.Tokens.DeleteAll(ctx, system) }, 401, 401},
			"the user loses the role": {func(int64) error {
				return elsewhere.Accounts.RemoveMembership(ctx, system, admin)
			}, 401, 401},
			"the user may only read": {func(int64) error { return member(access.ReadOnly)() }, 200, 403},
			"the password ends tokens": {func(int64) error {
				return elsewhere.Accounts.SetPassword(ctx, access.System(0), admin, "another good password", true)
			}, 401, 401},
		} {
			must(t, member(access.MemberAdmin)())
			for name := range commonRequests(t, w, w.token(t, "admin", access.MemberAdmin, nil, nil)) {
				must(t, member(access.MemberAdmin)())
				bearer := w.token(t, "admin", access.MemberAdmin, nil, nil)
				send := commonRequests(t, w, bearer)[name]
				if lookedUp(w, func() { send() }) {
					t.Errorf("%s looks up a sender who was let in before", name)
				}
				id, _, _ := secrets.ParseToken(bearer)
				must(t, c.change(id))
				want := c.reading
				if strings.HasPrefix(name, "create") {
					want = c.writing
				}
				if status, _, body := send(); status != want {
					t.Errorf("%s, then %s: %d %s, want %d", what, name, status, body, want)
				}
			}
		}
	})
}

// TestWhatIsCachedFollowsItsSite: names and clocks are current.
func TestWhatIsCachedFollowsItsSite(t *testing.T) {
	t.Parallel()
	dbtest.OnBoth(t, func(t *testing.T, url string) {
		w := newWorldOf(t, merchant.ProtectionOnlyProfile, url, io.Discard)
		elsewhere := app.New(w.app.Config)
		t.Cleanup(elsewhere.Close)
		book := commonRequests(t, w, w.token(t, "admin", access.MemberAdmin, nil, nil))["createBooking"]
		ctx := t.Context()
		user, err := elsewhere.Accounts.UserNamed(ctx, access.System(0), "admin")
		must(t, err)
		_, err = elsewhere.Links.ChangeProfile(ctx, sessions.Visit{User: user}, links.Profile{Name: "Ada of Britain", Email: user.Email})
		must(t, err)
		if status, _, body := book(); status != http.StatusCreated || !bytes.Contains(body, []byte("Ada of Britain")) {
			t.Errorf("with another name: %d %s", status, body)
		}
		_, err = elsewhere.Rates.MoveClock(ctx, access.System(1), w.clock.read().Add(48*time.Hour))
		must(t, err)
		if status, _, body := book(); status != http.StatusCreated || !bytes.Contains(body, []byte(`"created":"2026-03-04 10:20:30"`)) {
			t.Errorf("two days later: %d %s", status, body)
		}
	})
}

// TestWhoIsCachedIsStillChecked: the request's credentials are compared each time, and a use is recorded each minute.
func TestWhoIsCachedIsStillChecked(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, merchant.ProtectionOnlyProfile, dbtest.Engines[0].Database(t), io.Discard)
	bearer := w.token(t, "admin", access.MemberAdmin, []string{"read", "log_bookings", "log_payments"}, []string{"192.0.2.0/24"})
	often := commonRequests(t, w, bearer)
	list := often["listBookings"]
	if status, code, _ := w.send(t, "GET", v2+"/bookings", bearer+"x", ""); status != 401 || code != "api_token_invalid" {
		t.Errorf("with a wrong secret: %d %s", status, code)
	}
	r := httptest.NewRequestWithContext(t.Context(), "GET", v2+"/bookings", http.NoBody)
	r.Header.Set("Authorization", "Bearer "+bearer)
	r.RemoteAddr = "203.0.113.7:1234"
	recorder := httptest.NewRecorder()
	if w.handler.ServeHTTP(recorder, r); recorder.Code != 403 {
		t.Errorf("from another network: %d %s", recorder.Code, recorder.Body)
	}
	if status, _, body := w.send(t, "GET", "/other/rest/svc/v2/bookings", bearer, ""); status != 403 {
		t.Errorf("at another site: %d %s", status, body)
	}
	// Errors are the same for cached callers and others.
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", v2 + "/bookings/999", "", 404},
		{"GET", v2 + "/bookings?page=none", "", 400},
		{"POST", v2 + "/bookings", `{"channels": 4, "total": "many"}`, 400},
		{"POST", v2 + "/transactions", `{"channels": 4, "transaction_types": "gift"}`, 400},
	} {
		if status, _, body := w.send(t, c.method, c.path, bearer, c.body); status != c.status {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, body)
		}
	}
	w.clock.set(w.clock.read().Add(time.Minute))
	if !lookedUp(w, func() { list() }) {
		t.Error("A use after a minute is not recorded.")
	}
	if lookedUp(w, func() { list() }) {
		t.Error("Each use after a minute looks the sender up.")
	}
	w.app.Tokens.Flush()
	tokens, err := w.app.Tokens.List(t.Context(), access.System(1))
	if must(t, err); len(tokens) != 1 || !tokens[0].LastUsedAt.Equal(w.clock.read()) {
		t.Errorf("The token was used at %v, want %v.", tokens[0].LastUsedAt, w.clock.read())
	}
}

// TestOnlyWhoIsLetInIsCached: only authenticated callers are cached, for the site of the token.
func TestOnlyWhoIsLetInIsCached(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, merchant.ProtectionOnlyProfile, dbtest.Engines[0].Database(t), io.Discard)
	bearer := w.token(t, "admin", access.MemberAdmin, nil, nil)
	commonRequests(t, w, bearer)
	for what, path := range map[string]string{bearer + "x": "demo", "99|secret": "demo", bearer: "other"} {
		if _, err := w.app.Sessions.Authenticate(t.Context(), path, what, "192.0.2.1"); err == nil {
			t.Errorf("%s is let in at the site %s", what, path)
		}
	}
}
