package webhooks

import (
	"context"
	"slices"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/event"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// DeliveryFilter chooses deliveries. An empty list keeps all.
type DeliveryFilter struct {
	States []DeliveryState
	Events []int64 // ids

	types []event.Type // the ones that the caller may read; empty: all
}

// readableTypes are the types of events that an actor may read, or none if they are all.
func readableTypes(actor access.Actor) []event.Type {
	if found := event.Readable(actor, event.Types); len(found) < len(event.Types) {
		return found
	}
	return nil
}

// Deliveries reads a page of the log of an endpoint. It holds what waits, and what ended in the last 30 days. Events that
// the actor may not read are left out.
func (w *Webhooks) Deliveries(
	ctx context.Context, actor access.Actor, id int64, f DeliveryFilter, page store.Page,
) (store.List[Delivery], error) {
	f.types = readableTypes(actor)
	found, err := sites.ReadPage(ctx, w.DB, actor, page, func(tx *store.Tx) (list store.List[Delivery], err error) {
		if _, err := endpoint(tx, actor.SiteID, id); err != nil {
			return list, err
		}
		return deliveries(tx, actor.SiteID, id, f, page)
	})
	return found, unknownEndpoint(err, id)
}

// Delivery reads one delivery of an endpoint, with its attempts. One of an event that the actor may not read is not there.
func (w *Webhooks) Delivery(ctx context.Context, actor access.Actor, id, deliveryID int64) (d Delivery, tries []Attempt, err error) {
	d, err = sites.Read(ctx, w.DB, actor, func(tx *store.Tx) (d Delivery, err error) {
		if _, err := endpoint(tx, actor.SiteID, id); err != nil {
			return d, unknownEndpoint(err, id)
		}
		d, err = delivery(tx, actor.SiteID, id, deliveryID)
		if readable := readableTypes(actor); err == nil && readable != nil && !slices.Contains(readable, d.Type) {
			err = store.ErrNotFound
		}
		if err != nil {
			return d, store.NotFoundAs(errs.SettingNotFound, err, "Webhook %d has no delivery %d.", id, deliveryID)
		}
		tries, err = attemptsOf(tx, actor.SiteID, deliveryID)
		return d, err
	})
	return d, tries, err
}

// maxReplay is how many events one replay sends at most.
const maxReplay = 1000

// ReplayFields select what is sent again: one event, or all events of a period by the clock of the site.
type ReplayFields struct {
	Problems errs.Problems
	Event    *int64
	From, To *time.Time // From counts, To does not
}

func (f ReplayFields) check() error {
	problems := f.Problems.Clone()
	switch {
	case f.Event != nil && (f.From != nil || f.To != nil):
		problems.Wrong("event", "Give either one event or a time range, not both.")
	case f.Event == nil && f.From == nil && f.To == nil:
		problems.Missing("event")
	case f.Event == nil && f.From == nil:
		problems.Missing("from")
	case f.Event == nil && f.To == nil:
		problems.Missing("to")
	case f.Event == nil && !f.From.Before(*f.To):
		problems.Wrong("to", "The time range must end after it starts.")
	}
	return problems.Err()
}

// Replay sends events to an endpoint again, if its types want them, and returns how many. They keep their webhook-id.
// Errors: Forbidden, Invalid, Missing, SettingNotFound, RecordNotFound for an event that is not there, and NotPossible
// (webhook_disabled, webhook_full, nothing_to_replay).
func (w *Webhooks) Replay(ctx context.Context, actor access.Actor, id int64, in ReplayFields) (sent int, err error) {
	if err := actor.Require(access.WriteSite); err != nil {
		return 0, err
	}
	if err := in.check(); err != nil {
		return 0, err
	}
	sent, err = idempotency.Once(ctx, w.DB, actor, func(tx *store.Tx) (int, idempotency.Outcome, error) {
		n, err := replay(tx, actor.SiteID, id, in)
		if err != nil {
			return 0, idempotency.Outcome{}, err
		}
		// A replay creates a number of deliveries, which a repeated request returns again.
		return n, idempotency.Outcome{ID: int64(n)}, audit.Record(tx, actor, "webhook.replay", endpointObject(id), nil, struct {
			Events int `json:"events"`
		}{n})
	}, func(_ context.Context, made idempotency.Outcome) (int, error) { return int(made.ID), nil })
	return sent, unknownEndpoint(err, id)
}

func replay(tx *store.Tx, siteID, id int64, in ReplayFields) (int, error) {
	e, err := lockEndpoint(tx, siteID, id)
	if err != nil {
		return 0, err
	}
	if e.State != Enabled {
		return 0, errDisabled(id)
	}
	waiting, err := countWaiting(tx, e.key())
	if err != nil {
		return 0, err
	}
	if waiting >= maxWaiting {
		return 0, errs.NotPossibleBecause("webhook_full", "%d or more events are waiting for this webhook. Let it catch up first.", waiting)
	}
	list, err := replayed(tx, siteID, in)
	if err != nil {
		return 0, err
	}
	list = e.wanted(list)
	if len(list) == 0 {
		return 0, errs.NotPossibleBecause("nothing_to_replay", "The webhook is not subscribed to any of these events.")
	}
	insertDeliveries(tx, e, list)
	return len(list), nil
}

// replayed reads the events that a replay names.
func replayed(tx *store.Tx, siteID int64, in ReplayFields) ([]event.Event, error) {
	if in.Event != nil {
		found, err := events.WithID(tx, siteID, *in.Event)
		return []event.Event{found}, store.NotFoundAs(errs.RecordNotFound, err, "Event %d not found.", *in.Event)
	}
	list, err := events.During(tx, siteID, *in.From, *in.To, maxReplay+1)
	if err == nil && len(list) > maxReplay {
		err = errs.WrongField("to", "The time range has more than %d events. Choose a shorter one.", maxReplay)
	}
	return list, err
}

// Bounds of the log.
const (
	keptFor      = 30 * 24 * time.Hour
	forgetAtOnce = 500
)

// Forget deletes deliveries that ended more than 30 days ago, and the rows of deleted endpoints. more reports that
// there may be more to delete.
func (w *Webhooks) Forget(ctx context.Context) (more bool, err error) {
	more, err = sites.Each(ctx, w.DB, sites.Older("webhook_deliveries", "done_at", "o.state <> 'waiting'", keptFor), forgetAtOnce, forgetEnded)
	if err != nil {
		return false, err
	}
	left, err := sites.Each(ctx, w.DB, sitesWithDeleted, forgetAtOnce, forgetDeleted)
	return more || left, err
}
