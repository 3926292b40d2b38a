package main

import (
	"context"
	"fmt"
	"holdfast/internal/rates"
	"net/http"
	"os"
	"strings"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/fx"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// ratesCmd groups what can be done with exchange rates.
type ratesCmd struct {
	Import ratesImportCmd `cmd:"" help:"Load the ECB's history of exchange rates (eurofxref-hist.csv)."`
	Fetch  ratesFetchCmd  `cmd:"" help:"Get the day's exchange rates from the ECB."`
	Quote  ratesQuoteCmd  `cmd:"" help:"Put a manual quote on file, where the ECB has no rate; it counts for one site."`
}

// ratesImportCmd loads a history.
type ratesImportCmd struct {
	File string `arg:"" type:"existingfile" help:"The ECB's history file, unpacked."`
}

// Run loads the file. What is on file already stays as it is.
func (c ratesImportCmd) Run(ctx context.Context, p *program) error {
	file, err := os.Open(c.File)
	if err != nil {
		return fmt.Errorf("the file of rates cannot be opened: %w", err)
	}
	defer file.Close()
	if err := p.open(ctx); err != nil {
		return err
	}
	report, err := p.app.Rates.ImportHistory(ctx, auth.System(0), file)
	if err != nil {
		return err
	}
	p.tellRates(report)
	return nil
}

// ratesFetchCmd gets the rates of the day.
type ratesFetchCmd struct{}

// Run asks the ECB, or whoever --ecb-url names.
func (ratesFetchCmd) Run(ctx context.Context, p *program) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	report, err := p.app.Rates.Fetch(ctx, auth.System(0), func(ctx context.Context) ([]fx.Fixing, error) {
		return fx.Fetch(ctx, http.DefaultClient, p.ECBURL)
	})
	if err != nil {
		return err
	}
	p.tellRates(report)
	return nil
}

// ratesQuoteCmd asks for a manual quote.
type ratesQuoteCmd struct {
	siteFlag
	Currency string    `arg:"" help:"Currency, ISO 4217."`
	Rate     string    `arg:"" help:"Units of it per euro, such as 1.0845."`
	Day      dayFlag   `required:"" placeholder:"Y-m-d" help:"The day that it is of."`
	QuoteID  string    `name:"quote-id" required:"" placeholder:"ID" help:"How who gave it calls it."`
	Expires  time.Time `format:"2006-01-02 15:04:05" placeholder:"INSTANT" help:"From when it counts no more (default: never)."`
	Reason   string    `help:"For the operator who approves it."`
}

// Run puts it on file, or says that it waits for another operator.
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
	if made.State == travel.ProposalOpen {
		p.waits(c.Site, made)
		return nil
	}
	p.printf("the quote %s is on file: one euro is %s %s on %s\n", c.QuoteID, c.Rate, strings.ToUpper(c.Currency), c.Day.day)
	return nil
}

func (p *program) tellRates(r rates.RatesReport) {
	p.printf("%d days: %d rates put on file, %d already there", r.Days, r.Created, r.AlreadyThere)
	if r.Skipped > 0 {
		p.printf(", %d of currencies that no longer exist left out", r.Skipped)
	}
	p.printf("\n")
	if r.Created > 0 {
		p.printf("the new ones are of %s to %s\n", r.First, r.Last)
	}
	for _, c := range r.Conflicts {
		p.printf("%s on %s is on file as %s and stays so; the file says %s\n", c.Fixing.Currency, c.Fixing.Day, c.OnFile, c.Fixing.Rate)
	}
	if r.Priced > 0 {
		p.printf("%d payments that had waited for a rate were priced\n", r.Priced)
	}
}
