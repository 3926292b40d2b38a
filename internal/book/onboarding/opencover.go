package onboarding

import (
	"encoding/json"
	"fmt"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// openCover is the payload of a proposal to open cover: the fields of a channel, by the names of the wire.
type openCover struct {
	ChannelID int64 `json:"channel_id,omitempty"` // 0: a new channel
	merchant.ChannelFields
	File json.RawMessage `json:"file,omitempty"` // set when the import of a file opens cover instead
}

// channelResult is the result of a proposal that opens cover.
type channelResult struct {
	ChannelID int64 `json:"channel_id"`
}

// carryOut makes or changes the channel of an approved proposal.
func (c *Channels) carryOut(tx *store.Tx, actor access.Actor, p proposal.Proposal) (any, error) {
	asked, err := approvals.PayloadOf[openCover](p)
	switch {
	case err != nil:
		return nil, err
	case asked.File != nil: // there is nothing to change: the import finds the approved proposal of its file
		return nil, nil
	case asked.ChannelID == 0:
		return c.openNew(tx, actor, asked.ChannelFields)
	}
	before, err := merchants.LockChannel(tx, actor.SiteID, asked.ChannelID)
	if err != nil {
		return nil, unknownChannel(err, asked.ChannelID)
	}
	channel, err := c.changed(tx, actor, before, asked.ChannelFields)
	if err != nil {
		return nil, err
	}
	changed, err := c.save(tx, actor, before, channel, asked.ProcessorFields)
	return channelResult{changed.ID}, err
}

func (c *Channels) openNew(tx *store.Tx, actor access.Actor, in merchant.ChannelFields) (any, error) {
	secret, err := secrets.NewChannelSecret(c.Random)
	if err != nil {
		return nil, fmt.Errorf("generating a channel secret: %w", err)
	}
	channel, err := c.newChannel(tx, actor, in)
	if err != nil {
		return nil, err
	}
	channel.UUID = c.NewUUID()
	made, err := c.insert(tx, actor, channel, secret, in.ProcessorFields)
	return channelResult{made.ID}, err
}

// effect compares the channel of a proposal with its current state.
func (c *Channels) effect(tx *store.Tx, p proposal.Proposal) (effect proposal.Effect, err error) {
	asked, err := approvals.PayloadOf[openCover](p)
	if err != nil || asked.File != nil { // the effect of the file is known from the beginning
		return effect, err
	}
	operator := access.System(p.SiteID)
	if asked.ChannelID == 0 {
		channel, err := c.newChannel(tx, operator, asked.ChannelFields)
		if err != nil {
			return effect, err
		}
		effect.Currency = money.Currency(channel.Settlement())
		effect.Changes, err = approvals.Changes(nil, merchants.AuditedChannel(channel))
		return effect, err
	}
	before, err := merchants.Channel(tx, p.SiteID, asked.ChannelID)
	if err != nil {
		return effect, unknownChannel(err, asked.ChannelID)
	}
	after, err := c.changed(tx, operator, before, asked.ChannelFields)
	if err != nil {
		return effect, err
	}
	effect.Currency = money.Currency(after.Settlement())
	effect.Changes, err = approvals.Changes(merchants.AuditedChannel(before), merchants.AuditedChannel(after))
	return effect, err
}
