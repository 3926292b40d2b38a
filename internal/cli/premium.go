package cli

import (
	"context"

	"holdfast/internal/api/view"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/protection"
	"holdfast/internal/store"
)

// premiumCmd groups the premium ledger commands.
type premiumCmd struct {
	List    premiumListCmd    `cmd:"" help:"List premium ledger lines."`
	Correct premiumCorrectCmd `cmd:"" help:"Compare the ledger with the payments and post missing corrections."`
}

// premiumListCmd lists lines.
type premiumListCmd struct {
	listFlags
	Merchants    []int64 `placeholder:"ID" field:"channels" help:"Only lines of these merchants, by id."`
	Bookings     []int64 `placeholder:"ID" help:"Only lines of these bookings, by id."`
	Transactions []int64 `placeholder:"ID" help:"Only lines caused by these transactions, by id."`
}

// Run prints the lines in posting order.
func (c premiumListCmd) Run(ctx context.Context, p *program) error {
	filter := protection.PremiumFilter{Channels: c.Merchants, Bookings: c.Bookings, Transactions: c.Transactions}
	return printList(ctx, p, c.listFlags, listing[protection.PremiumLine]{
		read: func(actor access.Actor, page store.Page) (store.List[protection.PremiumLine], error) {
			return p.app.Premiums.List(ctx, actor, filter, page)
		},
		shape:   func(l protection.PremiumLine) any { return view.ShowPremiumLine(l) },
		columns: columnsOf("id recorded booking transaction kind cause currency amount retained value lead_days ppm premium_of_state"),
		row: func(l protection.PremiumLine) []cell {
			return []cell{
				ident(l.ID), instant(l.RecordedAt), ident(l.BookingID), ident(l.TransactionID), words(string(l.Kind)),
				words(string(l.Cause)), words(string(l.Currency)), amount(l.Amount, l.Currency), amount(l.Retained, l.Currency),
				amount(l.State.Value, l.Currency), count(l.State.Lead), count(l.State.Line.PPM), amount(l.State.Premium, l.Currency),
			}
		},
		none: "No premium lines.",
	})
}

// premiumCorrectCmd corrects the ledger.
type premiumCorrectCmd struct {
	siteFlag
	DryRun bool `name:"dry-run" help:"Show how many payments would be corrected, without writing anything."`
}

// Run corrects the ledger and prints how many payments were corrected.
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
