package webhooks

import (
	"context"
	"fmt"
	"reflect"
	"strings"
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

// Bounds of what a site has.
const (
	// MaxEndpoints is how many endpoints a site has at most.
	MaxEndpoints = 16
	// maxTypes is how many types and groups of types an endpoint names at most.
	maxTypes = 64
)

// EndpointFields are the fields of an endpoint that a request sets. A nil field stays as it is.
type EndpointFields struct {
	IfVersion int64
	Problems  errs.Problems
	URL       *string
	Types     *[]string // empty: all
	Enabled   *bool
}

// apply sets the given fields and adds problems to p.
func (f EndpointFields) apply(e Endpoint, actor access.Actor, p *errs.Problems) Endpoint {
	if f.URL != nil {
		e.URL = strings.TrimSpace(*f.URL)
	} else if e.ID == 0 {
		p.Missing("url")
	}
	if f.Types != nil {
		e.Types = *f.Types
		found, known := event.TypesOf(e.Types)
		switch {
		case len(e.Types) > maxTypes:
			p.Wrong("types", "At most %d types are allowed.", maxTypes)
		case !known || strings.ContainsAny(strings.Join(e.Types, ""), " \t\n"):
			p.Wrong("types", "Must be event types such as booking.created, or groups such as booking.*.")
		case len(event.Readable(actor, found)) < len(found):
			p.Wrong("types", "You do not have access to the objects of all these events.")
		}
	}
	if f.Enabled != nil {
		e = e.switched(*f.Enabled, "by "+actor.Username)
	}
	return e
}

// switched enables or disables an endpoint. When it is enabled again, it continues where it stopped, with a clean slate.
func (e Endpoint) switched(on bool, reason string) Endpoint {
	switch {
	case on && e.State != Enabled:
		e.State, e.Reason, e.failures, e.FailingSince, e.retryAt, e.slow = Enabled, "", 0, time.Time{}, time.Time{}, false
	case !on && e.State == Enabled:
		e.State, e.Reason = Disabled, reason
	}
	return e
}

// List reads all endpoints of the actor's site, in order of their ids.
func (w *Webhooks) List(ctx context.Context, actor access.Actor) ([]Endpoint, error) {
	return sites.Read(ctx, w.DB, actor, func(tx *store.Tx) ([]Endpoint, error) { return endpointsOf(tx, actor.SiteID) })
}

// Get reads one endpoint of the actor's site.
func (w *Webhooks) Get(ctx context.Context, actor access.Actor, id int64) (Endpoint, error) {
	found, err := sites.Read(ctx, w.DB, actor, func(tx *store.Tx) (Endpoint, error) { return endpoint(tx, actor.SiteID, id) })
	return found, unknownEndpoint(err, id)
}

// again reads the endpoint of an earlier request with the same idempotency key.
func (w *Webhooks) again(ctx context.Context, actor access.Actor, id int64) (Endpoint, error) {
	found, err := w.Get(ctx, actor, id)
	return idempotency.OrLast(ctx, w.DB, actor, endpointObject(id), found, err)
}

// withSecret reads an endpoint with its newest secret, for a caller who repeats the request that created it. The secret of a deleted
// endpoint was deleted with it.
func (w *Webhooks) withSecret(ctx context.Context, actor access.Actor, id int64) (found Endpoint, err error) {
	if err := actor.Require(access.WriteSite); err != nil {
		return found, err
	}
	var sealed []sealedOne
	found, err = sites.Read(ctx, w.DB, actor, func(tx *store.Tx) (found Endpoint, err error) {
		if sealed, err = validSecrets(tx, actor.SiteID, id); err != nil {
			return found, err
		}
		return endpoint(tx, actor.SiteID, id)
	})
	if err != nil {
		return idempotency.OrLast(ctx, w.DB, actor, endpointObject(id), found, unknownEndpoint(err, id))
	}
	secrets, err := w.openSecrets(actor.SiteID, sealed)
	if len(secrets) > 0 {
		found.Secret = secrets[0]
	}
	return found, err
}

// Create makes an endpoint of the actor's site, and shows its secret. It gets the events that happen from now on. Errors:
// Forbidden, Invalid, Missing, and NotPossible (webhook_limit) when the site has MaxEndpoints.
func (w *Webhooks) Create(ctx context.Context, actor access.Actor, in EndpointFields) (Endpoint, error) {
	if err := actor.Require(access.WriteSite); err != nil {
		return Endpoint{}, err
	}
	made, err := w.checked(ctx, actor, in, Endpoint{SiteID: actor.SiteID, State: Enabled})
	if err != nil {
		return Endpoint{}, err
	}
	// Events so far get their positions first: the new endpoint starts after them.
	at := w.Events
	if _, err := at.Place(ctx, actor.SiteID); err != nil {
		return Endpoint{}, err
	}
	return idempotency.Once(ctx, w.DB, actor, func(tx *store.Tx) (Endpoint, idempotency.Outcome, error) {
		stored, err := w.insert(tx, actor, made)
		return stored, idempotency.Outcome{ID: stored.ID}, err
	}, func(ctx context.Context, before idempotency.Outcome) (Endpoint, error) {
		return w.withSecret(ctx, actor, before.ID)
	})
}

// insert stores a new endpoint with its first secret.
func (w *Webhooks) insert(tx *store.Tx, actor access.Actor, made Endpoint) (Endpoint, error) {
	if err := sites.Lock(tx, actor.SiteID); err != nil { // so that none is added between count and insert
		return made, err
	}
	n, err := countEndpoints(tx, actor.SiteID)
	if err != nil {
		return made, err
	}
	if n >= MaxEndpoints {
		return made, errs.NotPossibleBecause("webhook_limit", "A site can have at most %d webhooks. Delete one first.", MaxEndpoints)
	}
	if made.position, err = events.End(tx, actor.SiteID); err != nil {
		return made, err
	}
	made.CreatedBy = actor.Username
	if made, err = insertEndpoint(tx, made); err != nil {
		return made, err
	}
	if made.Secret, err = w.newSecret(tx, made.SiteID, made.ID); err != nil {
		return made, err
	}
	return made, audit.Record(tx, actor, "webhook.create", endpointObject(made.ID), nil, auditEndpoint(made))
}

// checked sets the fields of a request and checks the URL. It resolves the host, so no transaction may be open.
func (w *Webhooks) checked(ctx context.Context, actor access.Actor, in EndpointFields, e Endpoint) (Endpoint, error) {
	problems := in.Problems.Clone()
	e = in.apply(e, actor, &problems)
	if in.URL != nil && !problems.Has("url") {
		sandbox := false
		if err := w.Store.Read(ctx, actor.SiteID, func(tx *store.Tx) (err error) {
			sandbox, err = isSandbox(tx, actor.SiteID)
			return err
		}); err != nil {
			return e, err
		}
		if problem := w.checkURL(ctx, e.URL, sandbox); problem != "" {
			problems.Wrong("url", "%s", problem)
		}
	}
	return e, problems.Err()
}

// Change sets the given fields of an endpoint. Errors: Forbidden, Invalid, SettingNotFound, Precondition.
func (w *Webhooks) Change(ctx context.Context, actor access.Actor, id int64, in EndpointFields) (Endpoint, error) {
	if err := actor.Require(access.WriteSite); err != nil {
		return Endpoint{}, err
	}
	if _, err := w.checked(ctx, actor, in, Endpoint{ID: id}); err != nil {
		return Endpoint{}, err
	}
	changed, err := idempotency.Once(ctx, w.DB, actor, func(tx *store.Tx) (changed Endpoint, outcome idempotency.Outcome, err error) {
		outcome.ID = id
		stored, err := lockEndpoint(tx, actor.SiteID, id)
		if err != nil {
			return changed, outcome, err
		}
		if err := errs.CheckVersion(in.IfVersion, stored.Version); err != nil {
			return changed, outcome, err
		}
		problems := in.Problems.Clone()
		changed = in.apply(stored, actor, &problems)
		if err := problems.Err(); err != nil || reflect.DeepEqual(stored, changed) {
			return stored, outcome, err
		}
		if changed, err = updateEndpoint(tx, changed); err != nil {
			return changed, outcome, err
		}
		if changed.State != stored.State && changed.State == Enabled {
			if err := resume(tx, changed); err != nil {
				return changed, outcome, err
			}
		}
		return changed, outcome,
			audit.Record(tx, actor, "webhook.change", endpointObject(id), auditEndpoint(stored), auditEndpoint(changed))
	}, func(ctx context.Context, made idempotency.Outcome) (Endpoint, error) {
		return w.again(ctx, actor, made.ID)
	})
	return changed, unknownEndpoint(err, id)
}

// Delete deletes an endpoint and its pending deliveries. ifVersion is the version that the caller has read, 0 for any.
func (w *Webhooks) Delete(ctx context.Context, actor access.Actor, id, ifVersion int64) error {
	if err := actor.Require(access.WriteSite); err != nil {
		return err
	}
	err := idempotency.OnceGone(ctx, w.DB, actor, id, func(tx *store.Tx) error {
		stored, err := lockEndpoint(tx, actor.SiteID, id)
		if err != nil {
			return err
		}
		if err := errs.CheckVersion(ifVersion, stored.Version); err != nil {
			return err
		}
		gone := stored
		gone.State = deleted
		if _, err := updateEndpoint(tx, gone); err != nil {
			return err
		}
		if err := removeSecrets(tx, actor.SiteID, id); err != nil {
			return err
		}
		if err := idempotency.KeepLast(tx, actor.SiteID, endpointObject(id), stored); err != nil {
			return err
		}
		return audit.Record(tx, actor, "webhook.delete", endpointObject(id), auditEndpoint(stored), nil)
	})
	return unknownEndpoint(err, id)
}

// Rotate replaces the secret of an endpoint and returns the new one. The previous secret also signs for 24 more hours;
// with now it ends immediately. An even older one ends in either case. ifVersion is as for Delete.
func (w *Webhooks) Rotate(ctx context.Context, actor access.Actor, id, ifVersion int64, now bool) (Endpoint, error) {
	if err := actor.Require(access.WriteSite); err != nil {
		return Endpoint{}, err
	}
	changed, err := idempotency.Once(ctx, w.DB, actor, func(tx *store.Tx) (e Endpoint, outcome idempotency.Outcome, err error) {
		outcome.ID = id
		if e, err = lockEndpoint(tx, actor.SiteID, id); err != nil {
			return e, outcome, err
		}
		if err := errs.CheckVersion(ifVersion, e.Version); err != nil {
			return e, outcome, err
		}
		if e, err = updateEndpoint(tx, e); err != nil {
			return e, outcome, err
		}
		ends := sites.RealNow(tx)
		if !now {
			ends = ends.Add(overlap)
		}
		if err := endSecrets(tx, actor.SiteID, id, ends); err != nil {
			return e, outcome, err
		}
		if e.Secret, err = w.newSecret(tx, actor.SiteID, id); err != nil {
			return e, outcome, err
		}
		return e, outcome, audit.Record(tx, actor, "webhook.rotate", endpointObject(id), struct{}{}, struct {
			Now bool `json:"now"`
		}{now})
	}, func(ctx context.Context, before idempotency.Outcome) (Endpoint, error) {
		return w.withSecret(ctx, actor, before.ID)
	})
	return changed, unknownEndpoint(err, id)
}

// Test records a webhook.test event, which is only sent to this endpoint, whatever its types. Errors: Forbidden,
// SettingNotFound, and NotPossible (webhook_disabled).
func (w *Webhooks) Test(ctx context.Context, actor access.Actor, id int64) (Endpoint, error) {
	if err := actor.Require(access.WriteSite); err != nil {
		return Endpoint{}, err
	}
	tested, err := idempotency.Once(ctx, w.DB, actor, func(tx *store.Tx) (Endpoint, idempotency.Outcome, error) {
		e, err := endpoint(tx, actor.SiteID, id)
		if err == nil && e.State != Enabled {
			err = errDisabled(id)
		}
		if err == nil {
			events.Record(tx, actor.SiteID, event.WebhookTest, id, event.Details{})
		}
		return e, idempotency.Outcome{ID: id}, err
	}, func(ctx context.Context, made idempotency.Outcome) (Endpoint, error) {
		return w.again(ctx, actor, made.ID)
	})
	return tested, unknownEndpoint(err, id)
}

func errDisabled(id int64) error {
	return errs.NotPossibleBecause("webhook_disabled", "Webhook %d is disabled. Enable it first.", id)
}

func unknownEndpoint(err error, id int64) error {
	return store.NotFoundAs(errs.SettingNotFound, err, "Webhook %d not found.", id)
}

func endpointObject(id int64) string { return fmt.Sprintf("webhook %d", id) }

// auditEndpoint is what the audit keeps of an endpoint.
func auditEndpoint(e Endpoint) any {
	return struct {
		URL    string   `json:"url"`
		Types  []string `json:"types"`
		State  State    `json:"state"`
		Reason string   `json:"reason"`
	}{e.URL, append([]string{}, e.Types...), e.State, e.Reason}
}
