package client

import (
	"context"
	"iter"
	"net/http"
)

// Webhooks are addresses of receivers, which get the events of a site. VerifyWebhook is for a receiver.
type Webhooks struct{ c *connection }

// List reads a page of the list.
func (s *Webhooks) List(ctx context.Context, query WebhooksQuery, page Page) ([]Webhook, PageInfo, error) {
	return paged[[]Webhook](ctx, s.c, s.c.resource("webhooks"), query, page)
}

// All goes through the whole list.
func (s *Webhooks) All(ctx context.Context, query WebhooksQuery) iter.Seq2[Webhook, error] {
	return each[Webhook](ctx, s.c, s.c.resource("webhooks"), query)
}

// Get reads a webhook without its secret.
func (s *Webhooks) Get(ctx context.Context, id int64, options ...CallOption) (Webhook, error) {
	return get[Webhook](ctx, s.c, s.c.resource("webhooks", id), nil, options...)
}

// Create makes a webhook. The answer has the secret that signs. No later answer has it.
func (s *Webhooks) Create(ctx context.Context, in WebhookCreate, options ...CallOption) (Webhook, error) {
	return create[Webhook](ctx, s.c, s.c.resource("webhooks"), in, options)
}

// Change changes the fields that are not nil, and no others. An empty list of types means all types.
func (s *Webhooks) Change(ctx context.Context, id int64, in WebhookChange, options ...CallOption) (Webhook, error) {
	return change[Webhook](ctx, s.c, s.c.resource("webhooks", id), in, options)
}

// Delete deletes a webhook with what waits for it.
func (s *Webhooks) Delete(ctx context.Context, id int64, options ...CallOption) error {
	return remove(ctx, s.c, s.c.resource("webhooks", id), options)
}

// Rotate gives a webhook another secret, which the answer has. The one before signs for 24 hours more, or ends at once.
func (s *Webhooks) Rotate(ctx context.Context, id int64, in WebhookRotation, options ...CallOption) (Webhook, error) {
	r := request{method: http.MethodPost, path: s.c.resource("webhooks", id, "rotate")}
	return one[Webhook](ctx, s.c, r, in, options)
}

// Test has a webhook.test event sent to a webhook.
func (s *Webhooks) Test(ctx context.Context, id int64, options ...CallOption) (Webhook, error) {
	return create[Webhook](ctx, s.c, s.c.resource("webhooks", id, "test"), nil, options)
}

// Replay has an event sent again, or those of a span of time.
func (s *Webhooks) Replay(ctx context.Context, id int64, in WebhookReplay, options ...CallOption) (WebhookReplayed, error) {
	return create[WebhookReplayed](ctx, s.c, s.c.resource("webhooks", id, "replay"), in, options)
}

// Deliveries reads one page of the log of a webhook.
func (s *Webhooks) Deliveries(ctx context.Context, id int64, query DeliveriesQuery, page Page) ([]Delivery, PageInfo, error) {
	return paged[[]Delivery](ctx, s.c, s.c.resource("webhooks", id, "deliveries"), query, page)
}

// AllDeliveries goes through the log of a webhook.
func (s *Webhooks) AllDeliveries(ctx context.Context, id int64, query DeliveriesQuery) iter.Seq2[Delivery, error] {
	return each[Delivery](ctx, s.c, s.c.resource("webhooks", id, "deliveries"), query)
}

// Delivery reads one delivery of a webhook with its attempts.
func (s *Webhooks) Delivery(ctx context.Context, id, delivery int64, options ...CallOption) (DeliveryLog, error) {
	return get[DeliveryLog](ctx, s.c, s.c.resource("webhooks", id, "deliveries", delivery), nil, options...)
}
