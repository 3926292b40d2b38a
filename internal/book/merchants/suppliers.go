package merchants

import (
	"context"
	"errors"
	"fmt"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Suppliers are the use cases of suppliers. Customers read them, the operator changes them.
type Suppliers struct{ *sites.DB }

// Get reads one supplier of the actor's site.
func (s *Suppliers) Get(ctx context.Context, actor access.Actor, id int64) (merchant.Supplier, error) {
	found, err := sites.Read(ctx, s.DB, actor, func(tx *store.Tx) (merchant.Supplier, error) {
		return Supplier(tx, actor.SiteID, id)
	})
	return found, unknownSupplier(err, id)
}

// List reads one page of the suppliers of the actor's site.
func (s *Suppliers) List(
	ctx context.Context, actor access.Actor, filter SupplierFilter, page store.Page,
) (store.List[merchant.Supplier], error) {
	return sites.ReadPage(ctx, s.DB, actor, page, func(tx *store.Tx) (store.List[merchant.Supplier], error) {
		return SuppliersPage(tx, actor.SiteID, filter, page)
	})
}

// Create makes a supplier of the actor's site.
func (s *Suppliers) Create(ctx context.Context, actor access.Actor, in merchant.SupplierFields) (merchant.Supplier, error) {
	if err := actor.Require(access.WriteSuppliers); err != nil {
		return merchant.Supplier{}, err
	}
	problems := in.Problems.Clone()
	made := in.Apply(merchant.Supplier{SiteID: actor.SiteID}, &problems)
	if err := problems.Err(); err != nil {
		return merchant.Supplier{}, err
	}
	return idempotency.Once(ctx, s.DB, actor, func(tx *store.Tx) (merchant.Supplier, idempotency.Outcome, error) {
		stored, err := InsertSupplier(tx, made)
		if err != nil {
			return stored, idempotency.Outcome{}, err
		}
		return stored, idempotency.Outcome{ID: stored.ID},
			audit.Record(tx, actor, "supplier.create", supplierObject(stored.ID), nil, auditSupplier(stored))
	}, s.again(actor))
}

// again returns the function that reads what an earlier request made or changed.
func (s *Suppliers) again(actor access.Actor) func(ctx context.Context, made idempotency.Outcome) (merchant.Supplier, error) {
	return func(ctx context.Context, made idempotency.Outcome) (merchant.Supplier, error) {
		found, err := s.Get(ctx, actor, made.ID)
		return idempotency.OrLast(ctx, s.DB, actor, supplierObject(made.ID), found, err)
	}
}

// Change sets the given fields of a supplier.
func (s *Suppliers) Change(ctx context.Context, actor access.Actor, id int64, in merchant.SupplierFields) (merchant.Supplier, error) {
	if err := actor.Require(access.WriteSuppliers); err != nil {
		return merchant.Supplier{}, err
	}
	changed, err := idempotency.Once(ctx, s.DB, actor, func(tx *store.Tx) (changed merchant.Supplier, _ idempotency.Outcome, err error) {
		outcome := idempotency.Outcome{ID: id}
		stored, err := lockSupplier(tx, actor.SiteID, id)
		if err != nil {
			return changed, outcome, err
		}
		if err := errs.CheckVersion(in.IfVersion, stored.Version-1); err != nil {
			return changed, outcome, err
		}
		problems := in.Problems.Clone()
		changed = in.Apply(stored, &problems)
		if err := problems.Err(); err != nil {
			return changed, outcome, err
		}
		if changed == stored {
			changed, err = leaveSupplier(tx, stored)
			return changed, outcome, err
		}
		if err := updateSupplier(tx, changed); err != nil {
			return changed, outcome, err
		}
		return changed, outcome, audit.Record(tx, actor, "supplier.change", supplierObject(id), auditSupplier(stored), auditSupplier(changed))
	}, s.again(actor))
	return changed, unknownSupplier(err, id)
}

// Delete removes a supplier that nothing refers to. ifVersion is the version that the caller has read, 0 for any. Errors:
// SettingNotFound, Precondition, and InUse when a channel or a booking refers to the supplier.
func (s *Suppliers) Delete(ctx context.Context, actor access.Actor, id, ifVersion int64) error {
	if err := actor.Require(access.WriteSuppliers); err != nil {
		return err
	}
	inUse := errs.New(errs.InUse, "Supplier %d is linked to a channel or a booking and cannot be deleted.", id)
	err := idempotency.OnceGone(ctx, s.DB, actor, id, func(tx *store.Tx) error {
		stored, err := lockSupplier(tx, actor.SiteID, id)
		if err != nil {
			return err
		}
		if err := errs.CheckVersion(ifVersion, stored.Version-1); err != nil {
			return err
		}
		if err := deleteSupplier(tx, actor.SiteID, id); err != nil {
			return err
		}
		if err := idempotency.KeepLast(tx, actor.SiteID, supplierObject(id), stored); err != nil {
			return err
		}
		return audit.Record(tx, actor, "supplier.delete", supplierObject(id), auditSupplier(stored), nil)
	})
	if errors.Is(err, store.ErrConflict) { // a foreign key forbids it
		return inUse
	}
	return unknownSupplier(err, id)
}

func supplierObject(id int64) string { return fmt.Sprintf("supplier %d", id) }

// NoteUnknownSuppliers notes a problem with the field "suppliers" when the site has no supplier with one of the ids.
func NoteUnknownSuppliers(tx *store.Tx, siteID int64, ids []int64, p *errs.Problems) error {
	if p.Has("suppliers") { // the list is wrong already, for example too long to look for
		return nil
	}
	unknown, err := unknownSuppliers(tx, siteID, ids)
	if len(unknown) > 0 {
		p.Wrong("suppliers", "Supplier %d not found.", unknown[0])
	}
	return err
}

func unknownSupplier(err error, id int64) error {
	return store.NotFoundAs(errs.SettingNotFound, err, "Supplier %d not found.", id)
}
