package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdfast/internal/account/sessions"
	"holdfast/internal/account/tokens"
	"holdfast/internal/domain/access"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// house is a world with one of everything on each of its two sites, for tests of all routes.
type house struct {
	*world
	// own and foreign are ids of objects on the site demo and on the site other, by kind.
	own, foreign map[string]int64
	credentials  map[string]string // of callers
	made         int
	spare        int64  // a webhook created for one request
	counting     string // the SQL that counts the rows of all tables
	counted      string // the last response
}

// furnish fills a world with one of everything, by requests to the API as an operator. The clock is then some weeks
// later, so that there are statements.
func furnish(t *testing.T, w *world) *house {
	t.Helper()
	h := &house{world: w, own: map[string]int64{}, foreign: map[string]int64{}, credentials: map[string]string{}}
	h.own["channel"], h.own["supplier"], h.own["token"], h.own["user"], h.own["site"] = 4, 1, 1, userID("admin"), 1
	h.foreign["channel"], h.foreign["supplier"], h.foreign["token"], h.foreign["user"], h.foreign["site"] = 6, 4, 2, userID("stranger"), 2
	for _, site := range []string{"demo", "other"} {
		ids := h.ids(site)
		for _, of := range []struct{ kind, path string }{
			{"booking", "bookings"}, {"transaction", "transactions"}, {"limit", "limits"}, {"collateral", "collateral"}, {"policy", "policies"},
			{"webhook", "webhooks"}, {"contract", "bordereaux/contracts"}, {"reportmail", "report-mails"},
		} {
			ids[of.kind] = h.make(t, "operator", site, of.kind)
		}
		ids["payment"] = h.idIn(t, h.must(t, "operator", "GET", "/"+site+"/rest/svc/v2/payments", ""))
		var feed struct{ Events []json.RawMessage }
		must(t, json.Unmarshal(h.must(t, "operator", "GET", "/"+site+"/rest/svc/v2/events?types=booking.created", ""), &feed))
		ids["event"] = h.idIn(t, feed.Events[0])
		h.must(t, "operator", "PUT", fmt.Sprintf("/%s/rest/svc/v2/sites/%d", site, ids["site"]), `{"issuer_name": "Harbour"}`)
	}
	h.fail(t)
	// Outside a sandbox the policy is a proposal.
	h.foreign["proposal"] = h.foreign["policy"]
	h.foreign["policy"] = h.idIn(t, h.must(t, "operator", "GET", "/other/rest/svc/v2/policies", ""))
	h.clock.set(h.clock.read().AddDate(0, 0, 40))
	h.credentials = map[string]string{} // the access tokens have expired
	if n, err := h.app.Statements.IssueDue(t.Context()); err != nil || n < 2 {
		t.Fatalf("%d statements, %v", n, err)
	}
	for _, site := range []string{"demo", "other"} {
		h.ids(site)["statement"] = h.idIn(t, h.must(t, "operator", "GET", "/"+site+"/rest/svc/v2/statements", ""))
	}
	return h
}

// fail makes channel 5 insolvent with two payments, and takes the snapshot. On the other site, a failure is only
// reported.
func (h *house) fail(t *testing.T) {
	t.Helper()
	h.own["failed"], h.foreign["failed"] = 5, h.foreign["channel"]
	for _, kind := range []string{"lost booking", "lost payment", "lost payment"} {
		h.own[kind] = h.make(t, "operator", "demo", kind)
	}
	for _, site := range []string{"demo", "other"} {
		h.ids(site)["insolvency"] = h.make(t, "operator", site, "insolvency")
	}
	h.must(t, "operator", "POST", fmt.Sprintf("/demo/rest/svc/v2/insolvencies/%d/confirm", h.own["insolvency"]), "")
	second := access.Actor{SiteID: 2, UserID: 901, Username: "second", Role: access.Operator}
	_, err := h.world.app.Insolvencies.Confirm(t.Context(), second, h.foreign["insolvency"], "")
	must(t, err)
	h.clock.set(h.clock.read().Add(store.FinalAfter + time.Second))
	h.workOnInsolvencies(t)
	h.claim(t)
}

// claim makes a claim on both sites, which is approved, and a recovery; on the site demo also a payout.
func (h *house) claim(t *testing.T) {
	t.Helper()
	h.clock.set(h.clock.read().Add(time.Minute))
	for site, paid := range map[string]string{"demo": "lost payment", "other": "transaction"} {
		ids := h.ids(site)
		h.must(t, "operator", "POST", "/"+site+"/rest/svc/v2/transactions", h.fill(`{"channels": {failed}, "currencies": "`+
			map[string]string{"demo": "GBP", "other": "EUR"}[site]+`", "total": 600, "transaction_types": "chargeback", "linked_id": {`+paid+`}}`, ids))
	}
	h.clock.set(h.clock.read().Add(store.FinalAfter + time.Second))
	h.workOnClaims(t)
	room := h.world.app.Claims
	for site, id := range map[string]int64{"demo": 1, "other": 2} {
		ids := h.ids(site)
		ids["claim"] = h.idIn(t, h.must(t, "operator", "GET", "/"+site+"/rest/svc/v2/claims", ""))
		first := access.Actor{SiteID: id, UserID: 902, Username: "first", Role: access.Operator}
		second := access.Actor{SiteID: id, UserID: 901, Username: "second", Role: access.Operator}
		_, err := room.Assess(t.Context(), first, ids["claim"], "")
		must(t, err)
		_, err = room.Approve(t.Context(), second, ids["claim"], "")
		must(t, err)
		ids["recovery"] = h.make(t, "operator", site, "recovery")
	}
	h.workOnClaims(t)
	h.own["payout"] = h.idIn(t, h.must(t, "operator", "GET", "/demo/rest/svc/v2/payouts", ""))
}

// workOnClaims runs the jobs of claims until there is nothing left to do.
func (w *world) workOnClaims(t *testing.T) {
	t.Helper()
	for _, job := range []func(ctx context.Context) (bool, error){w.app.Claims.Make, w.app.Claims.Plan} {
		for more := true; more; {
			var err error
			more, err = job(t.Context())
			must(t, err)
		}
	}
}

// workOnInsolvencies runs the insolvency job until there is nothing left to do.
func (w *world) workOnInsolvencies(t *testing.T) {
	t.Helper()
	for more := true; more; {
		var err error
		more, err = w.app.Insolvencies.Work(t.Context())
		must(t, err)
	}
}

func (h *house) ids(site string) map[string]int64 {
	if site == "demo" {
		return h.own
	}
	return h.foreign
}

// bodies create one object of each kind. Names in braces are ids.
var bodies = map[string]struct{ path, body string }{
	"booking": {"bookings", `{"channels": {channel}, "currencies": "EUR", "total": 90000, "date": "2026-08-31", "countries": "PT",
		"firstname": "Ada", "surname": "Byron", "email": "ada@example.org", "content": "A week", "suppliers": [{supplier}], "reference": "B-{n}"}`},
	"transaction": {"transactions", `{"channels": {channel}, "currencies": "EUR", "total": 1000, "transaction_types": "purchase",
		"card_types": "visa", "reference": "P-{n}", "bookings": [{"id": {booking}, "currencies": "EUR", "total": 1000}]}`},
	"lost booking": {"bookings", `{"channels": {failed}, "currencies": "GBP", "total": 90000, "date": "2026-08-31", "countries": "PT",
		"firstname": "Mary", "surname": "Shelley", "email": "mary@example.org", "content": "A week", "suppliers": [], "reference": "L-{n}"}`},
	"lost payment": {"transactions", `{"channels": {failed}, "currencies": "GBP", "total": 1000, "transaction_types": "purchase",
		"card_types": "visa", "reference": "L-{n}", "auth_code": "004711", "bookings": [{"id": {lost booking}, "currencies": "GBP", "total": 1000}]}`},
	"insolvency": {"insolvencies", `{"channels": {failed}, "kind": "liquidation", "trigger_at": "2026-03-02 10:20:30", "evidence": "Notice {n}"}`},
	"recovery":   {"recoveries", `{"insolvencies": {insolvency}, "kind": "dividend", "currencies": "GBP", "total": 100, "reference": "R-{n}"}`},
	"channel":    {"channels", `{"name": "Channel {n}", "currencies": "EUR"}`},
	"supplier":   {"suppliers", `{"name": "Supplier {n}", "country": "PT"}`},
	"limit":      {"limits", `{"scope": "channel", "channels": {channel}, "amount": 150000000, "note": "Season {n}"}`},
	"collateral": {"collateral", `{"kind": "guarantee", "channels": {channel}, "currency": "EUR", "amount": 2500000, "reference": "G-{n}"}`},
	"webhook":    {"webhooks", `{"url": "https://8.8.8.8/{n}", "types": ["booking.*"]}`},
	"reportmail": {"report-mails", `{"name": "Exposure {n}", "view": "/exposure?by=channel", "format": "csv", "every": "week", "on": 1, "recipients": ["operator"]}`},
	"contract":   {"bordereaux/contracts", `{"reference": "B{n}", "year_of_account": 2026, "commission_ppm": 125000}`},
	"policy":     {"policies", `{"from": "2031-01-01", "late_log_days": 5, "reason": "New terms {n}."}`},
}

// fill puts ids into a text.
func (h *house) fill(text string, ids map[string]int64) string {
	h.made++
	text = strings.ReplaceAll(text, "{n}", strconv.Itoa(h.made))
	for kind, id := range ids {
		text = strings.ReplaceAll(text, "{"+kind+"}", strconv.FormatInt(id, 10))
	}
	return text
}

// make creates an object of a kind and returns its id, or the id of the proposal.
func (h *house) make(t *testing.T, as, site, kind string) int64 {
	t.Helper()
	if h.made++; kind == "token" { // a site has at most two, if created through the API
		made := tokens.APIToken{}
		must(t, h.app.DB.Store.Write(t.Context(), store.Deployment, func(tx *store.Tx) (err error) {
			made, err = tokens.InsertToken(tx, tokens.APIToken{SiteID: 1, UserID: userID("admin"), SecretHash: secrets.HashSecret(tokenSecret)})
			return err
		}))
		return made.ID
	}
	b := bodies[kind]
	if kind == "webhook" && h.spare != 0 { // a site has at most 16
		h.ask(t, h.credential(t, as), "DELETE", fmt.Sprintf("/%s/rest/svc/v2/webhooks/%d", site, h.spare), "")
	}
	made := h.idIn(t, h.must(t, as, "POST", "/"+site+"/rest/svc/v2/"+b.path, h.fill(b.body, h.ids(site))))
	if kind == "webhook" && h.ids(site)[kind] != 0 {
		h.spare = made
	}
	return made
}

// idIn is the id of an object, or of the first one in a list.
func (h *house) idIn(t *testing.T, body []byte) int64 {
	t.Helper()
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var object struct{ ID json.Number } // suppliers have theirs as text
	must(t, json.Unmarshal(body, &object))
	id, err := object.ID.Int64()
	if err != nil {
		t.Fatalf("there is no id in %s", body)
	}
	return id
}

// must makes a request that has to succeed.
func (h *house) must(t *testing.T, as, method, path, body string) []byte {
	t.Helper()
	status, said := h.ask(t, h.credential(t, as), method, path, body)
	if status >= 300 {
		t.Fatalf("%s %s %s as %s: %d %s", method, path, body, as, status, said)
	}
	return said
}

// ask makes a request with credentials, "" for none.
func (h *house) ask(t *testing.T, credentials, method, path, body string) (int, []byte) {
	t.Helper()
	response, said := h.send(t, h.request(t, credentials, method, path, body))
	return response.StatusCode, said
}

func (h *house) request(t *testing.T, credentials, method, path, body string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("X-Request-Id", "asked")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if credentials != "" {
		r.Header.Set("Authorization", "Bearer "+credentials)
	}
	return r
}

func (h *house) send(t *testing.T, r *http.Request) (*http.Response, []byte) {
	t.Helper()
	recorder := httptest.NewRecorder()
	h.handler.ServeHTTP(recorder, r)
	response := recorder.Result()
	said, err := io.ReadAll(response.Body)
	must(t, err)
	return response, said
}

// credential is a caller's Authorization header. People use access tokens.
func (h *house) credential(t *testing.T, who string) string {
	t.Helper()
	if known, ok := h.credentials[who]; ok {
		return known
	}
	h.credentials[who] = h.newCredential(t, who)
	return h.credentials[who]
}

// abilities are those of the limited API tokens.
var abilities = map[string]access.Ability{
	"may-read": access.AbilityRead, "may-book": access.AbilityLogBookings, "may-pay": access.AbilityLogPayments,
	"may-report": access.AbilityReports,
}

// renew opens another session for a caller that uses a session.
func (h *house) renew(t *testing.T, who string) {
	t.Helper()
	if slices.Contains([]string{"refresh", "stranger", "reader", "finance", "admin", "operator"}, who) {
		delete(h.credentials, who)
	}
}

func (h *house) newCredential(t *testing.T, who string) string {
	t.Helper()
	login := func(name string) sessions.Session {
		session, err := h.app.Sessions.Login(t.Context(), sessions.Login{Username: name, Password: password})
		must(t, err)
		return session
	}
	switch who {
	case "nobody":
		return ""
	case "token":
		return "1|" + tokenSecret
	case "token-other":
		return "2|" + otherSecret
	case "token-wrong":
		return "1|" + otherSecret
	case "token-expired", "token-deleted", "token-away", "may-read", "may-book", "may-pay", "may-report", "token-near":
		var made tokens.APIToken
		must(t, h.app.DB.Store.Write(t.Context(), store.Deployment, func(tx *store.Tx) (err error) {
			token := tokens.APIToken{SiteID: 1, UserID: userID("admin"), Name: who, SecretHash: secrets.HashSecret(tokenSecret)}
			switch who {
			case "token-expired":
				token.ExpiresAt = h.clock.read().Add(-time.Hour)
			case "token-away":
				token.SiteID, token.UserID = 2, userID("operator")
			case "token-near":
				token.Networks = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
			}
			if ability := abilities[who]; ability != "" {
				token.Abilities, _ = token.Abilities.With(string(ability))
			}
			made, err = tokens.InsertToken(tx, token)
			return err
		}))
		if who == "token-deleted" {
			h.must(t, "admin", "DELETE", fmt.Sprintf("/demo/api-tokens/%d", made.ID), "")
		}
		return fmt.Sprintf("%d|%s", made.ID, tokenSecret)
	case "jwt-forged":
		head, tail, _ := strings.Cut(login("admin").Token, ".")
		payload, _, _ := strings.Cut(tail, ".")
		return head + "." + payload + ".bm90IHRoZSBzaWduYXR1cmUgb2YgdGhhdCB0b2tlbg"
	case "jwt-expired":
		now := h.clock.read()
		h.clock.set(now.Add(-time.Hour))
		defer h.clock.set(now)
		return login("admin").Token
	case "jwt-ended":
		session := login("second")
		_, _ = h.ask(t, session.Token, "DELETE", "/auth/rest/jwt-auth/v1/token/refresh", "")
		return session.Token
	case "leaver": // is a member again for a moment
		must(t, h.app.Accounts.SetMembership(t.Context(), access.System(1), userID(who), access.MemberAdmin, false))
		session := login(who)
		must(t, h.app.Accounts.RemoveMembership(t.Context(), access.System(1), userID(who)))
		return session.Token
	case "refresh":
		return login("reader").RefreshToken
	}
	return login(who).Token
}
