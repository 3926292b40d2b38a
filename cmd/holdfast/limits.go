package main

import (
	"context"
	"fmt"
	"holdfast/internal/limits"
	"strconv"
	"text/tabwriter"

	"holdfast/internal/api"
	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// limitsCmd groups the commands about limits.
type limitsCmd struct {
	List   limitsListCmd   `cmd:"" help:"List the limits in force, and how much of each is used."`
	Set    limitsSetCmd    `cmd:"" help:"Set a limit. A limit never refuses a payment; it reports what is above it."`
	Events limitsEventsCmd `cmd:"" help:"List when the use of a limit reached 80, 95 or 100 %."`
	Over   limitsOverCmd   `cmd:"" help:"List the payments that are above a limit, in whole or in part."`
}

// listing is the flags of every list of this group.
type listing struct {
	siteFlag
	JSON bool `name:"json" help:"Print JSON, amounts in minor units."`
}

// printList prints a list as a table, or as the same JSON as the API.
func printList[T any](
	ctx context.Context, p *program, l listing, read func(auth.Actor, travel.Page) (travel.List[T], error),
	show func(T) any, header string, row func(T) string,
) error {
	actor, err := p.operatorAt(ctx, l.Site)
	if err != nil {
		return err
	}
	shapes := []any{}
	out := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	if !l.JSON {
		fmt.Fprintln(out, header)
	}
	err = everyPage(func(page travel.Page) (travel.List[T], error) { return read(actor, page) }, func(item T) {
		if l.JSON {
			shapes = append(shapes, show(item))
			return
		}
		fmt.Fprintln(out, row(item))
	})
	if err != nil {
		return err
	}
	if l.JSON {
		return p.printJSON(shapes)
	}
	return out.Flush()
}

// limitsListCmd lists limits.
type limitsListCmd struct {
	listing
	Over bool `help:"Only limits that are exceeded."`
}

// Run prints them.
func (c limitsListCmd) Run(ctx context.Context, p *program) error {
	return printList(ctx, p, c.listing, func(actor auth.Actor, page travel.Page) (travel.List[limits.LimitRow], error) {
		return p.app.Limits.List(ctx, actor, limits.LimitFilter{Over: c.Over}, page)
	}, api.ShowLimitRow, "SCOPE\tCHANNEL\tLIMIT\tUSE\tUSED\tPASSED\tHEADROOM\tOVER\tFROM\tNOTE", func(r limits.LimitRow) string {
		use, left, over, used, passed := "", "", "", "", ""
		if r.HasUse {
			use, left, over = money.Format(r.Use, r.Currency), money.Format(r.Headroom, r.Currency), money.Format(r.Over, r.Currency)
			used = r.Percent + " %"
			if r.Level > 0 {
				passed = fmt.Sprintf("%d %%", r.Level)
			}
		}
		return fmt.Sprintf("%s\t%s\t%s %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", r.Scope, r.ChannelName, r.Currency,
			money.Format(r.Amount, r.Currency), use, used, passed, left, over, r.FromDay, r.NotInForce)
	})
}

// limitsSetCmd sets a limit.
type limitsSetCmd struct {
	siteFlag
	Scope   protection.LimitScope `arg:"" help:"transaction, booking, channel or site."`
	Amount  *int64                `arg:"" optional:"" type:"minor" help:"Amount in minor units (cents) of the policy's currency."`
	Channel *int64                `placeholder:"ID" help:"Limit of this channel only."`
	From    dayFlag               `placeholder:"YYYY-MM-DD" help:"In force from this day on (default: today)."`
	Lift    bool                  `help:"Remove the limit from that day on."`
	Note    string                `help:"Why."`
}

// Run sets the limit, or says that another operator must approve it.
func (c limitsSetCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	made, err := p.app.Limits.Set(ctx, actor, limits.LimitFields{
		Scope: &c.Scope, ChannelID: c.Channel, From: c.From.day, Amount: c.Amount, Lift: c.Lift, Note: c.Note,
	})
	if err != nil {
		return err
	}
	if made.Proposal != nil {
		p.waits(c.Site, *made.Proposal)
		return nil
	}
	if made.Lifted {
		p.printf("limit %d: there is no limit from %s on\n", made.ID, made.FromDay)
		return nil
	}
	p.printf("limit %d is set: %s %s from %s on\n", made.ID, made.Currency, money.Format(made.Amount, made.Currency), made.FromDay)
	p.printf("the service compares existing payments with it in about ten seconds; see `holdfast limits events` and `holdfast limits over`\n")
	return nil
}

// limitsEventsCmd lists events.
type limitsEventsCmd struct{ listing }

// Run prints them.
func (c limitsEventsCmd) Run(ctx context.Context, p *program) error {
	return printList(ctx, p, c.listing, func(actor auth.Actor, page travel.Page) (travel.List[protection.LimitEvent], error) {
		return p.app.Limits.Events(ctx, actor, limits.LimitEvents{}, page)
	}, api.ShowLimitEvent, "AT\tSCOPE\tID\tREACHED\tUSE\tLIMIT\tTRANSACTION", func(e protection.LimitEvent) string {
		return fmt.Sprintf("%s\t%s\t%s\t%d %%\t%s\t%s %s\t%s", civil.FormatInstant(e.CrossedAt), e.Scope, orBlank(e.ObjectID), e.Percent,
			money.Format(e.Use, e.Limit.Currency), e.Limit.Currency, money.Format(e.Limit.Amount, e.Limit.Currency), orBlank(e.TransactionID))
	})
}

// orBlank writes an id, or nothing for 0.
func orBlank(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

// limitsOverCmd lists payments that are above a limit.
type limitsOverCmd struct{ listing }

// Run prints them.
func (c limitsOverCmd) Run(ctx context.Context, p *program) error {
	over := true
	return printList(ctx, p, c.listing, func(actor auth.Actor, page travel.Page) (travel.List[travel.Transaction], error) {
		return p.app.Payments.List(ctx, actor, travel.TransactionFilter{OverLimit: &over}, page)
	}, api.ShowTransaction, "TRANSACTION\tCHANNEL\tLOGGED\tTOTAL\tOVER", func(t travel.Transaction) string {
		return fmt.Sprintf("%d\t%d\t%s\t%s %s\t%s %s", t.ID, t.ChannelID, civil.FormatInstant(t.CreatedAt), t.Currency,
			money.Format(t.Total, t.Currency), t.OverLimitCurrency, money.Format(t.OverLimit, t.OverLimitCurrency))
	})
}
