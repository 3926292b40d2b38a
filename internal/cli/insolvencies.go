package cli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"holdfast/internal/api/reports"
	"holdfast/internal/api/view"
	"holdfast/internal/app"
	"holdfast/internal/book/claims"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/store"
)

// insolvencyCmd groups the insolvency commands.
type insolvencyCmd struct {
	Report          insolvencyReportCmd      `cmd:"" help:"Report that a merchant has failed. Nothing changes until another operator confirms it."`
	Confirm         insolvencyConfirmCmd     `cmd:"" help:"Confirm a reported failure: from now on, no new payment of the merchant is protected."`
	Withdraw        insolvencyWithdrawCmd    `cmd:"" help:"Withdraw a report that was a mistake. New payments are protected again."`
	List            insolvencyListCmd        `cmd:"" help:"List insolvencies."`
	Show            insolvencyShowCmd        `cmd:"" help:"Show an insolvency with its history."`
	Figures         insolvencyFiguresCmd     `cmd:"" help:"Show the exposed, payable, covered, paid, expected and recovered amounts."`
	LossRatio       insolvencyLossRatioCmd   `cmd:"" name:"loss-ratio" help:"Show the loss ratio and the aggregate used of a year of account."`
	Affected        insolvencyAffectedCmd    `cmd:"" help:"List the payments in the snapshot, those of people travelling now first."`
	Snapshot        insolvencySnapshotCmd    `cmd:"" help:"Print the snapshot. The SHA-256 of this text is the hash of the snapshot."`
	CloseClaims     insolvencyCloseClaimsCmd `cmd:"" name:"close-claims" help:"Stop taking claims."`
	Close           insolvencyCloseCmd       `cmd:"" help:"Close an insolvency. The merchant stays insolvent until it is reinstated."`
	Reinstate       insolvencyReinstateCmd   `cmd:"" help:"Protect new payments of the merchant again, once its insolvency is closed."`
	AllowProcessing insolvencyProcessingCmd  `cmd:"" name:"allow-processing" help:"Let the merchant's processor carry out refunds and voids."`
}

// insolvencyReportCmd reports a failure.
type insolvencyReportCmd struct {
	siteFlag
	Merchant int64             `arg:"" field:"channels" help:"Merchant id."`
	Kind     insolvencies.Kind `required:"" placeholder:"KIND" help:"Kind: administration, liquidation, ceased_trading, scheme_revoked or suspension."`
	Trigger  time.Time         `required:"" field:"trigger_at" placeholder:"TIME" help:"When the merchant failed, in GMT, such as \"2024-06-30 12:00:00\". Payments up to then can be claimed."`
	Evidence string            `required:"" help:"Evidence of the failure, such as the court's notice."`
}

// Run reports it.
func (c insolvencyReportCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	made, err := p.app.Insolvencies.Report(ctx, actor, insolvencies.NewReport{
		ChannelID: &c.Merchant, Kind: &c.Kind, TriggerAt: &c.Trigger, Evidence: c.Evidence,
	})
	if err != nil {
		return err
	}
	p.printf("Reported insolvency %d of merchant %d. Nothing has changed yet.\n", made.ID, made.ChannelID)
	who := "An operator"
	if !p.site.Sandbox {
		who = "Another operator"
	}
	p.printf("%s can confirm it with:\n\n  holdfast insolvency confirm %d --site %s", who, made.ID, p.site.Path)
	if !p.site.Sandbox {
		p.printf(" --as USERNAME")
	}
	p.printf("\n")
	return nil
}

// insolvencyFlags are the flags of each action on an insolvency.
type insolvencyFlags struct {
	siteFlag
	ID     int64  `arg:"" help:"Insolvency id."`
	Reason string `help:"Reason."`
}

// insolvencyAct is a use case that changes an insolvency.
type insolvencyAct func(ctx context.Context, actor access.Actor, id int64, reason string) (insolvencies.Insolvency, error)

// act applies an action and prints the result: what has changed, or how to approve it.
func (c insolvencyFlags) act(
	ctx context.Context, p *program,
	do func(a *app.App) insolvencyAct,
	done string,
) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	changed, err := do(p.app)(ctx, actor, c.ID, c.Reason)
	if err != nil {
		return err
	}
	if changed.Proposal != nil {
		return p.waits(*changed.Proposal)
	}
	p.printf("Insolvency %d of merchant %d: %s. %s\n", changed.ID, changed.ChannelID, changed.State, done)
	return nil
}

// insolvencyConfirmCmd confirms a failure.
type insolvencyConfirmCmd struct{ insolvencyFlags }

// Run confirms it.
func (c insolvencyConfirmCmd) Run(ctx context.Context, p *program) error {
	return c.act(ctx, p, func(a *app.App) insolvencyAct { return a.Insolvencies.Confirm },
		"New payments are no longer protected. The service makes the snapshot in about ten seconds.")
}

// insolvencyWithdrawCmd withdraws a failure.
type insolvencyWithdrawCmd struct{ insolvencyFlags }

// Run withdraws it.
func (c insolvencyWithdrawCmd) Run(ctx context.Context, p *program) error {
	return c.act(ctx, p, func(a *app.App) insolvencyAct { return a.Claims.WithdrawInsolvency },
		"New payments are protected as before. Payments logged in the meantime stay unprotected.")
}

// insolvencyCloseClaimsCmd stops taking claims.
type insolvencyCloseClaimsCmd struct{ insolvencyFlags }

// Run closes the claims.
func (c insolvencyCloseClaimsCmd) Run(ctx context.Context, p *program) error {
	return c.act(ctx, p, func(a *app.App) insolvencyAct { return a.Insolvencies.CloseClaims }, "Later claims are not payable.")
}

// insolvencyCloseCmd closes an insolvency.
type insolvencyCloseCmd struct{ insolvencyFlags }

// Run closes it.
func (c insolvencyCloseCmd) Run(ctx context.Context, p *program) error {
	return c.act(ctx, p, func(a *app.App) insolvencyAct { return a.Claims.CloseInsolvency }, "The merchant stays insolvent until it is reinstated.")
}

// insolvencyReinstateCmd reinstates a merchant.
type insolvencyReinstateCmd struct{ insolvencyFlags }

// Run reinstates it, or reports that another operator must approve it.
func (c insolvencyReinstateCmd) Run(ctx context.Context, p *program) error {
	return c.act(ctx, p, func(a *app.App) insolvencyAct { return a.Insolvencies.Reinstate }, "The merchant is reinstated: new payments are protected again.")
}

// insolvencyProcessingCmd lets a processor carry out refunds.
type insolvencyProcessingCmd struct{ insolvencyFlags }

// Run allows it, or reports that another operator must approve it.
func (c insolvencyProcessingCmd) Run(ctx context.Context, p *program) error {
	return c.act(ctx, p, func(a *app.App) insolvencyAct { return a.Insolvencies.AllowProcessing }, "The merchant's processor can carry out refunds and voids.")
}

// insolvencyListCmd lists insolvencies.
type insolvencyListCmd struct {
	listFlags
	State     []string `placeholder:"STATE" help:"Only these states: reported, confirmed, open, claims_closed, closed or withdrawn."`
	Merchants []int64  `placeholder:"ID" field:"channels" help:"Only insolvencies of these merchants, by id."`
}

// Run prints a line per insolvency.
func (c insolvencyListCmd) Run(ctx context.Context, p *program) error {
	states, err := oneOf("state", c.State, insolvencies.States)
	if err != nil {
		return err
	}
	filter := insolvencies.Filter{States: states, Channels: c.Merchants}
	return printList(ctx, p, c.listFlags, listing[insolvencies.Insolvency]{
		read: func(actor access.Actor, page store.Page) (store.List[insolvencies.Insolvency], error) {
			return p.app.Insolvencies.List(ctx, actor, filter, page)
		},
		shape:   func(i insolvencies.Insolvency) any { return view.ShowInsolvency(i) },
		columns: insolvencyColumns(),
		row:     insolvencyCells,
		none:    "No insolvencies.",
	})
}

func insolvencyColumns() []column {
	return columnsOf("id channel kind state trigger_at reported_by reported_at confirmed_by confirmed_at affected")
}

func insolvencyCells(i insolvencies.Insolvency) []cell {
	affected := cell{figure: true}
	if !i.Snapshot.MadeAt.IsZero() {
		affected = count(i.Snapshot.Lines)
	}
	return []cell{
		ident(i.ID), ident(i.ChannelID), words(string(i.Kind)), words(string(i.State)), instant(i.TriggerAt), words(i.ReportedBy),
		instant(i.ReportedAt), words(i.ConfirmedBy), instant(i.ConfirmedAt), affected,
	}
}

// insolvencyShowCmd shows one insolvency.
type insolvencyShowCmd struct {
	siteFlag
	formFlags
	ID int64 `arg:"" help:"Insolvency id."`
}

// Run prints it with its history.
func (c insolvencyShowCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	found, err := p.app.Insolvencies.Get(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		return p.printJSON(view.ShowInsolvency(found))
	case c.CSV:
		shown := sheet{columns: append(insolvencyColumns(), columnsOf("evidence snapshot_at sha256 processing_allowed reinstated_at")...)}
		shown.rows = [][]cell{append(insolvencyCells(found), words(found.Evidence), instant(found.Snapshot.MadeAt), words(found.Snapshot.SHA256),
			yesNo(found.ProcessingAllowed), instant(found.ReinstatedAt))}
		return p.printCSV(shown, civil.FormatInstant(p.now(actor)))
	}
	channel, err := p.app.Channels.Get(ctx, actor, found.ChannelID)
	if err != nil {
		return err
	}
	history, err := p.app.Insolvencies.History(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	p.printFields(insolvencyFields(found, channel.Name))
	p.printf("\n")
	s := sheet{columns: columnsOf("at action state by reason")}
	for _, h := range history {
		s.rows = append(s.rows, []cell{instant(h.At), words(h.Step()), words(string(h.State)), words(h.By), words(h.Reason)})
	}
	p.printTable(s, "")
	return nil
}

// insolvencyFields are the names and values of an insolvency, for people.
func insolvencyFields(i insolvencies.Insolvency, merchant string) [][2]string {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return civil.FormatInstant(t) + " GMT"
	}
	confirmed, snapshot, refunds := "", "", ""
	if !i.ConfirmedAt.IsZero() {
		confirmed = fmt.Sprintf("by %s, %s", i.ConfirmedBy, at(i.ConfirmedAt))
		if i.Alone {
			confirmed += ", without a second operator"
		}
	}
	if !i.Snapshot.MadeAt.IsZero() {
		snapshot = fmt.Sprintf("%s, %s", counted(i.Snapshot.Lines, "payment"), at(i.Snapshot.MadeAt))
	}
	if i.ProcessingAllowed {
		refunds = "allowed"
	}
	return [][2]string{
		{"insolvency", fmt.Sprintf("%d, %s", i.ID, i.State)}, {"merchant", fmt.Sprintf("%d, %s", i.ChannelID, merchant)},
		{"kind", string(i.Kind)}, {"failed", at(i.TriggerAt)}, {"evidence", i.Evidence},
		{"reported", fmt.Sprintf("by %s, %s", i.ReportedBy, at(i.ReportedAt))}, {"confirmed", confirmed}, {"snapshot", snapshot},
		{"SHA-256", i.Snapshot.SHA256}, {"refunds", refunds}, {"reinstated", at(i.ReinstatedAt)},
	}
}

// insolvencyFiguresCmd shows the figures of an insolvency.
type insolvencyFiguresCmd struct {
	siteFlag
	formFlags
	ID int64  `arg:"" help:"Insolvency id."`
	By string `enum:"total,day,scheme,reason,deadline" default:"total" help:"Split claims by day, scheme or reason, or show the run-off of the deadlines: total, day, scheme, reason or deadline."`
}

// Run prints them.
func (c insolvencyFiguresCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	r, err := p.app.Claims.Report(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	s := figuresBy(r, c.By)
	switch {
	case c.JSON:
		return p.printJSON(reports.ShowInsolvencyReport(r))
	case c.CSV:
		return p.printCSV(s, r.AsOf.String())
	}
	p.printTable(s, "")
	if r.Pending > 0 {
		p.printf("\n%s without a rate: not included.\n", counted(r.Pending, "affected payment"))
	}
	return nil
}

// figuresBy is the sheet of the figures of an insolvency, of its claims by something, or of its run-off.
func figuresBy(r claims.Report, by string) sheet {
	s := sheet{columns: columnsOf(by + " currency claims disputed payable covered paid")}
	add := func(name string, sum claims.Sum) {
		s.rows = append(s.rows, []cell{
			words(name), words(string(r.Currency)), count(sum.Claims), amount(sum.Disputed, r.Currency), amount(sum.Payable, r.Currency),
			amount(sum.Covered, r.Currency), amount(sum.Paid, r.Currency),
		})
	}
	switch by {
	case "day":
		for _, d := range r.Breakdown.Days {
			add(d.Day.String(), d.Sum)
		}
	case "scheme":
		for _, d := range r.Breakdown.Schemes {
			add(string(d.Scheme), d.Sum)
		}
	case "reason":
		for _, d := range r.Breakdown.Reasons {
			add(cmp.Or(string(d.Reason), "payable in full"), d.Sum)
		}
	case "deadline":
		s.columns = columnsOf("day currency payable open")
		for _, x := range r.Breakdown.RunOff {
			s.rows = append(s.rows, []cell{words(x.Day.String()), words(string(r.Currency)), amount(x.Payable, r.Currency), amount(x.Open, r.Currency)})
		}
	default:
		s = totalFigures(r)
	}
	return s
}

func totalFigures(r claims.Report) sheet {
	s := sheet{columns: columnsOf("figure currency amount")}
	for _, line := range []struct {
		name   string
		amount int64
	}{
		{"exposed", r.Exposed}, {"disputed", r.Breakdown.Total.Disputed}, {"payable", r.Payable}, {"covered", r.Covered}, {"paid", r.Paid}, {"overpaid", r.OverpaidTotal()},
		{"reserve", r.Reserve}, {"incurred", r.Incurred()}, {"recovered", r.Recovered.Total},
	} {
		s.rows = append(s.rows, []cell{words(line.name), words(string(r.Currency)), amount(line.amount, r.Currency)})
	}
	return s
}
