package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"holdfast/internal/api/view"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
)

// merchantCmd groups the merchant commands.
type merchantCmd struct {
	Create  merchantCreateCmd  `cmd:"" help:"Create a merchant in any mode."`
	List    merchantListCmd    `cmd:"" help:"List a site's merchants."`
	Show    merchantShowCmd    `cmd:"" help:"Show a merchant, with the reason if it is locked."`
	Mode    merchantModeCmd    `cmd:"" help:"Change a merchant's mode."`
	Set     merchantSetCmd     `cmd:"" help:"Update a merchant, including fields that only operators can change."`
	Gateway merchantGatewayCmd `cmd:"" help:"Set, show or remove a merchant's processor."`
	Secret  merchantSecretCmd  `cmd:"" help:"Show or rotate the secret that signs a merchant's auth strings."`
}

// merchantCreateCmd creates a merchant.
type merchantCreateCmd struct {
	siteFlag
	Name     string               `arg:"" help:"Merchant name."`
	Currency string               `required:"" field:"currencies" placeholder:"CODE" help:"Base currency, such as EUR."`
	Mode     merchant.AccountMode `default:"test" field:"account_mode" placeholder:"MODE" help:"Mode: test (default), draft, protection-only (live with the server-to-server profile), affiliate or closed."`
}

// Run creates it.
func (c merchantCreateCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	in := merchant.ChannelFields{Name: &c.Name, Mode: &c.Mode}
	setCurrency(&in, c.Currency)
	made, err := p.app.Channels.Create(ctx, actor, in)
	if err != nil {
		return err
	}
	if made.Proposal != nil {
		return p.waits(*made.Proposal)
	}
	p.printf("Created merchant %d, %s: %s, %s\n", made.ID, made.Name, made.Currency, made.Mode)
	return nil
}

func setCurrency(in *merchant.ChannelFields, code string) {
	currency, err := money.ParseCurrency(strings.ToUpper(code))
	if err != nil {
		in.Problems.Wrong("currencies", "%v.", err)
		return
	}
	in.Currency = &currency
}

// merchantListCmd lists merchants.
type merchantListCmd struct{ listFlags }

// Run prints them.
func (c merchantListCmd) Run(ctx context.Context, p *program) error {
	return printList(ctx, p, c.listFlags, listing[merchant.Channel]{
		read: func(actor access.Actor, page store.Page) (store.List[merchant.Channel], error) {
			return p.app.Channels.List(ctx, actor, merchants.ChannelFilter{}, page)
		},
		shape:   func(c merchant.Channel) any { return view.ShowChannel(c) },
		columns: channelColumns(),
		row:     channelCells,
		none:    "No merchants.",
	})
}

func channelColumns(more ...string) []column {
	return columnsOf("id name currency mode status type other_protection external_id " + strings.Join(more, " "))
}

func channelCells(c merchant.Channel) []cell {
	return []cell{
		ident(c.ID), words(c.Name), words(string(c.Currency)), words(string(c.Mode)), words(c.Status()),
		words(c.AccountType), words(string(c.OtherProtection)), words(c.ExternalID),
	}
}

// merchantShowCmd shows a merchant.
type merchantShowCmd struct {
	siteFlag
	formFlags
	ID int64 `arg:"" help:"Merchant id."`
}

// Run prints it.
func (c merchantShowCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	found, err := p.app.Channels.Get(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	var insolventFrom time.Time
	insolvent := ""
	if found.Insolvency.InForce() {
		insolventFrom = found.Insolvency.TriggerAt
		insolvent = civil.FormatInstant(insolventFrom) + " GMT"
	}
	switch {
	case c.JSON:
		return p.printJSON(view.ShowChannel(found))
	case c.CSV:
		shown := sheet{columns: channelColumns("lock_reason", "insolvent_from", "created"), rows: [][]cell{
			append(channelCells(found), words(found.LockReason), instant(insolventFrom), instant(found.CreatedAt)),
		}}
		return p.printCSV(shown, civil.FormatInstant(p.now(actor)))
	}
	p.printFields([][2]string{
		{"merchant", fmt.Sprintf("%d, %s", found.ID, found.Name)},
		{"mode", string(found.Mode)}, {"status", found.Status()}, {"insolvent from", insolvent},
		{"lock reason", found.LockReason},
		{"currency", string(found.Currency)}, {"type", found.AccountType}, {"other protection", string(found.OtherProtection)},
		{"statements", found.StatementPeriod}, {"capture within", number(found.AuthorisationDays) + " days"}, {"language", found.Language},
		{"e-mail", found.PrimaryMail}, {"on receipts", found.ReceiptLabel}, {"external id", found.ExternalID},
		{"created", civil.FormatInstant(found.CreatedAt) + " GMT"},
	})
	return nil
}

// merchantModeCmd changes a merchant's mode. Not every transition is allowed.
type merchantModeCmd struct {
	siteFlag
	ID     int64                `arg:"" help:"Merchant id."`
	Mode   merchant.AccountMode `arg:"" field:"account_mode" help:"New mode: protection-only (live with the server-to-server profile), affiliate or closed."`
	Reason string               `help:"Reason, shown to the operator who approves the change."`
}

// Run sets the mode.
func (c merchantModeCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	changed, err := p.app.Channels.Change(ctx, actor, c.ID, merchant.ChannelFields{Mode: &c.Mode, Reason: c.Reason})
	if err != nil {
		return err
	}
	if changed.Proposal != nil {
		return p.waits(*changed.Proposal)
	}
	p.printf("Merchant %d, %s, is now %s\n", changed.ID, changed.Name, changed.Mode)
	return nil
}

// merchantSetCmd updates a merchant. Fields without a flag do not change.
type merchantSetCmd struct {
	siteFlag
	ID                int64                     `arg:"" help:"Merchant id."`
	Name              *string                   `help:"Merchant name."`
	Currency          *string                   `field:"currencies" placeholder:"CODE" help:"Base currency. Cannot be changed after the first booking."`
	Language          *string                   `help:"Language of the merchant's statements, such as enGB."`
	PrimaryMail       *string                   `placeholder:"ADDRESSES" help:"E-mail addresses that get copies of receipts, separated by commas."`
	MailBCC           *bool                     `name:"mail-bcc" field:"mail_bcc_transactional_mails" negatable:"" help:"Send copies of receipts to the --primary-mail addresses."`
	ReceiptLabel      *string                   `placeholder:"NAME" help:"Company name on receipts."`
	ExternalID        *string                   `name:"external-id" placeholder:"ID" help:"Merchant's id in your own systems."`
	OtherProtection   *merchant.OtherProtection `placeholder:"VALUE" help:"Other protection for travellers: none, bond, trust_account, insurance or scheme."`
	AuthorisationDays *int64                    `placeholder:"DAYS" help:"Days within which a new authorisation can be captured, 1 to 90."`
	AccountType       *string                   `placeholder:"TYPE" help:"Account type: protected-processing or trust."`
	ProtectionType    *string                   `placeholder:"TYPE" help:"Protection type: trust-travel or svcu-management."`
	Status            *string                   `field:"channel_status" placeholder:"STATUS" help:"Value of channel_status. An empty value makes it follow the mode again."`
	StatementPeriod   *string                   `placeholder:"PERIOD" help:"Statement period: month, biweek or week."`
	Locked            *bool                     `negatable:"" help:"Lock the merchant: payments logged while it is locked are not protected. Unlocking a protected merchant takes two people."`
	Suppliers         *[]int64                  `placeholder:"IDS" help:"Ids of the merchant's suppliers, such as 3,17."`
	Reason            string                    `field:"lock_reason" help:"Reason for the lock, shown with the merchant. For a change that needs approval: shown to the operator who approves it."`

	BeneficiaryID      *string    `name:"beneficiary-id" placeholder:"ID" help:"Id of the account that receives payouts."`
	SettlementCurrency *string    `placeholder:"CODE" help:"Payout currency. An empty value means the base currency."`
	PayoutMinimum      amountFlag `placeholder:"AMOUNT" help:"Minimum payout, in the payout currency, such as \"50.00 EUR\"."`

	ServerToServer    *bool   `negatable:"" help:"Allow card payments. This flag and those below require the server-to-server profile."`
	CardholderPresent *bool   `negatable:"" help:"Allow payments with the cardholder present."`
	MailFailures      *bool   `negatable:"" help:"E-mail the --primary-mail addresses about failed transactions."`
	ChargebackMail    *string `placeholder:"ADDRESSES" help:"E-mail addresses to notify about chargebacks, separated by commas."`
	Descriptor        *string `placeholder:"TEXT" help:"Text on cardholders' bank statements. An empty value removes it."`
}

// Run changes it.
func (c merchantSetCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	in := merchant.ChannelFields{
		Name: c.Name, Language: c.Language, PrimaryMail: c.PrimaryMail, MailBCC: c.MailBCC, ReceiptLabel: c.ReceiptLabel,
		ExternalID: c.ExternalID, OtherProtection: c.OtherProtection, AuthorisationDays: c.AuthorisationDays, AccountType: c.AccountType, ProtectionType: c.ProtectionType, Status: c.Status,
		StatementPeriod: c.StatementPeriod, Locked: c.Locked, Suppliers: c.Suppliers, Reason: c.Reason,
		ProcessorFields: merchant.ProcessorFields{
			ServerToServer: c.ServerToServer, CardholderPresent: c.CardholderPresent, MailFailures: c.MailFailures,
			ChargebackMail: c.ChargebackMail, BeneficiaryID: c.BeneficiaryID, SettlementCurrency: c.SettlementCurrency,
			PayoutMinimum: c.PayoutMinimum.pointer(), Descriptor: c.Descriptor,
		},
	}
	if c.Locked != nil && *c.Locked && c.Reason != "" {
		in.LockReason = &c.Reason
	}
	if c.Currency != nil {
		setCurrency(&in, *c.Currency)
	}
	c.checkProfile(p, &in)
	if err := c.checkPayout(ctx, p, actor, &in); err != nil {
		return err
	}
	changed, err := p.app.Channels.Change(ctx, actor, c.ID, in)
	if err != nil {
		return err
	}
	if changed.Proposal != nil {
		return p.waits(*changed.Proposal)
	}
	p.printf("Updated merchant %d, %s\n", changed.ID, changed.Name)
	return nil
}

// checkProfile rejects flags that have no effect in this deployment's profile.
func (c merchantSetCmd) checkProfile(p *program, in *merchant.ChannelFields) {
	if merchant.Profile(p.Profile).Processes() {
		return
	}
	for field, given := range map[string]bool{
		"server_to_server": c.ServerToServer != nil, "cardholder_present": c.CardholderPresent != nil,
		"mail_failures": c.MailFailures != nil, "chargeback_mail": c.ChargebackMail != nil,
		"descriptor": c.Descriptor != nil,
	} {
		if given {
			in.Problems.Wrong(field, "This requires --profile server-to-server.")
		}
	}
}

// checkPayout rejects a minimum payout in a currency other than the merchant's payout currency after the change.
func (c merchantSetCmd) checkPayout(ctx context.Context, p *program, actor access.Actor, in *merchant.ChannelFields) error {
	if !c.PayoutMinimum.given() {
		return nil
	}
	channel, err := p.app.Channels.Get(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	if in.Currency != nil {
		channel.Currency = *in.Currency
	}
	if c.SettlementCurrency != nil {
		channel.SettlementCurrency = *c.SettlementCurrency
	}
	if currency := channel.Settlement(); currency != string(c.PayoutMinimum.currency) {
		in.Problems.Wrong("payout_minimum", "This merchant's payouts are in %s, but %s is not.", currency, c.PayoutMinimum)
	}
	return nil
}
