package merchants

import (
	"encoding/json"
	"fmt"
	"time"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/platform/secrets"
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

// Processors are the processors at which channels can take payments, and the accounts of channels there.
type Processors struct {
	Profile  merchant.Profile       // the purpose of the deployment
	Gateways map[string]psp.Gateway // by name
	Vault    *secrets.Vault
}

// GatewayOf returns the processor at which a channel takes payments, and the channel's account there. Errors:
// store.ErrNotFound when the channel takes no payments at a processor, and Unavailable when its credentials cannot be read.
func (p *Processors) GatewayOf(
	tx *store.Tx, channel merchant.Channel,
) (processor string, g psp.Gateway, account psp.Account, err error) {
	if p.sandboxed(channel, SandboxProcessor) && channel.Mode == merchant.ModeTest {
		g, account, err = p.AccountAt(tx, channel, SandboxProcessor)
		return SandboxProcessor, g, account, err
	}
	if !p.Profile.Processes() || !channel.TakesPayments() {
		return "", nil, account, fmt.Errorf("channel %d does not take payments through a processor: %w", channel.ID, store.ErrNotFound)
	}
	g, account, err = p.AccountAt(tx, channel, channel.Processor)
	return channel.Processor, g, account, err
}

// AccountAt returns the account of a channel at one processor. It is for what follows an earlier payment, such as a refund
// or a question about its outcome, so the channel's mode does not matter. The error is Unavailable when the channel no
// longer has credentials for that processor, or they cannot be read.
func (p *Processors) AccountAt(
	tx *store.Tx, channel merchant.Channel, processor string,
) (g psp.Gateway, account psp.Account, err error) {
	if p.sandboxed(channel, processor) {
		return p.sandboxAccount(tx, channel)
	}
	if channel.Processor != processor {
		return nil, account, tryLater(nil, "Channel %d no longer has credentials for the processor %s.", channel.ID, processor)
	}
	g, ok := p.Gateways[processor]
	if !ok {
		return nil, account, tryLater(nil, "This deployment does not have processor %q.", processor)
	}
	site, err := Site(tx, channel.SiteID)
	if err != nil {
		return nil, account, err
	}
	sealed, err := ChannelGateway(tx, channel.SiteID, channel.ID)
	if err != nil {
		return nil, account, err
	}
	credentials, err := p.Credentials(sealed)
	if err != nil {
		return nil, account, err
	}
	account = AccountWith(site, channel, credentials)
	account.Now = tx.Now
	if sealed.TokenizerKey != "" {
		key, err := OpenTokenizerKey(p.Vault, channel.SiteID, channel.ID, sealed.TokenizerKey)
		if err != nil {
			return nil, account, err
		}
		account.Tokenizer.Key = key
	}
	return g, account, nil
}

// AccountWith returns the account of a channel without the key of its tokenizer. The account is live when the channel was
// not made for tests, and the site is not a sandbox.
func AccountWith(site merchant.Site, channel merchant.Channel, credentials Credentials) psp.Account {
	return psp.Account{
		Live: !channel.WasTest && !site.Sandbox, Key: credentials.Key, WebhookSecret: credentials.WebhookSecret,
		Tokenizer: psp.Tokenizer{ID: channel.TokenizerID, FieldsSecret: credentials.FieldsSecret},
	}
}

// Credentials opens the credentials of a channel.
func (p *Processors) Credentials(sealed SealedGateway) (credentials Credentials, err error) {
	if sealed.Credentials == "" {
		return credentials, nil
	}
	text, err := p.Vault.Open(sealed.Credentials, secrets.PlaceOf(sealedCredentials, sealed.SiteID, sealed.ChannelID))
	if err != nil {
		return credentials, err
	}
	return credentials, json.Unmarshal([]byte(text), &credentials)
}

// retryTime is when a request may be repeated after a configuration error, which the operator has to correct first.
const retryTime = time.Minute

// tryLater makes an error about the set-up: nothing is wrong with the request itself.
func tryLater(err error, format string, args ...any) error {
	return &errs.Error{Kind: errs.Unavailable, Message: fmt.Sprintf(format, args...), RetryAfter: retryTime, Err: err}
}

// SandboxProcessor is the name of the processor inside the program. Where the deployment takes no payments at real
// processors, the payments of test channels in the payment modal go to it.
const SandboxProcessor = "sandbox"

// sandboxed reports whether the processor is the sandbox processor, and the channel has an account there without any
// set-up.
func (p *Processors) sandboxed(channel merchant.Channel, processor string) bool {
	return processor == SandboxProcessor && channel.WasTest && !p.Profile.Processes() && p.Gateways[SandboxProcessor] != nil
}

// TakesAt reports whether the channel has an account at the processor.
func (p *Processors) TakesAt(channel merchant.Channel, processor string) bool {
	return channel.Processor == processor || p.sandboxed(channel, processor)
}

// sandboxAccount returns the account that a test channel has at the sandbox processor without any set-up.
func (p *Processors) sandboxAccount(tx *store.Tx, channel merchant.Channel) (g psp.Gateway, account psp.Account, err error) {
	site, err := Site(tx, channel.SiteID)
	if err != nil {
		return nil, account, err
	}
	account = AccountWith(site, channel, Credentials{Key: "payment modal of " + channel.UUID})
	account.Now = tx.Now
	return p.Gateways[SandboxProcessor], account, nil
}
