package main

import (
	"context"
	"holdfast/internal/ledger"
	"holdfast/internal/reports"
	"strings"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/money"
	"holdfast/internal/protection"
)

// estimateFlags are the flags that exposure-model and what-if share.
type estimateFlags struct {
	siteFlag
	AsOf     dayFlag   `name:"as-of" placeholder:"YYYY-MM-DD" help:"The end of this day (default: today)."`
	KnownAt  time.Time `name:"known-at" placeholder:"\"YYYY-MM-DD HH:MM:SS\"" help:"Use only what was known at this time, in GMT (default: now)."`
	Currency string    `placeholder:"CODE" help:"Currency of the report (default: the policy's)."`
	Channels []int64   `placeholder:"ID" help:"Only these channels, by id."`
	JSON     bool      `name:"json" help:"Print JSON, amounts in minor units."`
}

func (f estimateFlags) query() (in reports.EstimateQuery) {
	in = reports.EstimateQuery{Moment: ledger.Moment{AsOf: f.AsOf.day, KnownAt: f.KnownAt}, Channels: f.Channels}
	if f.Currency != "" {
		var err error
		if in.Currency, err = money.ParseCurrency(strings.ToUpper(f.Currency)); err != nil {
			in.Problems.Wrong("currency", "%v.", err)
		}
	}
	return in
}

// modelCmd prints the estimate beside the exposure.
type modelCmd struct {
	estimateFlags
	Bands string `placeholder:"DAYS:PPM,…" help:"How the estimate is made: days, and the share of their turnover in millionths. 30:400000,90:600000 means 40 % of the last 30 days plus 60 % of the last 90 (default: built in)."`
}

// Run computes the report and prints it.
func (c modelCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	in := c.query()
	if c.Bands != "" {
		if in.Bands, err = protection.ParseBands(c.Bands); err != nil {
			in.Problems.Wrong("bands", "The bands cannot be read: %v.", err)
		}
	}
	r, err := p.app.Exposure.Model(ctx, actor, in)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(api.ShowModel(r))
	}
	q := r.Query
	p.printf("Estimate from card turnover and actual exposure at the end of %s, in %s\n\n", q.AsOf, q.Currency)
	amount := func(n int64) string { return money.Format(n, q.Currency) }
	line := func(name string, estimate, e1 int64) []string {
		return []string{name, amount(estimate), amount(e1), amount(estimate - e1)}
	}
	lines := [][]string{{"channel", "estimate", "E1", "difference"}}
	for _, row := range r.Rows {
		name := r.ChannelNames[row.ChannelID]
		if !row.Valued {
			lines = append(lines, []string{name + ": no exchange rate for " + string(row.Currency), "", "", ""})
			continue
		}
		lines = append(lines, line(name, row.EstimateReport, row.E1Report))
	}
	p.writeTable("", append(lines, line("total", r.Estimate, r.E1)))
	p.printf("\nThe estimate adds up shares of the turnover of the last days:")
	for _, b := range r.Bands {
		p.printf(" %d.%04d %% of %d days;", b.SharePPM/10_000, b.SharePPM%10_000, b.Days)
	}
	p.printf("\n")
	return nil
}

// whatIfCmd prints what a failure would cost.
type whatIfCmd struct{ estimateFlags }

// Run computes the report and prints it.
func (c whatIfCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	r, err := p.app.Exposure.WhatIf(ctx, actor, c.query())
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(api.ShowWhatIf(r))
	}
	q := r.Query
	amount := func(n int64) string { return money.Format(n, q.Currency) }
	limit := func(l *protection.Limit) string {
		if l == nil {
			return "none"
		}
		return money.Format(l.Amount, l.Currency)
	}
	p.printf("If these merchants fail at the end of %s, in %s\n\n", q.AsOf, q.Currency)
	lines := [][]string{{"channel", "loss", "collateral", "net", "tail", "use " + string(q.Policy), "limit " + string(q.Policy)}}
	for _, ch := range r.Channels {
		lines = append(lines, []string{r.ChannelNames[ch.ChannelID], amount(ch.E1), amount(ch.Held), amount(ch.Net), amount(ch.E2),
			money.Format(ch.Use, q.Policy), limit(ch.Limit)})
	}
	p.writeTable("", append(lines, []string{"total", amount(r.Total.E1), amount(r.Held), amount(r.Net), amount(r.Total.E2),
		money.Format(r.Use, q.Policy), limit(r.SiteLimit)}))
	for _, by := range []struct {
		name string
		rows protection.WhatIfRows
	}{{"scheme", r.Schemes}, {"month of travel", r.Months}} {
		lines := [][]string{{by.name, "loss", "tail"}}
		for _, row := range by.rows.Rows {
			lines = append(lines, []string{row.Key, amount(row.E1), amount(row.E2)})
		}
		if by.rows.Rounding.E1 != 0 || by.rows.Rounding.E2 != 0 {
			lines = append(lines, []string{"rounding", amount(by.rows.Rounding.E1), amount(by.rows.Rounding.E2)})
		}
		p.printf("\n")
		p.writeTable("", lines)
	}
	for _, w := range r.Pending {
		p.printf("Not counted, because an exchange rate is missing: %d allocations, E1 %s %s.\n", w.Allocations, w.Currency,
			money.Format(w.E1, w.Currency))
	}
	return nil
}
