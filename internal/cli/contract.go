package cli

import (
	"context"

	"holdfast/internal/api/view"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// bordereauContractCmd groups the commands for contracts with the underwriter.
type bordereauContractCmd struct {
	List bordereauContractListCmd `cmd:"" help:"List the contracts shown in bordereaux."`
	Set  bordereauContractSetCmd  `cmd:"" help:"Set the contract from a given day."`
}

// bordereauContractListCmd lists contracts.
type bordereauContractListCmd struct {
	siteFlag
	JSON bool `name:"json" xor:"form" help:"Print JSON, as returned by the API."`
	CSV  bool `name:"csv" xor:"form" help:"Print CSV."`
	orderFlags
}

// Run prints them.
func (c bordereauContractListCmd) Run(ctx context.Context, p *program) error {
	list := listing[terms.Contract]{
		read: func(actor access.Actor, _ store.Page) (store.List[terms.Contract], error) {
			all, err := p.app.Contracts.List(ctx, actor) // there are few: one page has them all
			return store.List[terms.Contract]{Items: all, Total: int64(len(all))}, err
		},
		shape:   func(c terms.Contract) any { return view.ShowContract(c) },
		columns: columnsOf("id from reference year_of_account commission_ppm by"),
		row: func(o terms.Contract) []cell {
			return []cell{ident(o.ID), dayCell(o.FromDay), words(o.Reference), maybeIdent(o.Year), count(o.CommissionPPM), words(o.RecordedBy)}
		},
		none: "No contract set.",
	}
	if err := c.check(list.columns); err != nil {
		return err
	}
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	return list.print(p, actor, formFlags{JSON: c.JSON, CSV: c.CSV}, c.orderFlags, p.now(actor))
}

// bordereauContractSetCmd adds a contract.
type bordereauContractSetCmd struct {
	siteFlag
	Reference  string  `arg:"" help:"Contract reference, such as the UMR."`
	Year       int64   `placeholder:"YYYY" field:"year_of_account" help:"Year of account (default: none)."`
	Commission string  `default:"0" placeholder:"PERCENT" field:"commission_ppm" help:"Commission on the net premium in percent, such as 12.5 (default: 0)."`
	From       dayFlag `placeholder:"YYYY-MM-DD" help:"Effective from this day (default: today). A month's bordereau shows the contract in effect on the last day of the month."`
}

// Run adds it.
func (c bordereauContractSetCmd) Run(ctx context.Context, p *program) error {
	rate, err := money.ParsePercent(c.Commission)
	if err != nil {
		return errs.WrongField("commission_ppm", "Enter a percentage, such as 12.5.")
	}
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	made, err := p.app.Contracts.Set(ctx, actor, terms.ContractFields{From: c.From.day, Reference: &c.Reference, Year: &c.Year, CommissionPPM: &rate})
	if err != nil {
		return err
	}
	p.printf("Contract %s is in effect from %s\n", made.Reference, made.FromDay)
	return nil
}
