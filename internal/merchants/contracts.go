package merchants

import (
	"context"
	"errors"
	"fmt"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// Contracts are the use cases of contracts with the underwriter: what bordereaux say of them. A contract is never changed; a new one is
// added instead, so that a bordereau of the past stays as it was.
type Contracts struct{ *core.Core }

// maxContracts is how many a site has at most.
const maxContracts = 200

// List reads the contracts of the actor's site, the one that begins last first.
func (c *Contracts) List(ctx context.Context, actor auth.Actor) ([]travel.Contract, error) {
	if err := actor.Require(auth.ReadStatements); err != nil {
		return nil, err
	}
	return core.Read(ctx, c.Core, actor, func(tx *db.Tx) ([]travel.Contract, error) { return contractsOf(tx, actor.SiteID) })
}

// Get reads a contract. If there is none, the error has the kind SettingNotFound.
func (c *Contracts) Get(ctx context.Context, actor auth.Actor, id int64) (travel.Contract, error) {
	list, err := c.List(ctx, actor)
	if err != nil {
		return travel.Contract{}, err
	}
	for _, one := range list {
		if one.ID == id {
			return one, nil
		}
	}
	return travel.Contract{}, core.NotFoundAs(fault.SettingNotFound, db.ErrNotFound, "There is no contract %d.", id)
}

// Set adds a contract that counts from a day on. Errors: Forbidden, Invalid, Missing, NotPossible with the reason contract_limit.
func (c *Contracts) Set(ctx context.Context, actor auth.Actor, in travel.ContractFields) (travel.Contract, error) {
	if err := actor.Require(auth.WritePolicies); err != nil {
		return travel.Contract{}, err
	}
	return core.Once(ctx, c.Core, actor, func(tx *db.Tx) (travel.Contract, core.Outcome, error) {
		made, err := c.add(tx, actor, in)
		return made, core.Outcome{ID: made.ID}, err
	}, func(ctx context.Context, made core.Outcome) (travel.Contract, error) {
		return c.Get(ctx, actor, made.ID)
	})
}

func (c *Contracts) add(tx *db.Tx, actor auth.Actor, in travel.ContractFields) (travel.Contract, error) {
	next, err := in.Contract(civil.DayOf(tx.Now))
	if err != nil {
		return next, err
	}
	if err := core.LockSite(tx, actor.SiteID); err != nil { // so that nobody adds another between list and insert
		return next, core.NotFoundAs(fault.SettingNotFound, err, "There is no site %d.", actor.SiteID)
	}
	list, err := contractsOf(tx, actor.SiteID)
	if err != nil {
		return next, err
	}
	if len(list) >= maxContracts {
		return next, fault.NotPossibleBecause("contract_limit", "A site has at most %d contracts.", maxContracts)
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
	return next, core.Record(tx, actor, "contract.set", fmt.Sprintf("contract %d", next.ID), was, auditContract(next))
}

// auditContract is a contract in the audit.
func auditContract(c travel.Contract) any {
	return struct {
		From       civil.Day `json:"from"`
		Reference  string    `json:"reference"`
		Year       int64     `json:"year_of_account"`
		Commission int64     `json:"commission_ppm"`
	}{c.FromDay, c.Reference, c.Year, c.CommissionPPM}
}

func noContract(err error) error {
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	return err
}
