package main

import (
	"context"
	"holdfast/internal/ledger"
	"holdfast/internal/reports"
	"strings"
	"time"

	"holdfast/internal/money"
	"holdfast/internal/protection"
)

// exposureCmd prints an exposure report.
type exposureCmd struct {
	siteFlag
	AsOf      dayFlag   `name:"as-of" placeholder:"YYYY-MM-DD" help:"The end of this day (default: today)."`
	KnownAt   time.Time `name:"known-at" placeholder:"\"YYYY-MM-DD HH:MM:SS\"" help:"Use only what was known at this time, in GMT (default: now)."`
	Currency  string    `placeholder:"CODE" help:"Currency of the report (default: the policy's)."`
	Valuation string    `enum:"spot,locked" default:"spot" placeholder:"KIND" help:"spot (the default): with the exchange rates of the day. locked: with the rates at which payments were priced."`
	By        []string  `default:"channel" placeholder:"WHAT" help:"One row for each channel (the default), month of the end date, currency, scheme, country or supplier; or for each pair of two, such as channel,month."`
	Channels  []int64   `placeholder:"ID" help:"Only these channels, by id."`
	JSON      bool      `name:"json" xor:"form" help:"Print JSON, amounts in minor units."`
	CSV       bool      `name:"csv" xor:"form" help:"Print CSV, amounts in minor units."`
}

// Run computes the report and prints it.
func (c exposureCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	query := reports.ExposureQuery{
		Moment:    ledger.Moment{AsOf: c.AsOf.day, KnownAt: c.KnownAt},
		Valuation: protection.Valuation(c.Valuation),
		Scope:     protection.Scope{Channels: c.Channels},
	}
	switch len(c.By) {
	case 2:
		query.Across = protection.Dimension(c.By[1])
		fallthrough
	case 1:
		query.By = protection.Dimension(c.By[0])
	default:
		query.Problems.Wrong("by", "Name one, or two with a comma, such as channel,month.")
	}
	if c.Currency != "" {
		if query.Currency, err = money.ParseCurrency(strings.ToUpper(c.Currency)); err != nil {
			query.Problems.Wrong("currency", "%v.", err)
		}
	}
	report, err := p.app.Exposure.Report(ctx, actor, query)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		return p.exposureJSON(report)
	case c.CSV:
		return p.exposureCSV(report)
	default:
		p.exposureTable(report)
		return nil
	}
}
