package stripe

import (
	"context"
	"errors"
	"strings"
	"time"

	"holdfast/internal/money"
	"holdfast/internal/psp"

	stripe "github.com/stripe/stripe-go/v85"
)

// Limits of a search. What lies beyond them is not taken for absent.
const (
	pageSize = 100
	pages    = 50
	// around is how far the processor's clock and the time of its answer may lie from when a payment was asked for.
	around = 10 * time.Minute
)

// Find implements psp.Gateway. Whatever keeps it from knowing is Unknown: an *Error from Find could be mistaken for the
// news that a payment came to nothing, so that only an account that cannot be asked with is one.
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
		return psp.Result{}, invalid("transaction_types", "stripe has no such operation")
	}
}

// settled reports whether nothing of a call arrives at the processor any more.
func (g *Gateway) settled(q psp.Query) bool { return !g.clock().Before(q.Since.Add(g.settle)) }

// absent is the answer where the processor has nothing of a reference.
func (g *Gateway) absent(q psp.Query) psp.Result {
	if !g.settled(q) {
		return psp.Result{Outcome: psp.Unknown, Message: "stripe has nothing of it yet"}
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
			return psp.Result{Outcome: psp.Unknown, Message: "stripe lists more payments of that time than are looked at"}
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

// intentOf finds the intent of a reference. The processor's search lags behind its lists, so it is the lists that are
// gone through; complete says that there is none beyond.
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

// close ends an intent that nothing was tried with, so that it never takes money.
func (g *Gateway) close(ctx context.Context, client *stripe.Client, q psp.Query, id string) psp.Result {
	if !g.settled(q) {
		return psp.Result{Outcome: psp.Unknown, ProcessorID: id, Message: "the payment is not confirmed at stripe yet"}
	}
	p := &stripe.PaymentIntentCancelParams{CancellationReason: stripe.String(neverConfirmed)}
	p.SetIdempotencyKey(q.Reference + "-close")
	intent, err := client.V1PaymentIntents.Cancel(ctx, id, p)
	if err != nil {
		// It may just have been confirmed: the next question finds out.
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
		// It stands as if nobody had asked for anything.
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
		return psp.Result{Outcome: psp.Unknown, Message: "the payment has more refunds than are looked at"}
	}
}

// refundOf finds the refund of a reference among those of its original.
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

var errTooMany = errors.New("more disputes than are looked at")

// disputesOf lists the chargebacks of a charge. Inquiries are none: no money has moved, and a dispute that was
// prevented never became one.
func disputesOf(ctx context.Context, client *stripe.Client, intent string) ([]psp.Dispute, error) {
	p := &stripe.DisputeListParams{
		ListParams: stripe.ListParams{Limit: stripe.Int64(pageSize)}, PaymentIntent: stripe.String(intent),
	}
	var list []psp.Dispute
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

func disputeOf(d *stripe.Dispute, state psp.DisputeState, amount int64, currency money.Currency) psp.Dispute {
	told := psp.Dispute{
		ProcessorID: d.ID, State: state, Amount: amount, Currency: currency,
		ReasonCode: string(d.Reason), OpenedAt: time.Unix(d.Created, 0).UTC(),
	}
	// The scheme's own code says more than the processor's word.
	if m := d.PaymentMethodDetails; m != nil && m.Card != nil && m.Card.NetworkReasonCode != "" {
		told.ReasonCode = m.Card.NetworkReasonCode
	}
	if e := d.EvidenceDetails; e != nil && e.DueBy > 0 {
		told.AnswerBy = time.Unix(e.DueBy, 0).UTC()
	}
	return told
}

// stateOf says how a dispute stands. One in a state that is not known has taken the money, until it is said that it has
// not.
func stateOf(status stripe.DisputeStatus) (state psp.DisputeState, chargeback bool) {
	switch {
	case strings.HasPrefix(string(status), "warning_"), status == "prevented":
		return "", false
	case status == stripe.DisputeStatusWon:
		return psp.DisputeWon, true
	case status == stripe.DisputeStatusLost:
		return psp.DisputeLost, true
	default:
		return psp.DisputeOpen, true
	}
}
