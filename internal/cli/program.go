package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
	"holdfast/internal/web"
	"holdfast/internal/web/certificate"
	"holdfast/internal/web/kit"
	"holdfast/internal/web/modal"

	"github.com/google/uuid"
)

// program is the context of every command: the configuration, the streams and, after open, the database and the use cases.
type program struct {
	Config
	stdin          *os.File
	stdout, stderr io.Writer
	clock          pastClock
	as             string             // the acting operator; "" means the system
	base           string             // the public URL; known after listen
	bank           http.Handler       // the sandbox processor's challenge pages
	modal          *modal.Modal       // the payment modal's pages
	certificates   *certificate.Pages // created by serve
	dashboard      *kit.Frame         // created by serve
	pages          *web.Pages         // front page and documentation
	shop           http.Handler       // the demo's checkout page; nil in other commands
	outbox         http.Handler       // the demo's mails; nil in other commands

	// anyProfile: the command only checks the database, whose profile may be different.
	anyProfile bool

	site merchant.Site // the command's site; known after operatorAt
	db   *store.DB
	app  *app.App
}

// open opens an existing database. A command in the wrong folder must not create an empty one there.
func (p *program) open(ctx context.Context) error {
	return p.noDatabase(p.openBy(ctx, store.OpenExisting))
}

// noDatabase explains what to do if there is no database.
func (p *program) noDatabase(err error) error {
	if errors.Is(err, store.ErrNoDatabase) {
		return fmt.Errorf("no holdfast database at %s. Set --database or HOLDFAST_DATABASE. "+
			"To create a new one, run `holdfast site create` or `holdfast demo`", masked(p.Database))
	}
	return err
}

// openOrMake opens the database, and creates it if there never was one.
func (p *program) openOrMake(ctx context.Context) error { return p.openBy(ctx, store.Open) }

// gone explains what to do if the database has disappeared.
func gone(address string, err error) error {
	return fmt.Errorf("%w. No empty database is created in its place. Find the file, or restore a backup with `holdfast restore`. To start over "+
		"without its data, run `holdfast migrate --new-database --database %s`", err, masked(address))
}

// openBy opens the database, migrates it, and builds the use cases. Every command migrates, because any of them may be the first
// one after an upgrade. Concurrent migrations are safe: they wait for each other.
func (p *program) openBy(ctx context.Context, open func(context.Context, string, func() time.Time) (*store.DB, error)) error {
	if p.db != nil {
		return nil
	}
	rulepacks, err := p.rulepacks()
	if err != nil {
		return err
	}
	margin, err := fx.ParseMargin(p.ForexMargin)
	if err != nil {
		return fmt.Errorf("--forex-margin: %w", err)
	}
	opened, err := open(ctx, p.Database, p.clock.Now)
	if errors.Is(err, store.ErrGone) {
		return gone(p.Database, err)
	}
	if err != nil {
		return err
	}
	p.db = opened
	gateways, err := p.processors(opened)
	if err != nil {
		return err
	}
	if err := opened.Migrate(ctx); err != nil {
		return err
	}
	p.app = app.New(app.Config{
		Store: opened, Clock: p.clock.Now, Random: rand.Reader, NewUUID: newUUID, Log: p.log(), Cost: secrets.DefaultPasswordCost,
		ReservedPaths: []string{p.AuthSegment}, Rulepacks: rulepacks, Profile: merchant.Profile(p.Profile), ForexMargin: margin,
		Gateways: gateways, Processing: payments.Settings{
			BaseURL: p.base, CallTimeout: p.PaymentTimeout, ChallengeLife: p.ChallengeLife, InFlight: p.PaymentsAtOnce,
		},
	})
	p.app.Webhooks.Private, p.app.Webhooks.Lookup = p.WebhookPrivate, lookup
	if p.app.Mails.Transport, err = p.transport(); err != nil {
		return err
	}
	p.app.Mails.Sandboxes, p.app.Mails.Addresses = p.MailSandbox, p.mailAddresses()
	if err := p.findKeys(ctx); err != nil {
		return err
	}
	if p.anyProfile {
		return nil
	}
	return merchants.CheckProfile(ctx, p.app.DB, p.app.Config.Profile)
}

// makeModal creates the payment modal for commands that serve it. Others skip it, because loading its texts takes longer than
// most commands.
func (p *program) makeModal() (err error) {
	if p.modal == nil {
		p.modal, err = modal.New(modal.Config{Sites: p.app.Sites, TestScript: p.FieldsTestScript, LiveScript: p.FieldsLiveScript})
	}
	return err
}

// lookup resolves a host name.
func lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// rulepacks returns the dispute windows, from --rulepacks or built in.
func (p *program) rulepacks() (protection.Rulepacks, error) {
	if p.Rulepacks == "" {
		return protection.ShippedRulepacks(), nil
	}
	text, err := os.ReadFile(p.Rulepacks)
	if err != nil {
		return nil, fmt.Errorf("--rulepacks: %w", err)
	}
	packs, err := protection.ParseRulepacks(text)
	if err != nil {
		return nil, fmt.Errorf("--rulepacks %s: %w", p.Rulepacks, err)
	}
	return packs, nil
}

// newUUID returns a version 7 UUID (RFC 9562). They are ordered by time, so that an index only grows at its end.
func newUUID() string { return uuid.Must(uuid.NewV7()).String() }

func (p *program) log() *slog.Logger { return p.logger(p.stderr) }

// Close closes what open has opened, in reverse order.
func (p *program) Close() error {
	if p.db == nil {
		return nil
	}
	if p.app != nil {
		p.app.Close()
	}
	db := p.db
	p.db, p.app = nil, nil
	return db.Close()
}

func (p *program) printf(format string, args ...any) { fmt.Fprintf(p.stdout, format, args...) }

// migrateCmd migrates the schema.
type migrateCmd struct {
	NewDatabase bool `name:"new-database" help:"Create an empty database if the SQLite file has disappeared."`
	Distribute  bool `help:"Distribute the tables over the Citus nodes. Later migrations keep them distributed."`
	DryRun      bool `help:"With --distribute: show what would be distributed, without changing anything."`
}

// Run only opens the database, because opening migrates it. Only this command can start over with an empty database: as a flag
// of the service it would be set permanently, and a lost database would go unnoticed.
func (c migrateCmd) Run(ctx context.Context, p *program) error {
	if c.NewDatabase {
		if err := store.BeginAnew(p.Database); err != nil {
			return err
		}
	}
	if err := p.openOrMake(ctx); err != nil {
		return err
	}
	p.printf("The database schema of %s is up to date.\n", masked(p.Database))
	if c.Distribute {
		return p.distribute(ctx, c.DryRun)
	}
	return nil
}

// distribute distributes the tables over the nodes of a cluster, or shows what it would do.
func (p *program) distribute(ctx context.Context, dry bool) error {
	read := p.db.Distribute
	if dry {
		read = p.db.Layout
	}
	laid, err := read(ctx)
	if err != nil {
		return err
	}
	for _, node := range laid.Nodes {
		state := ""
		if node.Away {
			state = ", does not answer"
		}
		p.printf("Node %s: %s%s\n", node.Address, counted(node.Sites, "site"), state)
	}
	bySite, everywhere, central := laid.Plan()
	done := "Distributed"
	if dry {
		done = "Would be distributed"
	}
	if len(laid.Left) == 0 {
		p.printf("All %d tables are distributed.\n", len(laid.BySite)+len(laid.Reference)+len(laid.Central))
		return nil
	}
	p.printf("%s by site (%d): %s\n", done, len(bySite), strings.Join(bySite, ", "))
	p.printf("%s to every node (%d): %s\n", done, len(everywhere), strings.Join(everywhere, ", "))
	p.printf("Only on the coordinator (%d): %s\n", len(central), strings.Join(central, ", "))
	return nil
}

// versionCmd shows the build version.
type versionCmd struct{}

// Run prints it.
func (versionCmd) Run(p *program) error {
	p.printf("%s", versionLine())
	return nil
}

// versionLine has the versions of the module and the commit, as far as the build knows them.
func versionLine() string {
	version, commit := "(devel)", "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	return fmt.Sprintf("holdfast %s, commit %s, %s %s/%s\n", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
