package cli

import (
	"context"
	"io"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/api/reports"
	"holdfast/internal/book/claims"
	"holdfast/internal/book/paper"
	"holdfast/internal/report"
)

// bordereauCmd groups the underwriter reports.
type bordereauCmd struct {
	Premium  bordereauPremiumCmd  `cmd:"" help:"Print the premium bordereau for a month."`
	Claims   bordereauClaimsCmd   `cmd:"" help:"Print the claims bordereau for a month."`
	Present  bordereauPresentCmd  `cmd:"" help:"Record that the claims bordereau of a month was presented to the underwriter."`
	Contract bordereauContractCmd `cmd:"" help:"Manage the contract shown in bordereaux: list, set."`
}

// bordereauPremiumCmd prints the premium bordereau.
type bordereauPremiumCmd struct {
	siteFlag
	Period  string    `required:"" placeholder:"YYYY-MM" help:"Month, such as 2024-06."`
	KnownAt time.Time `name:"known-at" placeholder:"\"YYYY-MM-DD HH:MM:SS\"" help:"Use only what was known at this time, in GMT (default: now)."`
	JSON    bool      `name:"json" xor:"form" help:"Print JSON, as returned by the API."`
	CSV     bool      `name:"csv" xor:"form" help:"Print CSV (the default), with amounts in major units, such as 12.34."`
}

// Run streams the rows, because a month may have very many.
func (c bordereauPremiumCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	report, err := p.app.Bordereaux.Premium(ctx, actor, report.BordereauQuery{Month: c.Period, KnownAt: c.KnownAt})
	if err != nil {
		return err
	}
	if c.JSON {
		return api.WriteBordereauJSON(p.stdout, report)
	}
	return api.WriteBordereauCSV(p.stdout, report)
}

// bordereauClaimsCmd prints the claims bordereau.
type bordereauClaimsCmd struct {
	siteFlag
	Period   string `required:"" placeholder:"YYYY-MM" help:"Month, such as 2024-06."`
	Contract string `field:"contract_reference" placeholder:"REFERENCE" help:"Only the claims under this contract."`
	JSON     bool   `name:"json" xor:"form" help:"Print JSON, as returned by the API."`
	CSV      bool   `name:"csv" xor:"form" help:"Print CSV (the default), with amounts in major units, such as 12.34."`
	XLSX     string `name:"xlsx" xor:"form" placeholder:"FILE" help:"Write a workbook to this file."`
}

// Run prints it.
func (c bordereauClaimsCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	found, err := p.app.Claims.Bordereau(ctx, actor, claims.BordereauQuery{Month: c.Period, Contract: c.Contract})
	switch {
	case err != nil:
		return err
	case c.XLSX != "":
		if err := writeWhole(c.XLSX, func(w io.Writer) error { return paper.WriteClaimsXLSX(w, found) }); err != nil {
			return err
		}
		p.printf("Saved the claims bordereau of %s to %s\n", found.Period.Name(), c.XLSX)
		return nil
	case c.JSON:
		shown, err := reports.ShowClaimBordereau(found)
		if err != nil {
			return err
		}
		return p.printJSON(shown)
	}
	return found.WriteCSV(p.stdout)
}

// bordereauPresentCmd records that a month was presented.
type bordereauPresentCmd struct {
	siteFlag
	Period string `required:"" placeholder:"YYYY-MM" help:"Month, such as 2024-06."`
}

// Run records it.
func (c bordereauPresentCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	made, err := p.app.Claims.Present(ctx, actor, claims.BordereauQuery{Month: c.Period})
	if err != nil {
		return err
	}
	p.printf("Presented the claims bordereau of %s with %s.\nSHA-256 of the CSV: %s\n", made.Period().Name(), counted(made.Rows, "claim"), made.SHA256)
	return nil
}
