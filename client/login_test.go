package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/client"
)

// recorder records which logins and refreshes reach the real service.
type recorder struct {
	mu   sync.Mutex
	seen []string
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(sent *http.Request) (*http.Response, error) {
	if _, what, found := strings.Cut(sent.URL.Path, "/v1/token"); found {
		r.mu.Lock()
		r.seen = append(r.seen, sent.Method+what)
		r.mu.Unlock()
	}
	return http.DefaultTransport.RoundTrip(sent)
}

func (r *recorder) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	said := strings.Join(r.seen, " ")
	r.seen = nil
	return said
}

// TestALoginLasts covers the life of a login at the real service: its access token expires, its refresh token expires,
// and it is logged out. It moves the clock, so it does not run in parallel.
func TestALoginLasts(t *testing.T) {
	r := &recorder{}
	login := &client.Login{Username: "admin", Password: password}
	c := connect(t, login, client.WithHTTPClient(&http.Client{Transport: r}))
	check := func(when, want string) {
		t.Helper()
		// Many at once: one of them logs in or refreshes, and the others wait for it.
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := c.Channels.Get(t.Context(), 1); err != nil {
					t.Errorf("%s: %v", when, err)
				}
			})
		}
		all.Wait()
		if got := r.take(); got != want {
			t.Errorf("%s it sent %q, and not %q", when, got, want)
		}
	}
	check("at the beginning", "POST")
	check("a moment later", "")
	ahead.Add(int64(16 * time.Minute))
	check("after 16 minutes", "POST/refresh")
	ahead.Add(int64(16 * time.Minute))
	check("after 16 minutes more", "POST/refresh")
	ahead.Add(int64(31 * 24 * time.Hour))
	check("after a month", "POST/refresh POST")
	if err := login.Logout(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := r.take(); got != "DELETE/refresh" {
		t.Errorf("the logout sent %q", got)
	}
	if err := login.Logout(t.Context(), c); err != nil || r.take() != "" {
		t.Errorf("a second logout: %v", err)
	}
	check("after the logout", "POST")
}

func TestAWrongPassword(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	c := connect(t, &client.Login{Username: "operator", Password: "wrong"}, client.WithHTTPClient(&http.Client{Transport: r}))
	_, err := c.Channels.Get(t.Context(), 1)
	no := (*client.Error)(nil)
	if !errors.As(err, &no) || no.Code != "jwt_auth_failed" || r.take() != "POST" {
		t.Error(err)
	}
	if strings.Contains(err.Error(), "wrong\"") {
		t.Errorf("the error has the password in it: %v", err)
	}
}

func TestASecondFactor(t *testing.T) {
	t.Parallel()
	s := &script{answers: []string{"200", "200"}, text: `{"token": "a.b.c"}`}
	login := &client.Login{Username: "u", Password: "p", SecondFactor: func(context.Context) (string, error) { return "123456", nil }}
	c, err := client.New("https://service.example", "demo", login, client.WithHTTPClient(&http.Client{Transport: s}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Clock.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := `{"username":"u","password":"p","two_factor_code":"123456","rotate_refresh_token":true}`
	if s.bodies[0] != want || s.bearers[0] != "" || s.bearers[1] != "Bearer a.b.c" {
		t.Errorf("it sent %s with %q", s.bodies[0], s.bearers)
	}
	login.SecondFactor = func(context.Context) (string, error) { return "", errors.New("no telephone") }
	fresh := &client.Login{Username: "u", SecondFactor: login.SecondFactor}
	if c, err = client.New("https://service.example", "demo", fresh); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Clock.Get(t.Context()); err == nil || !strings.Contains(err.Error(), "no telephone") {
		t.Error(err)
	}
}

// TestARefusedToken: if even a new access token is rejected, the call fails.
func TestARefusedToken(t *testing.T) {
	t.Parallel()
	no := "403 jwt_auth_invalid_token"
	s := &script{answers: []string{"200", no, "200", no, "200"}, text: `{"token": "t", "refresh_token": "r"}`}
	c, err := client.New("https://service.example", "demo", &client.Login{Username: "u", Password: "p"},
		client.WithHTTPClient(&http.Client{Transport: s}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Clock.Get(t.Context()); err == nil || len(s.answers) != 1 {
		t.Errorf("%v, with %d answers left", err, len(s.answers))
	}
	if s.bearers[2] != "Bearer r" {
		t.Errorf("it refreshed with %q", s.bearers[2])
	}
}

func TestAnAPITokenThatEnded(t *testing.T) {
	t.Parallel()
	_, err := connect(t, client.APIToken("1|unknown")).Channels.Get(t.Context(), 1)
	no := (*client.Error)(nil)
	if !errors.As(err, &no) || no.Status != http.StatusUnauthorized || no.Code != "api_token_invalid" {
		t.Error(err)
	}
}
