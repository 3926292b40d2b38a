package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/client"
)

// receiver is a developer's program: it verifies webhooks, and stores their bodies.
func receiver(t *testing.T, secret *atomic.Value) (url string, got chan string) {
	got = make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := client.VerifyWebhook([]string{secret.Load().(string)}, r.Header, body, time.Now()); err != nil {
			t.Error(err)
		}
		got <- string(body)
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

// TestListen: the events of a running service go to a program, signed, until Ctrl-C.
func TestListen(t *testing.T) {
	t.Parallel()
	s := onSQLite(t)
	token := func(site string) string {
		s.mustWith(somePassword+"\n", "user", "create", "ada-"+site, "--email", "a@example.org", "--role", "member_admin", "--site", site)
		return strings.TrimSpace(s.must("token", "create", "listen", "--user", "ada-"+site, "--site", site))
	}
	s.must("site", "create", "acme", "--name", "Acme", "--currency", "GBP", "--sandbox")
	s.must("site", "create", "real", "--name", "Real", "--currency", "GBP")
	s.file("token", token("acme")+"\n")
	p := s.start("serve")
	var secret atomic.Value
	url, got := receiver(t, &secret)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	listen := s.command(ctx, "listen", "--url", p.base, "--site", "acme", "--token-file", "token", "--forward-to", url)
	out, err := listen.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := listen.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	_, shown, _ := strings.Cut(lines.Text(), "secret: ")
	secret.Store(shown)
	s.must("merchant", "create", "Harbour <&>", "--currency", "GBP", "--site", "acme") // a different process from the server
	if body := <-got; !strings.Contains(body, `"type":"channel.created"`) || !strings.Contains(body, `"name":"Harbour <&>"`) {
		t.Errorf("forwarded: %s", body)
	}
	if lines.Scan(); !strings.Contains(lines.Text(), "channel.created  channel:") || !strings.HasSuffix(lines.Text(), "200 OK") {
		t.Errorf("it says %s", lines.Text())
	}
	for _, wrong := range [][]string{{"real", token("real"), "not a sandbox"}, {"acme", "7|wrong", "api_token_invalid"}} {
		r := s.run("", "listen", "--url", p.base, "--site", wrong[0], "--token", wrong[1], "--forward-to", url)
		if r.code == 0 || !strings.Contains(r.stderr, wrong[2]) {
			t.Errorf("%s: %d, %s", wrong[0], r.code, r.stderr)
		}
	}
	p.stop() // it does not wait for the long poll
	if lines.Scan(); !strings.Contains(lines.Text(), "does not respond") {
		t.Errorf("without the service it says %s", lines.Text())
	}
	_ = listen.Process.Signal(os.Interrupt)
	if err := listen.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v", err)
	}
}

// TestListenGoesOn: it continues while the service is unavailable, and after events were deleted; it ends when the
// token is rejected.
func TestListenGoesOn(t *testing.T) {
	t.Parallel()
	const known = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	var secret atomic.Value
	secret.Store(known)
	url, got := receiver(t, &secret)
	const event = `{"id": %d, "type": "booking.created", "created": "2026-03-02 10:20:30", "object_type": "booking", "object_id": 7,
		"details": {}, "object": null}`
	answers := []struct {
		status int
		body   string
	}{
		{503, ""}, {502, "a proxy"}, {200, `{"events": [` + fmt.Sprintf(event, 1) + `], "next": "b", "has_more": false}`},
		{410, `{"code": "rest_cursor_gone", "message": "Gone.", "data": {"status": 410, "oldest": "c"}}`},
		{200, `{"events": [], "next": "d", "has_more": false}`}, {429, ""},
		{200, `{"events": [` + fmt.Sprintf(event, 2) + `], "next": "e", "has_more": false}`},
		{403, `{"code": "api_token_invalid", "message": "This token is not valid.", "data": {"status": 403}}`},
	}
	var asked []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		asked = append(asked, q.Get("after")+" "+q.Get("wait"))
		answer := answers[len(asked)-1]
		w.WriteHeader(answer.status)
		_, _ = io.WriteString(w, answer.body)
	}))
	defer service.Close()
	speaks, err := client.New(service.URL, "demo", client.APIToken("7|secret"), client.WithAttempts(1))
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	var pauses []time.Duration
	l := &listener{
		program: &program{stdout: &said}, read: speaks.Events.Read, query: client.EventsQuery{After: "a", Wait: listenWait}, to: url,
		sender: http.DefaultClient, secrets: []string{known}, pause: func(_ context.Context, d time.Duration) { pauses = append(pauses, d) },
	}
	err = l.follow(t.Context())
	if err == nil || !strings.Contains(err.Error(), "api_token_invalid") {
		t.Errorf("it ends with %v", err)
	}
	if want := []string{"a 20", "a 20", "a 20", "b 20", "c 20", "d 20", "d 20", "e 20"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	if want := []time.Duration{firstPause, 2 * firstPause, firstPause, firstPause}; !slices.Equal(pauses, want) {
		t.Errorf("pauses %v, want %v", pauses, want)
	}
	for _, id := range []string{`"id":1,`, `"id":2,`} {
		if body := <-got; !strings.Contains(body, id) {
			t.Errorf("forwarded %s, want %s", body, id)
		}
	}
	for line, times := range map[string]int{"does not respond": 2, "Reconnected": 2, "Events expired": 1, "200 OK": 2} {
		if n := strings.Count(said.String(), line); n != times {
			t.Errorf("it says %q %d times, want %d:\n%s", line, n, times, said.String())
		}
	}
}
