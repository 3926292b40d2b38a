package client

import (
	"context"
	"iter"
	"net/http"
)

// Webhooks are the endpoints that receive a site's events. Endpoints call VerifyWebhook.
type Webhooks struct{ c *connection }

// List returns one page of the list.
func (s *Webhooks) List(ctx context.Context, query WebhooksQuery, page Page) ([]Webhook, PageInfo, error) {
	return paged[[]Webhook](ctx, s.c, s.c.resource("webhooks"), query, page)
}

// All iterates over the whole list.
func (s *Webhooks) All(ctx context.Context, query WebhooksQuery) iter.Seq2[Webhook, error] {
	return each[Webhook](ctx, s.c, s.c.resource("webhooks"), query)
}

// Get returns a webhook, without its secret.
func (s *Webhooks) Get(ctx context.Context, id int64, options ...CallOption) (Webhook, error) {
	return get[Webhook](ctx, s.c, s.c.resource("webhooks", id), nil, options...)
}

// Create creates a webhook. Its signing secret is only in this response.
func (s *Webhooks) Create(ctx context.Context, in WebhookCreate, options ...CallOption) (Webhook, error) {
	return create[Webhook](ctx, s.c, s.c.resource("webhooks"), in, options)
}

// Change updates the fields that are not nil and leaves the others unchanged. An empty list of types means all types.
func (s *Webhooks) Change(ctx context.Context, id int64, in WebhookChange, options ...CallOption) (Webhook, error) {
	return change[Webhook](ctx, s.c, s.c.resource("webhooks", id), in, options)
}

// Delete deletes a webhook and its pending deliveries.
func (s *Webhooks) Delete(ctx context.Context, id int64, options ...CallOption) error {
	return remove(ctx, s.c, s.c.resource("webhooks", id), options)
}

// Rotate replaces the secret of a webhook and returns the new one. The previous secret keeps signing for 24 hours, or
// ends immediately.
func (s *Webhooks) Rotate(ctx context.Context, id int64, in WebhookRotation, options ...CallOption) (Webhook, error) {
	r := request{method: http.MethodPost, path: s.c.resource("webhooks", id, "rotate")}
	return one[Webhook](ctx, s.c, r, in, options)
}

// Test sends a webhook.test event to a webhook.
func (s *Webhooks) Test(ctx context.Context, id int64, options ...CallOption) (Webhook, error) {
	return create[Webhook](ctx, s.c, s.c.resource("webhooks", id, "test"), nil, options)
}

// Replay sends an event again, or all events of a period.
func (s *Webhooks) Replay(ctx context.Context, id int64, in WebhookReplay, options ...CallOption) (WebhookReplayed, error) {
	return create[WebhookReplayed](ctx, s.c, s.c.resource("webhooks", id, "replay"), in, options)
}

// Deliveries returns one page of the deliveries of a webhook.
func (s *Webhooks) Deliveries(ctx context.Context, id int64, query DeliveriesQuery, page Page) ([]Delivery, PageInfo, error) {
	return paged[[]Delivery](ctx, s.c, s.c.resource("webhooks", id, "deliveries"), query, page)
}

// AllDeliveries iterates over the deliveries of a webhook.
func (s *Webhooks) AllDeliveries(ctx context.Context, id int64, query DeliveriesQuery) iter.Seq2[Delivery, error] {
	return each[Delivery](ctx, s.c, s.c.resource("webhooks", id, "deliveries"), query)
}

// Delivery returns one delivery of a webhook with its attempts.
func (s *Webhooks) Delivery(ctx context.Context, id, delivery int64, options ...CallOption) (DeliveryLog, error) {
	return get[DeliveryLog](ctx, s.c, s.c.resource("webhooks", id, "deliveries", delivery), nil, options...)
}
