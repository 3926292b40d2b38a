package cli

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// TestWebhooksAtTheCommandLine covers the life of a webhook.
func TestWebhooksAtTheCommandLine(t *testing.T) {
	t.Parallel()
	s := onSQLite(t)
	s.must("site", "create", "acme", "--name", "Acme", "--currency", "GBP", "--sandbox")
	says := func(want string, args ...string) string {
		t.Helper()
		out := s.must(args...)
		if !strings.Contains(out, want) {
			t.Errorf("%q says %s", args, out)
		}
		return out
	}
	if r := s.run("", "webhook", "create", "https://10.0.0.1/"); r.code != exitUsage || !strings.Contains(r.stderr, "<url>") {
		t.Errorf("a private address: %d, %s", r.code, r.stderr)
	}
	says("No webhooks.", "webhook", "list")
	first := says("whsec_", "webhook", "create", "https://8.8.8.8/webhooks", "--types", "booking.*,webhook.test")
	if second := says("whsec_", "webhook", "rotate", "1"); second == first {
		t.Error("a rotation shows the same secret")
	}
	says("booking.* webhook.test", "webhook", "list")
	says("enabled", "webhook", "list", "--json", "--limit", "1")
	says("No deliveries.", "webhook", "log", "1")

	says("Queued a test event", "webhook", "test", "1")
	var found []struct{ ID int64 }
	if err := json.Unmarshal([]byte(s.must("events", "list", "--types", "webhook.test", "--json")), &found); err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	id := strconv.FormatInt(found[0].ID, 10)
	says("1 event", "webhook", "replay", "1", "--event", id)
	says("webhook.test", "webhook", "log", "1")
	says("Delivery 1 of event "+id, "webhook", "log", "1", "--delivery", "1")
	says("disabled", "webhook", "set", "1", "--no-enabled")
	if r := s.run("", "webhook", "test", "1"); r.code == 0 || !strings.Contains(r.stderr, "disabled") {
		t.Errorf("a test of a disabled webhook: %d, %s", r.code, r.stderr)
	}
	says("Deleted", "webhook", "delete", "1")
}
