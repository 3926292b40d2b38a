package merchants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/platform/core"
	"holdfast/internal/psp"
	"holdfast/internal/store"
)

// Credentials are the credentials of a channel at its processor. They are sealed before they are stored, and never shown.
type Credentials struct {
	Key           string `json:"key,omitempty"`
	WebhookSecret string `json:"webhook_secret,omitempty"`
	// FieldsSecret signs requests for the hosted fields of the tokenizer. The payment modal takes card numbers in them.
	FieldsSecret string `json:"tokenizer_secret,omitempty"`
}

// GatewayOf returns the processor at which a channel takes payments, and the channel's account there. Errors:
// store.ErrNotFound when the channel takes no payments at a processor, and Unavailable when its credentials cannot be read.
func GatewayOf(
	c *core.Core, tx *store.Tx, channel merchant.Channel,
) (processor string, g psp.Gateway, account psp.Account, err error) {
	if sandboxed(c, channel, SandboxProcessor) && channel.Mode == merchant.ModeTest {
		g, account, err = AccountAt(c, tx, channel, SandboxProcessor)
		return SandboxProcessor, g, account, err
	}
	if !c.Profile.Processes() || !channel.TakesPayments() {
		return "", nil, account, fmt.Errorf("channel %d takes no payments at a processor: %w", channel.ID, store.ErrNotFound)
	}
	g, account, err = AccountAt(c, tx, channel, channel.Processor)
	return channel.Processor, g, account, err
}

// AccountAt returns the account of a channel at one processor. It is for what follows an earlier payment, such as a refund
// or a question about its outcome, so the channel's mode does not matter. The error is Unavailable when the channel no
// longer has credentials for that processor, or they cannot be read.
func AccountAt(
	c *core.Core, tx *store.Tx, channel merchant.Channel, processor string,
) (g psp.Gateway, account psp.Account, err error) {
	if sandboxed(c, channel, processor) {
		return sandboxAccount(c, tx, channel)
	}
	if channel.Processor != processor {
		return nil, account, tryLater(nil, "Channel %d no longer has credentials for the processor %s.", channel.ID, processor)
	}
	g, ok := c.Gateways[processor]
	if !ok {
		return nil, account, tryLater(nil, "This deployment has no processor %q.", processor)
	}
	site, err := Site(tx, channel.SiteID)
	if err != nil {
		return nil, account, err
	}
	sealed, err := ChannelGateway(tx, channel.SiteID, channel.ID)
	if err != nil {
		return nil, account, err
	}
	credentials, err := credentials(c, sealed)
	if err != nil {
		return nil, account, err
	}
	account = accountWith(site, channel, credentials)
	account.Now = tx.Now
	if sealed.TokenizerKey != "" {
		key, err := c.Open(sealed.TokenizerKey, core.PlaceOf(sealedTokenizerKey, channel.SiteID, channel.ID))
		if err != nil {
			return nil, account, err
		}
		account.Tokenizer.Key = key
	}
	return g, account, nil
}

// accountWith returns the account of a channel without the key of its tokenizer. The account is live when the channel was
// not made for tests, and the site is not a sandbox.
func accountWith(site merchant.Site, channel merchant.Channel, credentials Credentials) psp.Account {
	return psp.Account{
		Live: !channel.WasTest && !site.Sandbox, Key: credentials.Key, WebhookSecret: credentials.WebhookSecret,
		Tokenizer: psp.Tokenizer{ID: channel.TokenizerID, FieldsSecret: credentials.FieldsSecret},
	}
}

func credentials(c *core.Core, sealed SealedGateway) (credentials Credentials, err error) {
	if sealed.Credentials == "" {
		return credentials, nil
	}
	text, err := c.Open(sealed.Credentials, core.PlaceOf(sealedCredentials, sealed.SiteID, sealed.ChannelID))
	if err != nil {
		return credentials, err
	}
	return credentials, json.Unmarshal([]byte(text), &credentials)
}

// mendTime is when a request may be repeated after a mistake in the set-up, which the operator has to correct first.
const mendTime = time.Minute

// tryLater makes an error about the set-up: nothing is wrong with the request itself.
func tryLater(err error, format string, args ...any) error {
	return &errs.Error{Kind: errs.Unavailable, Message: fmt.Sprintf(format, args...), RetryAfter: mendTime, Err: err}
}

// SandboxProcessor is the name of the processor inside the program. Where the deployment takes no payments at real
// processors, the payments of test channels in the payment modal go to it.
const SandboxProcessor = "sandbox"

// sandboxed reports whether the processor is the sandbox processor, and the channel has an account there without any
// set-up.
func sandboxed(c *core.Core, channel merchant.Channel, processor string) bool {
	return processor == SandboxProcessor && channel.WasTest && !c.Profile.Processes() && c.Gateways[SandboxProcessor] != nil
}

// TakesAt reports whether the channel has an account at the processor.
func TakesAt(c *core.Core, channel merchant.Channel, processor string) bool {
	return channel.Processor == processor || sandboxed(c, channel, processor)
}

// sandboxAccount returns the account that a test channel has at the sandbox processor without any set-up.
func sandboxAccount(c *core.Core, tx *store.Tx, channel merchant.Channel) (g psp.Gateway, account psp.Account, err error) {
	site, err := Site(tx, channel.SiteID)
	if err != nil {
		return nil, account, err
	}
	account = accountWith(site, channel, Credentials{Key: "payment modal of " + channel.UUID})
	account.Now = tx.Now
	return c.Gateways[SandboxProcessor], account, nil
}

// GatewayFields are the processor of a channel and the credentials for it, as they are to be set.
type GatewayFields struct {
	Processor   string // "" removes the processor and the credentials
	Credentials Credentials
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
	view, err := core.Read(ctx, c.Core, actor, func(tx *store.Tx) (GatewayView, error) {
		channel, err := Channel(tx, actor.SiteID, id)
		if err != nil {
			return GatewayView{}, err
		}
		return c.viewGateway(tx, channel)
	})
	return view, unknownChannel(err, id)
}

func (c *Channels) viewGateway(tx *store.Tx, channel merchant.Channel) (GatewayView, error) {
	site, err := Site(tx, channel.SiteID)
	if err != nil {
		return GatewayView{}, err
	}
	sealed, err := ChannelGateway(tx, channel.SiteID, channel.ID)
	if err != nil {
		return GatewayView{}, err
	}
	credentials, err := credentials(c.Core, sealed)
	channel.SealedSecret = ""
	return GatewayView{
		Channel: channel, Live: accountWith(site, channel, credentials).Live,
		HasKey: credentials.Key != "", HasWebhookSecret: credentials.WebhookSecret != "",
		HasFieldsSecret: credentials.FieldsSecret != "",
	}, err
}

// SetGateway sets the processor of a channel and replaces its credentials, or removes both. Errors: Invalid when the
// processor refuses the credentials, and NotPossible with the reason payments_open when the channel would leave a
// processor that still has to tell the outcome of payments.
func (c *Channels) SetGateway(ctx context.Context, actor access.Actor, id int64, in GatewayFields) (GatewayView, error) {
	if err := actor.Require(access.SetChannelTerms); err != nil {
		return GatewayView{}, err
	}
	if !c.Profile.Processes() {
		return GatewayView{}, errs.WrongField("processor", "Only a deployment with the profile %s has processors. This one has the profile %s.",
			merchant.ServerToServerProfile, c.Profile)
	}
	view, err := core.Write(ctx, c.Core, actor, func(tx *store.Tx) (view GatewayView, err error) {
		before, err := LockChannel(tx, actor.SiteID, id)
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
		return view, core.Record(tx, actor, "channel.gateway", channelObject(after), auditChannel(before), auditChannel(after))
	})
	return view, unknownChannel(err, id)
}

func (c *Channels) setGateway(
	tx *store.Tx, actor access.Actor, before merchant.Channel, in GatewayFields,
) (merchant.Channel, error) {
	if open, err := c.hasOpenPayments(tx, actor.SiteID, before.ID); err != nil {
		return before, err
	} else if open && in.Processor != before.Processor {
		return before, errs.NotPossibleBecause("payments_open",
			"Channel %d has payments whose outcome is not known yet. Wait until %s has told it.", before.ID, before.Processor)
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
		if sealed, err = sealField(c.Core, "credentials", string(text), core.PlaceOf(sealedCredentials, actor.SiteID, before.ID)); err != nil {
			return before, err
		}
	}
	if err := SetGatewayCredentials(tx, actor.SiteID, before.ID, sealed); err != nil {
		return before, err
	}
	if err := c.keepTokenizerKey(tx, before, after, in.Tokenizer); err != nil {
		return before, err
	}
	return UpdateChannel(tx, after)
}

// checkAccount notes a problem when the processor's adapter refuses the credentials, for example because they are of the
// test environment and the channel is live.
func (c *Channels) checkAccount(
	tx *store.Tx, before, channel merchant.Channel, in GatewayFields, p *errs.Problems,
) error {
	g, ok := c.Gateways[in.Processor]
	if !ok {
		p.Wrong("processor", "There is no processor %q here.", in.Processor)
		return nil
	}
	site, err := Site(tx, channel.SiteID)
	if err != nil {
		return err
	}
	account := accountWith(site, channel, in.Credentials)
	account.Now = tx.Now
	account.Tokenizer.Key, err = c.tokenizerKeyAfter(tx, before, channel, in.Tokenizer)
	if errs.Is(err, errs.Unavailable) { // the keys that sealed it are lost: the caller has to send it again
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
	stored, err := ChannelGateway(tx, after.SiteID, after.ID)
	if err != nil || stored.TokenizerKey == "" {
		return "", err
	}
	return c.Open(stored.TokenizerKey, core.PlaceOf(sealedTokenizerKey, after.SiteID, after.ID))
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
		if sealed, err = sealField(c.Core, "tokenizer_api_key", key, core.PlaceOf(sealedTokenizerKey, after.SiteID, after.ID)); err != nil {
			return err
		}
	}
	return SetTokenizerKey(tx, after.SiteID, after.ID, sealed)
}
