package main

import (
	"context"
	"fmt"
	"holdfast/internal/ledger"
	"strings"

	"holdfast/internal/api"
	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// collateralCmd groups what can be done with collateral.
type collateralCmd struct {
	List collateralListCmd `cmd:"" help:"Show what is held."`
	Add  collateralAddCmd  `cmd:"" help:"Record collateral, or correct a record."`
}

// collateralListCmd lists collateral.
type collateralListCmd struct {
	listing
	AsOf    dayFlag `name:"as-of" placeholder:"Y-m-d" help:"At the end of this day (default: today)."`
	History bool    `help:"All rows ever written, corrections included."`
}

// Run prints it.
func (c collateralListCmd) Run(ctx context.Context, p *program) error {
	return printList(ctx, p, c.listing, func(actor auth.Actor, page travel.Page) (travel.List[protection.Collateral], error) {
		if c.History {
			return p.app.Collaterals.List(ctx, actor, nil, page)
		}
		return p.app.Collaterals.Held(ctx, actor, ledger.Moment{AsOf: c.AsOf.day}, fault.Problems{}, nil, page)
	}, api.ShowCollateral, "ID\tRECORD\tKIND\tCHANNEL\tAMOUNT\tFROM\tTO\tREFERENCE", func(r protection.Collateral) string {
		to := ""
		if r.ToDay != civil.NoDay {
			to = r.ToDay.String()
		}
		return fmt.Sprintf("%d\t%d\t%s\t%s\t%s %s\t%s\t%s\t%s", r.ID, r.RecordID, r.Kind, orBlank(r.ChannelID), r.Currency,
			money.Format(r.Amount, r.Currency), r.FromDay, to, r.Reference)
	})
}

// collateralAddCmd records collateral.
type collateralAddCmd struct {
	siteFlag
	Kind      protection.CollateralKind `arg:"" help:"cash, guarantee, rolling-reserve, insurance or other."`
	Currency  string                    `arg:"" help:"Currency, ISO 4217."`
	Amount    int64                     `arg:"" help:"Minor units of the currency; 0 takes a record back."`
	Channel   *int64                    `placeholder:"ID" help:"For this channel's losses alone."`
	From      dayFlag                   `placeholder:"Y-m-d" help:"Held from this day (default: today)."`
	To        dayFlag                   `placeholder:"Y-m-d" help:"To this day, included (default: until further notice)."`
	Reference string                    `help:"Of the contract or account."`
	Note      string                    `help:"Whatever is good to know."`
	Corrects  *int64                    `placeholder:"ID" help:"The record that is corrected."`
}

// Run records it.
func (c collateralAddCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	in := ledger.CollateralFields{
		RecordID: c.Corrects, Kind: &c.Kind, ChannelID: c.Channel, Amount: &c.Amount, From: c.From.day, To: c.To.day,
		Reference: c.Reference, Note: c.Note,
	}
	currency, err := money.ParseCurrency(strings.ToUpper(c.Currency))
	if err != nil {
		in.Problems.Wrong("currency", "%v.", err)
	}
	in.Currency = &currency
	made, err := p.app.Collaterals.Add(ctx, actor, in)
	if err != nil {
		return err
	}
	p.printf("collateral %d is recorded: %s %s from %s on\n", made.ID, made.Currency, money.Format(made.Amount, made.Currency), made.FromDay)
	return nil
}
