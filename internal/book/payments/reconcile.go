package payments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/platform/leases"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
	"holdfast/internal/psp"
	"holdfast/internal/store"
)

// Bounds of one run of Reconcile: how many gateway charges it handles, and how many queries run concurrently.
const (
	askBatch  = 64
	askAtOnce = 8
)

// Reconcile asks processors for unknown outcomes of payments. It also has them release authorisations
// that were not captured in time, and ends challenges that the shopper did not finish in time. Each call handles a bounded
// number, and returns more if there may be some left. If a processor returns no outcome, it is asked again later. reported are the
// disputes that processors returned with the outcomes.
func (p *GatewayPayments) Reconcile(ctx context.Context) (reported []ReportedDisputes, more bool, err error) {
	var due []payment.GatewayCharge
	err = p.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		due, err = gatewayChargesDue(tx, askBatch)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	var mu sync.Mutex
	leases.AtOnce(due, askAtOnce, func(d payment.GatewayCharge) {
		disputes, err := p.askOne(ctx, d)
		if err != nil {
			p.Log.Warn("processor status check failed", "site", d.SiteID, "transaction", d.TransactionID, "processor", d.Processor, "error", err)
		}
		mu.Lock()
		defer mu.Unlock()
		reported = append(reported, disputes...)
	})
	return reported, len(due) == askBatch && ctx.Err() == nil, nil
}

// ReportedDisputes are the disputes that a processor returned with the outcome of a charge.
type ReportedDisputes struct {
	SiteID        int64
	TransactionID int64 // of the charge
	Processor     string
	Clock         sites.Clock
	Disputes      []payment.Dispute
}

// credentials has what is needed to ask a processor about an earlier request.
type credentials struct {
	row     payment.GatewayCharge
	gateway psp.Gateway
	account psp.Account
	clock   sites.Clock
}

// askOne asks about one gateway charge. It claims the charge first: if two processes read the same one, only one asks.
func (p *GatewayPayments) askOne(ctx context.Context, d payment.GatewayCharge) ([]ReportedDisputes, error) {
	a, err := p.accessTo(ctx, d, func(tx *store.Tx) error {
		return claimAsk(tx, d, sites.RealNow(tx).Add(p.Settings.CallTimeout+askPause(d)))
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if d.State == payment.ChargeReleasing {
		return nil, p.releaseAt(ctx, a)
	}
	t, reported, err := p.find(ctx, a)
	if err != nil {
		return reported, err
	}
	if t.GatewayCharge.State == payment.ChargeChallenged && a.account.Now.Sub(t.CreatedAt) >= p.Settings.ChallengeLife {
		return reported, p.abandon(ctx, a, t)
	}
	if d.State == payment.ChargeAbsent && t.GatewayCharge.State == payment.ChargeAbsent {
		return reported, p.askNoMore(ctx, a)
	}
	return reported, nil
}

// accessTo reads the credentials for a gateway charge, in a write with the clock of its site. also runs in the same write.
func (p *GatewayPayments) accessTo(
	ctx context.Context, d payment.GatewayCharge, also func(tx *store.Tx) error,
) (a credentials, err error) {
	a.row = d
	err = p.Store.Read(ctx, d.SiteID, func(tx *store.Tx) (err error) {
		a.clock, err = sites.ClockOf(tx, d.SiteID)
		return err
	})
	if err != nil {
		return a, err
	}
	var unreadable error
	err = p.WriteBy(ctx, a.clock, func(tx *store.Tx) error {
		if err := also(tx); err != nil {
			return err
		}
		channel, err := merchants.Channel(tx, d.SiteID, d.ChannelID)
		if err != nil {
			return err
		}
		// Without credentials the processor cannot be queried now, but the changes made by also must be kept. So the
		// write succeeds.
		a.gateway, a.account, unreadable = accountOf(p.Room, tx, channel, d)
		return nil
	})
	return a, cmp.Or(err, unreadable)
}

// find asks a processor for the outcome of a gateway charge and writes it. It returns the transaction as it is then, and its disputes as
// the processor reports them.
func (p *GatewayPayments) find(ctx context.Context, a credentials) (payment.Transaction, []ReportedDisputes, error) {
	d := a.row
	calling, cancel := context.WithTimeout(ctx, p.Settings.CallTimeout)
	defer cancel()
	result, err := a.gateway.Find(calling, psp.Query{
		Account: a.account, Operation: psp.Operation(d.Operation), Reference: d.Reference, ProcessorID: d.ProcessorID,
		Original: d.Original, Since: d.AskedForAt,
	})
	result, refusal := p.answered(d, result, err)
	if refusal != nil {
		return payment.Transaction{}, nil, refusal
	}
	t, err := p.write(ctx, a, func(s *gatewayOutcome) error { return s.apply(result) })
	if err != nil || len(result.Disputes) == 0 {
		return t, nil, err
	}
	return t, []ReportedDisputes{{t.SiteID, t.ID, d.Processor, a.clock, result.Disputes}}, nil
}

// write changes one gateway charge and its transaction. It continues if the caller disconnects, so that the processor's
// answer is not lost.
func (p *GatewayPayments) write(
	ctx context.Context, a credentials, change func(s *gatewayOutcome) error,
) (t payment.Transaction, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), outcomeTime)
	defer cancel()
	err = p.WriteBy(ctx, a.clock, func(tx *store.Tx) error {
		s, err := outcomeOf(p.Room, tx, a.row)
		if err != nil {
			return err
		}
		if err := change(s); err != nil {
			return err
		}
		t = s.t
		return ledger.SaveChanges(tx)
	})
	return t, err
}

// AskAbout asks a processor about a charge that it has reported on, and writes the outcome. A charge that the
// channel does not have is ignored. It returns an error while the outcome is unknown. reported are the
// disputes that the processor returned with it.
func (p *GatewayPayments) AskAbout(ctx context.Context, named Charge) (reported []ReportedDisputes, err error) {
	var d payment.GatewayCharge
	err = p.Store.Read(ctx, named.SiteID, func(tx *store.Tx) (err error) {
		d, err = gatewayChargeOfNotice(tx, named)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	a, err := p.accessTo(ctx, d, func(*store.Tx) error { return nil })
	if err != nil {
		return nil, err
	}
	t, reported, err := p.find(ctx, a)
	if err == nil && t.GatewayCharge.State == payment.ChargeUnknown {
		return reported, fmt.Errorf("the outcome of transaction %d-%d is not known yet", t.SiteID, t.ID)
	}
	return reported, err
}

// abandon ends a payment whose shopper did not finish the challenge in time. It asks the processor to void the charge. Only then can the
// shopper no longer pay, and the transaction expires.
func (p *GatewayPayments) abandon(ctx context.Context, a credentials, t payment.Transaction) error {
	result, refusal := p.void(ctx, a, t, t.Total)
	if refusal != nil {
		return refusal
	}
	if result.Outcome != psp.Approved {
		return nil // the shopper finished at the last moment, or the outcome is unknown: the next run resolves it
	}
	_, err := p.write(ctx, a, func(s *gatewayOutcome) error {
		if s.p.State != payment.ChargeChallenged {
			return nil
		}
		s.p.Challenge, s.p.Decline = payment.Challenge{}, string(psp.DeclineAbandoned)
		return s.fail(payment.StatusExpired, payment.ChargeConcluded, saysAbandoned)
	})
	return err
}

// void asks the processor to release an amount of a charge. The reference is derived from the charge's, so a repeated call
// is still one release.
func (p *GatewayPayments) void(
	ctx context.Context, a credentials, t payment.Transaction, amount int64,
) (psp.Result, *psp.Error) {
	ctx, cancel := context.WithTimeout(ctx, p.Settings.CallTimeout)
	defer cancel()
	result, err := a.gateway.Void(ctx, psp.Adjustment{
		Account: a.account, Reference: a.row.Reference + "-release", Original: t.GatewayCharge.ProcessorID, Amount: amount,
		Currency: t.Currency,
	})
	return p.answered(a.row, result, err)
}

// beginRelease has Reconcile release the amount that a locked authorisation still holds on the card. An authorisation
// without a gateway charge needs no release. It returns false while the outcome of an adjustment is open: a release could
// take away the amount of a capture.
func beginRelease(tx *store.Tx, t payment.Transaction) (ready bool, err error) {
	p, err := gatewayChargeOf(tx, t.SiteID, t.ID)
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if open, err := openAdjustments(tx, t.SiteID, t.ID); err != nil || open > 0 {
		return false, err
	}
	p.State, p.AskAt, p.Asks = payment.ChargeReleasing, sites.RealNow(tx), 0
	return true, saveGatewayCharge(tx, p)
}

// releaseAt asks the processor to release the rest of an expired authorisation. If the processor declines, there is
// nothing left to release.
func (p *GatewayPayments) releaseAt(ctx context.Context, a credentials) error {
	var t payment.Transaction
	err := p.Store.Read(ctx, a.row.SiteID, func(tx *store.Tx) (err error) {
		t, err = Transaction(tx, a.row.SiteID, a.row.TransactionID)
		return err
	})
	if err != nil {
		return err
	}
	result, refusal := p.void(ctx, a, t, t.Remaining)
	switch {
	case refusal != nil:
		return refusal
	case result.Outcome != psp.Approved && result.Outcome != psp.Declined:
		return nil
	case result.Outcome == psp.Declined:
		p.Log.Warn("expired authorisation not released", "site", t.SiteID, "transaction", t.ID, "says", result.Message)
	}
	return p.askNoMore(ctx, a)
}

// askNoMore stops the queries about a gateway charge, because its outcome is final.
func (p *GatewayPayments) askNoMore(ctx context.Context, a credentials) error {
	_, err := p.write(ctx, a, func(s *gatewayOutcome) error {
		if s.p.State == payment.ChargeReleasing {
			s.p.State = payment.ChargeConcluded
		}
		s.p.AskAt = time.Time{}
		return saveGatewayCharge(s.tx, s.p)
	})
	return err
}

// Return returns the URL for a shopper who comes back from a challenge: the merchant's URL, with the id of the
// transaction in the query. It asks the processor first, so that the merchant sees the outcome. If the processor
// cannot be reached, Reconcile asks it later. If the key is unknown, the error has the kind NoRoute.
func (p *GatewayPayments) Return(ctx context.Context, key string) (address string, err error) {
	var d payment.GatewayCharge
	var t payment.Transaction
	err = p.Store.Read(ctx, secrets.SiteOfKey(key), func(tx *store.Tx) error {
		if d, err = gatewayChargeByReturnKey(tx, key); err != nil {
			return err
		}
		t, err = Transaction(tx, d.SiteID, d.TransactionID)
		return err
	})
	if err != nil {
		return "", store.NotFoundAs(errs.NoRoute, err, "No route was found matching the URL and request method.")
	}
	sem := p.semaphore()
	defer sem.release()
	if d.State.Open() && sem.take() {
		a, err := p.accessTo(ctx, d, func(*store.Tx) error { return nil })
		if err == nil {
			_, _, err = p.find(ctx, a) // disputes come with the processor's events
		}
		if err != nil {
			p.Log.Warn("processor status check after a challenge failed", "site", d.SiteID, "transaction", d.TransactionID, "error", err)
		}
	}
	back, err := url.Parse(t.RedirectURL)
	if err != nil {
		return "", err
	}
	if back.RawQuery != "" { // keep the merchant's own query
		back.RawQuery += "&"
	}
	back.RawQuery += "transaction_id=" + strconv.FormatInt(t.ID, 10)
	return back.String(), nil
}
