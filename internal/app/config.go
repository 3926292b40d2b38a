package app

import (
	"cmp"
	"io"
	"log/slog"
	"time"

	"holdfast/internal/book/payments"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/psp"
	"holdfast/internal/store"
)

// Config is the configuration of a deployment. A zero value means the default, if there is one.
type Config struct {
	Store         *store.DB
	Clock         func() time.Time
	Random        io.Reader     // for keys, secrets and codes
	NewUUID       func() string // for channels, bookings and transactions
	Log           *slog.Logger
	Cost          secrets.PasswordCost             // of a password hash
	Keys          func() (secrets.SealKeys, error) // encryption keys for secrets in the database; nil: no keys file
	ReservedPaths []string                         // path segments that no site can use, in addition to merchant.ReservedPaths
	Rulepacks     protection.Rulepacks             // dispute windows (R5); default: built in
	Profile       merchant.Profile                 // default: protection-only
	Gateways      map[string]psp.Gateway           // available processors, by name
	Processing    payments.Settings                // for payments through these processors
	ForexMargin   fx.Margin                        // added to the fixings in channels' forex feeds
	Batches       Batches
}

// Batches limits the size of one read or write of a long job. Tests use small batches, so that a job has more than one.
type Batches struct {
	Lines       int // premium lines per read of an export; default 1,000
	Allocations int // allocations that an explanation loads, in addition to the ones it shows; default 200
	Reviewed    int // allocations per write of a limit review; default 300
	Followed    int // feed positions per write for a webhook; default 500
	Followers   int // webhooks advanced per read of the feed; default 1,000
	Events      int // events that get a position per write; default 1,000
	Snapshots   int // allocations per write of the snapshot of an insolvency; default 1,000
	Payout      int // claims per payout; default 1,000
	Mails       int // mails per write, which ends with the event that reaches this number; default 500
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
	b.Snapshots = cmp.Or(b.Snapshots, 1000)
	b.Payout = cmp.Or(b.Payout, 1000)
	b.Mails = cmp.Or(b.Mails, 500)
	return c
}
