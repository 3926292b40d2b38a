package client_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/client"
	"holdfast/internal/account/people"
	"holdfast/internal/api"
	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"

	"github.com/google/uuid"
)

// The service for all tests and examples of this package: the real API on SQLite, with the sandbox demo.
var (
	service string // its address
	token   string // an API token of the site demo
	ahead   atomic.Int64
)

const password = "correct horse battery"

// now is the service's clock. Tests move it by ahead.
func now() time.Time {
	return time.Date(2026, 3, 2, 10, 20, 30, 0, time.UTC).Add(time.Duration(ahead.Load()))
}

func TestMain(m *testing.M) {
	status, err := within(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(status)
}

// within runs the tests with the service.
func within(m *testing.M) (status int, err error) {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "client")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	store, err := store.Open(ctx, "sqlite:"+filepath.Join(folder, "holdfast.db"), now)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	if err := store.Migrate(ctx); err != nil {
		return 0, err
	}
	c := app.Config{
		Store: store, Clock: now, Random: rand.Reader, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		NewUUID: uuid.NewString, ReservedPaths: []string{"auth"},
		// As cheap as possible: the hash is not tested here.
		Cost: secrets.PasswordCost{MemoryKiB: 8, Iterations: 1, Parallelism: 1},
		Keys: func() (secrets.SealKeys, error) {
			return secrets.ParseSealKeys("Zml4dHVyZSBrZXkgZml4dHVyZSBrZXkgZml4dHVyZSE=")
		},
	}
	a := app.New(c)
	defer a.Close()
	server := httptest.NewServer(api.New(a, api.Config{BaseURL: "https://behind.a.proxy.example"}))
	defer server.Close()
	service = server.URL
	if err := furnish(ctx, a); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// furnish creates the site demo, its people and its API token.
func furnish(ctx context.Context, a *app.App) error {
	path, name, currency := "demo", "Demo Travel", money.Currency("GBP")
	if _, err := a.Sites.Create(ctx, access.System(0), merchant.SiteFields{
		Path: &path, Name: &name, Currency: &currency, Sandbox: true,
	}); err != nil {
		return err
	}
	for name, role := range map[string]access.Role{"admin": access.MemberAdmin, "operator": access.Operator} {
		if _, err := a.Accounts.CreateUser(ctx, access.System(1), people.UserFields{
			Username: name, Email: name + "@demo.example", DisplayName: name, Password: password,
		}, role, false); err != nil {
			return err
		}
	}
	admin, err := client.New(service, "demo", &client.Login{Username: "admin", Password: password})
	if err != nil {
		return err
	}
	made, err := admin.Tokens.Create(ctx, client.TokenInput{Name: "Tests"})
	token = made.Token
	return err
}

// connect creates a client of the real service.
func connect(t testing.TB, credentials client.Credential, options ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New(service, "demo", credentials, options...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// transport is a service scripted by a test.
type transport func(r *http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }
