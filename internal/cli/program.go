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

// program is what every command works with: the configuration, the streams and, after open, the database and the use
// cases.
type program struct {
	Config
	stdin          *os.File
	stdout, stderr io.Writer
	clock          pastClock
	as             string             // the operator who acts; "" means the program itself
	base           string             // the address that clients use; known after listen
	bank           http.Handler       // the pages of the sandbox processor's challenges
	modal          *modal.Modal       // the pages of the payment modal
	certificates   *certificate.Pages // made by serve
	dashboard      *kit.Frame         // made by serve
	pages          *web.Pages         // the front page and the documentation
	shop           http.Handler       // the demo's checkout page; nil in all other commands
	outbox         http.Handler       // the mails of the demo; nil in all other commands

	site merchant.Site // the site that the command works on; known after operatorAt
	db   *store.DB
	app  *app.App
}

// open opens a database that exists already. A command in the wrong folder must not make an empty one there.
func (p *program) open(ctx context.Context) error {
	return p.noDatabase(p.openBy(ctx, store.OpenExisting))
}

// noDatabase adds to the error "there is no database" what the user can do.
func (p *program) noDatabase(err error) error {
	if errors.Is(err, store.ErrNoDatabase) {
		return fmt.Errorf("no holdfast database at %s. Set --database or HOLDFAST_DATABASE. "+
			"To create a new one, run `holdfast site create` or `holdfast demo`", masked(p.Database))
	}
	return err
}

// openOrMake opens the database, and makes it if there never was one.
func (p *program) openOrMake(ctx context.Context) error { return p.openBy(ctx, store.Open) }

// gone says what to do where the database was and is no more.
func gone(address string, err error) error {
	return fmt.Errorf("%w. No empty database is created in its place. Find the file, or restore a backup with `holdfast restore`. To start over "+
		"without its data, run `holdfast migrate --new-database --database %s`", err, masked(address))
}

// openBy opens the database, brings its schema up to date, and makes the use cases. Every command migrates, because any
// of them may be the first one after an upgrade. Two at once do no harm: migrations wait for each other.
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
	return merchants.CheckProfile(ctx, p.app.DB, p.app.Config.Profile)
}

// makeModal makes the payment modal for those who serve it. Commands do without: its texts take longer than most of them.
func (p *program) makeModal() (err error) {
	if p.modal == nil {
		p.modal, err = modal.New(modal.Config{Site: p.modalSite, TestScript: p.FieldsTestScript, LiveScript: p.FieldsLiveScript})
	}
	return err
}

// lookup finds the addresses of a host.
func lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// rulepacks reads the dispute windows: from the file of --rulepacks, or those that are built in.
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

// newUUID makes an identifier. Later ones come later in their order (version 7 of RFC 9562), so that an index of them grows at
// its end alone.
func newUUID() string { return uuid.Must(uuid.NewV7()).String() }

func (p *program) log() *slog.Logger { return p.logger(p.stderr) }

// Close closes what open has opened, in the opposite order.
func (p *program) Close() error {
	if p.db == nil {
		return nil
	}
	if p.app != nil {
		p.app.Close()
	}
	return p.db.Close()
}

func (p *program) printf(format string, args ...any) { fmt.Fprintf(p.stdout, format, args...) }

// migrateCmd brings the schema up to date.
type migrateCmd struct {
	NewDatabase bool `name:"new-database" help:"Create an empty database if the SQLite file has disappeared."`
}

// Run only opens the database, because opening migrates it. The word to begin anew is given here and nowhere else: on a
// service's own command line it would stay for ever, and no lost database would be noticed.
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
	return nil
}

// versionCmd shows which build this is.
type versionCmd struct{}

// Run prints it.
func (versionCmd) Run(p *program) error {
	p.printf("%s", versionLine())
	return nil
}

// versionLine names the version of the module and of the commit, as far as the build knows them.
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
