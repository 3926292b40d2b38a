package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// channelCmd groups what the operator does with channels.
type channelCmd struct {
	Create  channelCreateCmd  `cmd:"" help:"Create a channel, in any mode."`
	List    channelListCmd    `cmd:"" help:"List the channels of a site."`
	Mode    channelModeCmd    `cmd:"" help:"Move a channel to another mode."`
	Set     channelSetCmd     `cmd:"" help:"Set fields of a channel, the operator's own included."`
	Gateway channelGatewayCmd `cmd:"" help:"Set at which processor a channel takes payments, or show it."`
	Secret  channelSecretCmd  `cmd:"" help:"Show the secret that signs for a channel, or make a new one."`
}

// siteFlag names the site that a command works on.
type siteFlag struct {
	Site string `required:"" placeholder:"PATH" help:"Path of the site."`
}

// channelCreateCmd creates a channel.
type channelCreateCmd struct {
	siteFlag
	Name     string             `arg:"" help:"What the channel is called."`
	Currency string             `required:"" placeholder:"CODE" help:"Base currency, ISO 4217."`
	Mode     travel.AccountMode `default:"test" placeholder:"MODE" help:"test (the default), draft, protection-only or live (by the profile), affiliate or closed."`
}

// Run creates it.
func (c channelCreateCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	in := travel.ChannelFields{Name: &c.Name, Mode: &c.Mode}
	setCurrency(&in, c.Currency)
	made, err := p.app.Channels.Create(ctx, actor, in)
	if err != nil {
		return err
	}
	if made.Proposal != nil {
		p.waits(c.Site, *made.Proposal)
		return nil
	}
	p.printf("channel %d, %s, is created: %s, %s\n", made.ID, made.Name, made.Currency, made.Mode)
	return nil
}

func setCurrency(in *travel.ChannelFields, code string) {
	currency, err := money.ParseCurrency(strings.ToUpper(code))
	if err != nil {
		in.Problems.Wrong("currencies", "%v.", err)
		return
	}
	in.Currency = &currency
}

// channelListCmd lists channels.
type channelListCmd struct {
	siteFlag
}

// Run prints them in order of their ids.
func (c channelListCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "ID\tNAME\tCURRENCY\tMODE\tSTATUS\tTYPE\tEXTERNAL ID")
	err = everyPage(func(page travel.Page) (travel.List[travel.Channel], error) {
		return p.app.Channels.List(ctx, actor, travel.ChannelFilter{}, page)
	}, func(ch travel.Channel) {
		fmt.Fprintf(out, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", ch.ID, ch.Name, ch.Currency, ch.Mode, ch.Status(), ch.AccountType, ch.ExternalID)
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// everyPage goes through a list page by page, in order of ids, until one is not full.
func everyPage[T any](read func(travel.Page) (travel.List[T], error), show func(T)) error {
	const size = 100
	for number := 1; ; number++ {
		list, err := read(travel.Page{Number: number, Size: size, Offset: -1, OrderBy: "id"})
		if err != nil {
			return err
		}
		for _, item := range list.Items {
			show(item)
		}
		if len(list.Items) < size {
			return nil
		}
	}
}

// channelModeCmd moves a channel along the table of modes.
type channelModeCmd struct {
	siteFlag
	ID     int64              `arg:"" help:"Id of the channel."`
	Mode   travel.AccountMode `arg:"" help:"The new mode: protection-only or live (by the profile), affiliate or closed."`
	Reason string             `help:"For the operator who approves it."`
}

// Run sets the mode.
func (c channelModeCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	changed, err := p.app.Channels.Change(ctx, actor, c.ID, travel.ChannelFields{Mode: &c.Mode, Reason: c.Reason})
	if err != nil {
		return err
	}
	if changed.Proposal != nil {
		p.waits(c.Site, *changed.Proposal)
		return nil
	}
	p.printf("channel %d, %s, is %s\n", changed.ID, changed.Name, changed.Mode)
	return nil
}

// channelSetCmd changes a channel. Flags that are not given leave their field as it is.
type channelSetCmd struct {
	siteFlag
	ID              int64    `arg:"" help:"Id of the channel."`
	Name            *string  `help:"What the channel is called."`
	Currency        *string  `placeholder:"CODE" help:"Base currency, while there are no bookings."`
	Language        *string  `help:"Language of mail receipts, such as enGB."`
	PrimaryMail     *string  `placeholder:"ADDRESSES" help:"Comma-separated addresses for copies of receipts."`
	MailBCC         *bool    `name:"mail-bcc" negatable:"" help:"Whether receipts are copied to them."`
	ReceiptLabel    *string  `placeholder:"NAME" help:"Company name in receipts."`
	ExternalID      *string  `name:"external-id" placeholder:"ID" help:"The customer's identifier of the channel."`
	AccountType     *string  `placeholder:"TYPE" help:"protected-processing or trust."`
	ProtectionType  *string  `placeholder:"TYPE" help:"trust-travel or svcu-management."`
	Status          *string  `placeholder:"STATUS" help:"channel_status; an empty one follows the mode again."`
	StatementPeriod *string  `placeholder:"PERIOD" help:"month, biweek or week."`
	Locked          *bool    `negatable:"" help:"Whether the channel is locked: what is logged then is not protected. To unlock one that is protected takes two people."`
	Suppliers       *[]int64 `placeholder:"IDS" help:"Ids of the linked suppliers, comma-separated."`
	Reason          string   `help:"For the operator who approves it, where that is needed."`

	ServerToServer     *bool   `negatable:"" help:"Whether the channel takes payments by itself. This and what follows are of the server-to-server profile."`
	CardholderPresent  *bool   `negatable:"" help:"Whether cardholder-present is allowed."`
	MailFailures       *bool   `negatable:"" help:"Whether the primary mail is told of failed transactions."`
	ChargebackMail     *string `placeholder:"ADDRESSES" help:"Comma-separated addresses that are told of chargebacks."`
	BeneficiaryID      *string `name:"beneficiary-id" placeholder:"ID" help:"Who gets payouts."`
	SettlementCurrency *string `placeholder:"CODE" help:"Currency of payouts; an empty one follows the base currency."`
	PayoutMinimum      *int64  `placeholder:"AMOUNT" help:"Least value of a payout, in minor units of that currency."`
	Descriptor         *string `placeholder:"TEXT" help:"What stands on cardholders' statements; an empty one takes it away."`
}

// Run changes it.
func (c channelSetCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	in := travel.ChannelFields{
		Name: c.Name, Language: c.Language, PrimaryMail: c.PrimaryMail, MailBCC: c.MailBCC, ReceiptLabel: c.ReceiptLabel,
		ExternalID: c.ExternalID, AccountType: c.AccountType, ProtectionType: c.ProtectionType, Status: c.Status,
		StatementPeriod: c.StatementPeriod, Locked: c.Locked, Suppliers: c.Suppliers, Reason: c.Reason,
		Processing: travel.ProcessorFields{
			ServerToServer: c.ServerToServer, CardholderPresent: c.CardholderPresent, MailFailures: c.MailFailures,
			ChargebackMail: c.ChargebackMail, BeneficiaryID: c.BeneficiaryID, SettlementCurrency: c.SettlementCurrency,
			PayoutMinimum: c.PayoutMinimum, Descriptor: c.Descriptor,
		},
	}
	if c.Currency != nil {
		setCurrency(&in, *c.Currency)
	}
	changed, err := p.app.Channels.Change(ctx, actor, c.ID, in)
	if err != nil {
		return err
	}
	if changed.Proposal != nil {
		p.waits(c.Site, *changed.Proposal)
		return nil
	}
	p.printf("channel %d, %s, is changed\n", changed.ID, changed.Name)
	return nil
}
