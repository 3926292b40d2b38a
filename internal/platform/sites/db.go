// Package sites runs every transaction with the clock of a site, which in a sandbox may be ahead of the real one. It
// also stores the sites themselves and the moves of their clocks, and caches values that rarely change. It owns the
// tables sites, site_places, site_versions, rate_versions, site_names and clock_moves. Start at DB, then Write.
package sites

import (
	"context"
	"errors"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// DB opens transactions by the clocks of sites. Store and Clock go by the real clock: people, logins, idempotency keys and the
// leases of jobs belong to no site.
type DB struct {
	Store *store.DB
	Clock func() time.Time

	known known // values that hardly change
}

// NewDB returns the database over a store.
func NewDB(base *store.DB, clock func() time.Time) *DB { return &DB{Store: base, Clock: clock} }

// Read runs fn in a reading transaction by the clock of the actor's site, and returns what fn read. fn sees one
// consistent state of the database. An actor without access.Read gets Forbidden.
func Read[T any](
	ctx context.Context, db *DB, actor access.Actor, fn func(tx *store.Tx) (T, error),
) (found T, err error) {
	return readBy(ctx, db.Store.Read, actor, fn)
}

// Lookup is Read for a few rows that fn finds by their keys (store.DB.Lookup).
func Lookup[T any](
	ctx context.Context, db *DB, actor access.Actor, fn func(tx *store.Tx) (T, error),
) (found T, err error) {
	return readBy(ctx, db.Store.Lookup, actor, fn)
}

// Report is Read for queries over many rows (store.DB.Report). tx.Now may be a few seconds old. Everything that the report shows is read
// in this one transaction.
func Report[T any](
	ctx context.Context, db *DB, actor access.Actor, fn func(tx *store.Tx) (T, error),
) (found T, err error) {
	report := func(ctx context.Context, site int64, fn func(tx *store.Tx) error) error {
		return db.Store.Report(ctx, site, actor.Caller(), fn)
	}
	return readBy(ctx, report, actor, fn)
}

// ReadPage is Read for a page of a list, and Report for a deep one: the database goes through all rows before it.
func ReadPage[T any](
	ctx context.Context, db *DB, actor access.Actor, page store.Page, fn func(tx *store.Tx) (T, error),
) (T, error) {
	if page.Deep() {
		return Report(ctx, db, actor, fn)
	}
	return Read(ctx, db, actor, fn)
}

// readBy runs fn in a transaction that open opens, and returns what fn read.
func readBy[T any](
	ctx context.Context, open func(ctx context.Context, site int64, fn func(tx *store.Tx) error) error, actor access.Actor,
	fn func(tx *store.Tx) (T, error),
) (found T, err error) {
	if err := actor.Require(access.Read); err != nil {
		return found, err
	}
	err = open(ctx, actor.SiteID, func(tx *store.Tx) (err error) {
		defer money.Catch(&err)
		goBy(tx, ClockFor(actor))
		found, err = fn(tx)
		return err
	})
	if errors.Is(err, money.ErrRange) && errs.KindOf(err) == errs.Internal {
		return found, &errs.Error{
			Kind: errs.Invalid, Message: "The total is too large to show. Narrow the report, for example to one merchant.", Err: err,
		}
	}
	return found, err
}

// Due is the time-dependent work of a site, such as the end of authorisations. It counts as done for readers,
// whether a job has done it or not.
type Due struct {
	Any func(tx *store.Tx, siteID int64) (bool, error)       // whether anything is due
	End func(ctx context.Context, siteID int64) (int, error) // does it, and returns how much there was
}

// EndDue applies everything that is due on the actor's site. It is called before reads that must not see due items;
// usually there are none.
func EndDue(ctx context.Context, db *DB, actor access.Actor, due Due) error {
	waits, err := Lookup(ctx, db, actor, func(tx *store.Tx) (bool, error) { return due.Any(tx, actor.SiteID) })
	if err == nil && waits {
		_, err = due.End(ctx, actor.SiteID)
	}
	return err
}

// LookupAfter is Lookup and EndDue in one transaction, unless something is due: a read by key is too short for two.
func LookupAfter[T any](
	ctx context.Context, db *DB, actor access.Actor, due Due, fn func(tx *store.Tx) (T, error),
) (found T, err error) {
	waits := false
	found, err = Lookup(ctx, db, actor, func(tx *store.Tx) (found T, err error) {
		if waits, err = due.Any(tx, actor.SiteID); err != nil || waits {
			return found, err
		}
		return fn(tx)
	})
	if err != nil || !waits {
		return found, err
	}
	if _, err = due.End(ctx, actor.SiteID); err != nil {
		return found, err
	}
	return Lookup(ctx, db, actor, fn)
}

// Write runs fn in a writing transaction by the clock of the actor's site. The change is durable when Write returns. fn
// may run more than once. The caller checks first what the actor may do.
func Write[T any](
	ctx context.Context, db *DB, actor access.Actor, fn func(tx *store.Tx) (T, error),
) (made T, err error) {
	err = db.WriteAs(ctx, actor, func(tx *store.Tx) (err error) {
		made, err = fn(tx)
		return err
	})
	return made, err
}

// WriteAs is Write for a function that returns nothing but an error.
func (db *DB) WriteAs(ctx context.Context, actor access.Actor, fn func(tx *store.Tx) error) error {
	return db.WriteBy(ctx, ClockFor(actor), fn)
}

// WriteBy runs fn in a writing transaction by the clock of a site. It reads the clock again inside the write: the given
// one may be minutes old, for example in an import. If the clock has been moved since, the write would record
// something in a past that is closed for reports and statements.
func (db *DB) WriteBy(ctx context.Context, clock Clock, fn func(tx *store.Tx) error) error {
	return db.Store.Write(ctx, clock.SiteID, db.begun(clock, fn))
}

// WriteLongBy is WriteBy for changes of hundreds of rows: see store.DB.WriteLong.
func (db *DB) WriteLongBy(ctx context.Context, clock Clock, fn func(tx *store.Tx) error) error {
	return db.Store.WriteLong(ctx, clock.SiteID, db.begun(clock, fn))
}

// begun is fn in a transaction that uses the clock.
func (db *DB) begun(clock Clock, fn func(tx *store.Tx) error) func(tx *store.Tx) error {
	return func(tx *store.Tx) (err error) {
		defer money.Catch(&err)
		if err := begin(tx, &db.known, clock); err != nil {
			return err
		}
		return fn(tx)
	}
}

// ReadBy runs fn in a reading transaction by the clock of a site.
func (db *DB) ReadBy(ctx context.Context, clock Clock, fn func(tx *store.Tx) error) error {
	return ReadBy(ctx, db.Store, clock, fn)
}

// ReadBy is DB.ReadBy for a caller that has only the database.
func ReadBy(ctx context.Context, base *store.DB, clock Clock, fn func(tx *store.Tx) error) error {
	return base.Read(ctx, clock.SiteID, func(tx *store.Tx) (err error) {
		defer money.Catch(&err)
		goBy(tx, clock)
		return fn(tx)
	})
}

// ReportBy is ReadBy for the program's own queries over many rows (store.DB.Report).
func (db *DB) ReportBy(ctx context.Context, clock Clock, fn func(tx *store.Tx) error) error {
	return db.Store.Report(ctx, clock.SiteID, "", func(tx *store.Tx) error {
		goBy(tx, clock)
		return fn(tx)
	})
}

// ClockFor returns the clock of the actor's site. What belongs to no site (people, logins, idempotency keys, leases of
// jobs) is written by the real clock, through Store.Write.
func ClockFor(actor access.Actor) Clock {
	return Clock{SiteID: actor.SiteID, Ahead: actor.Ahead}
}
