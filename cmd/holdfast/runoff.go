package main

import (
	"context"
	"encoding/json"
	"holdfast/internal/ledger"
	"holdfast/internal/reports"
	"strings"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/auth"
	"holdfast/internal/money"
	"holdfast/internal/protection"
)

// reportFlags are the flags that run-off, ageing and movement share.
type reportFlags struct {
	siteFlag
	KnownAt   time.Time `name:"known-at" placeholder:"\"YYYY-MM-DD HH:MM:SS\"" help:"Use only what was known at this time, in GMT (default: now)."`
	Currency  string    `placeholder:"CODE" help:"Currency of the report (default: the policy's)."`
	Valuation string    `enum:"spot,locked" default:"spot" placeholder:"KIND" help:"spot (the default): with the exchange rates of the day. locked: with the rates at which payments were priced."`
	Channels  []int64   `placeholder:"ID" help:"Only these channels, by id."`
	JSON      bool      `name:"json" xor:"form" help:"Print JSON, amounts in minor units."`
	CSV       bool      `name:"csv" xor:"form" help:"Print CSV, amounts in minor units."`
}

// asked returns the caller and the part of the query that these reports share.
func (f reportFlags) asked(ctx context.Context, p *program, asOf dayFlag) (auth.Actor, reports.ExposureQuery, error) {
	query := reports.ExposureQuery{
		Moment:    ledger.Moment{AsOf: asOf.day, KnownAt: f.KnownAt},
		Valuation: protection.Valuation(f.Valuation),
		Scope:     protection.Scope{Channels: f.Channels},
	}
	if f.Currency != "" {
		var err error
		if query.Currency, err = money.ParseCurrency(strings.ToUpper(f.Currency)); err != nil {
			query.Problems.Wrong("currency", "%v.", err)
		}
	}
	actor, err := p.operatorAt(ctx, f.Site)
	return actor, query, err
}

// answer prints a report in the form that was asked for.
func (f reportFlags) answer(p *program, shape any, csv, table func() error) error {
	switch {
	case f.JSON:
		out := json.NewEncoder(p.stdout)
		out.SetIndent("", "  ")
		return out.Encode(shape)
	case f.CSV:
		return csv()
	default:
		return table()
	}
}

// runOffCmd prints a run-off.
type runOffCmd struct {
	reportFlags `embed:""`
	AsOf        dayFlag `name:"as-of" placeholder:"YYYY-MM-DD" help:"Start at the end of this day (default: today)."`
}

// Help says how to read the figures.
func (runOffCmd) Help() string {
	return "Shows how much is still at risk on later days if there are no new payments, refunds or changes. It shows each of " +
		"the next 35 days, then one day a week up to 26 weeks, then the ends of months until the last dispute window has " +
		"ended. All amounts are converted with the exchange rates of the first day."
}

// Run computes the run-off and prints it.
func (c runOffCmd) Run(ctx context.Context, p *program) error {
	actor, query, err := c.asked(ctx, p, c.AsOf)
	if err != nil {
		return err
	}
	report, err := p.app.Exposure.RunOff(ctx, actor, query)
	if err != nil {
		return err
	}
	return c.answer(p, api.ShowRunOff(report),
		func() error { return p.runOffCSV(report) }, func() error { return p.runOffTable(report) })
}

// ageingCmd prints an ageing.
type ageingCmd struct {
	reportFlags `embed:""`
	AsOf        dayFlag `name:"as-of" placeholder:"YYYY-MM-DD" help:"The end of this day (default: today)."`
}

// Run computes the ageing and prints it.
func (c ageingCmd) Run(ctx context.Context, p *program) error {
	actor, query, err := c.asked(ctx, p, c.AsOf)
	if err != nil {
		return err
	}
	report, err := p.app.Exposure.Ageing(ctx, actor, query)
	if err != nil {
		return err
	}
	return c.answer(p, api.ShowAgeing(report),
		func() error { return p.ageingCSV(report) }, func() error { return p.ageingTable(report) })
}

// movementCmd prints a movement.
type movementCmd struct {
	reportFlags `embed:""`
	From        dayFlag `required:"" placeholder:"YYYY-MM-DD" help:"Start at the end of this day."`
	To          dayFlag `field:"as_of" placeholder:"YYYY-MM-DD" help:"Stop at the end of this day (default: today)."`
}

// Help says in which line a change is counted.
func (movementCmd) Help() string {
	return "Every line has a sign, and the opening with all lines makes exactly the closing. Where several things happen on " +
		"one day, they count in this order: first trips end and dispute windows close (delivered, expired), then travel " +
		"dates change (re-dated), then new payments are covered (new), then come refunds, chargebacks and reversals. The " +
		"opening is converted with the exchange rates of the first day, everything else with those of the last day. The " +
		"difference between the two is the revaluation."
}

// Run computes the movement and prints it.
func (c movementCmd) Run(ctx context.Context, p *program) error {
	actor, query, err := c.asked(ctx, p, c.To)
	if err != nil {
		return err
	}
	report, err := p.app.Exposure.Movement(ctx, actor, reports.MovementQuery{ExposureQuery: query, From: c.From.day})
	if err != nil {
		return err
	}
	return c.answer(p, api.ShowMovement(report),
		func() error { return p.movementCSV(report) }, func() error { return p.movementTable(report) })
}
