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

// reportFlags are what the reports beside the exposure itself share.
type reportFlags struct {
	Site      string    `required:"" placeholder:"PATH" help:"Path of the site."`
	KnownAt   time.Time `name:"known-at" format:"2006-01-02 15:04:05" placeholder:"INSTANT" help:"With what was known then, Y-m-d H:i:s in GMT (default: now)."`
	Currency  string    `placeholder:"CODE" help:"Currency of the report (default: the policy's)."`
	Valuation string    `enum:"spot,locked" default:"spot" placeholder:"KIND" help:"spot (by the rates of the day, the default) or locked (by the rates at which payments were priced)."`
	Channels  []int64   `placeholder:"ID" help:"Only these channels, by id."`
	JSON      bool      `name:"json" xor:"form" help:"Print JSON, amounts in minor units."`
	CSV       bool      `name:"csv" xor:"form" help:"Print CSV, amounts in minor units."`
}

// asked gives who asks, and what of the question all reports have.
func (f reportFlags) asked(ctx context.Context, p *program, asOf dayFlag) (auth.Actor, reports.ExposureQuery, error) {
	query := reports.ExposureQuery{
		Moment:    ledger.Moment{AsOf: asOf.day, KnownAt: f.KnownAt},
		Valuation: protection.Valuation(f.Valuation),
		Channels:  f.Channels,
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
	AsOf        dayFlag `name:"as-of" placeholder:"Y-m-d" help:"From the end of this day (default: today)."`
}

// Help says what the figures are.
func (runOffCmd) Help() string {
	return "What is still at risk on each later day if nothing happens but that time passes: each of 35 days, one a week up " +
		"to 26 weeks, then month ends until the last dispute window has ended. Amounts are converted at the rates of the " +
		"first day throughout."
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
	AsOf        dayFlag `name:"as-of" placeholder:"Y-m-d" help:"The end of this day (default: today)."`
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
	From        dayFlag `required:"" placeholder:"Y-m-d" help:"From the end of this day."`
	To          dayFlag `placeholder:"Y-m-d" help:"To the end of this day (default: today)."`
}

// Help says which line a change belongs to.
func (movementCmd) Help() string {
	return "Every line has its sign, and all of them come to the closing exactly. On one day time passes first (delivered, " +
		"expired), then new travel dates count (re-dated), then what is newly covered comes in (new), then refunds, " +
		"chargebacks and reversals follow. The opening is converted at the rates of the first day, all else at those of " +
		"the last; revaluation is what that leaves."
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
