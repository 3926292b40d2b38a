package apptest

import (
	"context"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/onboarding"
	"holdfast/internal/book/pspevents"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/psp"
	"holdfast/internal/testkit/dbtest"
)

// Processing is a world in the server-to-server profile whose channel takes payments through a scripted processor.
type Processing struct {
	*World
	Gateway *Scripted
	Channel merchant.Channel
	Dead    bool
}

// OnBothProcessing runs one test on each engine, with a live channel in pounds whose payments are protected.
func OnBothProcessing(t *testing.T, test func(t *testing.T, w *Processing)) {
	t.Helper()
	OnBoth(t, func(t *testing.T, w *World) { test(t, NewProcessing(t, w, merchant.ModeLive)) })
}

// NewProcessing turns a world into one that takes payments, with one channel in that mode.
func NewProcessing(t *testing.T, w *World, mode merchant.AccountMode) *Processing {
	t.Helper()
	p := &Processing{World: w, Gateway: NewScripted()}
	w.With(func(cfg *app.Config) {
		cfg.Profile = merchant.ServerToServerProfile
		cfg.Gateways = map[string]psp.Gateway{"scripted": p.Gateway}
		cfg.Processing.BaseURL = "https://holdfast.example"
	})
	name, currency, account, yes := "Shop", w.Site.Policy.Currency, merchant.TypeProtected, true
	var err error
	p.Channel, err = w.App.Channels.Create(t.Context(), w.Actor, merchant.ChannelFields{
		Name: &name, Currency: &currency, Mode: &mode, AccountType: &account,
		ProcessorFields: merchant.ProcessorFields{ServerToServer: &yes},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.App.Channels.SetGateway(t.Context(), w.Actor, p.Channel.ID, onboarding.GatewayFields{
		Processor: "scripted", Credentials: merchants.Credentials{Key: "a-key", WebhookSecret: "a-secret"},
	}); err != nil {
		t.Fatal(err)
	}
	p.Gateway.die = func() { p.Dead = true; _ = p.App.DB.Store.Close() }
	return p
}

// Reopen restarts the program on the same database after a crash.
func (p *Processing) Reopen() {
	p.t.Helper()
	p.Dead = false
	p.With(func(cfg *app.Config) { cfg.Store = dbtest.Open(p.t, p.URL, p.Now) })
}

// Minute runs the jobs for a minute. If the program crashes, it is restarted.
func (p *Processing) Minute() {
	p.t.Helper()
	for range 12 {
		p.Advance(5 * time.Second)
		p.Jobs()
		if p.Dead {
			p.Reopen()
		}
	}
}

// Jobs runs the jobs that talk to processors once.
func (p *Processing) Jobs() {
	p.t.Helper()
	for _, run := range []func(context.Context) (bool, error){
		p.App.Disputes.Reconcile, p.App.Notices.Poll, p.App.Notices.Follow,
	} {
		for more := true; more; {
			var err error
			if more, err = run(p.t.Context()); err != nil && !p.Dead {
				p.t.Fatal(err)
			}
		}
	}
}

// Event is an incoming event for a channel.
func (p *Processing) Event(signature, body string, channel int64) pspevents.Event {
	return pspevents.Event{
		Processor: "scripted", SiteID: p.Site.ID, ChannelID: channel, Signature: signature, Body: []byte(body),
	}
}

// Events sends the event of a charge several times.
func (p *Processing) Events(charge payment.Transaction) {
	p.t.Helper()
	for range 3 {
		err := p.App.Notices.Take(p.t.Context(), p.Event("signed", charge.UUID, p.Channel.ID))
		if err != nil {
			p.t.Fatal(err)
		}
	}
	p.Jobs()
}

// Taken returns the captured and the held amount of a charge at the processor.
func (p *Processing) Taken(reference string) (taken, held int64) {
	p.Gateway.mu.Lock()
	defer p.Gateway.mu.Unlock()
	if c := p.Gateway.charges[reference]; c != nil {
		return c.taken, c.held
	}
	return 0, 0
}

// Challenge starts a payment whose shopper is challenged.
func (p *Processing) Challenge(b booking.Booking, total int64) payment.Transaction {
	p.t.Helper()
	p.Gateway.Set(psp.Purchase, challenged)
	in := Pay(payment.Purchase, b, total)
	in.Attempt3DS, in.RedirectURL = true, "http://localhost:3000/done?order=7&b=a"
	made := p.Must(in)
	if made.Status != payment.StatusPending || made.GatewayCharge.Challenge.Value != "https://bank.example/challenge" {
		p.t.Fatalf("a challenged payment is %s, %+v", made.Status, made.GatewayCharge)
	}
	return made
}

// ComeBack is the shopper's return from the challenge.
func (p *Processing) ComeBack(made payment.Transaction) {
	p.t.Helper()
	for range 2 { // a shopper may reload
		address, err := p.App.GatewayPayments.Return(p.t.Context(), made.GatewayCharge.ReturnKey)
		if err != nil || address != "http://localhost:3000/done?order=7&b=a&transaction_id=1" {
			p.t.Fatalf("the shopper goes to %s, %v", address, err)
		}
	}
}

// Dispute has the processor report disputes of a charge, and nothing else.
func (p *Processing) Dispute(charge payment.Transaction, list ...payment.Dispute) {
	p.Gateway.mu.Lock()
	defer p.Gateway.mu.Unlock()
	p.Gateway.charges[charge.UUID].disputes = list
	p.Gateway.News = []psp.Notice{{EventID: "news-" + p.Now().String(), Reference: charge.UUID}}
}

// ComesBack has the processor report that a refund it had accepted did not reach the card.
func (p *Processing) ComesBack(charge, refund payment.Transaction) {
	p.Gateway.mu.Lock()
	c := p.Gateway.charges[charge.UUID]
	r := c.adjustments[refund.UUID]
	c.adjustments[refund.UUID] = psp.Result{
		Outcome: psp.Declined, ProcessorID: r.ProcessorID, Decline: psp.DeclineExpired, Message: "the refund did not reach the card",
	}
	c.taken += r.Amount
	p.Gateway.mu.Unlock()
	p.Events(refund)
}
