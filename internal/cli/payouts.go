package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"holdfast/internal/api/reports"
	"holdfast/internal/book/claims"
	"holdfast/internal/book/paper"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
	"holdfast/internal/lib/pdf"
	"holdfast/internal/store"
)

// payoutCmd groups the payout commands.
type payoutCmd struct {
	List   payoutListCmd   `cmd:"" help:"List payouts. The service plans them from approved claims."`
	Show   payoutShowCmd   `cmd:"" help:"Show a payout with its claims."`
	PDF    payoutPDFCmd    `cmd:"" name:"pdf" help:"Save a payout as a PDF."`
	Sign   payoutSignCmd   `cmd:"" help:"Sign a planned payout."`
	Paid   payoutPaidCmd   `cmd:"" help:"Record that the bank has paid a signed payout."`
	Failed payoutFailedCmd `cmd:"" help:"Record that a payout was not paid. It is planned again."`
}

// payoutListCmd lists payouts.
type payoutListCmd struct {
	listFlags
	State     []string `placeholder:"STATE" help:"Only these states: planned, signed, paid or failed."`
	Merchants []int64  `placeholder:"ID" field:"channels" help:"Only payouts of these merchants, by id."`
}

// Run prints a line per payout.
func (c payoutListCmd) Run(ctx context.Context, p *program) error {
	states, err := oneOf("state", c.State, claim.PayoutStates)
	if err != nil {
		return err
	}
	return printList(ctx, p, c.listFlags, listing[claims.Payout]{
		read: func(actor access.Actor, page store.Page) (store.List[claims.Payout], error) {
			return p.app.Claims.Payouts(ctx, actor, claims.PayoutFilter{States: states, Channels: c.Merchants}, page)
		},
		shape:   func(o claims.Payout) any { return reports.ShowPayout(o) },
		columns: payoutColumns(),
		table:   "id number channel state currency total beneficiary planned_at signed_by bank_reference",
		row:     payoutCells,
		none:    "No payouts.",
	})
}

func payoutColumns() []column {
	return columnsOf("id number channel state policy_currency value currency total beneficiary planned_at signed_by settled_by bank_reference failure")
}

func payoutCells(o claims.Payout) []cell {
	return []cell{
		ident(o.ID), count(o.Number), ident(o.ChannelID), words(string(o.State)), words(string(o.PolicyCurrency)), amount(o.Value, o.PolicyCurrency),
		words(string(o.Quote.To)), amount(o.Amount, o.Quote.To), words(o.Beneficiary), instant(o.PlannedAt), words(o.SignedBy), words(o.SettledBy),
		words(o.BankReference), words(o.Failure),
	}
}

// payoutShowCmd shows one payout.
type payoutShowCmd struct {
	siteFlag
	formFlags
	ID int64 `arg:"" help:"Payout id."`
}

// Run prints it with its claims.
func (c payoutShowCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	found, err := p.app.Claims.Payout(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		return p.printJSON(reports.ShowPayout(found))
	case c.CSV:
		return p.printCSV(sheet{columns: payoutColumns(), rows: [][]cell{payoutCells(found)}}, civil.FormatInstant(p.now(actor)))
	}
	lines, err := p.app.Claims.PayoutLines(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	p.printFields([][2]string{
		{"payout", fmt.Sprintf("no. %d, %s", found.Number, found.State)}, {"merchant", number(found.ChannelID)},
		{"amount", string(found.Quote.To) + " " + money.Format(found.Amount, found.Quote.To)}, {"beneficiary", found.Beneficiary},
		{"planned", civil.FormatInstant(found.PlannedAt) + " GMT"}, {"signed by", found.SignedBy}, {"bank reference", found.BankReference},
		{"failure", found.Failure},
	})
	p.printf("\n")
	s := sheet{columns: columnsOf("claim currency value")}
	for _, l := range lines {
		s.rows = append(s.rows, []cell{ident(l.ClaimID), words(string(found.PolicyCurrency)), amount(l.Value, found.PolicyCurrency)})
	}
	p.printTable(s, "")
	return nil
}

// payoutPDFCmd writes a payout as a PDF.
type payoutPDFCmd struct {
	siteFlag
	ID     int64  `arg:"" help:"Payout id."`
	Output string `short:"o" required:"" placeholder:"FILE" help:"File to write."`
}

// Run writes the file.
func (c payoutPDFCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	found, err := p.app.Claims.Document(ctx, actor, c.ID, paper.MaxLines)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := paper.WritePayoutPDF(&out, pdf.Fonts{Dir: p.FontDir}, found); err != nil {
		return err
	}
	if err := os.WriteFile(c.Output, out.Bytes(), 0o644); err != nil {
		return fmt.Errorf("cannot write the PDF: %w", err)
	}
	p.printf("Saved payout no. %d to %s\n", found.Number, c.Output)
	return nil
}

// payoutSignCmd signs a payout.
type payoutSignCmd struct {
	siteFlag
	ID int64 `arg:"" help:"Payout id."`
}

// Run signs it.
func (c payoutSignCmd) Run(ctx context.Context, p *program) error {
	return p.settle(ctx, c.Site, func(actor access.Actor) (claims.Payout, error) { return p.app.Claims.Sign(ctx, actor, c.ID) })
}

// payoutPaidCmd records a payment by the bank.
type payoutPaidCmd struct {
	siteFlag
	ID        int64  `arg:"" help:"Payout id."`
	Reference string `required:"" field:"bank_reference" help:"Reference of the bank."`
}

// Run records it.
func (c payoutPaidCmd) Run(ctx context.Context, p *program) error {
	return p.settle(ctx, c.Site, func(actor access.Actor) (claims.Payout, error) {
		return p.app.Claims.Paid(ctx, actor, c.ID, c.Reference)
	})
}

// payoutFailedCmd records that a payout was not paid.
type payoutFailedCmd struct {
	siteFlag
	ID     int64  `arg:"" help:"Payout id."`
	Reason string `required:"" help:"Reason."`
}

// Run records it.
func (c payoutFailedCmd) Run(ctx context.Context, p *program) error {
	return p.settle(ctx, c.Site, func(actor access.Actor) (claims.Payout, error) {
		return p.app.Claims.Failed(ctx, actor, c.ID, c.Reason)
	})
}

// settle changes a payout and prints it.
func (p *program) settle(ctx context.Context, site string, change func(actor access.Actor) (claims.Payout, error)) error {
	actor, err := p.operatorAt(ctx, site)
	if err != nil {
		return err
	}
	o, err := change(actor)
	if err != nil {
		return err
	}
	p.printf("Payout no. %d of %s %s: %s\n", o.Number, o.Quote.To, money.Format(o.Amount, o.Quote.To), o.State)
	return nil
}

// recoveryCmd groups the recovery commands.
type recoveryCmd struct {
	List   recoveryListCmd   `cmd:"" help:"List recoveries."`
	Add    recoveryAddCmd    `cmd:"" help:"Record money recovered after an insolvency."`
	Cancel recoveryCancelCmd `cmd:"" help:"Cancel a recovery that was recorded by mistake."`
}

// recoveryListCmd lists recoveries.
type recoveryListCmd struct {
	listFlags
	Kind         []string `placeholder:"KIND" help:"Only these kinds: reserve, dividend, bond, supplier or scheme."`
	Insolvencies []int64  `placeholder:"ID" help:"Only recoveries of these insolvencies, by id."`
}

// Run prints a line per recovery.
func (c recoveryListCmd) Run(ctx context.Context, p *program) error {
	kinds, err := oneOf("kind", c.Kind, claims.RecoveryKinds)
	if err != nil {
		return err
	}
	return printList(ctx, p, c.listFlags, listing[claims.Recovery]{
		read: func(actor access.Actor, page store.Page) (store.List[claims.Recovery], error) {
			return p.app.Claims.Recoveries(ctx, actor, claims.RecoveryFilter{Kinds: kinds, Insolvencies: c.Insolvencies}, page)
		},
		shape:   func(r claims.Recovery) any { return reports.ShowRecovery(r) },
		columns: columnsOf("id insolvency channel kind date currency total policy_currency value reference recorded_by cancelled_by cancelled_for"),
		row: func(r claims.Recovery) []cell {
			return []cell{
				ident(r.ID), ident(r.InsolvencyID), ident(r.ChannelID), words(string(r.Kind)), dayCell(r.Day), words(string(r.Currency)),
				amount(r.Amount, r.Currency), words(string(r.PolicyCurrency)), amount(r.Value, r.PolicyCurrency), words(r.Reference),
				words(r.RecordedBy), words(r.CancelledBy), words(r.CancelledFor),
			}
		},
		none: "No recoveries.",
	})
}

// recoveryAddCmd records a recovery.
type recoveryAddCmd struct {
	siteFlag
	Insolvency int64               `arg:"" field:"insolvencies" help:"Insolvency id."`
	Kind       claims.RecoveryKind `arg:"" help:"Kind: reserve, dividend, bond, supplier or scheme."`
	Amount     amountFlag          `arg:"" field:"currencies,total" help:"Amount, such as \"5000.00 EUR\"."`
	Date       dayFlag             `placeholder:"YYYY-MM-DD" help:"Date of receipt (default: today)."`
	Reference  string              `help:"Reference, such as the administrator's."`
}

// Run records it.
func (c recoveryAddCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	made, err := p.app.Claims.Recover(ctx, actor, claims.NewRecovery{
		InsolvencyID: &c.Insolvency, Kind: &c.Kind, Day: c.Date.day, Currency: &c.Amount.currency, Amount: &c.Amount.minor, Reference: c.Reference,
	})
	if err != nil {
		return err
	}
	p.printf("Recorded recovery %d of %s %s\n", made.ID, made.Currency, money.Format(made.Amount, made.Currency))
	return nil
}

// recoveryCancelCmd cancels a recovery.
type recoveryCancelCmd struct {
	siteFlag
	ID     int64  `arg:"" help:"Recovery id."`
	Reason string `required:"" help:"Reason."`
}

// Run cancels it.
func (c recoveryCancelCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	made, err := p.app.Claims.Cancel(ctx, actor, c.ID, c.Reason)
	if err != nil {
		return err
	}
	p.printf("Cancelled recovery %d of %s %s\n", made.ID, made.Currency, money.Format(made.Amount, made.Currency))
	return nil
}
