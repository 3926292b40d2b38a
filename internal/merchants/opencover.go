package merchants

import (
	"encoding/json"
	"fmt"

	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// openCover is what a proposal to open cover asks for: a channel's fields, by the names of the wire.
type openCover struct {
	ChannelID       int64               `json:"channel_id,omitempty"` // 0: a new channel
	Name            *string             `json:"name,omitempty"`
	Currency        *money.Currency     `json:"currencies,omitempty"`
	Mode            *travel.AccountMode `json:"account_mode,omitempty"`
	Language        *string             `json:"language,omitempty"`
	PrimaryMail     *string             `json:"primary_mail,omitempty"`
	MailBCC         *bool               `json:"mail_bcc_transactional_mails,omitempty"`
	ReceiptLabel    *string             `json:"receipt_label,omitempty"`
	ExternalID      *string             `json:"external_id,omitempty"`
	AccountType     *string             `json:"account_type,omitempty"`
	ProtectionType  *string             `json:"protection_type,omitempty"`
	Status          *string             `json:"channel_status,omitempty"`
	StatementPeriod *string             `json:"statement_period,omitempty"`
	Locked          *bool               `json:"locked,omitempty"`
	Suppliers       *[]int64            `json:"suppliers,omitempty"`
	openProcessing
	File json.RawMessage `json:"file,omitempty"` // cover is opened by the import of a file instead
}

// openProcessing is the part of openCover that only channels have that process. The tokenizer's key is not in it: a
// proposal is read by many, and kept for ever.
type openProcessing struct {
	MailFailures       *bool   `json:"mail_failures,omitempty"`
	ChargebackMail     *string `json:"chargeback_mail,omitempty"`
	TokenizerID        *string `json:"tokenizer_id,omitempty"`
	CardholderPresent  *bool   `json:"cardholder_present,omitempty"`
	ServerToServer     *bool   `json:"server_to_server,omitempty"`
	BeneficiaryID      *string `json:"beneficiary_id,omitempty"`
	SettlementCurrency *string `json:"settlement_currency,omitempty"`
	PayoutMinimum      *int64  `json:"payout_minimum,omitempty"`
	Descriptor         *string `json:"descriptor,omitempty"`
}

// channelResult is what opening cover gives.
type channelResult struct {
	ChannelID int64 `json:"channel_id"`
}

func openCoverOf(id int64, in travel.ChannelFields) openCover {
	asked := openCover{
		ChannelID: id, Name: in.Name, Currency: in.Currency, Mode: in.Mode, Language: in.Language,
		PrimaryMail: in.PrimaryMail, MailBCC: in.MailBCC, ReceiptLabel: in.ReceiptLabel, ExternalID: in.ExternalID,
		AccountType: in.AccountType, ProtectionType: in.ProtectionType, Status: in.Status,
		StatementPeriod: in.StatementPeriod, Locked: in.Locked, Suppliers: in.Suppliers,
	}
	p := in.Processing
	asked.openProcessing = openProcessing{
		MailFailures: p.MailFailures, ChargebackMail: p.ChargebackMail, TokenizerID: p.TokenizerID,
		CardholderPresent: p.CardholderPresent, ServerToServer: p.ServerToServer, BeneficiaryID: p.BeneficiaryID,
		SettlementCurrency: p.SettlementCurrency, PayoutMinimum: p.PayoutMinimum, Descriptor: p.Descriptor,
	}
	return asked
}

func (o openCover) fields() travel.ChannelFields {
	in := travel.ChannelFields{
		Name: o.Name, Currency: o.Currency, Mode: o.Mode, Language: o.Language, PrimaryMail: o.PrimaryMail,
		MailBCC: o.MailBCC, ReceiptLabel: o.ReceiptLabel, ExternalID: o.ExternalID, AccountType: o.AccountType,
		ProtectionType: o.ProtectionType, Status: o.Status, StatementPeriod: o.StatementPeriod, Locked: o.Locked,
		Suppliers: o.Suppliers,
	}
	p := o.openProcessing
	in.Processing = travel.ProcessorFields{
		MailFailures: p.MailFailures, ChargebackMail: p.ChargebackMail, TokenizerID: p.TokenizerID,
		CardholderPresent: p.CardholderPresent, ServerToServer: p.ServerToServer, BeneficiaryID: p.BeneficiaryID,
		SettlementCurrency: p.SettlementCurrency, PayoutMinimum: p.PayoutMinimum, Descriptor: p.Descriptor,
	}
	return in
}

// carryOutOpenCover makes or changes the channel of an approved proposal.
func carryOutOpenCover(c *core.Core, tx *db.Tx, actor auth.Actor, p travel.Proposal) (any, error) {
	asked, err := core.PayloadOf[openCover](p)
	switch {
	case err != nil:
		return nil, err
	case asked.File != nil: // the import looks for the approval of its file
		return nil, nil
	case asked.ChannelID == 0:
		return openNew(c, tx, actor, asked.fields())
	}
	before, err := LockChannel(tx, actor.SiteID, asked.ChannelID)
	if err != nil {
		return nil, unknownChannel(err, asked.ChannelID)
	}
	channel, err := changedChannel(c, tx, actor, before, asked.fields())
	if err != nil {
		return nil, err
	}
	changed, err := saveChannel(c, tx, actor, before, channel, asked.fields().Processing)
	return channelResult{changed.ID}, err
}

func openNew(c *core.Core, tx *db.Tx, actor auth.Actor, in travel.ChannelFields) (any, error) {
	secret, err := auth.NewChannelSecret(c.Random)
	if err != nil {
		return nil, fmt.Errorf("drawing a channel secret: %w", err)
	}
	channel, err := newChannel(c, tx, actor, in)
	if err != nil {
		return nil, err
	}
	channel.UUID, channel.Secret = c.NewUUID(), secret
	made, err := insertChannel(c, tx, actor, channel, in.Processing)
	return channelResult{made.ID}, err
}
