package main

import (
	"context"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/app"
	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/protection"
)

// explainCmd explains what a transaction means for protection.
type explainCmd struct {
	siteFlag
	Transaction int64     `arg:"" help:"Id of the transaction."`
	AsOf        dayFlag   `name:"as-of" placeholder:"Y-m-d" help:"The states at the end of this day (default: today)."`
	KnownAt     time.Time `name:"known-at" format:"2006-01-02 15:04:05" placeholder:"INSTANT" help:"With what was known then, Y-m-d H:i:s in GMT (default: now)."`
	JSON        bool      `name:"json" help:"Print JSON, amounts in minor units."`
}

// Run prints every input and step.
func (c explainCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	query := app.ProtectionQuery{Moment: app.Moment{AsOf: c.AsOf.day, KnownAt: c.KnownAt}}
	report, err := p.app.Protection.Explain(ctx, actor, c.Transaction, query)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(api.ShowProtection(report))
	}
	t := report.Transaction
	p.printf("Transaction %d, %s of %s %s, taken %s, recorded %s GMT\n", t.ID, t.Type, t.Currency,
		money.Format(t.Total, t.Currency), civil.FormatInstant(t.EffectiveAt), civil.FormatInstant(t.CreatedAt))
	p.printf("at the end of %s, as known at %s GMT\n", report.Moment.AsOf, civil.FormatInstant(report.Moment.KnownAt))
	if report.Adjusted {
		p.printf("It adjusts transaction %d, whose parts these are.\n", t.LinkedID)
	}
	if len(report.Allocations) == 0 {
		p.printf("\nIt takes no money in: there is nothing to protect.\n")
	}
	for _, x := range report.Allocations {
		p.explainAllocation(x)
	}
	return nil
}

// explainAllocation prints one part of a payment for people, amounts in full, the steps in minor units as they are
// computed.
func (p *program) explainAllocation(x protection.Explained) {
	amount := func(n int64) string { return string(x.Currency) + " " + money.Format(n, x.Currency) }
	p.printf("\nBooking %d: %s, %s, %s remain, %s undelivered, disputable until %s\n", x.BookingID, amount(x.Amount), x.State,
		amount(x.Remaining), amount(x.Undelivered), x.Terms.LastDay)
	if x.HasValue {
		p.printf("worth %s %s", x.PolicyCurrency, money.Format(x.Value, x.PolicyCurrency))
	} else {
		p.printf("waits for an exchange rate to %s", x.PolicyCurrency)
	}
	if x.Premium.Priced {
		p.printf(", premium %s %s", x.PolicyCurrency, money.Format(x.Premium.State.Premium, x.PolicyCurrency))
	}
	p.printf("\n\nSteps, in minor units:\n")
	for _, steps := range [][]protection.Step{x.Steps, x.Premium.Steps} {
		for _, s := range steps {
			p.printf("  %-4s %-12s %s\n", s.Rule, s.Name, s.Text)
		}
	}
}
