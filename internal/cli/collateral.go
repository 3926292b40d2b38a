package cli

import (
	"context"

	"holdfast/internal/api/view"
	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// collateralCmd groups the collateral commands.
type collateralCmd struct {
	List collateralListCmd `cmd:"" help:"List the collateral held."`
	Add  collateralAddCmd  `cmd:"" help:"Record collateral, or correct a record."`
}

// collateralListCmd lists collateral.
type collateralListCmd struct {
	listFlags
	AsOf    dayFlag `name:"as-of" placeholder:"YYYY-MM-DD" help:"As of the end of this day (default: today)."`
	History bool    `help:"List all records, including corrections."`
}

// Run prints it.
func (c collateralListCmd) Run(ctx context.Context, p *program) error {
	return printList(ctx, p, c.listFlags, listing[exposure.Collateral]{
		read: func(actor access.Actor, page store.Page) (store.List[exposure.Collateral], error) {
			if c.History {
				return p.app.Collaterals.List(ctx, actor, nil, page)
			}
			return p.app.Collaterals.Held(ctx, actor, ledger.Moment{AsOf: c.AsOf.day}, errs.Problems{}, nil, page)
		},
		shape:   func(c exposure.Collateral) any { return view.ShowCollateral(c) },
		columns: columnsOf("id record kind channel currency amount from to reference"),
		row: func(r exposure.Collateral) []cell {
			return []cell{
				ident(r.ID), ident(r.RecordID), words(string(r.Kind)), ident(r.ChannelID), words(string(r.Currency)),
				amount(r.Amount, r.Currency), dayCell(r.FromDay), dayCell(r.ToDay), words(r.Reference),
			}
		},
		none: "No collateral.",
	})
}

// collateralAddCmd records collateral.
type collateralAddCmd struct {
	siteFlag
	Kind      exposure.CollateralKind `arg:"" help:"Kind: cash, guarantee, rolling-reserve, insurance or other."`
	Amount    amountFlag              `arg:"" field:"currency" help:"Amount, such as \"5000.00 EUR\". In a correction, 0 cancels the record."`
	Merchant  *int64                  `placeholder:"ID" field:"channels" help:"Only covers losses from this merchant (default: all merchants)."`
	From      dayFlag                 `placeholder:"YYYY-MM-DD" help:"Held from this day (default: today)."`
	To        dayFlag                 `placeholder:"YYYY-MM-DD" help:"Held until the end of this day (default: no end date)."`
	Reference string                  `help:"Contract or account reference."`
	Note      string                  `help:"Note."`
	Corrects  *int64                  `placeholder:"ID" help:"Id of the record to correct."`
}

// Run records it.
func (c collateralAddCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	in := ledger.CollateralFields{
		RecordID: c.Corrects, Kind: &c.Kind, ChannelID: c.Merchant, Currency: &c.Amount.currency, Amount: &c.Amount.minor, From: c.From.day, To: c.To.day,
		Reference: c.Reference, Note: c.Note,
	}
	made, err := p.app.Collaterals.Add(ctx, actor, in)
	if err != nil {
		return err
	}
	p.printf("Recorded collateral %d: %s %s from %s\n", made.ID, made.Currency, money.Format(made.Amount, made.Currency), made.FromDay)
	return nil
}
