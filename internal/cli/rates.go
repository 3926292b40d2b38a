package cli

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"holdfast/internal/book/rates"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/proposal"
)

// ratesCmd groups the exchange rate commands.
type ratesCmd struct {
	Import ratesImportCmd `cmd:"" help:"Import the ECB's historical exchange rates (eurofxref-hist.csv)."`
	Fetch  ratesFetchCmd  `cmd:"" help:"Fetch today's exchange rates from the ECB."`
	Quote  ratesQuoteCmd  `cmd:"" help:"Record a manual rate for one site, for a currency the ECB does not publish."`
}

// ratesImportCmd imports historical rates.
type ratesImportCmd struct {
	File string `arg:"" type:"existingfile" help:"The ECB's file, unzipped."`
}

// Run imports the file. Existing rates do not change.
func (c ratesImportCmd) Run(ctx context.Context, p *program) error {
	file, err := os.Open(c.File)
	if err != nil {
		return fmt.Errorf("cannot open the rates file: %w", err)
	}
	defer file.Close()
	if err := p.openOrMake(ctx); err != nil {
		return err
	}
	report, err := p.app.Rates.ImportHistory(ctx, access.System(0), file)
	if err != nil {
		return err
	}
	p.tellRates(report)
	return nil
}

// ratesFetchCmd fetches today's rates.
type ratesFetchCmd struct{}

// Run fetches the rates from the ECB, or from --ecb-url.
func (ratesFetchCmd) Run(ctx context.Context, p *program) error {
	if err := p.openOrMake(ctx); err != nil {
		return err
	}
	report, err := p.app.Rates.Fetch(ctx, access.System(0), func(ctx context.Context) ([]fx.Fixing, error) {
		return fx.Fetch(ctx, http.DefaultClient, p.ECBURL)
	})
	if err != nil {
		return err
	}
	p.tellRates(report)
	return nil
}

// ratesQuoteCmd records a manual quote.
type ratesQuoteCmd struct {
	siteFlag
	Currency string    `arg:"" help:"Currency, such as AED."`
	Rate     string    `arg:"" help:"Units of this currency per euro, such as 4.2103."`
	Day      dayFlag   `required:"" placeholder:"YYYY-MM-DD" help:"Date of the rate."`
	QuoteID  string    `name:"quote-id" required:"" placeholder:"ID" help:"The bank's or broker's reference for this rate."`
	Expires  time.Time `placeholder:"\"YYYY-MM-DD HH:MM:SS\"" help:"Time at which the rate expires, in GMT (default: no expiry)."`
	Reason   string    `help:"Reason, shown to the operator who approves the change."`
}

// Run records the quote, or reports that another operator must approve it.
func (c ratesQuoteCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	in := rates.QuoteFields{Day: c.Day.day, Rate: &c.Rate, QuoteID: &c.QuoteID, Reason: c.Reason}
	if currency, err := money.ParseCurrency(strings.ToUpper(c.Currency)); err != nil {
		in.Problems.Wrong("currency", "%v.", err)
	} else {
		in.Currency = &currency
	}
	if !c.Expires.IsZero() {
		in.Expires = &c.Expires
	}
	made, err := p.app.Rates.Quote(ctx, actor, in)
	if err != nil {
		return err
	}
	if made.State == proposal.Open {
		return p.waits(made)
	}
	p.printf("Recorded quote %s: one euro is %s %s on %s\n", c.QuoteID, c.Rate, strings.ToUpper(c.Currency), c.Day.day)
	return nil
}

func (p *program) tellRates(r rates.RatesReport) {
	p.printf("%d days: %d rates added, %d already on file", r.Days, r.Created, r.AlreadyThere)
	if r.Skipped > 0 {
		p.printf(", %d skipped because their currencies are unknown", r.Skipped)
	}
	p.printf("\n")
	if r.Created > 0 {
		p.printf("New rates from %s to %s\n", r.First, r.Last)
	}
	for _, c := range r.Conflicts {
		p.printf("%s on %s is already on file as %s; the new value %s is ignored\n",
			c.Fixing.Currency, c.Fixing.Day, c.OnFile, c.Fixing.Rate)
	}
	if r.Priced > 0 {
		p.printf("%d payments that were waiting for a rate are now priced\n", r.Priced)
	}
}
