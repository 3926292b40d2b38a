package view

import (
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/event"
	"holdfast/internal/notify/webhooks"
)

// webhookShape is an endpoint of webhooks on the wire. The secret is there where it was made just now, and nowhere else.
type webhookShape struct {
	ID           int64          `json:"id"`
	URL          string         `json:"url"`
	Types        []string       `json:"types"` // empty: all
	State        webhooks.State `json:"state"`
	Reason       string         `json:"reason"`
	FailingSince *string        `json:"failing_since"`
	CreatedBy    string         `json:"created_by"`
	Created      string         `json:"created"`
	Modified     string         `json:"modified"`
	Secret       string         `json:"secret,omitempty"`
}

// ShowWebhook gives the shape of an endpoint, to be encoded as JSON.
func ShowWebhook(e webhooks.Endpoint) webhookShape {
	return webhookShape{
		ID: e.ID, URL: e.URL, Types: append([]string{}, e.Types...), State: e.State, Reason: e.Reason,
		FailingSince: maybeInstant(e.FailingSince), CreatedBy: e.CreatedBy, Created: civil.FormatInstant(e.CreatedAt),
		Modified: civil.FormatInstant(e.ModifiedAt), Secret: e.Secret,
	}
}

// maybeInstant writes an instant. The zero time becomes null.
func maybeInstant(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := civil.FormatInstant(t)
	return &text
}

// deliveryShape is a delivery on the wire.
type deliveryShape struct {
	ID          int64                  `json:"id"`
	Webhook     int64                  `json:"webhook"`
	Event       int64                  `json:"event"`
	Type        event.Type             `json:"type"`
	ObjectType  event.Kind             `json:"object_type"`
	ObjectID    int64                  `json:"object_id"`
	State       webhooks.DeliveryState `json:"state"`
	NextAttempt *string                `json:"next_attempt"`
	Attempts    int64                  `json:"attempts"`
	Created     string                 `json:"created"`
	Done        *string                `json:"done"`
}

// deliveryLogShape is a delivery with its attempts.
type deliveryLogShape struct {
	deliveryShape
	Log []attemptShape `json:"log"`
}

type attemptShape struct {
	At           string `json:"at"`
	Milliseconds int64  `json:"milliseconds"`
	Status       *int   `json:"status"`
	Answer       string `json:"answer"`
	Error        string `json:"error"`
}

// ShowDeliveryWith gives the shape of a delivery with its attempts, to be encoded as JSON.
func ShowDeliveryWith(d webhooks.Delivery, attempts []webhooks.Attempt) any {
	shape := deliveryLogShape{ShowDelivery(d), []attemptShape{}}
	for _, a := range attempts {
		shape.Log = append(shape.Log, attemptShape{
			At: civil.FormatInstant(a.At), Milliseconds: a.Took.Milliseconds(), Status: OrNull(a.Status), Answer: a.Answer, Error: a.Error,
		})
	}
	return shape
}

// ShowDelivery gives the shape of a delivery, to be encoded as JSON.
func ShowDelivery(d webhooks.Delivery) deliveryShape {
	return deliveryShape{
		ID: d.ID, Webhook: d.EndpointID, Event: d.EventID, Type: d.Type, ObjectType: d.Kind, ObjectID: d.ObjectID, State: d.State,
		NextAttempt: maybeInstant(d.NextAt), Attempts: d.Attempts, Created: civil.FormatInstant(d.MadeAt), Done: maybeInstant(d.DoneAt),
	}
}
