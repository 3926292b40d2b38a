package cli

import (
	"context"

	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
	"holdfast/internal/ops/rehearsal"
)

// rehearseCmd rehearses the failure of a merchant.
type rehearseCmd struct {
	siteFlag
	Merchant int64 `arg:"" field:"channels" help:"Merchant id."`
	Days     *int  `placeholder:"N" help:"Rehearse the next N days only (default: to the end)."`
}

// Help describes the rehearsal.
func (rehearseCmd) Help() string {
	return "Only in a sandbox. The merchant fails now. Over the next 20 days on the site's clock, which is moved forward, its travellers dispute up to 30 " +
		"payments: in files of five processors, by hand, twice, after a refund, too late. Claims are assessed and approved, payouts paid, and the insolvency " +
		"is closed. The merchant then stays insolvent until you reinstate it.\n\nRun it again to continue a rehearsal that was interrupted or " +
		"limited with --days. In between, you can work on disputes and claims yourself. See docs/guides/insolvency.md."
}

// Run rehearses it and prints each step, then the figures.
func (c rehearseCmd) Run(ctx context.Context, p *program) error {
	options := rehearsal.Options{Progress: func(s rehearsal.Step) {
		p.printf("%s  day %2d  %s\n", civil.FormatInstant(s.At), s.Day, s.Text)
	}}
	if c.Days != nil {
		if options.Days = *c.Days; options.Days < 1 {
			return errs.WrongField("days", "Must be 1 or more.")
		}
	}
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	done, err := p.app.Rehearsals.Run(ctx, actor, c.Merchant, options)
	if err != nil {
		return err
	}
	p.printf("\nInsolvency %d of %s: %s, day %d of %d\n\n", done.Insolvency.ID, done.Merchant.Name, done.Insolvency.State, done.Day, rehearsal.Days)
	p.printTable(totalFigures(done.Figures), "")
	if done.Day < rehearsal.Days {
		p.printf("\nTo continue: holdfast rehearse %d --site %s\n", c.Merchant, p.site.Path)
		return nil
	}
	p.printf("\nTo take new protection again: holdfast insolvency reinstate %d --site %s\n", done.Insolvency.ID, p.site.Path)
	return nil
}
