package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"holdfast/internal/demo"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/web/checkout"
	"holdfast/internal/web/kit"
	"holdfast/internal/web/outbox"
)

// demoCmd creates a sandbox and serves it.
type demoCmd struct {
	Empty bool    `help:"Skip the sample book of 2,000 bookings and their payments."`
	Day   dayFlag `placeholder:"YYYY-MM-DD" help:"Set the clock of a new sandbox to this day, today or later. The same day always creates the same book."`
}

// Help says what the demo creates.
func (demoCmd) Help() string {
	return "Creates a database in ./holdfast-data, or uses the one set with --database. In it, creates the sandbox site " +
		"\"demo\" with an admin user, an API token, merchants, suppliers, sample exchange rates and a sample book of payments " +
		"with statements, limits, collateral, chargebacks and a merchant that has failed. Also creates two operators, and a site that is not a sandbox, " +
		"where changes need both of them. Prints URLs, credentials and commands to try. Running it again reuses the same " +
		"data. To start over, delete the folder."
}

// Run creates what is missing, prints how to reach it, and serves until the context ends.
func (c demoCmd) Run(ctx context.Context, p *program) error {
	listener, err := p.listen(ctx)
	if err != nil {
		return err
	}
	defer listener.Close()
	if err := p.demoKeys(); err != nil {
		return err
	}
	if err := p.openOrMake(ctx); err != nil {
		return err
	}
	if err := p.app.Secrets.Check(ctx); err != nil {
		return err
	}
	bar := p.progress(100, "loading the book")
	world, err := demo.Prepare(ctx, p.app, demo.Options{
		Day: c.Day.day, Credentials: p.credentialsPath(), Random: rand.Reader, Empty: c.Empty,
		Origins: p.shopOrigins(), SetBack: p.clock.setBack,
		Progress: func(done, total int) { _ = bar.Set(100 * done / total) }, // drawing errors are not fatal
	})
	if world.Book.Rows > 0 {
		_ = bar.Finish()
	}
	if err != nil {
		return err
	}
	if err := p.openShop(world, listener.Addr()); err != nil {
		return err
	}
	if err := p.openOutbox(world); err != nil {
		return err
	}
	p.tellDemo(world, listener.Addr())
	return p.serve(ctx, listener)
}

// demoFolder is the folder of the SQLite database, or the default folder for PostgreSQL.
func (p *program) demoFolder() string {
	if path, ok := strings.CutPrefix(p.Database, "sqlite:"); ok {
		return filepath.Dir(path)
	}
	return "holdfast-data"
}

func (p *program) credentialsPath() string {
	return filepath.Join(p.demoFolder(), "demo-credentials.json")
}

// demoKeys creates a keys file for a demo on PostgreSQL. With SQLite, the file is next to the database as usual.
func (p *program) demoKeys() error {
	if p.KeysFile != "" || p.keysBeside() != "" {
		return nil
	}
	p.KeysFile = filepath.Join(p.demoFolder(), "holdfast.keys")
	if _, err := os.Stat(p.KeysFile); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(p.demoFolder(), 0o700); err != nil {
		return err
	}
	return p.addKey()
}

func (p *program) tellDemo(w demo.World, addr net.Addr) {
	base := p.baseURL(addr)
	p.printf("holdfast demo: a sandbox with sample data. Nothing in it is real.\n\n")
	p.printf("  Start here      %s/\n", base)
	p.printf("  Dashboard       %s%s\n", base, kit.Path)
	p.printf("  API             %s\n", p.apiBase(base, w.Site.Path))
	p.printf("  Documentation   %s/docs\n", base)
	p.printf("  Demo shop       %s%s\n", base, checkout.Path)
	p.printf("  E-mails         %s%s\n", base, outbox.Path)
	p.printf("  Database        %s\n\n", masked(p.Database))
	p.printf("  API token       %s\n", w.Token)
	p.printf("  Admin           %s   password %s\n", demo.AdminName, w.AdminPassword)
	p.printf("  Operator        %s   password %s\n", demo.OperatorName, w.OperatorPassword)
	p.printf("  Operator 2      %s   password %s\n", demo.ApproverName, w.ApproverPassword)
	p.printf("  Saved in %s, which only you can read.\n\n", p.credentialsPath())
	p.printf("  Keys            %s, encrypts the secrets in the database\n\n", p.KeysFile)
	p.printf("  Merchants       ")
	for i, c := range w.Channels {
		if i > 0 {
			p.printf("                  ")
		}
		p.printf("%d  %s, %s, %s\n", c.ID, c.Name, c.Currency, c.Mode)
	}
	p.printf("  Exchange rates  sample data (provider \"demo\"); `holdfast rates fetch` gets today's real rates, which take precedence\n")
	switch {
	case w.Book.Rows > 0:
		p.printf("  Book            %d bookings with %d payments, just loaded\n", w.Book.Bookings.Created, w.Book.Payments.Created)
	case w.BookLoaded:
		p.printf("  Book            loaded earlier\n")
	default:
		p.printf("  Book            empty\n")
	}
	p.printf("\nTry these in another terminal:\n\n")
	for _, line := range p.tryLines(base, w) {
		p.printf("  %s\n", line)
	}
	p.tellTour(w)
	p.printf("\nServing on %s (press Ctrl-C to stop)\n", base)
	// A program that started this one may wait for the last line.
	if file, ok := p.stdout.(*os.File); ok {
		_ = file.Sync() // best effort: not every output can be synced
	}
}

// tellTour prints commands that explore the demo.
func (p *program) tellTour(w demo.World) {
	flags := p.ownFlags()
	if w.BookLoaded {
		p.printf("\nTo explore the data, run these in the demo's folder:\n\n")
		for _, c := range []struct{ command, shows string }{
			{"exposure", "the loss if merchants fail now (E1), and what can still be disputed (E2)"},
			{"run-off", "what is left on each later day"},
			{"limits list", "one merchant is close to its limit, one is over"},
			{"limits events", "when use reached 80, 95 and 100 %"},
			{"collateral list", "collateral provided by the merchants"},
			{"statements list", "one is paid, one is overdue"},
			{"dispute list", "disputes of a merchant that failed, in a rehearsal"},
			{"claim list", "its claims: paid, approved, and not payable"},
			{fmt.Sprintf("rehearse %d --days 1", channelNamed(w.Channels, demo.FailedChannel)), "the next day of the rehearsal"},
		} {
			p.printf("  %-46s %s\n", "holdfast "+c.command+" --site "+w.Site.Path+flags, c.shows)
		}
	}
	if w.Proposal == 0 {
		return
	}
	p.printf("\nThe site %q is not a sandbox, so opening cover there needs two people. %s has proposed it for the merchant %q.\n"+
		"To approve it as %s (password above):\n\n", w.Live.Path, demo.OperatorName, demo.LiveChannel, demo.ApproverName)
	p.printf("  holdfast proposal list --site %s%s\n", w.Live.Path, flags)
	p.printf("  holdfast approve %d --site %s --as %s%s\n", w.Proposal, w.Live.Path, demo.ApproverName, flags)
}

// ownFlags are the flags that other commands need to work on the database of this demo.
func (p *program) ownFlags() (flags string) {
	if p.Database != "sqlite:holdfast-data/holdfast.db" && !strings.Contains(p.Database, "@") { // no password on the screen
		flags += " --database " + p.Database
	}
	if merchant.Profile(p.Profile).Processes() {
		flags += " --profile " + p.Profile
	}
	if p.KeysFile != p.keysBeside() {
		flags += " --keys-file " + p.KeysFile
	}
	return flags
}

// apiBase is the base URL of a site's API, {api_base} in docs/openapi.yaml.
func (p *program) apiBase(base, site string) string {
	return fmt.Sprintf("%s/%s/%s/%s/v2", base, site, p.RESTRoot, p.Namespace)
}

// tryLines are four lines to paste into a shell. The first stores the booking id in a variable for the others. It
// extracts the id with sed, because not everyone has a JSON tool.
func (p *program) tryLines(base string, w demo.World) []string {
	api := p.apiBase(base, w.Site.Path)
	channel := channelNamed(w.Channels, demo.EURChannel)
	end := w.Today + 90
	read := fmt.Sprintf("curl -sS -H 'Authorization: Bearer %s'", w.Token)
	write := read + " -H 'Content-Type: application/json'"
	booking := fmt.Sprintf(`{"channels":%d,"currencies":"EUR","total":90000,"date_start":"%s","date":"%s","countries":"ES",`+
		`"firstname":"Ada","surname":"Byron","email":"ada@example.org","content":"A week by the sea"}`, channel, end-7, end)
	card := `"card_types":"visa"`
	if merchant.Profile(p.Profile).Processes() { // the payment is taken from a test card of the sandbox processor
		card = `"token":"tok_visa"`
	}
	payment := fmt.Sprintf(`{"channels":%d,"currencies":"EUR","total":90000,"transaction_types":"purchase",%s,`+
		`"bookings":[{"id":'$booking',"currencies":"EUR","total":90000}]}`, channel, card)
	return []string{
		fmt.Sprintf(`booking=$(%s -d '%s' %s/bookings | tee /dev/stderr | sed 's/.*"id":\([0-9]*\).*/\1/')`, write, booking, api),
		fmt.Sprintf(`%s -d '%s' %s/transactions`, write, payment, api),
		fmt.Sprintf(`%s %s/bookings/$booking`, read, api),
		fmt.Sprintf(`%s '%s/exposure?currency=GBP&by=channel'`, read, api),
	}
}

func channelNamed(list []merchant.Channel, name string) int64 {
	for _, c := range list {
		if c.Name == name {
			return c.ID
		}
	}
	return 0
}
