package payments

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/merchants"
	"holdfast/internal/psp"
	"holdfast/internal/travel"
)

// callMargin is how much longer than a call may take nobody else asks about it: its caller is alive, or it is on its way.
const callMargin = 10 * time.Second

// outcomeTime is how long the outcome of a call may take to be written.
const outcomeTime = 10 * time.Second

// ReturnPath is the first part of the address to which shoppers come back from a challenge; a key follows it.
const ReturnPath = "/3ds/return/"

// GatewayPayments has processors take payments, and finds out what became of them. No transaction is open while it talks to
// one: a payment is written as pending first, and its outcome afterwards; whatever happens between the two, the row is
// there to ask about.
type GatewayPayments struct {
	*core.Core
	calls chan struct{} // one for each call under way
}

func NewGatewayPayments(c *core.Core) *GatewayPayments {
	return &GatewayPayments{Core: c, calls: make(chan struct{}, core.GatewaySettingsOf(c).InFlight)}
}

// Enabled reports whether there is a processor at all. In the protection-only profile, too, the payment modal pays with
// test cards.
func (p *GatewayPayments) Enabled() bool { return len(p.Gateways) > 0 }

// semaphore is the right to have one payment wait for a processor. It is taken when a payment turns out to need it.
type semaphore struct {
	calls chan struct{}
	taken bool
}

func (p *GatewayPayments) semaphore() *semaphore { return &semaphore{calls: p.calls} }

func (s *semaphore) take() bool {
	if s.taken {
		return true
	}
	select {
	case s.calls <- struct{}{}:
		s.taken = true
	default:
	}
	return s.taken
}

func (s *semaphore) release() {
	if s.taken {
		<-s.calls
		s.taken = false
	}
}

// gatewayRequest is what a processor is to do for a transaction, and the row that remembers it.
type gatewayRequest struct {
	row        travel.GatewayCharge
	gateway    psp.Gateway
	account    psp.Account
	descriptor string
	card       psp.Card
}

// makeRequest finds out whether the transaction is for a processor to carry out: a payment by card on a channel that takes
// payments itself, or what adjusts one. What it would not take is noted.
func (r *intake) makeRequest() error {
	if r.semaphore == nil || !r.core.Profile.Processes() || r.channel.ID == 0 || r.in.Type == nil || r.in.Type.Operators() {
		return nil
	}
	o := &gatewayRequest{row: travel.GatewayCharge{
		SiteID: r.site.ID, ChannelID: r.channel.ID, Operation: *r.in.Type, State: travel.ProcessingCalled,
	}}
	var err error
	if r.in.Type.Linked() {
		err = o.adjust(r)
	} else {
		err = o.charge(r)
	}
	if errors.Is(err, db.ErrNotFound) {
		return r.reportable()
	}
	if err != nil {
		return err
	}
	if r.in.PSP != "" && r.in.PSP != o.row.Processor {
		r.problems.Wrong("psp", "This is processed by %s.", o.row.Processor)
	}
	if !r.in.EffectiveAt.IsZero() {
		r.problems.Wrong("effective_at", "What is processed here counts from now on; another time cannot be given.")
	}
	// Not said, the processor is the channel's: a repetition that says it is the same report.
	r.in.PSP = o.row.Processor
	r.request = o
	return nil
}

// reportable refuses a card to take money from on a channel that is set up to do so and cannot at the moment: logged as
// reported it would look paid, and nobody would have taken the money.
func (r *intake) reportable() error {
	card := cmp.Or(r.in.Method, travel.CreditCard) == travel.CreditCard && r.in.Token != "" && r.in.Token != travel.TestToken
	if !card || r.in.Type.Linked() || r.in.Modal != nil || !r.channel.ServerToServer {
		return nil
	}
	return fault.NotPossibleBecause("not_processing", "Channel %d takes no payments by card at the moment: it is in mode %s, its processor is %s.",
		r.channel.ID, r.channel.Mode, cmp.Or(r.channel.Processor, "not set"))
}

// charge fills in who takes a payment from which card; ErrNotFound where the payment is taken elsewhere.
func (o *gatewayRequest) charge(r *intake) (err error) {
	if cmp.Or(r.in.Method, travel.CreditCard) != travel.CreditCard {
		return db.ErrNotFound
	}
	o.row.Processor, o.gateway, o.account, err = merchants.GatewayOf(r.core, r.tx, r.channel)
	if err != nil {
		return err
	}
	if r.in.Token == "" {
		r.problems.Missing("token")
	}
	o.row.Live, o.descriptor = o.account.Live, r.channel.Descriptor
	o.card = psp.Card{
		Token: r.in.Token, Month: int(r.in.ExpiryMonth), Year: int(r.in.ExpiryYear),
		Holder: strings.TrimSpace(r.in.PayeeName + " " + r.in.PayeeSurname),
	}
	return nil
}

// adjust fills in who changes which charge; ErrNotFound where the original was taken elsewhere.
func (o *gatewayRequest) adjust(r *intake) error {
	original, err := gatewayChargeOf(r.tx, r.site.ID, r.in.LinkedID)
	if err != nil || original.ChannelID != r.channel.ID {
		return cmp.Or(err, db.ErrNotFound)
	}
	o.gateway, o.account, err = accountOf(r.core, r.tx, r.channel, original)
	o.row.Processor, o.row.Live = original.Processor, original.Live
	// A capture's own name is one of an adjustment: what is refunded is the charge.
	o.row.Original = cmp.Or(original.Original, original.ProcessorID)
	return err
}

// accountOf is accountAt for what a processor was asked before: in the same environment.
func accountOf(
	c *core.Core, tx *db.Tx, channel travel.Channel, p travel.GatewayCharge,
) (psp.Gateway, psp.Account, error) {
	g, account, err := merchants.AccountAt(c, tx, channel, p.Processor)
	if err == nil && account.Live != p.Live {
		err = fault.New(fault.Unavailable, "Channel %d has no access any more to the environment of transaction %d.",
			channel.ID, p.TransactionID)
	}
	return g, account, err
}

// keepRequest writes what the processor is about to be asked, along with the transaction. From here on it is found by the
// job that asks, should its caller die.
func (r *intake) keepRequest() error {
	if !r.semaphore.take() {
		return &fault.Error{
			Kind: fault.Unavailable, RetryAfter: time.Second,
			Message: "Too many payments are waiting for their processors; nothing was done.",
		}
	}
	p := &r.request.row
	p.TransactionID, p.Reference = r.t.ID, r.t.UUID
	p.AskedForAt = core.RealNow(r.tx)
	p.AskAt = p.AskedForAt.Add(core.GatewaySettingsOf(r.core).CallTimeout + callMargin)
	if r.t.Attempt3DS && !r.in.Type.Linked() {
		key, err := auth.NewSecret(r.core.Random)
		if err != nil {
			return err
		}
		p.ReturnKey = key
	}
	if err := insertGatewayCharge(r.tx, *p); err != nil {
		return err
	}
	kept := *p
	r.t.GatewayCharge = &kept
	return openPoll(r.tx, p.SiteID, p.ChannelID, p.Processor)
}

// carryOut asks the processor for what was written as pending, and writes the outcome. It goes on when its caller has
// gone away: money may move by then. An outcome that cannot be written is one that nobody knows.
func (p *GatewayPayments) carryOut(
	ctx context.Context, actor auth.Actor, t travel.Transaction, o *gatewayRequest, key travel.IdempotencyKey,
) (travel.Transaction, error) {
	ctx = context.WithoutCancel(ctx)
	result, refusal := p.call(ctx, t, o)
	ctx, cancel := context.WithTimeout(ctx, outcomeTime)
	defer cancel()
	final := t
	err := p.WriteAs(ctx, actor, func(tx *db.Tx) error {
		s, err := outcomeOf(p.Core, tx, o.row)
		if err != nil {
			return err
		}
		if refusal != nil {
			if err := s.refuse(refusal, actor, key); err != nil {
				return err
			}
		} else if err := s.apply(result); err != nil {
			return err
		}
		final = s.t
		return nil
	})
	if err != nil {
		p.Log.Error("the outcome of a payment is not written; it will be asked for", "site", t.SiteID, "transaction", t.ID, "error", err)
		// An error would say that nothing happened, and that the caller may pay again.
		t.Status, t.Content = travel.StatusIncomplete, saysUnknown
		return t, nil
	}
	if refusal != nil {
		p.Log.Warn("a processor took no request", "site", t.SiteID, "transaction", t.ID, "processor", o.row.Processor,
			"error", refusal)
		if final.Status == travel.StatusFailed {
			return final, faultOf(refusal, o.row.Operation)
		}
	}
	return final, nil
}

// call makes the one call to the processor, unless its time is over before it begins: by then others may have asked what
// became of it and got the answer that there was no such request.
func (p *GatewayPayments) call(
	ctx context.Context, t travel.Transaction, o *gatewayRequest,
) (result psp.Result, refusal *psp.Error) {
	left := core.GatewaySettingsOf(p.Core).CallTimeout - p.Clock().Sub(o.row.AskedForAt)
	if left <= 0 {
		return result, &psp.Error{Source: psp.Network, Kind: psp.Unreachable, Message: "the time for the call is over"}
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	var err error
	if o.row.Original != "" {
		a := psp.Adjustment{
			Account: o.account, Reference: o.row.Reference, Original: o.row.Original, Amount: t.Total, Currency: t.Currency,
		}
		switch t.Type {
		case travel.Capture:
			result, err = o.gateway.Capture(ctx, a)
		case travel.Refund:
			result, err = o.gateway.Refund(ctx, a)
		default:
			result, err = o.gateway.Void(ctx, a)
		}
	} else {
		c := p.charge(t, o)
		if t.Type == travel.Authorize {
			result, err = o.gateway.Authorize(ctx, c)
		} else {
			result, err = o.gateway.Purchase(ctx, c)
		}
	}
	return p.heard(o.row, result, err)
}

// heard sorts out what a gateway answers: an error that is not its own leaves open what happened.
func (p *GatewayPayments) heard(of travel.GatewayCharge, result psp.Result, err error) (psp.Result, *psp.Error) {
	if refusal, ok := errors.AsType[*psp.Error](err); ok {
		return psp.Result{}, refusal
	}
	if err != nil {
		p.Log.Error("a call to a processor", "site", of.SiteID, "transaction", of.TransactionID, "processor", of.Processor, "error", err)
		return psp.Result{Outcome: psp.Unknown}, nil
	}
	return result, nil
}

func (p *GatewayPayments) charge(t travel.Transaction, o *gatewayRequest) psp.Charge {
	c := psp.Charge{
		Account: o.account, Reference: o.row.Reference, Amount: t.Total, Currency: t.Currency, Card: o.card,
		Shopper: psp.Shopper{Email: t.PayeeEmail, IPAddress: t.IPAddress}, Descriptor: o.descriptor,
	}
	if o.row.ReturnKey != "" {
		c.ReturnURL = core.GatewaySettingsOf(p.Core).BaseURL + ReturnPath + o.row.ReturnKey
	}
	return c
}

// faultOf says to the caller what a processor or tokenizer would not take. Nothing has happened.
func faultOf(e *psp.Error, asked travel.TransactionType) error {
	switch {
	case e.Kind == psp.Unreachable:
		return &fault.Error{
			Kind: fault.Unavailable, Message: "The processor cannot be reached at the moment; nothing was done.",
			RetryAfter: 5 * time.Second, Err: e,
		}
	case e.Kind == psp.Invalid && !asked.Linked():
		return fault.WrongField(cmp.Or(e.Field, "token"), "%s", e.Message)
	default:
		return fault.NotPossibleBecause(string(e.Source)+"_refused", "%s", e.Message)
	}
}
