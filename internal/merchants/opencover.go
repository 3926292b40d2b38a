package merchants

import (
	"encoding/json"
	"fmt"

	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// openCover is the payload of a proposal to open cover: the fields of a channel, by the names of the wire.
type openCover struct {
	ChannelID int64 `json:"channel_id,omitempty"` // 0: a new channel
	openFields
	openProcessing
	File json.RawMessage `json:"file,omitempty"` // set when the import of a file opens cover instead
}

// openFields are the fields of travel.ChannelFields. The two types convert into each other: a field that is added there
// has to be added here.
type openFields struct {
	Profile         travel.Profile          `json:"-"`
	Idempotency     travel.IdempotencyKey   `json:"-"`
	IfVersion       int64                   `json:"-"`
	Reason          string                  `json:"-"` // the proposal has it
	Problems        fault.Problems          `json:"-"`
	Name            *string                 `json:"name,omitempty"`
	Currency        *money.Currency         `json:"currencies,omitempty"`
	Mode            *travel.AccountMode     `json:"account_mode,omitempty"`
	Language        *string                 `json:"language,omitempty"`
	PrimaryMail     *string                 `json:"primary_mail,omitempty"`
	MailBCC         *bool                   `json:"mail_bcc_transactional_mails,omitempty"`
	ReceiptLabel    *string                 `json:"receipt_label,omitempty"`
	ExternalID      *string                 `json:"external_id,omitempty"`
	OtherProtection *travel.OtherProtection `json:"other_protection,omitempty"`
	AccountType     *string                 `json:"account_type,omitempty"`
	ProtectionType  *string                 `json:"protection_type,omitempty"`
	Status          *string                 `json:"channel_status,omitempty"`
	StatementPeriod *string                 `json:"statement_period,omitempty"`
	Locked          *bool                   `json:"locked,omitempty"`
	Suppliers       *[]int64                `json:"suppliers,omitempty"`
	Processing      travel.ProcessorFields  `json:"-"` // openProcessing has them
}

// openProcessing are the fields of travel.ProcessorFields, likewise. The tokenizer's key is left out: many people can read
// a proposal, and it is kept for ever.
type openProcessing struct {
	MailFailures       *bool   `json:"mail_failures,omitempty"`
	ChargebackMail     *string `json:"chargeback_mail,omitempty"`
	TokenizerID        *string `json:"tokenizer_id,omitempty"`
	TokenizerKey       *string `json:"-"`
	CardholderPresent  *bool   `json:"cardholder_present,omitempty"`
	ServerToServer     *bool   `json:"server_to_server,omitempty"`
	BeneficiaryID      *string `json:"beneficiary_id,omitempty"`
	SettlementCurrency *string `json:"settlement_currency,omitempty"`
	PayoutMinimum      *int64  `json:"payout_minimum,omitempty"`
	Descriptor         *string `json:"descriptor,omitempty"`
}

// channelResult is the result of a proposal that opens cover.
type channelResult struct {
	ChannelID int64 `json:"channel_id"`
}

func openCoverOf(id int64, in travel.ChannelFields) openCover {
	return openCover{ChannelID: id, openFields: openFields(in), openProcessing: openProcessing(in.Processing)}
}

func (o openCover) fields() travel.ChannelFields {
	in := travel.ChannelFields(o.openFields)
	in.Processing = travel.ProcessorFields(o.openProcessing)
	return in
}

// carryOut makes or changes the channel of an approved proposal.
func (c *Channels) carryOut(tx *db.Tx, actor auth.Actor, p travel.Proposal) (any, error) {
	asked, err := core.PayloadOf[openCover](p)
	switch {
	case err != nil:
		return nil, err
	case asked.File != nil: // there is nothing to change: the import finds the approved proposal of its file
		return nil, nil
	case asked.ChannelID == 0:
		return c.openNew(tx, actor, asked.fields())
	}
	before, err := LockChannel(tx, actor.SiteID, asked.ChannelID)
	if err != nil {
		return nil, unknownChannel(err, asked.ChannelID)
	}
	channel, err := c.changed(tx, actor, before, asked.fields())
	if err != nil {
		return nil, err
	}
	changed, err := c.save(tx, actor, before, channel, asked.fields().Processing)
	return channelResult{changed.ID}, err
}

func (c *Channels) openNew(tx *db.Tx, actor auth.Actor, in travel.ChannelFields) (any, error) {
	secret, err := auth.NewChannelSecret(c.Random)
	if err != nil {
		return nil, fmt.Errorf("drawing a channel secret: %w", err)
	}
	channel, err := c.newChannel(tx, actor, in)
	if err != nil {
		return nil, err
	}
	channel.UUID, channel.Secret = c.NewUUID(), secret
	made, err := c.insert(tx, actor, channel, in.Processing)
	return channelResult{made.ID}, err
}

// effect compares the channel of a proposal with what it is now.
func (c *Channels) effect(tx *db.Tx, p travel.Proposal) (effect travel.Effect, err error) {
	asked, err := core.PayloadOf[openCover](p)
	if err != nil || asked.File != nil { // what the file does is known from the beginning
		return effect, err
	}
	operator := auth.System(p.SiteID)
	if asked.ChannelID == 0 {
		channel, err := c.newChannel(tx, operator, asked.fields())
		if err != nil {
			return effect, err
		}
		effect.Currency = money.Currency(channel.Settlement())
		effect.Changes, err = core.Changes(nil, auditChannel(channel))
		return effect, err
	}
	before, err := Channel(tx, p.SiteID, asked.ChannelID)
	if err != nil {
		return effect, unknownChannel(err, asked.ChannelID)
	}
	after, err := c.changed(tx, operator, before, asked.fields())
	if err != nil {
		return effect, err
	}
	effect.Currency = money.Currency(after.Settlement())
	effect.Changes, err = core.Changes(auditChannel(before), auditChannel(after))
	return effect, err
}
