package onboarding

import (
	"context"
	"encoding/json"
	"errors"

	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/sites"
	"holdfast/internal/psp"
	"holdfast/internal/store"
)

// GatewayFields are the new processor of a channel and its credentials.
type GatewayFields struct {
	Processor   string // "" removes the processor and the credentials
	Credentials merchants.Credentials
	Tokenizer   merchant.ProcessorFields // TokenizerID and TokenizerKey; nil where they stay as they are
}

// GatewayView says which credentials of a channel are set. It holds no secret.
type GatewayView struct {
	Channel          merchant.Channel
	Live             bool
	HasKey           bool
	HasWebhookSecret bool
	HasFieldsSecret  bool
}

// Gateway reads which credentials a channel has for its processor.
func (c *Channels) Gateway(ctx context.Context, actor access.Actor, id int64) (GatewayView, error) {
	if err := actor.Require(access.SetChannelTerms); err != nil {
		return GatewayView{}, err
	}
	view, err := sites.Read(ctx, c.DB, actor, func(tx *store.Tx) (GatewayView, error) {
		channel, err := merchants.Channel(tx, actor.SiteID, id)
		if err != nil {
			return GatewayView{}, err
		}
		return c.viewGateway(tx, channel)
	})
	return view, unknownChannel(err, id)
}

func (c *Channels) viewGateway(tx *store.Tx, channel merchant.Channel) (GatewayView, error) {
	site, err := merchants.Site(tx, channel.SiteID)
	if err != nil {
		return GatewayView{}, err
	}
	sealed, err := merchants.ChannelGateway(tx, channel.SiteID, channel.ID)
	if err != nil {
		return GatewayView{}, err
	}
	credentials, err := c.Credentials(sealed)
	channel.SealedSecret = ""
	return GatewayView{
		Channel: channel, Live: merchants.AccountWith(site, channel, credentials).Live,
		HasKey: credentials.Key != "", HasWebhookSecret: credentials.WebhookSecret != "",
		HasFieldsSecret: credentials.FieldsSecret != "",
	}, err
}

// SetGateway sets the processor of a channel and replaces its credentials, or removes both. Errors: Invalid if the
// processor rejects the credentials, and NotPossible with the reason payments_open if the channel would leave a
// processor that still has to report the outcome of payments.
func (c *Channels) SetGateway(ctx context.Context, actor access.Actor, id int64, in GatewayFields) (GatewayView, error) {
	if err := actor.Require(access.SetChannelTerms); err != nil {
		return GatewayView{}, err
	}
	if !c.Profile.Processes() {
		return GatewayView{}, errs.WrongField("processor", "Processors require a deployment with the profile %s. This one has the profile %s.",
			merchant.ServerToServerProfile, c.Profile)
	}
	view, err := sites.Write(ctx, c.DB, actor, func(tx *store.Tx) (view GatewayView, err error) {
		before, err := merchants.LockChannel(tx, actor.SiteID, id)
		if err != nil {
			return view, err
		}
		after, err := c.setGateway(tx, actor, before, in)
		if err != nil {
			return view, err
		}
		if view, err = c.viewGateway(tx, after); err != nil {
			return view, err
		}
		return view, audit.Record(tx, actor, "channel.gateway", merchants.ChannelObject(after), merchants.AuditedChannel(before), merchants.AuditedChannel(after))
	})
	return view, unknownChannel(err, id)
}

func (c *Channels) setGateway(
	tx *store.Tx, actor access.Actor, before merchant.Channel, in GatewayFields,
) (merchant.Channel, error) {
	if open, err := payments.ChannelHasOpen(tx, actor.SiteID, before.ID); err != nil {
		return before, err
	} else if open && in.Processor != before.Processor {
		return before, errs.NotPossibleBecause("payments_open",
			"Channel %d has payments whose outcome is not known yet. Wait until %s has reported it.", before.ID, before.Processor)
	}
	fields := merchant.ChannelFields{Profile: c.Profile, ProcessorFields: in.Tokenizer}
	var problems errs.Problems
	after := fields.Change(before, true, true, &problems)
	after.Processor = in.Processor
	if in.Processor != "" {
		if err := c.checkAccount(tx, before, after, in, &problems); err != nil {
			return before, err
		}
	}
	if err := problems.Err(); err != nil {
		return before, err
	}
	sealed := ""
	if in.Processor != "" {
		text, err := json.Marshal(in.Credentials)
		if err != nil {
			return before, err
		}
		if sealed, err = merchants.SealCredentials(c.Vault, actor.SiteID, before.ID, string(text)); err != nil {
			return before, err
		}
	}
	if err := merchants.SetGatewayCredentials(tx, actor.SiteID, before.ID, sealed); err != nil {
		return before, err
	}
	if err := c.keepTokenizerKey(tx, before, after, in.Tokenizer); err != nil {
		return before, err
	}
	return merchants.UpdateChannel(tx, after)
}

// checkAccount notes a problem when the processor's adapter refuses the credentials, for example because they are of the
// test environment and the channel is live.
func (c *Channels) checkAccount(
	tx *store.Tx, before, channel merchant.Channel, in GatewayFields, p *errs.Problems,
) error {
	g, ok := c.Gateways[in.Processor]
	if !ok {
		p.Wrong("processor", "This deployment does not have processor %q.", in.Processor)
		return nil
	}
	site, err := merchants.Site(tx, channel.SiteID)
	if err != nil {
		return err
	}
	account := merchants.AccountWith(site, channel, in.Credentials)
	account.Now = tx.Now
	account.Tokenizer.Key, err = c.tokenizerKeyAfter(tx, before, channel, in.Tokenizer)
	if errs.Is(err, errs.Unavailable) { // the keys that encrypted it are lost: the caller has to send it again
		p.Wrong("credentials", "%s", err)
		return nil
	}
	if err != nil {
		return err
	}
	err = g.Check(account)
	if refusal, ok := errors.AsType[*psp.Error](err); ok {
		p.Wrong("credentials", "%s", refusal.Message)
		return nil
	}
	return err
}

// tokenizerKeyAfter returns the key of the tokenizer after a change of the channel: the new one, or else the stored one.
func (c *Channels) tokenizerKeyAfter(
	tx *store.Tx, before, after merchant.Channel, in merchant.ProcessorFields,
) (string, error) {
	if key, changes := in.NewTokenizerKey(before, after); changes {
		return key, nil
	}
	stored, err := merchants.ChannelGateway(tx, after.SiteID, after.ID)
	if err != nil || stored.TokenizerKey == "" {
		return "", err
	}
	return merchants.OpenTokenizerKey(c.Vault, after.SiteID, after.ID, stored.TokenizerKey)
}

// keepTokenizerKey seals and stores the key of the tokenizer, or removes it, when a change of the channel says so.
func (c *Channels) keepTokenizerKey(tx *store.Tx, before, after merchant.Channel, in merchant.ProcessorFields) error {
	key, changes := in.NewTokenizerKey(before, after)
	if !changes {
		return nil
	}
	sealed := ""
	if key != "" {
		var err error
		if sealed, err = merchants.SealTokenizerKey(c.Vault, after.SiteID, after.ID, key); err != nil {
			return err
		}
	}
	return merchants.SetTokenizerKey(tx, after.SiteID, after.ID, sealed)
}
