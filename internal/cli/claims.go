package cli

import (
	"context"
	"fmt"

	"holdfast/internal/api/reports"
	"holdfast/internal/api/view"
	"holdfast/internal/book/claims"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
)

// claimCmd groups the claim commands.
type claimCmd struct {
	List     claimListCmd     `cmd:"" help:"List claims. They are made from the disputes of insolvent merchants."`
	Sums     claimSumsCmd     `cmd:"" help:"Add up claims, by currency."`
	Show     claimShowCmd     `cmd:"" help:"Show a claim with its calculation and history."`
	Assess   claimAssessCmd   `cmd:"" help:"Record that a claim was checked and is payable as it is now."`
	Approve  claimApproveCmd  `cmd:"" help:"Approve an assessed claim. The person who assessed it cannot approve it."`
	Reject   claimRejectCmd   `cmd:"" help:"Reject a claim."`
	Withdraw claimWithdrawCmd `cmd:"" help:"Withdraw a claim."`
	Reopen   claimReopenCmd   `cmd:"" help:"Reopen a claim: it is assessed and approved again."`
	Release  claimReleaseCmd  `cmd:"" help:"Record that other protection does not pay, so that the claim no longer waits for it."`
}

// claimFilterFlags select claims.
type claimFilterFlags struct {
	State        []string `placeholder:"STATE" help:"Only these states: open, assessed, approved, paid, rejected or withdrawn."`
	Insolvencies []int64  `placeholder:"ID" help:"Only claims of these insolvencies, by id."`
	Merchants    []int64  `placeholder:"ID" field:"channels" help:"Only claims of these merchants, by id."`
	Reason       []string `placeholder:"REASON" help:"Only claims that are not payable in full for these reasons, such as refunded or late_dispute."`
	ToRepresent  bool     `help:"Only claims that are not payable in full, and whose dispute is still open."`
}

func (c claimFilterFlags) filter() (f claims.Filter, err error) {
	f = claims.Filter{Insolvencies: c.Insolvencies, Channels: c.Merchants, ToRepresent: c.ToRepresent}
	if f.States, err = oneOf("state", c.State, claim.States); err != nil {
		return f, err
	}
	f.Reasons, err = oneOf("reason", c.Reason, claim.Reasons)
	return f, err
}

// claimSumsCmd adds up claims.
type claimSumsCmd struct {
	siteFlag
	formFlags
	claimFilterFlags
}

// Run prints a line per currency.
func (c claimSumsCmd) Run(ctx context.Context, p *program) error {
	filter, err := c.filter()
	if err != nil {
		return err
	}
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	list, err := p.app.Claims.Sums(ctx, actor, filter)
	if err != nil {
		return err
	}
	s := sheet{columns: columnsOf("currency claims disputed payable represent")}
	for _, one := range list {
		s.rows = append(s.rows, []cell{
			words(string(one.Currency)), count(one.Claims), amount(one.Disputed, one.Currency), amount(one.Payable, one.Currency),
			amount(one.Represent, one.Currency),
		})
	}
	switch {
	case c.JSON:
		return p.printJSON(view.Each(list, reports.ShowClaimSums))
	case c.CSV:
		return p.printCSV(s, civil.FormatInstant(p.now(actor)))
	}
	if len(s.rows) == 0 {
		p.printf("No claims.\n")
		return nil
	}
	p.printTable(s, "")
	return nil
}

// claimListCmd lists claims.
type claimListCmd struct {
	listFlags
	claimFilterFlags
}

// Run prints a line per claim.
func (c claimListCmd) Run(ctx context.Context, p *program) error {
	filter, err := c.filter()
	if err != nil {
		return err
	}
	return printList(ctx, p, c.listFlags, listing[claims.Claim]{
		read: func(actor access.Actor, page store.Page) (store.List[claims.Claim], error) {
			return p.app.Claims.List(ctx, actor, filter, page)
		},
		shape:   func(c claims.Claim) any { return reports.ShowClaim(c) },
		columns: claimColumns(),
		table:   "id insolvency booking source case_id date state currency disputed payable reason policy_currency covered paid",
		row:     claimCells,
		none:    "No claims.",
	})
}

func claimColumns() []column {
	return columnsOf("id insolvency channel transaction booking source case_id date state currency disputed loss payable represent reason " +
		"policy_currency value covered paid overpaid released assessed_by")
}

func claimCells(c claims.Claim) []cell {
	value := cell{figure: true} // unknown until there is a rate
	if c.Priced {
		value = amount(c.Value, c.PolicyCurrency)
	}
	return []cell{
		ident(c.ID), ident(c.InsolvencyID), ident(c.ChannelID), ident(c.TransactionID), ident(c.BookingID), words(c.Source), words(c.CaseID),
		dayCell(c.FirstDay), words(string(c.State)), words(string(c.Currency)), amount(c.Disputed, c.Currency), amount(c.Loss, c.Currency),
		amount(c.Payable, c.Currency), amount(c.Represent, c.Currency), words(string(c.Reason)), words(string(c.PolicyCurrency)), value,
		amount(c.Covered, c.PolicyCurrency), amount(c.Paid, c.PolicyCurrency), amount(c.Overpaid, c.PolicyCurrency), yesNo(c.Released),
		words(c.AssessedByName),
	}
}

// claimShowCmd shows one claim.
type claimShowCmd struct {
	siteFlag
	formFlags
	ID int64 `arg:"" help:"Claim id."`
}

// Run prints it.
func (c claimShowCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	found, err := p.app.Claims.Get(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		return p.printJSON(reports.ShowClaim(found))
	case c.CSV:
		return p.printCSV(sheet{columns: claimColumns(), rows: [][]cell{claimCells(found)}}, civil.FormatInstant(p.now(actor)))
	}
	explained, err := p.app.Claims.Explain(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	history, err := p.app.Claims.History(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	in := func(minor int64, c money.Currency) string { return string(c) + " " + money.Format(minor, c) }
	duplicate, paidBack := "", "" // printed only if the traveller says so
	if found.MayBeDuplicate() {
		duplicate = "yes"
	}
	if found.Note.PaidBack > 0 {
		paidBack = in(found.Note.PaidBack, found.Currency)
	}
	p.printFields([][2]string{
		{"claim", fmt.Sprintf("%d, %s", found.ID, found.State)}, {"insolvency", number(found.InsolvencyID)}, {"merchant", number(found.ChannelID)},
		{"booking", number(found.BookingID)}, {"payment", number(found.TransactionID)}, {"dispute", dispute.CaseText(found.Source, found.CaseID)},
		{"disputed", in(found.Disputed, found.Currency)}, {"payable", in(found.Payable, found.Currency)}, {"not payable because", string(found.Reason)},
		{"covered", in(found.Covered, found.PolicyCurrency)}, {"paid", in(found.Paid, found.PolicyCurrency)}, {"assessed by", found.AssessedByName},
		{"traveller asked", string(found.Note.Asked)}, {"traveller paid back", paidBack}, {"may be a duplicate", duplicate},
	})
	p.printf("\n%s\n\n", explained.Summary)
	for _, s := range explained.Steps {
		p.printf("  %-14s %s\n", s.Name, s.Text)
	}
	p.printf("\n")
	s := sheet{columns: columnsOf("at action state currency payable by reason")}
	for _, h := range history {
		s.rows = append(s.rows, []cell{instant(h.At), words(h.Step()), words(string(h.State)), words(string(found.Currency)),
			amount(h.Payable, found.Currency), words(h.By), words(h.Reason)})
	}
	p.printTable(s, "")
	return nil
}

// claimFlags are the flags of each action on a claim.
type claimFlags struct {
	siteFlag
	ID     int64  `arg:"" help:"Claim id."`
	Reason string `help:"Reason."`
}

func (c claimFlags) act(
	ctx context.Context, p *program,
	do func(r *claims.Claims, ctx context.Context, actor access.Actor, id int64, reason string) (claims.Claim, error),
) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	changed, err := do(p.app.Claims, ctx, actor, c.ID, c.Reason)
	if err != nil {
		return err
	}
	p.printf("Claim %d: %s, payable %s %s\n", changed.ID, changed.State, changed.Currency, money.Format(changed.Payable, changed.Currency))
	return nil
}

// claimAssessCmd assesses a claim.
type claimAssessCmd struct{ claimFlags }

// Run assesses it.
func (c claimAssessCmd) Run(ctx context.Context, p *program) error {
	return c.act(ctx, p, (*claims.Claims).Assess)
}

// claimApproveCmd approves a claim.
type claimApproveCmd struct{ claimFlags }

// Run approves it.
func (c claimApproveCmd) Run(ctx context.Context, p *program) error {
	return c.act(ctx, p, (*claims.Claims).Approve)
}

// claimRejectCmd rejects a claim.
type claimRejectCmd struct{ claimFlags }

// Run rejects it.
func (c claimRejectCmd) Run(ctx context.Context, p *program) error {
	return c.act(ctx, p, (*claims.Claims).Reject)
}

// claimWithdrawCmd withdraws a claim.
type claimWithdrawCmd struct{ claimFlags }

// Run withdraws it.
func (c claimWithdrawCmd) Run(ctx context.Context, p *program) error {
	return c.act(ctx, p, (*claims.Claims).Withdraw)
}

// claimReopenCmd reopens a claim.
type claimReopenCmd struct{ claimFlags }

// Run reopens it.
func (c claimReopenCmd) Run(ctx context.Context, p *program) error {
	return c.act(ctx, p, (*claims.Claims).Reopen)
}

// claimReleaseCmd releases a claim.
type claimReleaseCmd struct{ claimFlags }

// Run releases it.
func (c claimReleaseCmd) Run(ctx context.Context, p *program) error {
	return c.act(ctx, p, (*claims.Claims).Release)
}
