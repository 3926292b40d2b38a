// Package app holds the use cases of the service, one method each: it checks what the caller may do, opens the
// transaction, asks the domain what is right and the store to remember it. HTTP, the command line and the jobs all
// come in here, so that each answers the same.
package app

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/fx"
	"holdfast/internal/protection"
	"holdfast/internal/psp"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

// Core is what all use cases stand on. Everything that is not the same at each run (time, chance) comes in here.
type Core struct {
	Store   *store.DB
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
	Processing ProcessingSettings
	// Keys reads the keys that seal the channels' access to them; nil where there is no file of them.
	Keys func() (auth.SealKeys, error)
	// Pieces bound what one read or write of a longer job holds; zero values stand for the defaults.
	Pieces Pieces
	// Kinds are what can be proposed to another person, and how it is carried out.
	Kinds Kinds
	// ForexMargin is on top of our own fixings in the channels' forex feeds.
	ForexMargin fx.Margin
}

// Pieces bound what one read or write of a longer job holds at once. Tests make them small, to see the seams.
type Pieces struct {
	Lines       int // premium lines in one read of an export; 1,000
	Allocations int // allocations that an explanation holds, beside those that it shows; 200
	Reviewed    int // allocations that one write of a review of a limit walks through; 300
}

// complete fills in the defaults.
func (p *Pieces) complete() {
	p.Lines = cmp.Or(p.Lines, 1000)
	p.Allocations = cmp.Or(p.Allocations, 200)
	p.Reviewed = cmp.Or(p.Reviewed, 300)
}

// App is the use cases, a small type for each noun.
type App struct {
	Channels    *Channels
	Suppliers   *Suppliers
	Bookings    *Bookings
	Imports     *Imports
	Sites       *Sites
	Accounts    *Accounts
	Sessions    *Sessions
	Tokens      *Tokens
	Once        *Once
	Payments    *Payments
	Processing  *Processing
	Modals      *Modals
	Rates       *Rates
	Exposure    *Exposure
	Buckets     *Buckets
	Secrets     *Secrets
	Protection  *Protection
	Limits      *Limits
	Collaterals *Collaterals
	Policies    *Policies
	Premiums    *Premiums
	Statements  *Statements
	Bordereaux  *Bordereaux
	Clocks      *Clocks
	Audit       *Audit
	Approvals   *Approvals
	Work        *Work
}

// New makes the use cases over one core, with the shipped rulepacks where it has none.
func New(core *Core) *App {
	if core.Rulepacks == nil {
		core.Rulepacks = protection.ShippedRulepacks()
	}
	if core.Profile == "" {
		core.Profile = travel.ProtectionOnlyProfile
	}
	core.Kinds = Kinds{}
	core.Pieces.complete()
	tokens := newTokens(core)
	processing := newProcessing(core)
	bookings := NewBookings(core, RedateAndNote(core), store.TransactionsOfBookings)
	payments := &Payments{core, processing}
	return &App{
		Channels:    NewChannels(core),
		Suppliers:   &Suppliers{core},
		Bookings:    bookings,
		Imports:     NewImports(core),
		Sites:       &Sites{core},
		Accounts:    &Accounts{core},
		Sessions:    newSessions(core, tokens),
		Tokens:      tokens,
		Once:        &Once{core},
		Payments:    payments,
		Processing:  processing,
		Modals:      &Modals{core, bookings, payments},
		Rates:       NewRates(core),
		Exposure:    &Exposure{core},
		Buckets:     &Buckets{core},
		Secrets:     &Secrets{core},
		Protection:  &Protection{core},
		Limits:      NewLimits(core),
		Collaterals: &Collaterals{core},
		Policies:    NewPolicies(core, NotCounting),
		Premiums:    &Premiums{core},
		Statements:  &Statements{core},
		Bordereaux:  &Bordereaux{core},
		Clocks:      &Clocks{core},
		Audit:       &Audit{core},
		Approvals:   &Approvals{core},
		Work:        &Work{core},
	}
}

// Close ends what runs beside the requests, when it has finished what it was given. The store is closed after it.
func (a *App) Close() { a.Tokens.Close() }

// Ready answers whether the service can do its work: whether its database can be reached.
func (c *Core) Ready(ctx context.Context) error { return c.Store.Ping(ctx) }

// read answers, to whoever may read, what fn reads in one consistent picture of the database.
func read[T any](
	ctx context.Context, c *Core, actor auth.Actor, fn func(tx *store.Tx) (T, error),
) (found T, err error) {
	if err := actor.Require(auth.Read); err != nil {
		return found, err
	}
	err = c.ReadBy(ctx, clockOf(actor), func(tx *store.Tx) (err error) {
		found, err = fn(tx)
		return err
	})
	return found, err
}

// write is read for what changes: fn runs in a transaction that is durable when write answers. The caller has checked
// what the actor may do.
func write[T any](
	ctx context.Context, c *Core, actor auth.Actor, fn func(tx *store.Tx) (T, error),
) (made T, err error) {
	err = c.change(ctx, actor, func(tx *store.Tx) (err error) {
		made, err = fn(tx)
		return err
	})
	return made, err
}

// change is write for what gives nothing back.
func (c *Core) change(ctx context.Context, actor auth.Actor, fn func(tx *store.Tx) error) error {
	return c.WriteBy(ctx, clockOf(actor), fn)
}

// WriteBy runs fn in a write by the clock of a site.
func (c *Core) WriteBy(ctx context.Context, clock store.SiteClock, fn func(tx *store.Tx) error) error {
	return store.WriteBy(ctx, c.Store, clock, fn)
}

// ReadBy runs fn in a reading transaction by the clock of a site.
func (c *Core) ReadBy(ctx context.Context, clock store.SiteClock, fn func(tx *store.Tx) error) error {
	return store.ReadBy(ctx, c.Store, clock, fn)
}

// clockOf is the clock of the actor's site. What belongs to no site (people, logins, idempotency keys, leases of jobs)
// goes by the real one, through Store.Write.
func clockOf(actor auth.Actor) store.SiteClock {
	return store.SiteClock{SiteID: actor.SiteID, Ahead: actor.Ahead}
}

// unknownAs turns "no such row" into the fault that the caller is to see.
func unknownAs(kind fault.Kind, err error, format string, args ...any) error {
	if errors.Is(err, store.ErrNotFound) {
		return fault.New(kind, format, args...)
	}
	return err
}

// checkVersion answers Precondition when the caller named a version (If-Match) that is not the stored one.
func checkVersion(wanted, stored int64) error {
	if wanted != 0 && wanted != stored {
		return fault.New(fault.Precondition, "The object has changed since it was read.")
	}
	return nil
}
