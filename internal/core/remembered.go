package core

import (
	"database/sql"
	"errors"

	"holdfast/internal/auth"
	"holdfast/internal/db"
)

// ErrOutdated: the actor is one whom the process remembers, and something of the site has changed since. Nothing was read or written. The
// same may be tried again for an actor who was looked up.
var ErrOutdated = errors.New("the actor is to be looked up")

// askWhether asks whether a remembered actor holds, by riders of a statement that answers into version. An actor who was looked up is not
// asked for.
func askWhether(actor auth.Actor, version *sql.NullInt64) []Rider {
	if actor.Remembered.Holds() {
		return nil
	}
	return []Rider{AskVersion(actor.SiteID, version)}
}

// compare ends what askWhether began.
func compare(actor auth.Actor, version sql.NullInt64) error {
	if !actor.Remembered.Ask(version.Int64) {
		return ErrOutdated
	}
	return nil
}

// hold asks by a statement of its own.
func hold(tx *db.Tx, actor auth.Actor) error {
	if actor.Remembered.Holds() {
		return nil
	}
	return askFirst(tx, actor, nil)
}

// askFirst asks by a statement that takes riders along.
func askFirst(tx *db.Tx, actor auth.Actor, riders []Rider) error {
	var version sql.NullInt64
	query, args, answers := Along(tx, "SELECT", "", nil, append(riders, askWhether(actor, &version)...))
	if err := db.RowByKey(tx, query, args, answers...); err != nil {
		return err
	}
	return compare(actor, version)
}
