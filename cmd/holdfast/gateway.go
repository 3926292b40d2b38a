package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"holdfast/internal/merchants"
	"io"

	"golang.org/x/term"

	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// channelGatewayCmd sets at which processor a channel takes payments.
type channelGatewayCmd struct {
	siteFlag
	ID        int64  `arg:"" help:"Id of the channel."`
	Processor string `xor:"what" placeholder:"NAME" help:"The processor, such as sandbox or stripe; its credentials are read from standard input."`
	Remove    bool   `xor:"what" help:"Take the access to the processor away."`
}

// Help shows the form of the credentials.
func (channelGatewayCmd) Help() string {
	return "The credentials are a JSON object:\n\n" +
		"    {\"key\": \"…\", \"webhook_secret\": \"…\", \"tokenizer_id\": \"…\", \"tokenizer_api_key\": \"…\", \"tokenizer_secret\": \"…\"}\n\n" +
		"key is the processor's secret key, webhook_secret verifies what it sends by itself, and tokenizer_secret signs for " +
		"the tokenizer's hosted fields in the payment modal; what a processor does not need can be " +
		"left out. The tokenizer's are the fields of the channel; where they are left out, those stay as they are. A test " +
		"channel takes credentials of the processor's test mode, every other channel live ones; in a sandbox all of them are " +
		"of test mode. Without --processor and --remove the command shows what is set, and nothing secret."
}

// gatewayInput is what standard input says.
type gatewayInput struct {
	Key           string  `json:"key"`
	WebhookSecret string  `json:"webhook_secret"`
	TokenizerID   *string `json:"tokenizer_id"`
	TokenizerKey  *string `json:"tokenizer_api_key"`
	FieldsSecret  string  `json:"tokenizer_secret"`
}

// Run sets it, or shows what is set.
func (c channelGatewayCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	var view merchants.GatewayView
	switch {
	case c.Processor != "":
		in, err := p.readGateway()
		if err != nil {
			return err
		}
		view, err = p.app.Channels.SetGateway(ctx, actor, c.ID, merchants.GatewayFields{
			Processor: c.Processor, Credentials: merchants.Credentials{Key: in.Key, WebhookSecret: in.WebhookSecret, FieldsSecret: in.FieldsSecret},
			Tokenizer: travel.ProcessorFields{TokenizerID: in.TokenizerID, TokenizerKey: in.TokenizerKey},
		})
		if err != nil {
			return err
		}
	case c.Remove:
		if view, err = p.app.Channels.SetGateway(ctx, actor, c.ID, merchants.GatewayFields{}); err != nil {
			return err
		}
	default:
		if view, err = p.app.Channels.Gateway(ctx, actor, c.ID); err != nil {
			return err
		}
	}
	p.tellGateway(view)
	return nil
}

// maxCredentials bounds what is read: no processor's credentials are longer.
const maxCredentials = 64 << 10

func (p *program) readGateway() (in gatewayInput, err error) {
	if term.IsTerminal(int(p.stdin.Fd())) {
		fmt.Fprintln(p.stderr, "The credentials, as a JSON object; Ctrl-D ends them:")
	}
	text, err := io.ReadAll(io.LimitReader(p.stdin, maxCredentials))
	if err != nil {
		return in, fmt.Errorf("standard input cannot be read: %w", err)
	}
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.DisallowUnknownFields()
	err = reader.Decode(&in)
	if err == nil && reader.More() {
		err = errors.New("something follows the object")
	}
	if err != nil { // errors of the decoder name fields, and never hold what is in them
		return in, fault.WrongField("credentials", "Standard input is to be a JSON object such as {\"key\": \"…\"}: %v.", err)
	}
	return in, nil
}

func (p *program) tellGateway(v merchants.GatewayView) {
	c := v.Channel
	if c.Processor == "" {
		p.printf("channel %d, %s, has no access to a processor\n", c.ID, c.Name)
		return
	}
	environment := "test mode"
	if v.Live {
		environment = "live"
	}
	set := func(is bool) string {
		if is {
			return "set"
		}
		return "not set"
	}
	p.printf("channel %d, %s: %s, %s\n", c.ID, c.Name, c.Processor, environment)
	p.printf("  key                %s\n", set(v.HasKey))
	p.printf("  webhook_secret     %s\n", set(v.HasWebhookSecret))
	p.printf("  tokenizer_id       %s\n", orNot(c.TokenizerID))
	p.printf("  tokenizer_api_key  %s\n", orNot(c.TokenizerKey()))
	p.printf("  tokenizer_secret   %s\n", set(v.HasFieldsSecret))
	switch {
	case !c.ServerToServer:
		p.printf("It takes no payments yet: server_to_server is not set (holdfast channel set %d --server-to-server).\n", c.ID)
	case !c.TakesPayments():
		p.printf("It takes no payments now: its mode is %s.\n", c.Mode)
	}
}

func orNot(text string) string {
	if text == "" {
		return "not set"
	}
	return text
}

// channelSecretCmd shows the secret of a channel, or gives it another one.
type channelSecretCmd struct {
	siteFlag
	ID     int64 `arg:"" help:"Id of the channel."`
	Rotate bool  `help:"Make a new one: what was signed with the one before is wrong from now on."`
}

// Run prints the secret alone, for scripts.
func (c channelSecretCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	var channel travel.Channel
	if c.Rotate {
		channel, err = p.app.Channels.RotateSecret(ctx, actor, c.ID, 0)
	} else {
		channel, err = p.app.Channels.Get(ctx, actor, c.ID)
	}
	if err != nil {
		return err
	}
	p.printf("%s\n", channel.Secret)
	return nil
}
