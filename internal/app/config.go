package app

import (
	"cmp"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/psp"
	"holdfast/internal/store"
	"io"
	"log/slog"
	"time"
)

// Config is what a deployment is made of. A zero value stands for the default, where one is named.
type Config struct {
	Store         *store.DB
	Clock         func() time.Time
	Random        io.Reader     // for keys, secrets and codes
	NewUUID       func() string // for channels, bookings and transactions
	Log           *slog.Logger
	Cost          secrets.PasswordCost             // of hashing a password
	Keys          func() (secrets.SealKeys, error) // that seal the secrets in the database; nil: there is no file of keys
	ReservedPaths []string                         // first segments of addresses that no site can have, besides merchant.ReservedPaths
	Rulepacks     protection.Rulepacks             // the dispute windows (R5); default: the ones that ship with the program
	Profile       merchant.Profile                 // what the deployment is for; default: protection-only
	Gateways      map[string]psp.Gateway           // the processors at which channels can take payments, by name
	Processing    payments.Settings                // for payments at these processors
	ForexMargin   fx.Margin                        // added to the fixings in the forex feeds of channels
	Batches       Batches
}

// Batches limit how much one read or write of a longer job takes at once. Tests make them small, so that a job has more than
// one batch.
type Batches struct {
	Lines       int // premium lines in one read of an export; default 1,000
	Allocations int // allocations that an explanation holds, besides the ones that it shows; default 200
	Reviewed    int // allocations in one write of the review of a limit; default 300
	Followed    int // positions of the feed in one write for a webhook; default 500
	Followers   int // webhooks that one look at the feed takes further; default 1,000
	Events      int // events that get a position in one write; default 1,000
	Mails       int // mails in one write, which ends with the event that reaches them; default 500
}

func (c Config) complete() Config {
	if c.Rulepacks == nil {
		c.Rulepacks = protection.ShippedRulepacks()
	}
	c.Profile = cmp.Or(c.Profile, merchant.ProtectionOnlyProfile)
	c.Processing = c.Processing.Complete()
	b := &c.Batches
	b.Lines = cmp.Or(b.Lines, 1000)
	b.Allocations = cmp.Or(b.Allocations, 200)
	b.Reviewed = cmp.Or(b.Reviewed, 300)
	b.Followed = cmp.Or(b.Followed, 500)
	b.Followers = cmp.Or(b.Followers, 1000)
	b.Events = cmp.Or(b.Events, 1000)
	b.Mails = cmp.Or(b.Mails, 500)
	return c
}
