package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdfast/client"
)

// TestWebhooksAtTheCommandLine tells the life of a webhook, and of a program that listens beside it.
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
	says("There are no webhooks.", "webhook", "list")
	first := says("whsec_", "webhook", "create", "https://8.8.8.8/webhooks", "--types", "booking.*,webhook.test")
	if second := says("whsec_", "webhook", "rotate", "1"); second == first {
		t.Error("a rotation shows the same secret")
	}
	says("booking.* webhook.test", "webhook", "list")
	says("enabled", "webhook", "list", "--json", "--limit", "1")
	says("Nothing waits", "webhook", "log", "1")

	got := make(chan string, 1)
	var secret string
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := client.VerifyWebhook([]string{secret}, r.Header, body, time.Now()); err != nil {
			t.Error(err)
		}
		got <- string(body)
	}))
	defer receiver.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	listen := s.command(ctx, "listen", "--forward-to", receiver.URL)
	out, err := listen.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := listen.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	_, secret, _ = strings.Cut(lines.Text(), "secret ")
	says("on its way", "webhook", "test", "1")
	body := <-got
	if !strings.Contains(body, `"type":"webhook.test"`) || !strings.Contains(body, "8.8.8.8") {
		t.Errorf("forwarded: %s", body)
	}
	var event struct{ ID int64 }
	if err := json.Unmarshal([]byte(body), &event); err != nil {
		t.Fatal(err)
	}
	id := strconv.FormatInt(event.ID, 10)
	if lines.Scan(); !strings.Contains(lines.Text(), "webhook.test  webhook:1  200 OK") {
		t.Errorf("it says %s", lines.Text())
	}
	_ = listen.Process.Signal(os.Interrupt)
	if err := listen.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v", err)
	}
	says("1 event", "webhook", "replay", "1", "--event", id)
	says("webhook.test", "webhook", "log", "1")
	says("delivery 1 of event "+id, "webhook", "log", "1", "--delivery", "1")
	says("disabled", "webhook", "set", "1", "--no-enabled")
	if r := s.run("", "webhook", "test", "1"); r.code == 0 || !strings.Contains(r.stderr, "disabled") {
		t.Errorf("a test of a disabled webhook: %d, %s", r.code, r.stderr)
	}
	says("deleted", "webhook", "delete", "1")
	s.must("site", "create", "real", "--name", "Real", "--currency", "GBP")
	if r := s.run("", "listen", "--site", "real", "--forward-to", receiver.URL); r.code != exitUsage || !strings.Contains(r.stderr, "no sandbox") {
		t.Errorf("a real site: %d, %s", r.code, r.stderr)
	}
}
