package core

import (
	"context"
	"encoding/json"
	"fmt"

	"holdfast/internal/auth"
	"holdfast/internal/db"
	"holdfast/internal/travel"
)

// Audit reads the record of who changed what, and checks that nobody has changed it.
type Audit struct{ *Core }

// Record records a change inside the write that makes it, as the last thing that the write does (see
// store.AppendAudit). before and after are shapes that encode to JSON and hold no secret; nil: there was, or is,
// nothing.
func Record(tx *db.Tx, actor auth.Actor, action, object string, before, after any) error {
	at := RealNow(tx).Add(actor.Ahead)
	if OnClockOf(tx, actor.SiteID) { // the actor may be older than the last move of the clock
		at = tx.Now
	}
	r := travel.AuditRecord{
		SiteID: actor.SiteID, At: at, RealAt: RealNow(tx),
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
	return AppendAudit(tx, r)
}

// OfDeployment is the actor for what belongs to no site: keys, rates, operators. Its records are a chain of their own.
func OfDeployment(actor auth.Actor) auth.Actor {
	actor.SiteID, actor.Ahead = 0, 0
	return actor
}

// List reads one page of the audit records of the actor's site; of the deployment's own where the actor, being the
// program, acts on none.
func (a *Audit) List(
	ctx context.Context, actor auth.Actor, filter travel.AuditFilter, page travel.Page,
) (travel.List[travel.AuditRecord], error) {
	if err := actor.Require(auth.ReadAudit); err != nil {
		return travel.List[travel.AuditRecord]{}, err
	}
	return Read(ctx, a.Core, actor, func(tx *db.Tx) (travel.List[travel.AuditRecord], error) {
		return AuditRecords(tx, actor.SiteID, filter, page)
	})
}

// Verify walks the chain of the actor's site from its first record to its last.
func (a *Audit) Verify(ctx context.Context, actor auth.Actor) (travel.AuditCheck, error) {
	if err := actor.Require(auth.ReadAudit); err != nil {
		return travel.AuditCheck{}, err
	}
	return Read(ctx, a.Core, actor, func(tx *db.Tx) (check travel.AuditCheck, err error) {
		head, err := AuditHead(tx, actor.SiteID)
		if err != nil {
			return check, err
		}
		err = EachAuditRecord(tx, actor.SiteID, func(r travel.AuditRecord) { check.Next(r) })
		check.End(head, actor.SiteID != 0)
		return check, err
	})
}
