package audit

import (
	"context"
	"encoding/json"
	"fmt"

	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Trail is the use case of reading who changed what. The room verify checks that nobody altered the records.
type Trail struct{ *sites.DB }

// Record writes a change into the audit, inside the write that makes the change and as its last step (see AppendAudit).
// before and after are encoded as JSON and must hold no secret. before is nil for something new, after is nil for
// something deleted.
func Record(tx *store.Tx, actor access.Actor, action, object string, before, after any) error {
	at := sites.RealNow(tx).Add(actor.Ahead)
	if sites.OnClockOf(tx, actor.SiteID) { // the clock may have been moved since the actor was read
		at = tx.Now
	}
	r := Entry{
		SiteID: actor.SiteID, At: at, RealAt: sites.RealNow(tx),
		UserID: actor.UserID, Username: actor.Username, Role: string(actor.Role), TokenID: actor.TokenID,
		Address: actor.Address, RequestID: actor.RequestID, Action: action, Object: object,
	}
	for _, side := range []struct {
		text  *string
		value any
	}{{&r.Before, before}, {&r.After, after}} {
		text, err := json.Marshal(side.value)
		if err != nil {
			return fmt.Errorf("audit of %s: %w", action, err)
		}
		*side.text = string(text)
	}
	return Append(tx, r)
}

// OfDeployment returns the actor for changes that belong to no site: keys, rates, operators. Their audit records form a
// chain of their own.
func OfDeployment(actor access.Actor) access.Actor {
	actor.SiteID, actor.Ahead = 0, 0
	return actor
}

// List reads one page of the audit records of the actor's site. When the actor is the program and acts on no site, these
// are the records of the deployment.
func (a *Trail) List(
	ctx context.Context, actor access.Actor, filter Filter, page store.Page,
) (store.List[Entry], error) {
	if err := actor.Require(access.ReadAudit); err != nil {
		return store.List[Entry]{}, err
	}
	return sites.ReadPage(ctx, a.DB, actor, page, func(tx *store.Tx) (store.List[Entry], error) {
		return Entries(tx, actor.SiteID, filter, page)
	})
}

// Get reads one audit record of the actor's site. If there is none, the error has the kind SettingNotFound.
func (a *Trail) Get(ctx context.Context, actor access.Actor, id int64) (Entry, error) {
	if err := actor.Require(access.ReadAudit); err != nil {
		return Entry{}, err
	}
	found, err := sites.Read(ctx, a.DB, actor, func(tx *store.Tx) (Entry, error) { return auditRecord(tx, actor.SiteID, id) })
	return found, store.NotFoundAs(errs.SettingNotFound, err, "Audit record %d not found.", id)
}
