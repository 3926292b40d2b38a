package main

import (
	"context"
	"holdfast/internal/reports"
	"time"

	"holdfast/internal/api"
)

// bordereauCmd groups what is reported to the underwriter.
type bordereauCmd struct {
	Premium bordereauPremiumCmd `cmd:"" help:"Print the premium bordereau of a month."`
}

// bordereauPremiumCmd prints the premium bordereau.
type bordereauPremiumCmd struct {
	siteFlag
	Period  string    `required:"" placeholder:"Y-m" help:"The month, such as 2024-06."`
	KnownAt time.Time `name:"known-at" format:"2006-01-02 15:04:05" placeholder:"INSTANT" help:"With what was known then, Y-m-d H:i:s in GMT (default: now)."`
	JSON    bool      `name:"json" help:"Print JSON instead of CSV."`
}

// Run prints it, row by row as it is read.
func (c bordereauPremiumCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	report, err := p.app.Bordereaux.Premium(ctx, actor, reports.BordereauQuery{Month: c.Period, KnownAt: c.KnownAt})
	if err != nil {
		return err
	}
	if c.JSON {
		return api.WriteBordereauJSON(p.stdout, report)
	}
	return api.WriteBordereauCSV(p.stdout, report)
}
