// Package apptest gives tests a complete service on a separate database: a world with one site, whose clock the test
// sets. Only tests import it. Start reading at World.
package apptest

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"

	"github.com/google/uuid"
)

// World is a service with one site, whose clock the test sets.
type World struct {
	t      testing.TB
	App    *app.App
	Site   merchant.Site
	Actor  access.Actor // an operator on the site
	micros atomic.Int64
	URL    string // of the database
}

// Began is the initial time of every world.
var Began = time.Date(2024, 6, 3, 9, 0, 0, 0, time.UTC)

// OnBoth runs one test on each engine.
func OnBoth(t *testing.T, test func(t *testing.T, w *World)) {
	t.Helper()
	dbtest.OnBoth(t, func(t *testing.T, url string) { test(t, NewWorld(t, url)) })
}

// NewWorld creates a world on an empty database: a sandbox in pounds.
func NewWorld(t testing.TB, url string) *World {
	t.Helper()
	w := &World{t: t, URL: url}
	w.SetClock(Began)
	db := dbtest.Open(t, url, w.Now)
	w.App = app.New(app.Config{
		Store: db, Clock: w.Now, Random: rand.Reader, NewUUID: uuid.NewString, Log: slog.New(slog.DiscardHandler),
		Cost: secrets.PasswordCost{MemoryKiB: 8, Iterations: 1, Parallelism: 1}, Keys: Keys,
	})
	err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
		var err error
		w.Site, err = dbtest.InsertSite(tx, merchant.Site{Path: "demo", Name: "Demo", Sandbox: true, Policy: terms.DefaultPolicy("GBP")})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Actor = access.System(w.Site.ID)
	return w
}

// With rebuilds the service on the same database with other settings.
func (w *World) With(change func(cfg *app.Config)) {
	cfg := w.App.Config
	change(&cfg)
	w.App = app.New(cfg)
}

// Over is the same world as seen by another process: on a reopened or a restored database.
func Over(t testing.TB, w *World, store *store.DB) *World {
	again := &World{t: t, URL: w.URL, Site: w.Site, Actor: w.Actor}
	again.SetClock(w.Now())
	was := w.App.Config
	again.App = app.New(app.Config{
		Store: store, Clock: again.Now, Random: was.Random, NewUUID: was.NewUUID, Log: was.Log, Cost: was.Cost, Keys: was.Keys,
	})
	return again
}

// OtherSandbox creates a second sandbox, whose clock is not moved, and returns an operator on it.
func (w *World) OtherSandbox() access.Actor {
	w.t.Helper()
	path, name, currency := "other", "Other", w.Site.Policy.Currency
	made, err := w.App.Sites.Create(w.t.Context(), access.System(0),
		merchant.SiteFields{Path: &path, Name: &name, Currency: &currency, Sandbox: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return merchants.SystemAt(made)
}

// WantReason fails the test unless err is NotPossible with this reason.
func WantReason(t testing.TB, err error, reason, doing string) {
	t.Helper()
	if f, ok := errors.AsType[*errs.Error](err); !ok || f.Kind != errs.NotPossible || f.Reason != reason {
		t.Errorf("%s: %v, want the reason %s", doing, err, reason)
	}
}
