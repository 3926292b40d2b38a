package stripe

import (
	"context"
	"errors"
	"strings"

	"holdfast/internal/psp"

	stripe "github.com/stripe/stripe-go/v85"
)

// adjusting checks the account, the original and the amount of an adjustment before anything is sent.
func (g *Gateway) adjusting(a psp.Adjustment) (client *stripe.Client, amount int64, err error) {
	if err := g.Check(a.Account); err != nil {
		return nil, 0, err
	}
	if !strings.HasPrefix(a.Original, "pi_") {
		return nil, 0, invalid("linked_id", "the original payment was not made through stripe")
	}
	if amount, err = toProcessor(a.Amount, a.Currency); err != nil {
		return nil, 0, err
	}
	return g.client(a.Account), amount, nil
}

// Capture implements psp.Gateway. Each authorisation has one capture: the processor releases the rest immediately.
func (g *Gateway) Capture(ctx context.Context, a psp.Adjustment) (psp.Result, error) {
	client, amount, err := g.adjusting(a)
	if err != nil {
		return psp.Result{}, err
	}
	p := &stripe.PaymentIntentCaptureParams{
		AmountToCapture: stripe.Int64(amount), Metadata: map[string]string{captureKey: a.Reference},
		Expand: []*string{stripe.String("latest_charge")},
	}
	p.SetIdempotencyKey(a.Reference)
	intent, err := client.V1PaymentIntents.Capture(ctx, a.Original, p)
	if err == nil {
		return captured(intent, a.Reference), nil
	}
	return adjusted(err, a.Original, func() (psp.Result, error) {
		now, err := retrieve(ctx, client, a.Original)
		if err != nil {
			return unknown(a.Original, err), nil
		}
		if r := captured(now, a.Reference); r.Outcome != psp.Absent {
			return r, nil
		}
		return psp.Result{}, invalid("linked_id",
			"stripe captures an authorisation only once, and this one was already captured or released")
	})
}

// adjusted interprets a failed adjustment. When the same adjustment was made before, again reads its result.
func adjusted(err error, original string, again func() (psp.Result, error)) (psp.Result, error) {
	if failure, ok := errors.AsType[*stripe.Error](err); ok && failure.Type == stripe.ErrorTypeCard {
		return declined(psp.Result{ProcessorID: original}, failure), nil
	}
	e, certain := verdict(err)
	switch {
	case !certain:
		return unknown("", err), nil
	case late(err):
		return again()
	default:
		return psp.Result{}, e
	}
}

// captured reads the result of a capture from its intent. It is Absent if another capture was made, or none can be made
// any more.
func captured(i *stripe.PaymentIntent, reference string) psp.Result {
	r := withCharge(psp.Result{Outcome: psp.Unknown, ProcessorID: i.ID}, i.LatestCharge)
	switch i.Status {
	case stripe.PaymentIntentStatusSucceeded:
		if i.Metadata[captureKey] == reference {
			return approved(r, i.AmountReceived, i.Currency)
		}
		return psp.Result{Outcome: psp.Absent}
	case stripe.PaymentIntentStatusCanceled:
		return psp.Result{Outcome: psp.Absent}
	default:
		return r
	}
}

// Void implements psp.Gateway. The processor releases an authorisation as a whole, so a Void of a part is an *Error
// of the kind Invalid.
func (g *Gateway) Void(ctx context.Context, a psp.Adjustment) (psp.Result, error) {
	client, amount, err := g.adjusting(a)
	if err != nil {
		return psp.Result{}, err
	}
	held, err := retrieve(ctx, client, a.Original)
	if err != nil { // only a read: no money has moved
		e, _ := verdict(err)
		return psp.Result{}, e
	}
	if held.Status == stripe.PaymentIntentStatusRequiresCapture && amount < held.AmountCapturable {
		return psp.Result{}, invalid("total", "stripe can only release an authorisation in full")
	}
	p := &stripe.PaymentIntentCancelParams{CancellationReason: stripe.String(stripe.PaymentIntentCancellationReasonRequestedByCustomer)}
	p.SetIdempotencyKey(a.Reference)
	intent, err := client.V1PaymentIntents.Cancel(ctx, a.Original, p)
	if err == nil {
		return released(intent), nil
	}
	return adjusted(err, a.Original, func() (psp.Result, error) {
		now, err := retrieve(ctx, client, a.Original)
		if err != nil {
			return unknown(a.Original, err), nil
		}
		r := released(now)
		if r.Outcome == psp.Absent {
			r = psp.Result{
				Outcome: psp.Declined, ProcessorID: now.ID, Decline: psp.DeclineOther, Code: string(now.Status),
				Message: "nothing is left to release at stripe for this payment",
			}
		}
		return r, nil
	})
}

// released reads the result of a void from its intent. Both a cancellation and a smaller capture release the rest.
func released(i *stripe.PaymentIntent) psp.Result {
	r := psp.Result{Outcome: psp.Unknown, ProcessorID: i.ID}
	switch i.Status {
	case stripe.PaymentIntentStatusCanceled:
		return approved(r, i.Amount, i.Currency)
	case stripe.PaymentIntentStatusSucceeded:
		if i.AmountReceived < i.Amount {
			return approved(r, i.Amount-i.AmountReceived, i.Currency)
		}
		return psp.Result{Outcome: psp.Absent}
	case stripe.PaymentIntentStatusRequiresPaymentMethod:
		return psp.Result{Outcome: psp.Absent}
	default:
		return r
	}
}

// Refund implements psp.Gateway.
func (g *Gateway) Refund(ctx context.Context, a psp.Adjustment) (psp.Result, error) {
	client, amount, err := g.adjusting(a)
	if err != nil {
		return psp.Result{}, err
	}
	p := &stripe.RefundCreateParams{
		PaymentIntent: stripe.String(a.Original), Amount: stripe.Int64(amount),
		Metadata: map[string]string{referenceKey: a.Reference},
	}
	p.SetIdempotencyKey(a.Reference)
	refund, err := client.V1Refunds.Create(ctx, p)
	if err == nil {
		return refunded(refund), nil
	}
	return adjusted(err, a.Original, func() (psp.Result, error) {
		found, _, err := refundOf(ctx, client, a.Original, a.Reference)
		if err != nil || found == nil {
			return psp.Result{Outcome: psp.Unknown}, nil
		}
		return refunded(found), nil
	})
}

// refunded reads the result of a refund. It is Unknown while the processor is working on it, because it may still
// fail.
func refunded(refund *stripe.Refund) psp.Result {
	r := psp.Result{Outcome: psp.Unknown, ProcessorID: refund.ID}
	switch refund.Status {
	case stripe.RefundStatusSucceeded:
		return approved(r, refund.Amount, refund.Currency)
	case stripe.RefundStatusFailed:
		r.Outcome, r.Code = psp.Declined, string(refund.FailureReason)
		r.Decline, r.Message = refundFailure(r.Code), "the refund did not reach the card"
	case stripe.RefundStatusCanceled:
		r.Outcome, r.Decline, r.Code = psp.Declined, psp.DeclineOther, "canceled"
		r.Message = "the refund was cancelled at stripe"
	}
	return r
}
