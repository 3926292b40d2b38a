package apptest

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"holdfast/internal/account/credentials"
	"holdfast/internal/account/people"
	"holdfast/internal/account/sessions"
	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// GoodPassword is the password of every user that a House creates.
const GoodPassword = "correct horse battery"

// House is one process on a database, with a clock that the test sets.
type House struct {
	*app.App
	DB  *store.DB
	Now *clock
}

type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) Read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// OnBothHouses runs one test on each engine, on a database with the site demo (1).
func OnBothHouses(t *testing.T, test func(t *testing.T, h *House)) {
	t.Helper()
	dbtest.OnBoth(t, func(t *testing.T, url string) { test(t, HouseAt(t, url)) })
}

// HouseAt is a process on the empty database at a URL. It creates the site demo.
func HouseAt(t *testing.T, url string) *House {
	t.Helper()
	now := &clock{at: time.Date(2026, 3, 2, 10, 20, 30, 0, time.UTC)}
	h := Process(t, dbtest.Open(t, url, now.Read), now)
	path, title, currency := "demo", "Demo", money.Currency("GBP")
	if _, err := h.Sites.Create(t.Context(), access.System(0), merchant.SiteFields{Path: &path, Name: &title, Currency: &currency}); err != nil {
		t.Fatal(err)
	}
	return h
}

// KeyLine is the key that seals secrets in all tests: all processes on a database need the same key.
const KeyLine = "YXBwdGVzdCBrZXkgYXBwdGVzdCBrZXkgYXBwdGVzdCE="

// Keys is a key file that contains KeyLine.
func Keys() (secrets.SealKeys, error) { return secrets.ParseSealKeys(KeyLine) }

// Process starts another process on the database.
func Process(t *testing.T, db *store.DB, now *clock) *House {
	t.Helper()
	var mu sync.Mutex
	n := 0
	service := app.New(app.Config{
		Store: db, Clock: now.Read, Random: rand.Reader, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		NewUUID: func() string {
			mu.Lock()
			defer mu.Unlock()
			n++
			return fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
		},
		Cost:          secrets.PasswordCost{MemoryKiB: 8, Iterations: 1, Parallelism: 1},
		ReservedPaths: []string{"wp"},
		Keys:          Keys,
	})
	h := &House{App: service, DB: db, Now: now}
	t.Cleanup(h.Close)
	return h
}

// User creates a user of the site demo.
func (h *House) User(t *testing.T, name string, role access.Role) people.User {
	t.Helper()
	made, err := h.Accounts.CreateUser(t.Context(), access.System(1),
		people.UserFields{Username: name, Email: name + "@example.com", Password: GoodPassword}, role, false)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Login logs a user in by name and password.
func (h *House) Login(t *testing.T, name, password string) (sessions.Session, error) {
	t.Helper()
	return h.Sessions.Login(t.Context(), sessions.Login{Username: name, Password: password})
}

// LoginKey reads the key that signs logins, like an attacker who has stolen the database and the keys that seal it.
func (h *House) LoginKey(t *testing.T) (stolen credentials.Key) {
	t.Helper()
	dbtest.Read(t, h.DB, func(tx *store.Tx) error {
		keys, err := sessions.JWTKeys(tx)
		if err != nil {
			return err
		}
		last := keys[len(keys)-1]
		stolen = last.Key
		secret, err := h.Vault.Open(last.Sealed, secrets.PlaceOf("signs_logins", last.ID))
		if err != nil {
			return err
		}
		stolen.Secret, err = hex.DecodeString(secret)
		return err
	})
	return stolen
}

// ActorOf is a user with a role on the site demo.
func ActorOf(u people.User, role access.Role) access.Actor {
	actor, _ := u.ActorAt(people.Membership{SiteID: 1, UserID: u.ID, Role: role})
	return actor
}
