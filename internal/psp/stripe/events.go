package stripe

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/psp"

	stripe "github.com/stripe/stripe-go/v85"
)

// eventTypes are the events that change the result of one of our requests.
var eventTypes = []string{
	"payment_intent.succeeded", "payment_intent.payment_failed", "payment_intent.canceled",
	"payment_intent.amount_capturable_updated",
	"refund.created", "refund.updated", "refund.failed", "charge.refunded", "charge.expired",
	"charge.dispute.created", "charge.dispute.updated", "charge.dispute.closed",
	"charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated",
}

// ReadEvent implements psp.Gateway. For an event of another type the Notice names no payment.
func (g *Gateway) ReadEvent(a psp.Account, e psp.Event) (psp.Notice, error) {
	if a.WebhookSecret == "" {
		return psp.Notice{}, forged("the channel has no webhook secret to verify stripe's events")
	}
	// Only ids are read from an event. They are the same in all versions of the API.
	event, err := stripe.ConstructEvent(e.Body, e.Signature, a.WebhookSecret, stripe.WithIgnoreAPIVersionMismatch())
	switch {
	case err != nil:
		// The library's error may quote the body.
		return psp.Notice{}, forged("the event has no valid stripe signature, or the signature is too old")
	case event.Livemode != a.Live:
		return psp.Notice{}, forged("the event is from the other environment")
	}
	return noticeOf(&event), nil
}

func forged(message string) *psp.Error {
	return &psp.Error{Source: psp.AtProcessor, Kind: psp.Forged, Message: message}
}

// noticeOf says which payment an event is about.
func noticeOf(event *stripe.Event) psp.Notice {
	notice := psp.Notice{EventID: event.ID}
	if event.Data == nil || !slices.Contains(eventTypes, string(event.Type)) {
		return notice
	}
	var about struct {
		Object        string
		ID            string
		PaymentIntent json.RawMessage `json:"payment_intent"`
		Metadata      map[string]string
	}
	if json.Unmarshal(event.Data.Raw, &about) != nil {
		return notice
	}
	notice.Reference = about.Metadata[referenceKey]
	if about.Object == "payment_intent" {
		notice.ProcessorID = about.ID
	} else if id, plain := stripe.ParseID(about.PaymentIntent); plain {
		notice.ProcessorID = id
	}
	return notice
}

// kept is how long the processor keeps events.
const kept = 30 * 24 * time.Hour

// Events implements psp.Gateway. A cursor is the id of the last event, or @ and Unix seconds when there was none yet.
func (g *Gateway) Events(ctx context.Context, a psp.Account, cursor string) ([]psp.Notice, string, error) {
	if err := g.Check(a); err != nil {
		return nil, "", err
	}
	client := g.client(a)
	if cursor == "" {
		// Ten seconds back, because the processor's clock may be behind ours. Callers know a repeated event by its
		// id.
		return nil, "@" + strconv.FormatInt(g.clock().Add(-10*time.Second).Unix(), 10), nil
	}
	if from, ok := strings.CutPrefix(cursor, "@"); ok {
		seconds, err := strconv.ParseInt(from, 10, 64)
		if err != nil {
			return nil, "", invalid("", "this is not a stripe event cursor")
		}
		return eventsSince(ctx, client, seconds, cursor)
	}
	notices, next, err := eventsAfter(ctx, client, cursor)
	if e, _ := verdict(err); err != nil && e.Kind == psp.Invalid {
		// The processor no longer has the event of the cursor: everything that it still has is newer.
		since := g.clock().Add(-kept).Unix()
		return eventsSince(ctx, client, since, "@"+strconv.FormatInt(since, 10))
	}
	return notices, next, asError(err)
}

func listing() *stripe.EventListParams {
	return &stripe.EventListParams{
		ListParams: stripe.ListParams{Limit: stripe.Int64(pageSize)}, Types: stripe.StringSlice(eventTypes),
	}
}

// eventsAfter lists one page of the events after a cursor.
func eventsAfter(ctx context.Context, client *stripe.Client, cursor string) ([]psp.Notice, string, error) {
	p := listing()
	// The processor lists the newest first, so newer ones come before the cursor. The library reverses the page.
	p.EndingBefore, p.Single = stripe.String(cursor), true
	list := client.V1Events.List(ctx, p)
	if list.Err() != nil {
		return nil, "", list.Err()
	}
	notices, newest := noticesOf(list.Data())
	if newest != "" {
		cursor = newest
	}
	return notices, cursor, nil
}

// eventsSince lists the events since a time. The processor lists the newest first, so all pages are read before the
// oldest event is known.
func eventsSince(ctx context.Context, client *stripe.Client, since int64, cursor string) ([]psp.Notice, string, error) {
	p := listing()
	p.CreatedRange = &stripe.RangeQueryParams{GreaterThanOrEqual: since}
	var events []*stripe.Event
	for event, err := range client.V1Events.List(ctx, p).All(ctx) {
		if err != nil {
			return nil, "", asError(err)
		}
		if events = append(events, event); len(events) == pageSize*pages {
			break
		}
	}
	slices.Reverse(events)
	notices, newest := noticesOf(events)
	if newest != "" {
		cursor = newest
	}
	return notices, cursor, nil
}

// noticesOf returns the notices of the events that are about a payment, and the id of the last event.
func noticesOf(events []*stripe.Event) (notices []psp.Notice, last string) {
	for _, event := range events {
		last = event.ID
		if notice := noticeOf(event); notice.ProcessorID != "" {
			notices = append(notices, notice)
		}
	}
	return notices, last
}

// asError returns the verdict as an error. A nil error stays nil: a nil *psp.Error in an interface would not be nil.
func asError(err error) error {
	if err == nil {
		return nil
	}
	e, _ := verdict(err)
	return e
}
