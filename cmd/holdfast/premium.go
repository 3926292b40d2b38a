package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"holdfast/internal/api"
	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// premiumCmd groups the commands about the premium ledger.
type premiumCmd struct {
	List    premiumListCmd    `cmd:"" help:"List the lines of the premium ledger."`
	Correct premiumCorrectCmd `cmd:"" help:"Compare the ledger with the payments, and book what is missing."`
}

// premiumListCmd lists lines.
type premiumListCmd struct {
	siteFlag
	Channels     []int64 `placeholder:"ID" help:"Only lines of these channels."`
	Bookings     []int64 `placeholder:"ID" help:"Only lines of these bookings."`
	Transactions []int64 `placeholder:"ID" help:"Only lines that these transactions caused."`
	JSON         bool    `name:"json" help:"Print JSON, one object on each line, with amounts in minor units."`
}

// Run prints the lines in the order in which they were booked.
func (c premiumListCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	filter := protection.PremiumFilter{Channels: c.Channels, Bookings: c.Bookings, Transactions: c.Transactions}
	out := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	if !c.JSON {
		fmt.Fprintln(out, "ID\tRECORDED\tBOOKING\tTRANSACTION\tKIND\tCAUSE\tAMOUNT\tRETAINED\tVALUE\tLEAD\tPPM\tPREMIUM")
	}
	err = everyPage(func(page travel.Page) (travel.List[protection.PremiumLine], error) {
		return p.app.Premiums.List(ctx, actor, filter, page)
	}, func(l protection.PremiumLine) {
		if c.JSON {
			p.printLine(api.ShowPremiumLine(l))
			return
		}
		amount := func(n int64) string { return money.Format(n, l.Currency) }
		fmt.Fprintf(out, "%d\t%s\t%d\t%d\t%s\t%s\t%s %s\t%s\t%s\t%d\t%d\t%s\n", l.ID, civil.FormatInstant(l.RecordedAt), l.BookingID,
			l.TransactionID, l.Kind, l.Cause, l.Currency, amount(l.Amount), amount(l.Retained), amount(l.State.Value),
			l.State.Lead, l.State.Line.PPM, amount(l.State.Premium))
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// premiumCorrectCmd corrects the ledger.
type premiumCorrectCmd struct {
	siteFlag
	DryRun bool `name:"dry-run" help:"Say how many payments would be corrected, but write nothing."`
}

// Run corrects the ledger and says how many payments it changed.
func (c premiumCorrectCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	done, err := p.app.Premiums.Correct(ctx, actor, c.DryRun)
	if err != nil {
		return err
	}
	verb := "corrected"
	if c.DryRun {
		verb = "to be corrected"
	}
	p.printf("%d payments with premium, %d %s\n", done.Checked, done.Corrected, verb)
	return nil
}
