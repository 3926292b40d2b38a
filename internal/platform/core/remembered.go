package core

import (
	"errors"

	"holdfast/internal/domain/access"
	"holdfast/internal/store"
)

// ErrOutdated: the actor is one whom the process remembers, and something of the site has changed since. Nothing was read or written. The
// same may be tried again for an actor who was looked up.
var ErrOutdated = errors.New("the actor is to be looked up")

// hold asks whether a remembered actor still holds. An actor who was looked up does.
func hold(tx *store.Tx, actor access.Actor) error {
	if actor.Remembered.Holds() {
		return nil
	}
	var version int64
	err := tx.Row(`SELECT version FROM site_versions WHERE site_id = $1`, []any{actor.SiteID}, &version)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if !actor.Remembered.Ask(version) {
		return ErrOutdated
	}
	return nil
}
