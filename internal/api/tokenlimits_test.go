package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"holdfast/internal/account/tokens"
	"holdfast/internal/api"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/testkit/dbtest"
)

// token creates an API token of the site demo, and returns its text.
func (w *world) token(t *testing.T, user string, role access.Role, abilities, addresses []string) string {
	t.Helper()
	actor := access.Actor{SiteID: 1, UserID: userID(user), Role: role}
	must(t, w.app.Tokens.DeleteAll(t.Context(), actor))
	name := "limited"
	_, text, err := w.app.Tokens.Create(t.Context(), actor, tokens.TokenFields{Name: &name, Abilities: &abilities, Addresses: &addresses})
	must(t, err)
	return text
}

func (w *world) send(t *testing.T, method, address, bearer, body string) (int, string, []byte) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+bearer)
	recorder := httptest.NewRecorder()
	w.handler.ServeHTTP(recorder, r)
	var fields struct{ Code string }
	_ = json.Unmarshal(recorder.Body.Bytes(), &fields) // lists have no code
	return recorder.Code, fields.Code, recorder.Body.Bytes()
}

// Each ability opens its own routes and no others. Rejections come before anything is read or checked.
func TestATokenReachesNothingBeyondItsAbilities(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, merchant.ProtectionOnlyProfile, dbtest.Engines[0].Database(t), io.Discard)
	reaches := map[string][]string{
		"read":         {"listSites", "getBooking", "listTransactions", "getPayment", "listChannels", "getClock"},
		"log_bookings": {"createBooking", "changeBooking", "deleteBooking"},
		"log_payments": {"createTransaction"},
		"reports":      {"getExposure", "listStatements", "getProtection", "getPremiumBordereau", "listLimits"},
	}
	never := []string{
		"createToken", "deleteToken", "updateSite", "changeChannel", "rotateChannelSecret", "moveClock", "approveProposal", "listAudit",
		"createPolicy", "createStatementPayment", "createWebhook", "rotateWebhookSecret", "replayWebhook",
	}
	for _, ability := range access.AbilityNames() {
		bearer := w.token(t, "operator", access.Operator, []string{ability}, nil)
		let := map[string]bool{}
		for _, r := range api.Routes(api.Config{}) {
			if !strings.HasPrefix(r.Pattern, "/{site}/") || strings.Contains(r.Pattern, "jwt-auth") {
				continue
			}
			status, _, body := w.send(t, r.Method, aRequestTo(r), bearer, `{}`)
			let[r.Name] = status != http.StatusForbidden || !bytes.Contains(body, []byte("lacks the required ability"))
		}
		for other, names := range reaches {
			for _, name := range names {
				if let[name] != (ability == other) {
					t.Errorf("a token that may %s is let through to %s: %v", ability, name, let[name])
				}
			}
		}
		for _, name := range never {
			if let[name] {
				t.Errorf("a token that may %s is let through to %s", ability, name)
			}
		}
	}
}

// The attack: an operator created a token for one site, which could read and change all sites.
func TestAnOperatorsTokenStaysOnItsSite(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, merchant.ProtectionOnlyProfile, dbtest.Engines[0].Database(t), io.Discard)
	bearer := w.token(t, "operator", access.Operator, nil, nil)
	status, _, body := w.send(t, "GET", "/demo/rest/svc/v2/sites", bearer, "")
	var sites []struct{ ID int64 }
	must(t, json.Unmarshal(body, &sites))
	if status != http.StatusOK || len(sites) != 1 || sites[0].ID != 1 {
		t.Errorf("the token sees the sites %+v, status %d", sites, status)
	}
	for _, r := range []struct{ method, address, body, code string }{
		{"GET", "/demo/rest/svc/v2/sites/2", "", "rest_term_invalid"},
		{"PUT", "/demo/rest/svc/v2/sites/2", `{"permitted_urls": ["https://evil.example"]}`, "rest_term_invalid"},
		{"GET", "/other/rest/svc/v2/sites", "", "rest_forbidden"},
		{"GET", "/other/rest/svc/v2/bookings", "", "rest_forbidden"},
		{"GET", "/other/api-tokens", "", "rest_forbidden"},
	} {
		if _, code, body := w.send(t, r.method, r.address, bearer, r.body); code != r.code {
			t.Errorf("%s %s: %s", r.method, r.address, body)
		}
	}
	if status, _, _ = w.send(t, "PUT", "/demo/rest/svc/v2/sites/1", bearer, `{"permitted_urls": []}`); status != http.StatusOK {
		t.Errorf("its own site: %d", status)
	}
}

func TestATokenWorksFromItsNetworksAlone(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, merchant.ProtectionOnlyProfile, dbtest.Engines[0].Database(t), io.Discard)
	for network, want := range map[string]int{"192.0.2.0/24": 200, "192.0.2.1": 200, "203.0.113.0/24": 403} { // httptest has 192.0.2.1
		bearer := w.token(t, "admin", access.MemberAdmin, nil, []string{network})
		if status, _, body := w.send(t, "GET", "/demo/rest/svc/v2/sites", bearer, ""); status != want {
			t.Errorf("with the network %s: %d %s", network, status, body)
		}
		// Callers without the secret learn nothing about the networks.
		if _, code, _ := w.send(t, "GET", "/demo/rest/svc/v2/sites", bearer+"x", ""); code != "api_token_invalid" {
			t.Errorf("with a wrong secret: %s", code)
		}
	}
}
