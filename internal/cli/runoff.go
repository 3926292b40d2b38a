package cli

import (
	"context"

	"holdfast/internal/api/reports"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/report"
)

// runOffCmd prints a run-off.
type runOffCmd struct {
	reportFlags `embed:""`
	AsOf        dayFlag `name:"as-of" placeholder:"YYYY-MM-DD" help:"Start at the end of this day (default: today)."`
	On          dayFlag `placeholder:"YYYY-MM-DD" help:"With --details: what is left at the end of this later day (default: the first day)."`
}

// Help explains the figures.
func (runOffCmd) Help() string {
	return "Shows how the exposure runs off if there are no new payments, refunds or changes: each of the next 35 days, then " +
		"one day a week up to 26 weeks, then each month end until the last dispute window has closed. All amounts are " +
		"converted at the exchange rates of the first day."
}

// Run computes the run-off and prints it.
func (c runOffCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	if c.Details {
		in := report.DetailsQuery{ExposureQuery: c.query(c.AsOf), On: c.On.day}
		return p.exposureDetails(ctx, actor, in, c.detailFlags, c.formFlags, c.orderFlags)
	}
	query := c.query(c.AsOf)
	if c.On.day != nil {
		query.Problems.Wrong("on", "This requires --details.")
	}
	report, err := p.app.Exposure.RunOff(ctx, actor, query)
	if err != nil {
		return err
	}
	page := &reportPage{query: report.Query, shape: reports.ShowRunOff(report), parts: []sheet{runOffSheet(report)}}
	page.table = func() { p.runOffTable(report, page.parts[0]) }
	return p.printReport(c.formFlags, c.orderFlags, page)
}

// ageingCmd prints an ageing.
type ageingCmd struct {
	reportFlags `embed:""`
	AsOf        dayFlag  `name:"as-of" placeholder:"YYYY-MM-DD" help:"As of the end of this day (default: today)."`
	Bands       []string `placeholder:"BAND" help:"With --details: only these bands, such as 1-7,8-30, in_travel or over_365."`
}

// Run computes the ageing and prints it.
func (c ageingCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	if c.Details {
		in := report.DetailsQuery{ExposureQuery: c.query(c.AsOf), Bands: c.Bands}
		return p.exposureDetails(ctx, actor, in, c.detailFlags, c.formFlags, c.orderFlags)
	}
	query := c.query(c.AsOf)
	if len(c.Bands) > 0 {
		query.Problems.Wrong("bands", "This requires --details.")
	}
	report, err := p.app.Exposure.Ageing(ctx, actor, query)
	if err != nil {
		return err
	}
	page := &reportPage{query: report.Query, shape: reports.ShowAgeing(report), parts: []sheet{ageingSheet(report)}}
	page.table = func() { p.ageingTable(report, page.parts[0]) }
	return p.printReport(c.formFlags, c.orderFlags, page)
}

// movementCmd prints a movement.
type movementCmd struct {
	reportFlags `embed:""`
	From        dayFlag `required:"" placeholder:"YYYY-MM-DD" help:"Start at the end of this day."`
	To          dayFlag `field:"as_of" placeholder:"YYYY-MM-DD" help:"Stop at the end of this day (default: today)."`
	By          string  `enum:"currency,merchant" default:"currency" placeholder:"WHAT" help:"Group by currency (the base currency, the default) or by merchant, with a total."`
}

// Help explains in which line a change is counted.
func (movementCmd) Help() string {
	return "Lines are signed: the opening plus all lines equals the closing exactly. Events on the same day count in this " +
		"order: trips end and dispute windows close (delivered, expired), travel dates change (re-dated), new payments are " +
		"covered (new), then refunds, chargebacks and reversals. The opening is converted at the exchange rates of the first " +
		"day, everything else at those of the last day. The difference is the revaluation."
}

// Run computes the movement and prints it.
func (c movementCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	query := c.query(c.To)
	query.By = exposure.Dimension(onTheWire(c.By))
	in := report.MovementQuery{ExposureQuery: query, From: c.From.day}
	if c.Details {
		return p.movementDetails(ctx, actor, in, c.detailFlags, c.formFlags, c.orderFlags)
	}
	report, err := p.app.Exposure.Movement(ctx, actor, in)
	if err != nil {
		return err
	}
	page := &reportPage{query: report.Query.ReportQuery, shape: reports.ShowMovement(report), parts: []sheet{movementSheet(report)}}
	ordered := c.orderFlags != orderFlags{}
	page.table = func() { p.movementTable(report, page.parts[0], ordered) }
	return p.printReport(c.formFlags, c.orderFlags, page)
}
