package cli

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestAFailedMerchantIsShown: the status of an insolvent merchant comes with the time of the failure.
func TestAFailedMerchantIsShown(t *testing.T) {
	t.Parallel()
	s := onSQLite(t)
	s.must("site", "create", "acme", "--name", "Acme", "--currency", "GBP", "--sandbox")
	s.must("merchant", "create", "Shop", "--currency", "GBP", "--mode", "draft")
	s.mustWith(somePassword+"\n", "user", "create", "boss", "--email", "b@example.org", "--role", "operator")
	p := s.start("serve")
	var login struct{ Token string }
	if err := json.Unmarshal([]byte(logIn(t, p, "boss", somePassword, "", http.StatusOK)), &login); err != nil {
		t.Fatal(err)
	}
	at := p.base + "/acme/rest/svc/v2/insolvencies"
	if status, said := request(t, "POST", at, login.Token, map[string]any{
		"channels": 2, "kind": "liquidation", "trigger_at": "2026-01-15 09:30:00", "evidence": "Court notice",
	}); status != http.StatusCreated {
		t.Fatal(status, said)
	}
	if out := s.must("merchant", "show", "2"); strings.Contains(out, "insolvent") {
		t.Errorf("a failure counts before it is confirmed: %s", out)
	}
	if status, said := request(t, "POST", at+"/1/confirm", login.Token, map[string]any{}); status != http.StatusOK {
		t.Fatal(status, said)
	}
	out := s.must("merchant", "show", "2")
	if !strings.Contains(out, "status              locked\ninsolvent from      2026-01-15 09:30:00 GMT\n") {
		t.Error(out)
	}
	if out := s.must("merchant", "show", "2", "--csv"); !strings.Contains(out, "lock_reason,insolvent_from,created") || !strings.Contains(out, ",2026-01-15 09:30:00,") {
		t.Error(out)
	}
}
