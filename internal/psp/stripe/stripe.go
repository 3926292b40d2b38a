// Package stripe takes payments through Stripe, with Stripe's own library. A placeholder of the tokenizer stands for
// the card number.
//
// A charge takes three requests, and only the last one can move money. The first opens a payment intent under our
// reference, the second sends the card through the tokenizer, and the third confirms the intent. When one of the
// first two fails, no money has moved. An intent that was not confirmed can be cancelled: then it can never take
// money.
package stripe

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"holdfast/internal/psp"
	"holdfast/internal/psp/tokenizer"

	stripe "github.com/stripe/stripe-go/v85"
)

// Name is the name of this processor: the value of psp (section 2.6).
const Name = "stripe"

// Config is what a Gateway is made of. Next and Clock are required.
type Config struct {
	Address string             // of the API; "" is Stripe's own
	Tokens  *tokenizer.Gateway // nil when no channel has a tokenizer
	Next    http.RoundTripper  // sends the requests
	Clock   func() time.Time   // the real time
	// Quiet is how long after a request it may still arrive at the processor, even when the caller has given up. Only
	// after that does Find answer Absent. 0 is half a minute.
	Quiet time.Duration
}

// Gateway implements psp.Gateway.
type Gateway struct {
	address string
	tokens  *tokenizer.Gateway
	next    http.RoundTripper
	clock   func() time.Time
	quiet   time.Duration
}

var _ psp.Gateway = (*Gateway)(nil)

// New makes a Gateway. It is an error when something required is missing, or when the address is wrong.
func New(c Config) (*Gateway, error) {
	if c.Next == nil || c.Clock == nil {
		return nil, errors.New("stripe: a transport and a clock are needed")
	}
	g := &Gateway{tokens: c.Tokens, next: c.Next, clock: c.Clock, quiet: c.Quiet, address: stripe.APIURL}
	if g.quiet == 0 {
		g.quiet = 30 * time.Second
	}
	if c.Address != "" {
		u, err := psp.ParseAddress(c.Address)
		if err != nil {
			return nil, fmt.Errorf("the address of the API of stripe: %w", err)
		}
		g.address = u.String()
	}
	return g, nil
}

// Check implements psp.Gateway. It checks that the key and the tokenizer fit the environment.
func (g *Gateway) Check(a psp.Account) error {
	environment := "test"
	if a.Live {
		environment = "live"
	}
	kind, rest, _ := strings.Cut(a.Key, "_")
	mode, secret, _ := strings.Cut(rest, "_")
	switch {
	case (kind != "sk" && kind != "rk") || (mode != "test" && mode != "live") || !printable(secret):
		return refused("a secret or restricted stripe key starts with sk_test_, rk_test_, sk_live_ or rk_live_")
	case mode != environment:
		return refused("a channel in mode " + environment + " does not accept a " + mode + " key")
	case (a.Tokenizer.ID == "") != (a.Tokenizer.Key == ""):
		return refused("a tokenizer needs an id and a key")
	case a.Tokenizer.ID != "" && (!printable(a.Tokenizer.ID) || !printable(a.Tokenizer.Key)):
		return refused("the tokenizer's id and key must not contain spaces or control characters")
	case a.Tokenizer.ID != "" && g.tokens == nil:
		return refused("this deployment has no tokenizer gateway")
	default:
		return nil
	}
}

// printable reports whether a text can be the value of an HTTP header.
func printable(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

func refused(message string) *psp.Error {
	return &psp.Error{Source: psp.AtProcessor, Kind: psp.Refused, Message: message}
}

// The form fields that the tokenizer may fill.
const (
	numberField = "card[number]"
	codeField   = "card[cvc]"
)

// client makes a client of the library for one account. It never tries again by itself: only callers know whether the
// first request may have moved money. It logs nothing, because its errors repeat what was sent.
func (g *Gateway) client(a psp.Account) *stripe.Client {
	carrier := g.next
	if a.Tokenizer.ID != "" {
		carrier = g.tokens.Transport(a, numberField, codeField)
	}
	backends := stripe.NewBackendsWithConfig(&stripe.BackendConfig{
		URL: stripe.String(g.address),
		HTTPClient: &http.Client{
			Transport: sender{carrier},
			// A redirect would send the key to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull},
		MaxNetworkRetries: stripe.Int64(0),
		EnableTelemetry:   stripe.Bool(false),
	})
	return stripe.NewClient(a.Key, stripe.WithBackends(backends))
}

// The names of the metadata that hold our references at the processor.
const (
	referenceKey = "holdfast_reference" // of an intent and of a refund
	captureKey   = "holdfast_capture"   // of a capture, on its intent
)
