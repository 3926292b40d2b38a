package api

import (
	"net/http"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/events"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
	"holdfast/internal/webhooks"
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
func ShowWebhook(e webhooks.Endpoint) any { return showWebhook(e) }

func showWebhook(e webhooks.Endpoint) webhookShape {
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
	Type        events.Type            `json:"type"`
	ObjectType  events.Kind            `json:"object_type"`
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

// ShowDelivery gives the shape of a delivery, to be encoded as JSON.
func ShowDelivery(d webhooks.Delivery) any { return showDelivery(d) }

// ShowDeliveryWith gives the shape of a delivery with its attempts, to be encoded as JSON.
func ShowDeliveryWith(d webhooks.Delivery, attempts []webhooks.Attempt) any {
	shape := deliveryLogShape{showDelivery(d), []attemptShape{}}
	for _, a := range attempts {
		shape.Log = append(shape.Log, attemptShape{
			At: civil.FormatInstant(a.At), Milliseconds: a.Took.Milliseconds(), Status: orNull(a.Status), Answer: a.Answer, Error: a.Error,
		})
	}
	return shape
}

func showDelivery(d webhooks.Delivery) deliveryShape {
	return deliveryShape{
		ID: d.ID, Webhook: d.EndpointID, Event: d.EventID, Type: d.Type, ObjectType: d.Kind, ObjectID: d.ObjectID, State: d.State,
		NextAttempt: maybeInstant(d.NextAt), Attempts: d.Attempts, Created: civil.FormatInstant(d.MadeAt), Done: maybeInstant(d.DoneAt),
	}
}

func webhookObject(e webhooks.Endpoint) object {
	return object{id: e.ID, version: e.Version, body: showWebhook(e), secret: e.Secret != ""}
}

// listWebhooks answers with all webhooks. A site has 16 at most, so there are no pages.
func (s *server) listWebhooks(c *call) error {
	found, err := s.app.Webhooks.List(c.ctx, c.actor)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, shapes(found, showWebhook))
	return nil
}

func (s *server) getWebhook(c *call) error {
	found, err := s.app.Webhooks.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, webhookObject(found))
}

func (s *server) createWebhook(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	return s.create(c, func() (object, error) {
		made, err := s.app.Webhooks.Create(c.ctx, c.actor, webhookFields(in))
		return webhookObject(made), err
	})
}

func (s *server) changeWebhook(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := webhookFields(in)
	fields.IfVersion = c.ifVersion()
	changed, err := s.app.Webhooks.Change(c.ctx, c.actor, c.id, fields)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, webhookObject(changed))
}

// webhookFields reads the fields of a webhook. The state is named as answers name it.
func webhookFields(in *input) webhooks.EndpointFields {
	f := webhooks.EndpointFields{URL: in.text("url"), Types: in.texts("types")}
	if state := word[webhooks.State](in, "state"); state != nil {
		f.Enabled = new(*state == webhooks.Enabled)
		if *state != webhooks.Enabled && *state != webhooks.Disabled {
			in.wrong("state", "This is not one of enabled, disabled.")
		}
	}
	f.Problems = *in.problems // now that all fields are read
	return f
}

func (s *server) deleteWebhook(c *call) error {
	if err := s.app.Webhooks.Delete(c.ctx, c.actor, c.id, c.ifVersion()); err != nil {
		return err
	}
	c.json(http.StatusOK, deleted{true})
	return nil
}

func (s *server) rotateWebhookSecret(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	now := in.boolean("now")
	if err := in.problems.Err(); err != nil {
		return err
	}
	changed, err := s.app.Webhooks.Rotate(c.ctx, c.actor, c.id, c.ifVersion(), now != nil && *now)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, webhookObject(changed))
}

func (s *server) testWebhook(c *call) error {
	tested, err := s.app.Webhooks.Test(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, webhookObject(tested))
}

// replayShape says how many events are sent again.
type replayShape struct {
	Events int `json:"events"`
}

func (s *server) replayWebhook(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := webhooks.ReplayFields{Event: in.integer("event"), From: in.instant("from"), To: in.instant("to")}
	fields.Problems = *in.problems // now that all fields are read
	n, err := s.app.Webhooks.Replay(c.ctx, c.actor, c.id, fields)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, replayShape{n})
	return nil
}

func (s *server) listDeliveries(c *call) error {
	q := c.query()
	page := q.page(webhooks.DeliveryOrders)
	filter := webhooks.DeliveryFilter{States: words(q, "state", webhooks.DeliveryStates), Events: q.ids("events")}
	if err := q.err(); err != nil {
		return err
	}
	found, err := s.app.Webhooks.Deliveries(c.ctx, c.actor, c.id, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, showDelivery)
}

func (s *server) getDelivery(c *call) error {
	text := c.r.PathValue("delivery")
	if !isDigits(text) {
		return errNoRoute()
	}
	id, ok := parseID(text)
	if travel.HoldsCardNumber(text) || !ok { // which no answer may show
		return fault.New(fault.SettingNotFound, "Nothing has this id: the number is too long.")
	}
	found, attempts, err := s.app.Webhooks.Delivery(c.ctx, c.actor, c.id, id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{id: found.ID, body: ShowDeliveryWith(found, attempts)})
}
