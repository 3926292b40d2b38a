package payments

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/lib/limiter"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
	"holdfast/internal/psp"
	"holdfast/internal/store"
)

// callMargin is added to the time limit of a call. The job queries the payment only after both: until then the caller may still be
// waiting, or the request may still be in flight.
const callMargin = 10 * time.Second

// outcomeTime is the time limit for writing the outcome of a call.
const outcomeTime = 10 * time.Second

// ReturnPath is the path to which shoppers come back from a challenge. The return key of the payment follows it.
const ReturnPath = "/3ds/return/"

// GatewayPayments sends payments to processors and determines their outcomes. No database transaction is open while it
// talks to a processor. It writes a payment as pending, calls the processor, and writes the outcome. If it crashes
// between the two writes, the job Reconcile finds the pending row and asks the processor.
type GatewayPayments struct {
	*Room
	calls *limiter.Limiter // in flight; without a queue
}

// NewGatewayPayments makes the use cases. Settings.InFlight bounds the concurrent calls.
func NewGatewayPayments(room *Room) *GatewayPayments {
	return &GatewayPayments{Room: room, calls: limiter.New(limiter.Bounds{Places: int64(room.Settings.InFlight)})}
}

// Enabled reports whether there is any processor. There may be one even in the protection-only profile: the payment
// modal accepts test cards.
func (p *GatewayPayments) Enabled() bool { return len(p.Gateways) > 0 }

// semaphore is a payment's slot for a call to a processor. It is acquired once the payment is known to need a processor.
type semaphore struct {
	of    *GatewayPayments
	taken bool
}

func (p *GatewayPayments) semaphore() *semaphore { return &semaphore{of: p} }

func (s *semaphore) take() bool {
	if !s.taken {
		s.taken = s.of.calls.Acquire(context.Background(), "", 1) == nil
	}
	return s.taken
}

func (s *semaphore) release() {
	if s.taken {
		s.of.calls.Release("", 1)
		s.taken = false
	}
}

// gatewayRequest is the request to a processor for a transaction. row is the gateway charge that is stored for it.
type gatewayRequest struct {
	row        payment.GatewayCharge
	gateway    psp.Gateway
	account    psp.Account
	merchant   string
	descriptor string
	card       psp.Card
}

func (r *intake) newRequest() *gatewayRequest {
	return &gatewayRequest{row: payment.GatewayCharge{
		SiteID: r.site.ID, ChannelID: r.channel.ID, Operation: *r.in.Type, State: payment.ChargeCalled,
	}}
}

// makeRequest makes a request if a processor must carry out the transaction: a card payment on a channel with a processor, or
// an adjustment of such a payment. Invalid fields are noted as problems.
func (r *intake) makeRequest() error {
	if r.semaphore == nil || !r.room.Profile.Processes() || r.channel.ID == 0 || r.in.Type == nil || r.in.Type.Operators() || r.isTest() {
		return nil
	}
	o := r.newRequest()
	var err error
	if r.in.Type.Linked() {
		err = o.adjust(r)
	} else {
		err = o.charge(r)
	}
	if errors.Is(err, store.ErrNotFound) {
		return r.reportable()
	}
	if err != nil {
		return err
	}
	if r.in.PSP != "" && r.in.PSP != o.row.Processor {
		r.problems.Wrong("psp", "The processor of this payment is %s.", o.row.Processor)
	}
	if !r.in.EffectiveAt.IsZero() {
		r.problems.Wrong("effective_at", "Must be omitted, because the payment is made now.")
	}
	if err := r.refuseInsolvent(); err != nil {
		return err
	}
	// Without psp, it is the channel's processor. A repeated report that names this processor is the same report.
	r.in.PSP = o.row.Processor
	r.request = o
	return nil
}

// refuseInsolvent rejects what a processor would carry out for an insolvent channel. Refunds and voids are possible once a
// proposal to allow them was approved (R13).
func (r *intake) refuseInsolvent() error {
	i := r.channel.Insolvency
	if !i.InForce() || i.ProcessingAllowed && (*r.in.Type == payment.Refund || *r.in.Type == payment.Void) {
		return nil
	}
	return errs.NotPossibleBecause("insolvent",
		"Channel %d is insolvent (insolvency %d). Nothing is carried out at its processor; refunds need an approved proposal.", r.channel.ID, i.ID)
}

// isTest reports whether this is the test payment that completes on every test channel, even if the channel has a
// processor.
func (r *intake) isTest() bool {
	return r.channel.WasTest && r.in.PSP == payment.TestPSP && r.in.Token == payment.TestToken
}

// reportable rejects a card payment with a token if the channel is set up for its own processor but cannot use it now.
// Recorded as reported, it would look paid although no money was taken.
func (r *intake) reportable() error {
	card := cmp.Or(r.in.Method, payment.CreditCard) == payment.CreditCard && r.in.Token != "" && r.in.Token != payment.TestToken
	if !card || r.in.Type.Linked() || r.in.Modal != nil || !r.channel.ServerToServer {
		return nil
	}
	return errs.NotPossibleBecause("not_processing",
		"Channel %d cannot take card payments now. Its mode is %s, its processor is %s.",
		r.channel.ID, r.channel.Mode, cmp.Or(r.channel.Processor, "not set"))
}

// charge fills in the processor and the card of a payment. It returns store.ErrNotFound if the payment is made elsewhere.
func (o *gatewayRequest) charge(r *intake) (err error) {
	if cmp.Or(r.in.Method, payment.CreditCard) != payment.CreditCard {
		return store.ErrNotFound
	}
	o.row.Processor, o.gateway, o.account, err = r.room.GatewayOf(r.tx, r.channel)
	if err != nil {
		return err
	}
	if r.in.Token == "" {
		r.problems.Missing("token")
	}
	test := r.site.Sandbox || r.channel.WasTest
	if r.in.Modal == nil && r.in.RedirectURL != "" && !r.site.MayReturnTo(r.in.RedirectURL, test) {
		r.problems.Wrong("3ds_redirect_url", "This URL does not match any of the site's permitted_urls.")
	}
	o.row.Live, o.merchant, o.descriptor = o.account.Live, cmp.Or(r.channel.ReceiptLabel, r.site.Name), r.channel.Descriptor
	o.card = psp.Card{
		Token: r.in.Token, Month: int(r.in.ExpiryMonth), Year: int(r.in.ExpiryYear),
		Holder: strings.TrimSpace(r.in.PayeeName + " " + r.in.PayeeSurname),
	}
	return nil
}

// adjust fills in the processor and the charge to change. It returns store.ErrNotFound if the original payment was
// made elsewhere.
func (o *gatewayRequest) adjust(r *intake) error {
	original, err := gatewayChargeOf(r.tx, r.site.ID, r.in.LinkedID)
	if err != nil || original.ChannelID != r.channel.ID {
		return cmp.Or(err, store.ErrNotFound)
	}
	o.gateway, o.account, err = accountOf(r.room, r.tx, r.channel, original)
	o.row.Processor, o.row.Live = original.Processor, original.Live
	// A refund of a capture names the charge that was captured: the id of the capture itself is that of an adjustment.
	o.row.Original = cmp.Or(original.Original, original.ProcessorID)
	return err
}

// accountOf is merchants.AccountAt for an earlier charge. The account must be of the same environment, live or test.
func accountOf(
	room *Room, tx *store.Tx, channel merchant.Channel, p payment.GatewayCharge,
) (psp.Gateway, psp.Account, error) {
	g, account, err := room.AccountAt(tx, channel, p.Processor)
	if err == nil && account.Live != p.Live {
		err = errs.New(errs.Unavailable, "Channel %d no longer has credentials for the environment of transaction %d.",
			channel.ID, p.TransactionID)
	}
	return g, account, err
}

// keepRequest stores the gateway charge in the write of the transaction. If the process crashes before the outcome is
// written, Reconcile finds it.
func (r *intake) keepRequest() error {
	if !r.semaphore.take() {
		return &errs.Error{
			Kind: errs.Unavailable, RetryAfter: time.Second,
			Message: "Too many payments are waiting for a processor. This request was not carried out. Try again.",
		}
	}
	p := &r.request.row
	p.TransactionID, p.Reference = r.t.ID, r.t.UUID
	p.AskedForAt = sites.RealNow(r.tx)
	p.AskAt = p.AskedForAt.Add(r.room.Settings.CallTimeout + callMargin)
	if r.t.Attempt3DS && !r.in.Type.Linked() {
		key, err := secrets.NewSecret(r.room.Random)
		if err != nil {
			return err
		}
		p.ReturnKey = secrets.SiteKey(r.t.SiteID, key)
	}
	if err := insertGatewayCharge(r.tx, *p); err != nil {
		return err
	}
	kept := *p
	r.t.GatewayCharge = &kept
	return beginPolling(r.tx, p.SiteID, p.ChannelID, p.Processor)
}

// carryOut sends a pending transaction to the processor, and writes the outcome. It continues if the caller
// disconnects, because the money may have moved. If the outcome cannot be written, it is unknown until Reconcile asks.
func (p *GatewayPayments) carryOut(
	ctx context.Context, actor access.Actor, t payment.Transaction, o *gatewayRequest,
) (payment.Transaction, error) {
	ctx = context.WithoutCancel(ctx)
	result, refusal := p.call(ctx, t, o)
	ctx, cancel := context.WithTimeout(ctx, outcomeTime)
	defer cancel()
	final := t
	err := p.WriteAs(ctx, actor, func(tx *store.Tx) error {
		s, err := outcomeOf(p.Room, tx, o.row)
		if err != nil {
			return err
		}
		if refusal != nil {
			if err := s.refuse(refusal, actor); err != nil {
				return err
			}
		} else if err := s.apply(result); err != nil {
			return err
		}
		final = s.t
		return ledger.SaveChanges(tx)
	})
	if err != nil {
		p.Log.Error("payment outcome not recorded; the processor will be queried for it", "site", t.SiteID, "transaction", t.ID, "error", err)
		// Not an error for the caller: an error would mean that nothing happened and that it may pay again.
		t.Status, t.Content = payment.StatusIncomplete, saysUnknown
		return t, nil
	}
	if refusal != nil {
		p.Log.Warn("processor rejected a request", "site", t.SiteID, "transaction", t.ID, "processor", o.row.Processor,
			"error", refusal)
		if final.Status == payment.StatusFailed {
			return final, faultOf(refusal, o.row.Operation)
		}
	}
	return final, nil
}

// call makes the single call to the processor. It makes none if the deadline has passed before it starts: by then
// Reconcile may have asked, and the processor may have answered that there was no such request.
func (p *GatewayPayments) call(
	ctx context.Context, t payment.Transaction, o *gatewayRequest,
) (result psp.Result, refusal *psp.Error) {
	left := p.Settings.CallTimeout - p.Clock().Sub(o.row.AskedForAt)
	if left <= 0 {
		return result, &psp.Error{Source: psp.Network, Kind: psp.Unreachable, Message: "the call timed out"}
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	var err error
	if o.row.Original != "" {
		a := psp.Adjustment{
			Account: o.account, Reference: o.row.Reference, Original: o.row.Original, Amount: t.Total, Currency: t.Currency,
		}
		switch t.Type {
		case payment.Capture:
			result, err = o.gateway.Capture(ctx, a)
		case payment.Refund:
			result, err = o.gateway.Refund(ctx, a)
		default:
			result, err = o.gateway.Void(ctx, a)
		}
	} else {
		c := p.charge(t, o)
		if t.Type == payment.Authorize {
			result, err = o.gateway.Authorize(ctx, c)
		} else {
			result, err = o.gateway.Purchase(ctx, c)
		}
	}
	return p.answered(o.row, result, err)
}

// answered classifies the responses of a gateway. A *psp.Error means that nothing happened. After any other error the outcome
// is unknown.
func (p *GatewayPayments) answered(of payment.GatewayCharge, result psp.Result, err error) (psp.Result, *psp.Error) {
	if refusal, ok := errors.AsType[*psp.Error](err); ok {
		return psp.Result{}, refusal
	}
	if err != nil {
		p.Log.Error("processor call failed", "site", of.SiteID, "transaction", of.TransactionID, "processor", of.Processor, "error", err)
		return psp.Result{Outcome: psp.Unknown}, nil
	}
	return result, nil
}

func (p *GatewayPayments) charge(t payment.Transaction, o *gatewayRequest) psp.Charge {
	c := psp.Charge{
		Account: o.account, Reference: o.row.Reference, Amount: t.Total, Currency: t.Currency, Card: o.card,
		Shopper: psp.Shopper{Email: t.PayeeEmail, IPAddress: t.IPAddress}, Merchant: o.merchant, Descriptor: o.descriptor,
	}
	if o.row.ReturnKey != "" {
		c.ReturnURL = p.Settings.BaseURL + ReturnPath + o.row.ReturnKey
	}
	return c
}

// faultOf turns a rejection by a processor or tokenizer into the caller's error. Nothing has happened.
func faultOf(e *psp.Error, asked payment.TransactionType) error {
	switch {
	case e.Kind == psp.Unreachable:
		return &errs.Error{
			Kind: errs.Unavailable, Message: "The processor cannot be reached now. The request was not carried out.",
			RetryAfter: 5 * time.Second, Err: e,
		}
	case e.Kind == psp.Invalid && !asked.Linked():
		return errs.WrongField(cmp.Or(e.Field, "token"), "%s", e.Message)
	default:
		return errs.NotPossibleBecause(string(e.Source)+"_refused", "%s", e.Message)
	}
}
