package api

import (
	"net/http"
	"time"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/domain/card"
	"holdfast/internal/errs"
	"holdfast/internal/notify/webhooks"
	"holdfast/internal/store"
)

func webhookObject(e webhooks.Endpoint) object {
	return object{id: e.ID, version: e.Version, body: view.ShowWebhook(e), secret: e.Secret != ""}
}

// listWebhooks answers with all webhooks. A site has 16 at most.
func (s *server) listWebhooks(c *call) error {
	q := c.query()
	page := q.Page(nil)
	if err := q.Err(); err != nil {
		return err
	}
	all, err := s.app.Webhooks.List(c.ctx, c.actor)
	if err != nil {
		return err
	}
	found := store.PageOf(all, page, func(e webhooks.Endpoint) (int64, time.Time) { return e.ID, e.ModifiedAt })
	return list(s, c, page, found, view.ShowWebhook)
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
		made, err := s.app.Webhooks.Create(c.ctx, c.actor, input.WebhookFields(in))
		return webhookObject(made), err
	})
}

func (s *server) changeWebhook(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := input.WebhookFields(in)
	var changed webhooks.Endpoint
	err = c.ifVersion(func(version int64) (err error) {
		fields.IfVersion = version
		changed, err = s.app.Webhooks.Change(c.ctx, c.actor, c.id, fields)
		return err
	})
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, webhookObject(changed))
}

func (s *server) deleteWebhook(c *call) error {
	err := c.ifVersion(func(version int64) error { return s.app.Webhooks.Delete(c.ctx, c.actor, c.id, version) })
	if err != nil {
		return err
	}
	c.json(http.StatusOK, view.Deleted{Deleted: true})
	return nil
}

func (s *server) rotateWebhookSecret(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	now := in.Boolean("now")
	if err := in.Problems.Err(); err != nil {
		return err
	}
	var changed webhooks.Endpoint
	err = c.ifVersion(func(version int64) (err error) {
		changed, err = s.app.Webhooks.Rotate(c.ctx, c.actor, c.id, version, now != nil && *now)
		return err
	})
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

func (s *server) replayWebhook(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := webhooks.ReplayFields{Event: in.Integer("event"), From: in.Instant("from"), To: in.Instant("to")}
	fields.Problems = *in.Problems // now that all fields are read
	n, err := s.app.Webhooks.Replay(c.ctx, c.actor, c.id, fields)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, input.Replay{Events: n})
	return nil
}

func (s *server) listDeliveries(c *call) error {
	q := c.query()
	page := q.Page(nil)
	filter := webhooks.DeliveryFilter{States: input.Words(q, "state", webhooks.DeliveryStates), Events: q.Ids("events")}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Webhooks.Deliveries(c.ctx, c.actor, c.id, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowDelivery)
}

func (s *server) getDelivery(c *call) error {
	text := c.r.PathValue("delivery")
	if !input.IsDigits(text) {
		return errNoRoute()
	}
	id, ok := input.ParseID(text)
	if card.HoldsCardNumber(text) || !ok { // which no answer may show
		return errs.New(errs.SettingNotFound, "Not found: the id is too long.")
	}
	found, attempts, err := s.app.Webhooks.Delivery(c.ctx, c.actor, c.id, id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{id: found.ID, body: view.ShowDeliveryWith(found, attempts)})
}
