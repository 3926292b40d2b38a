package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"holdfast/internal/api/view"
	"holdfast/internal/book/limits"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// limitsCmd groups the limit commands.
type limitsCmd struct {
	List   limitsListCmd   `cmd:"" help:"List the limits in force and their use."`
	Set    limitsSetCmd    `cmd:"" help:"Set a limit. Limits never block payments; amounts over the limit are reported."`
	Events limitsEventsCmd `cmd:"" help:"List when a limit's use reached 80%, 95% or 100%."`
	Over   limitsOverCmd   `cmd:"" help:"List payments that are fully or partly over a limit."`
}

// limitsListCmd lists limits.
type limitsListCmd struct {
	listFlags
	Over bool `help:"Only exceeded limits."`
}

// Run prints them.
func (c limitsListCmd) Run(ctx context.Context, p *program) error {
	return printList(ctx, p, c.listFlags, listing[limits.LimitRow]{
		read: func(actor access.Actor, page store.Page) (store.List[limits.LimitRow], error) {
			return p.app.Limits.List(ctx, actor, limits.LimitFilter{Over: c.Over}, page)
		},
		shape:   func(r limits.LimitRow) any { return view.ShowLimitRow(r) },
		columns: limitColumns(),
		row: func(r limits.LimitRow) []cell {
			row := []cell{scopeCell(r.Scope), words(r.ChannelName), words(string(r.Currency)), amount(r.Amount, r.Currency)}
			use := make([]cell, 5)
			if r.HasUse {
				use[0], use[1] = amount(r.Use, r.Currency), figures(r.Percent+" %", r.Percent)
				use[4] = amount(r.Over, r.Currency)
				if len(r.Pending) == 0 {
					use[3] = amount(r.Headroom, r.Currency)
				}
			}
			if r.Level > 0 {
				use[2] = figures(fmt.Sprintf("%d %%", r.Level), number(r.Level))
			}
			row = append(append(row, use...), words(pendingUse(r.Pending)))
			return append(row, dayCell(r.FromDay), words(cmp.Or(r.NotInForce, r.Unknown)))
		},
		none: "No limits.",
	})
}

// pendingUse lists the amounts waiting for a rate, such as "EUR 120.00".
func pendingUse(list []limits.PendingUse) string {
	parts := make([]string, len(list))
	for i, p := range list {
		parts[i] = string(p.Currency) + " " + money.Format(p.Amount, p.Currency)
	}
	return strings.Join(parts, ", ")
}

func limitColumns() []column {
	columns := columnsOf("scope channel currency amount use used_percent passed_percent headroom over pending from note")
	columns[5].title, columns[6].title = "USED", "PASSED"
	return columns
}

// limitsSetCmd sets a limit.
type limitsSetCmd struct {
	siteFlag
	Scope    string     `arg:"" enum:"transaction,booking,merchant,site" help:"Scope: transaction, booking, merchant or site."`
	Amount   amountFlag `arg:"" optional:"" help:"Amount in the policy's currency, such as \"50000.00 GBP\"."`
	Merchant *int64     `placeholder:"ID" field:"channels" help:"Only for this merchant."`
	From     dayFlag    `placeholder:"YYYY-MM-DD" help:"Effective from this day (default: today)."`
	Lift     bool       `help:"Remove the limit from that day."`
	Note     string     `help:"Reason."`
}

// Run sets the limit, or reports that another operator must approve it.
func (c limitsSetCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	if c.Amount.given() && c.Amount.minor <= 0 {
		return errs.WrongField("amount", "The limit must be greater than 0. To remove a limit, use --lift.")
	}
	made, err := p.app.Limits.Set(ctx, actor, limits.LimitFields{
		Scope: new(protection.LimitScope(onTheWire(c.Scope))), ChannelID: c.Merchant, From: c.From.day, Amount: c.Amount.pointer(), Currency: c.Amount.currency, Lift: c.Lift, Note: c.Note,
	})
	if err != nil {
		return err
	}
	if made.Proposal != nil {
		return p.waits(*made.Proposal)
	}
	if made.Lifted {
		p.printf("Removed the limit from %[2]s (limit %[1]d)\n", made.ID, made.FromDay)
		return nil
	}
	p.printf("Set limit %d: %s %s from %s\n", made.ID, made.Currency, money.Format(made.Amount, made.Currency), made.FromDay)
	p.printf("The service checks existing payments against it in about ten seconds. See `holdfast limits events` and `holdfast limits over`.\n")
	return nil
}

// limitsEventsCmd lists events.
type limitsEventsCmd struct{ listFlags }

// Run prints them.
func (c limitsEventsCmd) Run(ctx context.Context, p *program) error {
	return printList(ctx, p, c.listFlags, listing[protection.LimitEvent]{
		read: func(actor access.Actor, page store.Page) (store.List[protection.LimitEvent], error) {
			return p.app.Limits.Events(ctx, actor, limits.LimitEvents{}, page)
		},
		shape:   func(e protection.LimitEvent) any { return view.ShowLimitEvent(e) },
		columns: columnsOf("at scope id reached currency use limit transaction"),
		row: func(e protection.LimitEvent) []cell {
			return []cell{
				instant(e.CrossedAt), scopeCell(e.Scope), ident(e.ObjectID),
				figures(fmt.Sprintf("%d %%", e.Percent), number(e.Percent)), words(string(e.Limit.Currency)),
				amount(e.Use, e.Limit.Currency), amount(e.Limit.Amount, e.Limit.Currency), ident(e.TransactionID),
			}
		},
		none: "No events.",
	})
}

// limitsOverCmd lists payments over a limit.
type limitsOverCmd struct{ listFlags }

// Run prints them.
func (c limitsOverCmd) Run(ctx context.Context, p *program) error {
	over := true
	list := p.transactions(ctx, payments.TransactionFilter{OverLimit: &over})
	list.columns = columnsOf("id channel logged currency total over_currency over")
	list.row = func(t payment.Transaction) []cell {
		return []cell{
			ident(t.ID), ident(t.ChannelID), instant(t.CreatedAt), words(string(t.Currency)), amount(t.Total, t.Currency),
			words(string(t.OverLimitCurrency)), amount(t.OverLimit, t.OverLimitCurrency),
		}
	}
	list.none = "No payments over a limit."
	return printList(ctx, p, c.listFlags, list)
}

// scopeCell shows the scope of a limit: a merchant for people, a channel for programs.
func scopeCell(scope protection.LimitScope) cell {
	c := words(string(scope))
	if scope == protection.LimitChannel {
		c.text = "merchant"
	}
	return c
}
