package stripe

import (
	"context"
	"errors"
	"strings"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/psp"

	stripe "github.com/stripe/stripe-go/v85"
)

// Limits of a search. Objects beyond them may still exist.
const (
	pageSize = 100
	pages    = 50
	// around is how far the time of a payment at the processor may differ from the time of our request.
	around = 10 * time.Minute
)

// Find implements psp.Gateway. If it cannot determine the outcome, it returns Unknown: an *Error would look as if the
// payment had failed. Only an account that Check rejects is an *Error.
func (g *Gateway) Find(ctx context.Context, q psp.Query) (psp.Result, error) {
	if err := g.Check(q.Account); err != nil {
		return psp.Result{}, err
	}
	client := g.client(q.Account)
	switch q.Operation {
	case psp.Authorize, psp.Purchase:
		return g.findCharge(ctx, client, q), nil
	case psp.Refund:
		return g.findRefund(ctx, client, q), nil
	case psp.Capture, psp.Void:
		return g.findOnIntent(ctx, client, q), nil
	default:
		return psp.Result{}, invalid("transaction_types", "stripe does not support this operation")
	}
}

// quietNow reports whether no request of the call can arrive at the processor any more.
func (g *Gateway) quietNow(q psp.Query) bool { return !g.clock().Before(q.Since.Add(g.quiet)) }

// absent is the answer when the processor knows nothing of a reference. As long as the request may still arrive, it
// is Unknown.
func (g *Gateway) absent(q psp.Query) psp.Result {
	if !g.quietNow(q) {
		return psp.Result{Outcome: psp.Unknown, Message: "stripe does not know this payment yet"}
	}
	return psp.Result{Outcome: psp.Absent}
}

func (g *Gateway) findCharge(ctx context.Context, client *stripe.Client, q psp.Query) psp.Result {
	id := q.ProcessorID
	if id == "" {
		found, complete, err := intentOf(ctx, client, q)
		switch {
		case err != nil:
			return unknown("", err)
		case found == "" && complete:
			return g.absent(q)
		case found == "":
			return psp.Result{Outcome: psp.Unknown, Message: "stripe has too many payments from that time to search"}
		}
		id = found
	}
	intent, err := retrieve(ctx, client, id)
	if err != nil {
		return unknown(id, err)
	}
	if unconfirmed(intent) {
		return g.close(ctx, client, q, id)
	}
	r := outcome(intent)
	if c := intent.LatestCharge; c != nil && c.Disputed {
		if r.Disputes, err = disputesOf(ctx, client, id); err != nil {
			return unknown(id, err)
		}
	}
	return r
}

// intentOf finds the intent of a reference. It reads lists, because the search of the processor finds new payments
// late. complete says that all of the list was read.
func intentOf(ctx context.Context, client *stripe.Client, q psp.Query) (id string, complete bool, err error) {
	p := &stripe.PaymentIntentListParams{ListParams: stripe.ListParams{Limit: stripe.Int64(pageSize)}}
	if !q.Since.IsZero() {
		p.CreatedRange = &stripe.RangeQueryParams{
			GreaterThanOrEqual: q.Since.Add(-around).Unix(), LesserThanOrEqual: q.Since.Add(around).Unix(),
		}
	}
	seen := 0
	for intent, err := range client.V1PaymentIntents.List(ctx, p).All(ctx) {
		if err != nil {
			return "", false, err
		}
		if intent.Metadata[referenceKey] == q.Reference {
			return intent.ID, true, nil
		}
		if seen++; seen == pageSize*pages {
			return "", false, nil
		}
	}
	return "", true, nil
}

// close cancels an intent that was never confirmed, so that it can never take money.
func (g *Gateway) close(ctx context.Context, client *stripe.Client, q psp.Query, id string) psp.Result {
	if !g.quietNow(q) {
		return psp.Result{Outcome: psp.Unknown, ProcessorID: id, Message: "the payment is not yet confirmed at stripe"}
	}
	p := &stripe.PaymentIntentCancelParams{CancellationReason: stripe.String(neverConfirmed)}
	p.SetIdempotencyKey(q.Reference + "-close")
	intent, err := client.V1PaymentIntents.Cancel(ctx, id, p)
	if err != nil {
		// It may just have been confirmed: the next Find will see.
		return unknown(id, err)
	}
	return outcome(intent)
}

func (g *Gateway) findOnIntent(ctx context.Context, client *stripe.Client, q psp.Query) psp.Result {
	intent, err := retrieve(ctx, client, q.Original)
	if err != nil {
		return unknown("", err)
	}
	r := released(intent)
	if q.Operation == psp.Capture {
		r = captured(intent, q.Reference)
	}
	switch {
	case r.Outcome == psp.Unknown && intent.Status == stripe.PaymentIntentStatusRequiresCapture,
		r.Outcome == psp.Unknown && intent.Status == stripe.PaymentIntentStatusRequiresAction:
		// The intent is as it was before the request.
		return g.absent(q)
	default:
		return r
	}
}

func (g *Gateway) findRefund(ctx context.Context, client *stripe.Client, q psp.Query) psp.Result {
	if q.ProcessorID != "" {
		refund, err := client.V1Refunds.Retrieve(ctx, q.ProcessorID, nil)
		if err != nil {
			return unknown(q.ProcessorID, err)
		}
		return refunded(refund)
	}
	refund, complete, err := refundOf(ctx, client, q.Original, q.Reference)
	switch {
	case err != nil:
		return unknown("", err)
	case refund != nil:
		return refunded(refund)
	case complete:
		return g.absent(q)
	default:
		return psp.Result{Outcome: psp.Unknown, Message: "the payment has too many refunds to search"}
	}
}

// refundOf finds the refund of a reference among the refunds of the original. complete says that all of them were
// read.
func refundOf(ctx context.Context, client *stripe.Client, original, reference string) (found *stripe.Refund, complete bool, err error) {
	p := &stripe.RefundListParams{
		ListParams: stripe.ListParams{Limit: stripe.Int64(pageSize)}, PaymentIntent: stripe.String(original),
	}
	seen := 0
	for refund, err := range client.V1Refunds.List(ctx, p).All(ctx) {
		if err != nil {
			return nil, false, err
		}
		if refund.Metadata[referenceKey] == reference {
			return refund, true, nil
		}
		if seen++; seen == pageSize*pages {
			return nil, false, nil
		}
	}
	return nil, true, nil
}

var errTooMany = errors.New("the payment has too many disputes to read")

// disputesOf lists the chargebacks of a charge. It leaves out inquiries and prevented disputes: with these no money
// has moved.
func disputesOf(ctx context.Context, client *stripe.Client, intent string) ([]payment.Dispute, error) {
	p := &stripe.DisputeListParams{
		ListParams: stripe.ListParams{Limit: stripe.Int64(pageSize)}, PaymentIntent: stripe.String(intent),
	}
	var list []payment.Dispute
	seen := 0
	for d, err := range client.V1Disputes.List(ctx, p).All(ctx) {
		if err != nil {
			return nil, err
		}
		if seen++; seen > pageSize {
			return nil, errTooMany
		}
		state, chargeback := stateOf(d.Status)
		if !chargeback {
			continue
		}
		amount, currency, err := fromProcessor(d.Amount, string(d.Currency))
		if err != nil {
			return nil, err
		}
		list = append(list, disputeOf(d, state, amount, currency))
	}
	return list, nil
}

func disputeOf(d *stripe.Dispute, state payment.DisputeOutcome, amount int64, currency money.Currency) payment.Dispute {
	found := payment.Dispute{
		ProcessorID: d.ID, Outcome: state, Total: amount, Currency: currency,
		ReasonCode: string(d.Reason), ChallengeDay: civil.NoDay, OpenedAt: time.Unix(d.Created, 0).UTC(),
	}
	// The code of the scheme says more than the word of the processor.
	if m := d.PaymentMethodDetails; m != nil && m.Card != nil && m.Card.NetworkReasonCode != "" {
		found.ReasonCode = m.Card.NetworkReasonCode
	}
	if e := d.EvidenceDetails; e != nil && e.DueBy > 0 {
		found.ChallengeDay = civil.DayOf(time.Unix(e.DueBy, 0).UTC())
	}
	return found
}

// stateOf reads the state of a dispute. An unknown state counts as open: the money may be gone.
func stateOf(status stripe.DisputeStatus) (state payment.DisputeOutcome, chargeback bool) {
	switch {
	case strings.HasPrefix(string(status), "warning_"), status == "prevented":
		return "", false
	case status == stripe.DisputeStatusWon:
		return payment.DisputeWon, true
	case status == stripe.DisputeStatusLost:
		return payment.DisputeLost, true
	default:
		return payment.DisputePending, true
	}
}
