package merchants

import (
	"context"
	"errors"
	"fmt"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Contracts are the use cases of underwriting contracts, as bordereaux show them. A contract is never changed; a new one is
// added instead, so that a bordereau of the past stays as it was.
type Contracts struct{ *sites.DB }

// maxContracts is how many a site has at most.
const maxContracts = 200

// List reads the contracts of the actor's site, the latest first.
func (c *Contracts) List(ctx context.Context, actor access.Actor) ([]terms.Contract, error) {
	if err := actor.Require(access.ReadStatements); err != nil {
		return nil, err
	}
	return sites.Read(ctx, c.DB, actor, func(tx *store.Tx) ([]terms.Contract, error) { return contractsOf(tx, actor.SiteID) })
}

// Get reads a contract. If there is none, the error has the kind SettingNotFound.
func (c *Contracts) Get(ctx context.Context, actor access.Actor, id int64) (terms.Contract, error) {
	list, err := c.List(ctx, actor)
	if err != nil {
		return terms.Contract{}, err
	}
	for _, one := range list {
		if one.ID == id {
			return one, nil
		}
	}
	return terms.Contract{}, store.NotFoundAs(errs.SettingNotFound, store.ErrNotFound, "Contract %d not found.", id)
}

// Set adds a contract that counts from a day on. Errors: Forbidden, Invalid, Missing, NotPossible with the reason contract_limit.
func (c *Contracts) Set(ctx context.Context, actor access.Actor, in terms.ContractFields) (terms.Contract, error) {
	if err := actor.Require(access.WritePolicies); err != nil {
		return terms.Contract{}, err
	}
	return idempotency.Once(ctx, c.DB, actor, func(tx *store.Tx) (terms.Contract, idempotency.Outcome, error) {
		made, err := c.add(tx, actor, in)
		return made, idempotency.Outcome{ID: made.ID}, err
	}, func(ctx context.Context, made idempotency.Outcome) (terms.Contract, error) {
		return c.Get(ctx, actor, made.ID)
	})
}

func (c *Contracts) add(tx *store.Tx, actor access.Actor, in terms.ContractFields) (terms.Contract, error) {
	next, err := in.Contract(civil.DayOf(tx.Now))
	if err != nil {
		return next, err
	}
	if err := sites.Lock(tx, actor.SiteID); err != nil { // so that none is added between list and insert
		return next, store.NotFoundAs(errs.SettingNotFound, err, "Site %d not found.", actor.SiteID)
	}
	list, err := contractsOf(tx, actor.SiteID)
	if err != nil {
		return next, err
	}
	if len(list) >= maxContracts {
		return next, errs.NotPossibleBecause("contract_limit", "A site can have at most %d contracts.", maxContracts)
	}
	before, err := ContractKnown(tx, actor.SiteID, next.FromDay, tx.Now)
	if err != nil {
		return next, err
	}
	next.RecordedAt, next.RecordedBy = tx.Now, actor.Username
	if next, err = insertContract(tx, actor.SiteID, next); err != nil {
		return next, err
	}
	var was any
	if before.ID != 0 {
		was = auditContract(before)
	}
	return next, audit.Record(tx, actor, "contract.set", fmt.Sprintf("contract %d", next.ID), was, auditContract(next))
}

// auditContract is a contract in the audit.
func auditContract(c terms.Contract) any {
	return struct {
		From       civil.Day `json:"from"`
		Reference  string    `json:"reference"`
		Year       int64     `json:"year_of_account"`
		Commission int64     `json:"commission_ppm"`
	}{c.FromDay, c.Reference, c.Year, c.CommissionPPM}
}

func noContract(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
