package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/fx"
)

// ratesCmd groups what can be done with exchange rates.
type ratesCmd struct {
	Import ratesImportCmd `cmd:"" help:"Load the ECB's history of exchange rates (eurofxref-hist.csv)."`
	Fetch  ratesFetchCmd  `cmd:"" help:"Get the day's exchange rates from the ECB."`
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

func (p *program) tellRates(r app.RatesReport) {
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
