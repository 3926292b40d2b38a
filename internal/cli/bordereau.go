package cli

import (
	"context"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/report"
)

// bordereauCmd groups the underwriter reports.
type bordereauCmd struct {
	Premium  bordereauPremiumCmd  `cmd:"" help:"Print the premium bordereau for a month."`
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
