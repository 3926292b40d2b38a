package merchants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/psp"
	"holdfast/internal/travel"
)

// Credentials are the access of a channel to its processor. They are sealed before they are stored, and never shown.
type Credentials struct {
	Key           string `json:"key,omitempty"`
	WebhookSecret string `json:"webhook_secret,omitempty"`
	// FieldsSecret signs for the tokenizer's hosted fields, in which the payment modal takes card numbers.
	FieldsSecret string `json:"tokenizer_secret,omitempty"`
}

// placeOf binds what is sealed to where it lies.
func placeOf(siteID, channelID int64, field string) string {
	return fmt.Sprintf("%d/%d/%s", siteID, channelID, field)
}

// The fields of a channel that are sealed.
const (
	sealedCredentials  = "credentials"
	sealedTokenizerKey = "tokenizer_api_key"
)

// GatewayOf gives the processor at which a channel takes payments, with the channel's access to it. The error is
// store.ErrNotFound where the channel takes none itself, and Unavailable where it should, but its access cannot be read.
func GatewayOf(
	c *core.Core, tx *db.Tx, channel travel.Channel,
) (processor string, g psp.Gateway, account psp.Account, err error) {
	if sandboxed(c, channel, SandboxProcessor) && channel.Mode == travel.ModeTest {
		g, account, err = AccountAt(c, tx, channel, SandboxProcessor)
		return SandboxProcessor, g, account, err
	}
	if !c.Profile.Processes() || !channel.TakesPayments() {
		return "", nil, account, fmt.Errorf("channel %d takes no payments itself: %w", channel.ID, db.ErrNotFound)
	}
	g, account, err = AccountAt(c, tx, channel, channel.Processor)
	return channel.Processor, g, account, err
}

// AccountAt is gatewayOf for what follows an earlier payment (its refund, the question what became of it), whatever the
// channel's mode is by now, as long as the channel still has its access to that payment's processor.
func AccountAt(
	c *core.Core, tx *db.Tx, channel travel.Channel, processor string,
) (g psp.Gateway, account psp.Account, err error) {
	if sandboxed(c, channel, processor) {
		return sandboxAccount(c, tx, channel)
	}
	if channel.Processor != processor {
		return nil, account, laterPerhaps(nil, "Channel %d has no access to the processor %s any more.", channel.ID, processor)
	}
	g, ok := c.Gateways[processor]
	if !ok {
		return nil, account, laterPerhaps(nil, "This deployment has no processor %q.", processor)
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
		key, err := open(c, sealed.TokenizerKey, placeOf(channel.SiteID, channel.ID, sealedTokenizerKey))
		if err != nil {
			return nil, account, err
		}
		account.Tokenizer.Key = string(key)
	}
	return g, account, nil
}

// accountWith is the account of a channel, but for the key of its tokenizer. It is live when the channel was not made
// for tests; in a sandbox no money moves, whatever the channel.
func accountWith(site travel.Site, channel travel.Channel, credentials Credentials) psp.Account {
	return psp.Account{
		Live: !channel.WasTest && !site.Sandbox, Key: credentials.Key, WebhookSecret: credentials.WebhookSecret,
		Tokenizer: psp.Tokenizer{ID: channel.TokenizerID, FieldsSecret: credentials.FieldsSecret},
	}
}

func credentials(c *core.Core, sealed SealedGateway) (credentials Credentials, err error) {
	if sealed.Credentials == "" {
		return credentials, nil
	}
	text, err := open(c, sealed.Credentials, placeOf(sealed.SiteID, sealed.ChannelID, sealedCredentials))
	if err != nil {
		return credentials, err
	}
	return credentials, json.Unmarshal(text, &credentials)
}

// errNoKeys says what is missing where there is nothing to seal with. It is the operator's to mend.
var errNoKeys = errors.New("no keys: set HOLDFAST_KEYS_FILE to a file that `holdfast keys make` has made")

// sealKeys reads the keys anew at each use: after a rotation everybody goes on with the new ones at once.
func sealKeys(c *core.Core) (auth.SealKeys, error) {
	if c.Keys == nil {
		return auth.SealKeys{}, errNoKeys
	}
	return c.Keys()
}

func seal(c *core.Core, plain []byte, place string) (string, error) {
	keys, err := sealKeys(c)
	if err != nil {
		return "", err
	}
	return keys.Seal(c.Random, plain, place)
}

// open answers Unavailable where the keys are not there: nothing is wrong with the request, and it can be made again.
func open(c *core.Core, sealed, place string) ([]byte, error) {
	keys, err := sealKeys(c)
	if err == nil {
		var plain []byte
		if plain, err = keys.Open(sealed, place); err == nil {
			return plain, nil
		}
	}
	return nil, laterPerhaps(err, "The channel's access to its processor cannot be read (HOLDFAST_KEYS_FILE).")
}

// mendTime is how soon what the operator has to mend may be tried again.
const mendTime = time.Minute

// laterPerhaps is an error of the set-up: nothing is wrong with the request.
func laterPerhaps(err error, format string, args ...any) error {
	return &fault.Error{Kind: fault.Unavailable, Message: fmt.Sprintf(format, args...), RetryAfter: mendTime, Err: err}
}

// sealField seals a secret that came in under a name of the wire.
func sealField(c *core.Core, name, secret, place string) (string, error) {
	sealed, err := seal(c, []byte(secret), place)
	if err != nil {
		return "", &fault.Error{
			Kind: fault.Invalid, Message: "Invalid parameter(s): " + name, Err: err,
			Params: map[string]string{name: "It cannot be sealed here: " + err.Error() + "."},
		}
	}
	return sealed, nil
}

// GatewayFields sets the access of a channel to its processor.
type GatewayFields struct {
	Processor   string // "" removes it
	Credentials Credentials
	Tokenizer   travel.ProcessorFields // TokenizerID and TokenizerKey, where they are to change with it
}

// GatewayView is the access of a channel as it can be shown: what is set, and nothing of what it is.
type GatewayView struct {
	Channel          travel.Channel
	Live             bool
	HasKey           bool
	HasWebhookSecret bool
	HasFieldsSecret  bool
}

// Gateway tells what access a channel has to its processor.
func (c *Channels) Gateway(ctx context.Context, actor auth.Actor, id int64) (GatewayView, error) {
	if err := actor.Require(auth.SetChannelTerms); err != nil {
		return GatewayView{}, err
	}
	view, err := core.Read(ctx, c.Core, actor, func(tx *db.Tx) (GatewayView, error) {
		channel, err := Channel(tx, actor.SiteID, id)
		if err != nil {
			return GatewayView{}, err
		}
		return c.viewGateway(tx, channel)
	})
	return view, unknownChannel(err, id)
}

func (c *Channels) viewGateway(tx *db.Tx, channel travel.Channel) (GatewayView, error) {
	site, err := Site(tx, channel.SiteID)
	if err != nil {
		return GatewayView{}, err
	}
	sealed, err := ChannelGateway(tx, channel.SiteID, channel.ID)
	if err != nil {
		return GatewayView{}, err
	}
	credentials, err := credentials(c.Core, sealed)
	channel.Secret = ""
	return GatewayView{
		Channel: channel, Live: accountWith(site, channel, credentials).Live,
		HasKey: credentials.Key != "", HasWebhookSecret: credentials.WebhookSecret != "",
		HasFieldsSecret: credentials.FieldsSecret != "",
	}, err
}

// SetGateway gives a channel access to a processor, in place of what it had, or takes it away.
func (c *Channels) SetGateway(ctx context.Context, actor auth.Actor, id int64, in GatewayFields) (GatewayView, error) {
	if err := actor.Require(auth.SetChannelTerms); err != nil {
		return GatewayView{}, err
	}
	if !c.Profile.Processes() {
		return GatewayView{}, fault.WrongField("processor", "Channels take payments in the profile %s only; this deployment's is %s.",
			travel.ServerToServerProfile, c.Profile)
	}
	view, err := core.Write(ctx, c.Core, actor, func(tx *db.Tx) (view GatewayView, err error) {
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
	tx *db.Tx, actor auth.Actor, before travel.Channel, in GatewayFields,
) (travel.Channel, error) {
	if open, err := ChannelHasOpenPayments(tx, actor.SiteID, before.ID); err != nil {
		return before, err
	} else if open && in.Processor != before.Processor {
		return before, fault.NotPossibleBecause("payments_open",
			"The outcome of payments of channel %d is still to come from %s.", before.ID, before.Processor)
	}
	fields := travel.ChannelFields{Profile: c.Profile, Processing: in.Tokenizer}
	var problems fault.Problems
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
		if sealed, err = sealField(c.Core, "credentials", string(text), placeOf(actor.SiteID, before.ID, sealedCredentials)); err != nil {
			return before, err
		}
	}
	if err := SetGatewayCredentials(tx, actor.SiteID, before.ID, sealed); err != nil {
		return before, err
	}
	if err := keepTokenizerKey(c.Core, tx, before, after, in.Tokenizer); err != nil {
		return before, err
	}
	return UpdateChannel(tx, after)
}

// checkAccount notes credentials that the processor's adapter refuses: those of the other environment above all.
func (c *Channels) checkAccount(
	tx *db.Tx, before, channel travel.Channel, in GatewayFields, p *fault.Problems,
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
	account.Tokenizer.Key, err = tokenizerKeyAfter(c.Core, tx, before, channel, in.Tokenizer)
	if fault.Is(err, fault.Unavailable) { // sealed with keys that are lost: it is to be given again
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

// tokenizerKeyAfter is the key of the tokenizer that a channel has after a change: the new one, or the stored one.
func tokenizerKeyAfter(
	c *core.Core, tx *db.Tx, before, after travel.Channel, in travel.ProcessorFields,
) (string, error) {
	if key, changes := in.NewTokenizerKey(before, after); changes {
		return key, nil
	}
	stored, err := ChannelGateway(tx, after.SiteID, after.ID)
	if err != nil || stored.TokenizerKey == "" {
		return "", err
	}
	key, err := open(c, stored.TokenizerKey, placeOf(after.SiteID, after.ID, sealedTokenizerKey))
	return string(key), err
}

// keepTokenizerKey stores the key of the tokenizer as a change of the channel says: sealed, or not at all any more.
func keepTokenizerKey(c *core.Core, tx *db.Tx, before, after travel.Channel, in travel.ProcessorFields) error {
	key, changes := in.NewTokenizerKey(before, after)
	if !changes {
		return nil
	}
	sealed := ""
	if key != "" {
		var err error
		if sealed, err = sealField(c, "tokenizer_api_key", key, placeOf(after.SiteID, after.ID, sealedTokenizerKey)); err != nil {
			return err
		}
	}
	return SetTokenizerKey(tx, after.SiteID, after.ID, sealed)
}
