package cli

import (
	"fmt"
	"net/http"
	"time"

	"holdfast/internal/psp"
	"holdfast/internal/psp/sandbox"
	"holdfast/internal/psp/stripe"
	"holdfast/internal/psp/tokenizer"
	"holdfast/internal/store"
)

// processors returns the gateways to the available processors.
func (p *program) processors(db *store.DB) (map[string]psp.Gateway, error) {
	network := http.DefaultTransport
	tokens, err := tokenizer.New(p.TokenizerTestURL, p.TokenizerLiveURL, network)
	if err != nil {
		return nil, fmt.Errorf("--tokenizer-test-url, --tokenizer-live-url: %w", err)
	}
	real, err := stripe.New(stripe.Config{
		Address: p.StripeURL, Tokens: tokens, Next: network, Clock: time.Now,
		// A request that timed out may still reach the processor a little later.
		Quiet: p.PaymentTimeout + 15*time.Second,
	})
	if err != nil {
		return nil, fmt.Errorf("--stripe-url: %w", err)
	}
	made := sandbox.New(db, p.base)
	p.bank = made.Challenges()
	return map[string]psp.Gateway{sandbox.Name: made, stripe.Name: real}, nil
}
