package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"holdfast/internal/book/merchants"
	"holdfast/internal/book/onboarding"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"

	"golang.org/x/term"
)

// merchantGatewayCmd sets a merchant's processor.
type merchantGatewayCmd struct {
	siteFlag
	ID        int64  `arg:"" help:"Merchant id."`
	Processor string `xor:"what" placeholder:"NAME" help:"Processor: sandbox or stripe. Credentials are read from standard input."`
	Remove    bool   `xor:"what" help:"Remove the processor and its credentials."`
}

// Help shows the format of the credentials.
func (merchantGatewayCmd) Help() string {
	return "The credentials are a JSON object:\n\n" +
		"    {\"key\": \"…\", \"webhook_secret\": \"…\", \"tokenizer_id\": \"…\", \"tokenizer_api_key\": \"…\", \"tokenizer_secret\": \"…\"}\n\n" +
		"key is the processor's secret key. webhook_secret verifies the processor's webhooks. tokenizer_secret signs " +
		"requests of the tokenizer's hosted fields in the payment modal. Omit fields that the processor does not " +
		"need. If you omit tokenizer_id or tokenizer_api_key, the merchant keeps its current value.\n\n" +
		"Test merchants need test-mode credentials, all others need live ones. In a sandbox, all " +
		"credentials are test-mode credentials.\n\n" +
		"Without --processor and --remove, the command shows which fields are set. It never shows secrets."
}

// gatewayInput is the JSON object on standard input.
type gatewayInput struct {
	Key           string  `json:"key"`
	WebhookSecret string  `json:"webhook_secret"`
	TokenizerID   *string `json:"tokenizer_id"`
	TokenizerKey  *string `json:"tokenizer_api_key"`
	FieldsSecret  string  `json:"tokenizer_secret"`
}

// Run sets, removes or shows the processor.
func (c merchantGatewayCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	var view onboarding.GatewayView
	switch {
	case c.Processor != "":
		in, err := p.readGateway()
		if err != nil {
			return err
		}
		view, err = p.app.Channels.SetGateway(ctx, actor, c.ID, onboarding.GatewayFields{
			Processor: c.Processor, Credentials: merchants.Credentials{Key: in.Key, WebhookSecret: in.WebhookSecret, FieldsSecret: in.FieldsSecret},
			Tokenizer: merchant.ProcessorFields{TokenizerID: in.TokenizerID, TokenizerKey: in.TokenizerKey},
		})
		if err != nil {
			return err
		}
	case c.Remove:
		if view, err = p.app.Channels.SetGateway(ctx, actor, c.ID, onboarding.GatewayFields{}); err != nil {
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

// maxCredentials limits the input. No processor's credentials are longer.
const maxCredentials = 64 << 10

func (p *program) readGateway() (in gatewayInput, err error) {
	if term.IsTerminal(int(p.stdin.Fd())) {
		fmt.Fprintln(p.stderr, "Enter the credentials as a JSON object, then press Ctrl-D:")
	}
	text, err := io.ReadAll(io.LimitReader(p.stdin, maxCredentials))
	if err != nil {
		return in, fmt.Errorf("cannot read standard input: %w", err)
	}
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.DisallowUnknownFields()
	err = reader.Decode(&in)
	if err == nil && reader.More() {
		err = errors.New("there is extra text after the object")
	}
	if err != nil {
		return in, errs.WrongField("credentials", "Standard input must be a JSON object such as {\"key\": \"…\"}: %s.", wrongJSON(err))
	}
	return in, nil
}

// wrongJSON describes a JSON error. It may name a field but never repeats a value, which may be a secret.
func wrongJSON(err error) string {
	if field, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return field.Field + " must be a string"
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("invalid JSON at character %d", wrong.Offset)
	}
	switch {
	case errors.Is(err, io.EOF):
		return "it is empty"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it is incomplete"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func (p *program) tellGateway(v onboarding.GatewayView) {
	c := v.Channel
	if c.Processor == "" {
		p.printf("Merchant %d, %s: no processor\n", c.ID, c.Name)
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
	p.printf("Merchant %d, %s: %s, %s\n", c.ID, c.Name, c.Processor, environment)
	p.printf("  key                %s\n", set(v.HasKey))
	p.printf("  webhook_secret     %s\n", set(v.HasWebhookSecret))
	p.printf("  tokenizer_id       %s\n", orNot(c.TokenizerID))
	p.printf("  tokenizer_api_key  %s\n", orNot(c.TokenizerKey()))
	p.printf("  tokenizer_secret   %s\n", set(v.HasFieldsSecret))
	switch {
	case !c.ServerToServer:
		p.printf("Card payments are not enabled yet. To enable them, run: holdfast merchant set %d --server-to-server\n", c.ID)
	case !c.TakesPayments():
		p.printf("Card payments are not possible in mode %s.\n", c.Mode)
	}
}

func orNot(text string) string {
	if text == "" {
		return "not set"
	}
	return text
}

// merchantSecretCmd shows or rotates a merchant's secret.
type merchantSecretCmd struct {
	siteFlag
	ID     int64 `arg:"" help:"Merchant id."`
	Rotate bool  `help:"Create a new secret. Auth strings signed with the old one are rejected immediately."`
}

// Run prints the secret alone, for scripts.
func (c merchantSecretCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	var channel merchant.Channel
	if c.Rotate {
		channel, err = p.app.Channels.RotateSecret(ctx, actor, c.ID, 0)
	} else {
		channel, err = p.app.Channels.Get(ctx, actor, c.ID)
	}
	if err != nil {
		return err
	}
	secret, err := p.app.Channels.Secret(channel)
	if err != nil {
		return err
	}
	p.printf("%s\n", secret)
	return nil
}
