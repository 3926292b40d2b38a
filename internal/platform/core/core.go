// Package core is what every room stands on: actors and their clocks, the audit, four eyes, idempotency keys, the
// leases of jobs, and whether the database takes writes. It owns the tables sites, site_versions, clock_moves, audit_*,
// proposals, idempotency_keys, jobs and write_tries. Begin reading at Core, then Write.
package core

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"strings"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/psp"
	"holdfast/internal/store"
)

// Core is what all use cases share. Time and chance come in here, so that a test can fix them.
type Core struct {
	Store   *store.DB
	Clock   func() time.Time
	Random  io.Reader     // for keys, secrets and codes
	NewUUID func() string // for channels, bookings and transactions
	Log     *slog.Logger
	Cost    secrets.PasswordCost
	// ReservedPaths are the first segments of addresses that this deployment needs itself. No site can have one of them,
	// or of merchant.ReservedPaths, as its path.
	ReservedPaths []string
	// Rulepacks are the dispute windows (R5): the ones that ship with the program, or the deployment's own.
	Rulepacks protection.Rulepacks
	// Profile is what the deployment is for. The zero value stands for the protection-only profile.
	Profile merchant.Profile
	// Gateways are the processors at which channels can take payments, by name.
	Gateways map[string]psp.Gateway
	// Processing holds the settings for payments at these processors.
	Processing GatewaySettings
	// Keys reads the keys that seal the secrets in the database. It is nil where the deployment has no key file.
	Keys func() (secrets.SealKeys, error)
	// Sealed are the columns of these secrets.
	Sealed SealedColumns
	// Pieces limit how much one read or write of a longer job takes at once.
	Pieces Pieces
	// Kinds are the kinds of proposals, and how each is carried out.
	Kinds Kinds
	// ProposalTold is called in the write that opens a proposal or decides on it; nil: nobody wants to know. The rooms that
	// do are above this one.
	ProposalTold func(tx *store.Tx, p proposal.Proposal)
	// ForexMargin is added to the fixings in the forex feeds of channels.
	ForexMargin fx.Margin

	known  known     // values that hardly change
	ready  readiness // whether the database takes writes
	opened opened    // secrets that were opened
}

// Read runs fn in a reading transaction by the clock of the actor's site, and returns what fn read. fn sees one
// consistent state of the database. An actor without access.Read gets Forbidden.
func Read[T any](
	ctx context.Context, c *Core, actor access.Actor, fn func(tx *store.Tx) (T, error),
) (found T, err error) {
	return readBy(ctx, c.Store.Read, actor, fn)
}

// Lookup is Read for a few rows that fn finds by their keys (db.Lookup).
func Lookup[T any](
	ctx context.Context, c *Core, actor access.Actor, fn func(tx *store.Tx) (T, error),
) (found T, err error) {
	return readBy(ctx, c.Store.Lookup, actor, fn)
}

// ReadReport is Read for what goes through many rows (db.Report). tx.Now may lie some seconds back. All that the report
// shows is read in this one transaction.
func ReadReport[T any](
	ctx context.Context, c *Core, actor access.Actor, fn func(tx *store.Tx) (T, error),
) (found T, err error) {
	report := func(ctx context.Context, site int64, fn func(tx *store.Tx) error) error {
		return c.Store.Report(ctx, site, actor.Caller(), fn)
	}
	return readBy(ctx, report, actor, fn)
}

// ReadPage is Read for a page of a list, and ReadReport for a deep one: the database goes through all rows before it.
func ReadPage[T any](
	ctx context.Context, c *Core, actor access.Actor, page store.Page, fn func(tx *store.Tx) (T, error),
) (T, error) {
	if page.Deep() {
		return ReadReport(ctx, c, actor, fn)
	}
	return Read(ctx, c, actor, fn)
}

// readBy runs fn in a transaction that open opens, and returns what fn read.
func readBy[T any](
	ctx context.Context, open func(ctx context.Context, site int64, fn func(tx *store.Tx) error) error, actor access.Actor,
	fn func(tx *store.Tx) (T, error),
) (found T, err error) {
	if err := actor.Require(access.Read); err != nil {
		return found, err
	}
	err = open(ctx, actor.SiteID, func(tx *store.Tx) error {
		goBy(tx, ClockFor(actor))
		found, err = fn(tx)
		return err
	})
	return found, err
}

// Due is what the clock brings about on a site, such as the end of authorisations. It counts as done for whoever reads,
// whether a job has done it or not.
type Due struct {
	Any func(tx *store.Tx, siteID int64) (bool, error)       // whether anything is due
	End func(ctx context.Context, siteID int64) (int, error) // does it, and returns how much there was
}

// EndDue brings about what is due on the actor's site. Whoever must not see it calls this first; mostly there is nothing.
func EndDue(ctx context.Context, c *Core, actor access.Actor, due Due) error {
	waits, err := Lookup(ctx, c, actor, func(tx *store.Tx) (bool, error) { return due.Any(tx, actor.SiteID) })
	if err == nil && waits {
		_, err = due.End(ctx, actor.SiteID)
	}
	return err
}

// LookupAfter is Lookup and EndDue in one transaction, unless something is due: a read by key is too short for two.
func LookupAfter[T any](
	ctx context.Context, c *Core, actor access.Actor, due Due, fn func(tx *store.Tx) (T, error),
) (found T, err error) {
	waits := false
	found, err = Lookup(ctx, c, actor, func(tx *store.Tx) (found T, err error) {
		if waits, err = due.Any(tx, actor.SiteID); err != nil || waits {
			return found, err
		}
		return fn(tx)
	})
	if err != nil || !waits {
		return found, err
	}
	if _, err = due.End(ctx, actor.SiteID); err != nil {
		return found, err
	}
	return Lookup(ctx, c, actor, fn)
}

// Write runs fn in a writing transaction by the clock of the actor's site. The change is durable when Write returns. fn
// may run more than once. The caller checks first what the actor may do.
func Write[T any](
	ctx context.Context, c *Core, actor access.Actor, fn func(tx *store.Tx) (T, error),
) (made T, err error) {
	err = c.WriteAs(ctx, actor, func(tx *store.Tx) (err error) {
		made, err = fn(tx)
		return err
	})
	return made, err
}

// WriteAs is Write for a function that returns nothing but an error.
func (c *Core) WriteAs(ctx context.Context, actor access.Actor, fn func(tx *store.Tx) error) error {
	return c.WriteBy(ctx, ClockFor(actor), fn)
}

// WriteBy runs fn in a writing transaction by the clock of a site. It reads the clock again inside the write: the given
// one may be minutes old, for example in an import. If somebody has moved the clock since, the write would record
// something in a past that is closed for reports and statements.
func (c *Core) WriteBy(ctx context.Context, clock SiteClock, fn func(tx *store.Tx) error) error {
	return c.Store.Write(ctx, clock.SiteID, c.begun(clock, fn))
}

// WriteLongBy is WriteBy for what changes hundreds of rows: see db.WriteLong.
func (c *Core) WriteLongBy(ctx context.Context, clock SiteClock, fn func(tx *store.Tx) error) error {
	return c.Store.WriteLong(ctx, clock.SiteID, c.begun(clock, fn))
}

// begun is fn in a transaction that goes by the clock.
func (c *Core) begun(clock SiteClock, fn func(tx *store.Tx) error) func(tx *store.Tx) error {
	return func(tx *store.Tx) error {
		if err := begin(tx, &c.known, clock); err != nil {
			return err
		}
		return fn(tx)
	}
}

// ReadBy runs fn in a reading transaction by the clock of a site.
func (c *Core) ReadBy(ctx context.Context, clock SiteClock, fn func(tx *store.Tx) error) error {
	return ReadBy(ctx, c.Store, clock, fn)
}

// ReadBy is Core.ReadBy for a caller that has only the database.
func ReadBy(ctx context.Context, base *store.DB, clock SiteClock, fn func(tx *store.Tx) error) error {
	return base.Read(ctx, clock.SiteID, func(tx *store.Tx) error {
		goBy(tx, clock)
		return fn(tx)
	})
}

// ReportBy is ReadBy for the program's own work that goes through many rows (db.Report).
func (c *Core) ReportBy(ctx context.Context, clock SiteClock, fn func(tx *store.Tx) error) error {
	return c.Store.Report(ctx, clock.SiteID, "", func(tx *store.Tx) error {
		goBy(tx, clock)
		return fn(tx)
	})
}

// ClockFor returns the clock of the actor's site. What belongs to no site (people, logins, idempotency keys, leases of
// jobs) is written by the real clock, through Store.Write.
func ClockFor(actor access.Actor) SiteClock {
	return SiteClock{SiteID: actor.SiteID, Ahead: actor.Ahead}
}

// Pieces limit how much one read or write of a longer job takes at once. A zero value stands for the default. Tests make
// them small, so that a job has more than one piece.
type Pieces struct {
	Lines       int // premium lines in one read of an export; default 1,000
	Allocations int // allocations that an explanation holds, besides the ones that it shows; default 200
	Reviewed    int // allocations in one write of the review of a limit; default 300
	Followed    int // positions of the feed in one write for a webhook; default 500
	Followers   int // webhooks that one look at the feed takes further; default 1,000
	Events      int // events that get a position in one write; default 1,000
	Mails       int // mails in one write, which ends with the event that reaches them; default 500
}

// Complete sets each value that is zero to its default.
func (p *Pieces) Complete() {
	p.Lines = cmp.Or(p.Lines, 1000)
	p.Allocations = cmp.Or(p.Allocations, 200)
	p.Reviewed = cmp.Or(p.Reviewed, 300)
	p.Followed = cmp.Or(p.Followed, 500)
	p.Followers = cmp.Or(p.Followers, 1000)
	p.Events = cmp.Or(p.Events, 1000)
	p.Mails = cmp.Or(p.Mails, 500)
}

// GatewaySettings are the settings of a deployment for payments at processors. A zero value stands for the default.
type GatewaySettings struct {
	BaseURL       string        // the public address of the program: shoppers come back under it
	CallTimeout   time.Duration // how long a processor may take to answer; default 20 seconds
	ChallengeLife time.Duration // how long a shopper may take to pass a challenge; default 30 minutes
	InFlight      int           // how many payments may wait for processors at once; default 64
}

// GatewaySettingsOf returns the settings with their defaults filled in, and BaseURL without a slash at its end. It writes
// nothing into the core, because the core is shared.
func GatewaySettingsOf(c *Core) GatewaySettings {
	s := c.Processing
	s.BaseURL = strings.TrimSuffix(s.BaseURL, "/")
	s.CallTimeout = cmp.Or(s.CallTimeout, 20*time.Second)
	s.ChallengeLife = cmp.Or(s.ChallengeLife, 30*time.Minute)
	s.InFlight = cmp.Or(s.InFlight, 64)
	return s
}
