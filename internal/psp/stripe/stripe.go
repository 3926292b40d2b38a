// Package stripe takes payments through Stripe, by its own library. The card's number is given as the tokenizer's
// placeholder.
//
// A charge is three requests, of which only the last can move money: a payment intent is opened under our reference,
// the card goes in through the tokenizer, and the intent is confirmed. So whatever fails before the last has changed
// nothing, and an intent that was never confirmed can be cancelled: then it is certain that it never takes any money.
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

// Name is how a channel names this processor.
const Name = "stripe"

// Config is what a Gateway needs to know of its surroundings.
type Config struct {
	Address string             // of the processor's API; "" is its own
	Tokens  *tokenizer.Gateway // through which the cards' numbers come; nil where no channel has a tokenizer
	Next    http.RoundTripper  // carries the requests
	Clock   func() time.Time   // the real one
	// Quiet is after how long nothing arrives any more that was under way when a call was given up: only then Find
	// takes the absence of a thing for certain. 0 is half a minute.
	Quiet time.Duration
}

// Gateway implements psp.Gateway.
type Gateway struct {
	address string
	tokens  *tokenizer.Gateway
	next    http.RoundTripper
	clock   func() time.Time
	settle  time.Duration
}

var _ psp.Gateway = (*Gateway)(nil)

// New makes a Gateway.
func New(c Config) (*Gateway, error) {
	if c.Next == nil || c.Clock == nil {
		return nil, errors.New("stripe: a transport and a clock are needed")
	}
	g := &Gateway{tokens: c.Tokens, next: c.Next, clock: c.Clock, settle: c.Quiet, address: stripe.APIURL}
	if g.settle == 0 {
		g.settle = 30 * time.Second
	}
	if c.Address != "" {
		u, err := psp.ParseAddress(c.Address)
		if err != nil {
			return nil, fmt.Errorf("the address of stripe's API: %w", err)
		}
		g.address = u.String()
	}
	return g, nil
}

// Check implements psp.Gateway: the key and the tokenizer fit the environment.
func (g *Gateway) Check(a psp.Account) error {
	environment := "test"
	if a.Live {
		environment = "live"
	}
	kind, rest, _ := strings.Cut(a.Key, "_")
	mode, secret, _ := strings.Cut(rest, "_")
	switch {
	case (kind != "sk" && kind != "rk") || (mode != "test" && mode != "live") || !printable(secret):
		return refused("a secret or restricted key of stripe begins with sk_test_, rk_test_, sk_live_ or rk_live_")
	case mode != environment:
		return refused("a channel in mode " + environment + " takes no " + mode + " key")
	case (a.Tokenizer.ID == "") != (a.Tokenizer.Key == ""):
		return refused("a tokenizer takes an id and a key")
	case a.Tokenizer.ID != "" && (!printable(a.Tokenizer.ID) || !printable(a.Tokenizer.Key)):
		return refused("the tokenizer's id and key may not hold blanks or control characters")
	case a.Tokenizer.ID != "" && g.tokens == nil:
		return refused("this deployment has no gateway of a tokenizer")
	default:
		return nil
	}
}

// printable reports whether a text can be the value of a header.
func printable(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

func refused(message string) *psp.Error {
	return &psp.Error{Source: psp.AtProcessor, Kind: psp.Refused, Message: message}
}

// The form fields into which the tokenizer may put something.
const (
	numberField = "card[number]"
	codeField   = "card[cvc]"
)

// client is the library's, for one account. It never tries again by itself: a call is repeated where it is known what
// became of the first, and that is not here. It logs nothing, because its errors repeat what was sent.
func (g *Gateway) client(a psp.Account) *stripe.Client {
	carrier := g.next
	if a.Tokenizer.ID != "" {
		carrier = g.tokens.Transport(a, numberField, codeField)
	}
	backends := stripe.NewBackendsWithConfig(&stripe.BackendConfig{
		URL: stripe.String(g.address),
		HTTPClient: &http.Client{
			Transport: sender{carrier},
			// The key would go along to wherever an answer points.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull},
		MaxNetworkRetries: stripe.Int64(0),
		EnableTelemetry:   stripe.Bool(false),
	})
	return stripe.NewClient(a.Key, stripe.WithBackends(backends))
}

// The names under which our references are kept at the processor.
const (
	referenceKey = "holdfast_reference" // of an intent and of a refund
	captureKey   = "holdfast_capture"   // of a capture, on its intent
)
