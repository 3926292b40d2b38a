package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// request makes a request to the server and returns the status and the body.
func request(t *testing.T, method, url, bearer string, body any) (int, string) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(said)
}

// logIn logs in and expects a status.
func logIn(t *testing.T, p *process, username, password, code string, want int) string {
	t.Helper()
	status, said := request(t, "POST", p.base+"/auth/rest/jwt-auth/v1/token", "", map[string]string{
		"username": username, "password": password, "two_factor_code": code,
	})
	if status != want {
		t.Errorf("login of %s answers %d, want %d: %s", username, status, want, said)
	}
	return said
}

// aBooking is a booking in a channel.
func aBooking(channel int64) map[string]any {
	return map[string]any{
		"channels": channel, "currencies": "EUR", "total": 90000, "date": "2030-08-31", "countries": "PT", "firstname": "Ada",
		"surname": "Byron", "email": "ada@example.org", "content": "A week",
	}
}

func TestPortTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	s := onSQLite(t)
	for _, command := range []string{"serve", "demo"} {
		r := s.run("", command, "--listen", taken.Addr().String())
		if r.code != 1 || !strings.Contains(r.stderr, taken.Addr().String()+" is already") || !strings.Contains(r.stderr, "--listen") {
			t.Errorf("%s: exit code %d, %s", command, r.code, r.stderr)
		}
	}
}

// TestInterruptLetsRequestsFinish interrupts the program in the middle of a request.
func TestInterruptLetsRequestsFinish(t *testing.T) {
	onBoth(t, func(t *testing.T, s *system) {
		p := s.start("demo", "--empty")
		token := demoToken.FindStringSubmatch(p.said)[1]
		body, err := json.Marshal(aBooking(3))
		if err != nil {
			t.Fatal(err)
		}
		host := strings.TrimPrefix(p.base, "http://")
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		_, err = fmt.Fprintf(conn, "POST /demo/rest/svc/v2/bookings HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", host, token, len(body))
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(conn)
		if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
			t.Fatalf("%q, %v: the request is not being answered", line, err)
		}
		if _, err := in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		p.interrupt()
		refuseNew(t, host)

		if _, err := conn.Write(body); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusCreated {
			t.Errorf("the request that was under way is answered %s", answer.Status)
		}
		p.ended()
	})
}

// refuseNew waits until no more connections are accepted.
func refuseNew(t *testing.T, host string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		conn, err := net.DialTimeout("tcp", host, time.Second)
		if err != nil {
			return
		}
		conn.Close()
	}
	t.Fatal("the program goes on taking connections")
}

// TestRequestsThatDoNotEndAreCut: a client that never finishes does not keep the program alive.
func TestRequestsThatDoNotEndAreCut(t *testing.T) {
	s := onSQLite(t)
	p := s.start("demo", "--empty", "--shutdown-timeout", "100ms")
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "POST /demo/rest/svc/v2/bookings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
		"Content-Length: 10\r\nExpect: 100-continue\r\n\r\n", demoToken.FindStringSubmatch(p.said)[1]); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q, %v: the request is not being answered", line, err)
	}
	p.interrupt()
	if err := p.cmd.Wait(); err == nil || p.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("ended with %v", err)
	}
	if !strings.Contains(p.log.String(), "were still open") {
		t.Errorf("the log says\n%s", p.log)
	}
}

// TestServerAndCommandLineShareADatabase writes with requests and commands at the same time, from several processes.
func TestServerAndCommandLineShareADatabase(t *testing.T) {
	onBoth(t, func(t *testing.T, s *system) {
		p := s.start("demo", "--empty")
		token := demoToken.FindStringSubmatch(p.said)[1]
		const each = 20
		var work sync.WaitGroup
		for range 3 {
			work.Go(func() {
				for range each {
					if status, said := request(t, "POST", p.base+"/demo/rest/svc/v2/bookings", token, aBooking(3)); status != 201 {
						t.Errorf("a booking beside the command line: %d %s", status, said)
					}
				}
			})
		}
		for n := range 3 {
			work.Go(func() {
				for i := range each / 4 {
					name := fmt.Sprintf("Supplier %d of %d", i, n)
					if r := s.run("", "supplier", "create", name, "--site", "demo", "--country", "PT"); r.code != 0 {
						t.Errorf("a command beside the server: %s", r.stderr)
					}
				}
			})
		}
		work.Wait()
		if _, said := request(t, "GET", p.base+"/demo/rest/svc/v2/bookings?per_page=100", token, nil); strings.Count(said, `"trust_id"`) != 3*each {
			t.Errorf("%d bookings", strings.Count(said, `"trust_id"`))
		}
		if list := s.must("supplier", "list", "--site", "demo"); strings.Count(list, "Supplier ") != 3*(each/4) {
			t.Errorf("the suppliers are\n%s", list)
		}
		p.stop()
	})
}

func TestServeBelowOtherSegments(t *testing.T) {
	s := onSQLite(t)
	s.must("site", "create", "acme", "--name", "Acme", "--currency", "EUR")
	s.mustWith("a password of some length\n", "user", "create", "ada", "--email", "ada@example.org", "--role", "member_admin", "--site", "acme")
	token := strings.TrimSpace(s.must("token", "create", "shop", "--user", "ada", "--site", "acme"))
	p := s.start("serve", "--rest-root", "wp-json", "--namespace", "tmt", "--auth-segment", "wp", "--base-url", "https://api.example/", "--log-format", "json")
	defer p.stop()
	if p.base != "https://api.example" {
		t.Errorf("clients are directed to %s", p.base)
	}
	_, address, _ := strings.Cut(strings.TrimSpace(p.said), "listening on ")
	base := "http://" + address
	for path, want := range map[string]int{
		"/healthz": 200, "/readyz": 200, "/acme/wp-json/tmt/v2/channels": 200, "/acme/wp-json/tmt/v2/channels/": 200,
		"/openapi.yaml": 200, "/acme/rest/svc/v2/channels": 404, "/other/wp-json/tmt/v2/channels": 403,
	} {
		if status, said := request(t, "GET", base+path, token, nil); status != want {
			t.Errorf("GET %s answers %d, want %d: %s", path, status, want, said)
		}
	}
	if status, page := request(t, "GET", base+"/docs/channels", "", nil); status != 200 ||
		!strings.Contains(page, "https://api.example/demo/wp-json/tmt/v2") {
		t.Errorf("the page about the API answers %d, or names other addresses than this deployment's", status)
	}
	status, said := request(t, "POST", base+"/wp/wp-json/jwt-auth/v1/token", "", map[string]string{
		"username": "ada", "password": "a password of some length",
	})
	if status != 200 || !strings.Contains(said, `"refresh_token"`) {
		t.Errorf("the login answers %d: %s", status, said)
	}
	for line := range strings.Lines(p.log.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line of the log is not JSON: %s", line)
		}
	}
	if log := p.log.String(); strings.Contains(log, token) || strings.Contains(log, "a password") {
		t.Error("a secret is in the log")
	}
}
