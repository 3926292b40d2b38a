package payments

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strconv"
	"sync"
	"time"

	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/merchants"
	"holdfast/internal/psp"
	"holdfast/internal/travel"
)

// Bounds of one run of the job that asks: how many processings it takes on, and how many it asks about at once.
const (
	askBatch  = 64
	askAtOnce = 8
)

// Ask asks processors what became of what nobody knows the outcome of, has released what authorisations held that were
// not captured in time, and gives up challenges that nobody passes. It takes on a bounded number; more says that there
// may be some left. What cannot be found out is left for the next time.
func (p *GatewayPayments) Reconcile(ctx context.Context) (more bool, err error) {
	var due []travel.GatewayCharge
	err = p.Store.Read(ctx, func(tx *db.Tx) (err error) {
		due, err = gatewayChargesDue(tx, askBatch)
		return err
	})
	if err != nil {
		return false, err
	}
	each(due, func(d travel.GatewayCharge) {
		if err := p.askOne(ctx, d); err != nil {
			p.Log.Warn("asking a processor", "site", d.SiteID, "transaction", d.TransactionID, "processor", d.Processor, "error", err)
		}
	})
	return len(due) == askBatch && ctx.Err() == nil, nil
}

// each calls do for every item, several at once.
func each[T any](items []T, do func(item T)) {
	var running sync.WaitGroup
	free := make(chan struct{}, askAtOnce)
	for _, item := range items {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			do(item)
		})
	}
	running.Wait()
}

// access is what it takes to talk to a processor about something that it was asked before.
type access struct {
	row     travel.GatewayCharge
	gateway psp.Gateway
	account psp.Account
	clock   core.SiteClock
}

// askOne asks about one processing, which it takes on first: of two processes that read the same one, one goes on.
func (p *GatewayPayments) askOne(ctx context.Context, d travel.GatewayCharge) error {
	a, err := p.accessTo(ctx, d, func(tx *db.Tx) error {
		return claimAsk(tx, d, core.RealNow(tx).Add(core.GatewaySettingsOf(p.Core).CallTimeout+askPause(d)))
	})
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if d.State == travel.ProcessingReleasing {
		return p.releaseAt(ctx, a)
	}
	t, err := p.find(ctx, a)
	if err != nil {
		return err
	}
	if t.GatewayCharge.State == travel.ProcessingChallenged && a.account.Now.Sub(t.CreatedAt) >= core.GatewaySettingsOf(p.Core).ChallengeLife {
		return p.abandon(ctx, a, t)
	}
	if d.State == travel.ProcessingAbsent && t.GatewayCharge.State == travel.ProcessingAbsent {
		return p.askNoMore(ctx, a)
	}
	return nil
}

// accessTo reads what it takes to ask about a processing, in a write that may do something more by the clock of the site.
func (p *GatewayPayments) accessTo(
	ctx context.Context, d travel.GatewayCharge, also func(tx *db.Tx) error,
) (a access, err error) {
	a.row = d
	err = p.Store.Read(ctx, func(tx *db.Tx) (err error) {
		a.clock, err = core.ClockOf(tx, d.SiteID)
		return err
	})
	if err != nil {
		return a, err
	}
	var unreadable error
	err = p.WriteBy(ctx, a.clock, func(tx *db.Tx) error {
		if err := also(tx); err != nil {
			return err
		}
		channel, err := merchants.Channel(tx, d.SiteID, d.ChannelID)
		if err != nil {
			return err
		}
		// Without access there is nothing to ask today; what is to be written is written all the same.
		a.gateway, a.account, unreadable = accountOf(p.Core, tx, channel, d)
		return nil
	})
	return a, cmp.Or(err, unreadable)
}

// find asks what became of a processing, writes what it learns, and answers the transaction as it is then.
func (p *GatewayPayments) find(ctx context.Context, a access) (travel.Transaction, error) {
	d := a.row
	calling, cancel := context.WithTimeout(ctx, core.GatewaySettingsOf(p.Core).CallTimeout)
	defer cancel()
	result, err := a.gateway.Find(calling, psp.Query{
		Account: a.account, Operation: psp.Operation(d.Operation), Reference: d.Reference, ProcessorID: d.ProcessorID,
		Original: d.Original, Since: d.AskedForAt,
	})
	result, refusal := p.heard(d, result, err)
	if refusal != nil {
		return travel.Transaction{}, refusal
	}
	t, err := p.write(ctx, a, func(s *gatewayOutcome) error { return s.apply(result) })
	if err != nil {
		return t, err
	}
	return t, p.applyDisputes(ctx, a, t, result.Disputes)
}

// write changes one processing and its transaction. It goes on when who asks has gone away: what a processor has said is
// not to be lost.
func (p *GatewayPayments) write(
	ctx context.Context, a access, change func(s *gatewayOutcome) error,
) (t travel.Transaction, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), outcomeTime)
	defer cancel()
	err = p.WriteBy(ctx, a.clock, func(tx *db.Tx) error {
		s, err := outcomeOf(p.Core, tx, a.row)
		if err != nil {
			return err
		}
		if err := change(s); err != nil {
			return err
		}
		t = s.t
		return nil
	})
	return t, err
}

// abandon has a charge released whose shopper did not come back in time. Only when the processor has done so can the
// shopper not pay any more, and the transaction is over.
func (p *GatewayPayments) abandon(ctx context.Context, a access, t travel.Transaction) error {
	result, refusal := p.void(ctx, a, t, t.Total)
	if refusal != nil {
		return refusal
	}
	if result.Outcome != psp.Approved {
		return nil // passed at the last moment, or not known: the next question tells
	}
	_, err := p.write(ctx, a, func(s *gatewayOutcome) error {
		if s.p.State != travel.ProcessingChallenged {
			return nil
		}
		s.p.Challenge, s.p.Decline = travel.Challenge{}, string(psp.DeclineAbandoned)
		return s.fail(travel.StatusExpired, travel.ProcessingConcluded, saysAbandoned)
	})
	return err
}

// void asks for the release of an amount of a charge, under a reference that belongs to the charge: asked again, it is
// still one release.
func (p *GatewayPayments) void(
	ctx context.Context, a access, t travel.Transaction, amount int64,
) (psp.Result, *psp.Error) {
	ctx, cancel := context.WithTimeout(ctx, core.GatewaySettingsOf(p.Core).CallTimeout)
	defer cancel()
	result, err := a.gateway.Void(ctx, psp.Adjustment{
		Account: a.account, Reference: a.row.Reference + "-release", Original: t.GatewayCharge.ProcessorID, Amount: amount,
		Currency: t.Currency,
	})
	return p.heard(a.row, result, err)
}

// beginRelease notes that what an authorisation, which is locked, still holds on the card is to be released, if it was
// processed. It is not ready while the outcome of an adjustment is open: what a capture keeps for itself would be released
// under it.
func beginRelease(tx *db.Tx, t travel.Transaction) (ready bool, err error) {
	p, err := gatewayChargeOf(tx, t.SiteID, t.ID)
	if errors.Is(err, db.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if open, err := openAdjustments(tx, t.SiteID, t.ID); err != nil || open > 0 {
		return false, err
	}
	p.State, p.AskAt, p.Asks = travel.ProcessingReleasing, core.RealNow(tx), 0
	return true, saveGatewayCharge(tx, p)
}

// releaseAt has released what an expired authorisation still holds. A processor that refuses has nothing left to release.
func (p *GatewayPayments) releaseAt(ctx context.Context, a access) error {
	var t travel.Transaction
	err := p.Store.Read(ctx, func(tx *db.Tx) (err error) {
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
		p.Log.Warn("an expired authorisation was not released", "site", t.SiteID, "transaction", t.ID, "says", result.Message)
	}
	return p.askNoMore(ctx, a)
}

// askNoMore ends the questions about what is settled.
func (p *GatewayPayments) askNoMore(ctx context.Context, a access) error {
	_, err := p.write(ctx, a, func(s *gatewayOutcome) error {
		if s.p.State == travel.ProcessingReleasing {
			s.p.State = travel.ProcessingConcluded
		}
		s.p.AskAt = time.Time{}
		return saveGatewayCharge(s.tx, s.p)
	})
	return err
}

// Return answers where a shopper goes on who comes back from a challenge: to the merchant's address, with the id of the
// transaction. The processor is asked first, so that whoever reads the transaction then finds the outcome; where it
// cannot be asked now, the job does so later.
func (p *GatewayPayments) Return(ctx context.Context, key string) (address string, err error) {
	var d travel.GatewayCharge
	var t travel.Transaction
	err = p.Store.Read(ctx, func(tx *db.Tx) error {
		if d, err = gatewayChargeByReturnKey(tx, key); err != nil {
			return err
		}
		t, err = Transaction(tx, d.SiteID, d.TransactionID)
		return err
	})
	if err != nil {
		return "", core.NotFoundAs(fault.NoRoute, err, "No route was found matching the URL and request method.")
	}
	sem := p.semaphore()
	defer sem.release()
	if d.State.Open() && sem.take() {
		a, err := p.accessTo(ctx, d, func(*db.Tx) error { return nil })
		if err == nil {
			_, err = p.find(ctx, a)
		}
		if err != nil {
			p.Log.Warn("asking after a challenge", "site", d.SiteID, "transaction", d.TransactionID, "error", err)
		}
	}
	back, err := url.Parse(t.RedirectURL)
	if err != nil {
		return "", err
	}
	if back.RawQuery != "" { // the merchant's own stays as it is
		back.RawQuery += "&"
	}
	back.RawQuery += "transaction_id=" + strconv.FormatInt(t.ID, 10)
	return back.String(), nil
}
