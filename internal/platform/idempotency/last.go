package idempotency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// KeepLast keeps the last state of an object that this write deletes, for as long as idempotency keys are kept. Repeats of requests that
// created or changed the object get it as their answer. object names the object, as in the audit log. last must not contain secrets.
func KeepLast(tx *store.Tx, siteID int64, object string, last any) error {
	state, err := json.Marshal(last)
	if err != nil {
		return fmt.Errorf("the last state of %s: %w", object, err)
	}
	return insertLast(tx, siteID, object, string(state))
}

// OrLast returns the object that an earlier request created or changed: as just found or, if it has been deleted since, in its last state.
// found and err are what the object's reader returned.
func OrLast[T any](ctx context.Context, c *sites.DB, actor access.Actor, object string, found T, err error) (T, error) {
	if !errs.Is(err, errs.RecordNotFound) && !errs.Is(err, errs.SettingNotFound) {
		return found, err
	}
	var state string
	failed := c.Store.Read(ctx, actor.SiteID, func(tx *store.Tx) (err error) {
		state, err = lastState(tx, actor.SiteID, object)
		return err
	})
	switch {
	case errors.Is(failed, store.ErrNotFound):
		return found, err
	case failed != nil:
		return found, failed
	}
	var last T
	if err := json.Unmarshal([]byte(state), &last); err != nil {
		return found, fmt.Errorf("the last state of %s: %w", object, err)
	}
	return last, nil
}
