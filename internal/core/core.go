// Package core is what every room stands on: who acts and by which clock, the audit, four eyes, idempotency, and the
// leases of jobs. It owns sites, site_versions, clock_moves, audit_*, proposals, idempotency_keys and jobs. Begin
// reading at Core, then Write.
package core

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/fx"
	"holdfast/internal/protection"
	"holdfast/internal/psp"
	"holdfast/internal/travel"
)

// Core is what all use cases stand on. Everything that is not the same at each run (time, chance) comes in here.
type Core struct {
	Store   *db.DB
	Clock   func() time.Time
	Random  io.Reader     // of keys, secrets and codes
	NewUUID func() string // of channels, bookings and transactions
	Log     *slog.Logger
	Cost    auth.PasswordCost
	// ReservedPaths are first segments of addresses that this deployment keeps for itself, besides travel.ReservedPaths:
	// no site gets one as its path.
	ReservedPaths []string
	// Rulepacks are the dispute windows (R5): those that ship with the program, or a deployment's own.
	Rulepacks protection.Rulepacks
	// Profile is what the deployment is for; the zero value is the protection-only profile.
	Profile travel.Profile
	// Gateways are the processors at which channels can take payments, by their names.
	Gateways map[string]psp.Gateway
	// Processing is how payments are taken at them.
	Processing GatewaySettings
	// Keys reads the keys that seal the channels' access to them; nil where there is no file of them.
	Keys func() (auth.SealKeys, error)
	// Pieces bound what one read or write of a longer job holds; zero values stand for the defaults.
	Pieces Pieces
	// Kinds are what can be proposed to another person, and how it is carried out.
	Kinds Kinds
	known known // of what hardly changes
	// ForexMargin is on top of our own fixings in the channels' forex feeds.
	ForexMargin fx.Margin
}

// Ready answers whether the service can do its work: whether its database can be reached.
func (c *Core) Ready(ctx context.Context) error { return c.Store.Ping(ctx) }

// Read answers, to whoever may read, what fn reads in one consistent picture of the database.
func Read[T any](
	ctx context.Context, c *Core, actor auth.Actor, fn func(tx *db.Tx) (T, error),
) (found T, err error) {
	if err := actor.Require(auth.Read); err != nil {
		return found, err
	}
	err = c.ReadBy(ctx, ClockFor(actor), func(tx *db.Tx) (err error) {
		found, err = fn(tx)
		return err
	})
	return found, err
}

// Write is read for what changes: fn runs in a transaction that is durable when write answers. The caller has checked
// what the actor may do.
func Write[T any](
	ctx context.Context, c *Core, actor auth.Actor, fn func(tx *db.Tx) (T, error),
) (made T, err error) {
	err = c.WriteAs(ctx, actor, func(tx *db.Tx) (err error) {
		made, err = fn(tx)
		return err
	})
	return made, err
}

// WriteAs is Write for what gives nothing back.
func (c *Core) WriteAs(ctx context.Context, actor auth.Actor, fn func(tx *db.Tx) error, riders ...Rider) error {
	return c.WriteBy(ctx, ClockFor(actor), fn, riders...)
}

// WriteBy runs fn in a write by the clock of a site. The clock is read anew inside the write: a caller may have been read
// long before, an import minutes, and by a clock that was moved since the write would record in a past that reports and
// statements have left.
func (c *Core) WriteBy(ctx context.Context, clock SiteClock, fn func(tx *db.Tx) error, riders ...Rider) error {
	return c.Store.Write(ctx, func(tx *db.Tx) error {
		if err := begin(tx, &c.known, clock, riders); err != nil {
			return err
		}
		return fn(tx)
	})
}

// ReadBy runs fn in a reading transaction by the clock of a site.
func (c *Core) ReadBy(ctx context.Context, clock SiteClock, fn func(tx *db.Tx) error) error {
	return ReadBy(ctx, c.Store, clock, fn)
}

// ReadBy is Core.ReadBy for whoever has the database alone.
func ReadBy(ctx context.Context, base *db.DB, clock SiteClock, fn func(tx *db.Tx) error) error {
	return base.Read(ctx, func(tx *db.Tx) error {
		goBy(tx, clock)
		return fn(tx)
	})
}

// ClockFor is the clock of the actor's site. What belongs to no site (people, logins, idempotency keys, leases of jobs)
// goes by the real one, through Store.Write.
func ClockFor(actor auth.Actor) SiteClock {
	return SiteClock{SiteID: actor.SiteID, Ahead: actor.Ahead}
}

// NotFoundAs turns "no such row" into the fault that the caller is to see.
func NotFoundAs(kind fault.Kind, err error, format string, args ...any) error {
	if errors.Is(err, db.ErrNotFound) {
		return fault.New(kind, format, args...)
	}
	return err
}

// CheckVersion answers Precondition when the caller named a version (If-Match) that is not the stored one.
func CheckVersion(wanted, stored int64) error {
	if wanted != 0 && wanted != stored {
		return fault.New(fault.Precondition, "The object has changed since it was read.")
	}
	return nil
}

// Pieces bound what one read or write of a longer job holds at once. Tests make them small, to see the seams.
type Pieces struct {
	Lines       int // premium lines in one read of an export; 1,000
	Allocations int // allocations that an explanation holds, beside those that it shows; 200
	Reviewed    int // allocations that one write of a review of a limit walks through; 300
}

// Complete fills in the defaults.
func (p *Pieces) Complete() {
	p.Lines = cmp.Or(p.Lines, 1000)
	p.Allocations = cmp.Or(p.Allocations, 200)
	p.Reviewed = cmp.Or(p.Reviewed, 300)
}
