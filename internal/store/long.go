package store

import (
	"context"
	"database/sql"
	"fmt"

	"holdfast/internal/errs"
	"holdfast/internal/lib/lane"
)

// longReads are those that go through many rows. They have connections of their own, so that however many are asked for,
// short reads and writes find one.
type longReads struct {
	*lane.Lane
	pool *sql.DB
}

// SetLane changes the bounds of long reads; a zero stands for the default. Call it before the first of them.
func (db *DB) SetLane(b lane.Bounds) {
	l := lane.New(b)
	db.long.Lane = l // the program's own reads find a connection besides those of the readers
	db.long.pool.SetMaxOpenConns(l.Readers + 1)
	db.long.pool.SetMaxIdleConns(l.Readers)
}

// laneOf makes the lane over connections that nothing else uses.
func (db *DB) laneOf(pool *sql.DB) {
	db.long = &longReads{pool: pool}
	db.SetLane(lane.Bounds{})
}

// Report runs fn on one snapshot, for as long as it takes: it is for what goes through many rows. A few run at once, some
// wait, and the rest are refused; none of this holds up a Read or a Write. Where a standby follows closely enough, the
// snapshot is the standby's, and Now the instant up to which it has everything. caller tells apart who asks: no caller alone
// takes all places. "" is the program itself: it takes no place, reads the database itself, and is never cut short.
func (db *DB) Report(ctx context.Context, site int64, caller string, fn func(tx *Tx) error) error {
	l := db.long
	if caller == "" {
		return db.outward(db.readOn(ctx, l.pool, fn))
	}
	leave, err := l.Enter(ctx, caller)
	if err != nil {
		return err
	}
	defer leave()
	within := ctx
	if l.Lifetime > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, l.Lifetime)
		defer cancel()
	}
	if db.replica != nil && db.replica.read(within, fn) {
		return nil
	}
	err = db.readOn(within, l.pool, fn)
	if err != nil && within.Err() != nil && ctx.Err() == nil && errs.KindOf(err) == errs.Internal {
		return l.Refuse(fmt.Sprintf("This report took longer than %s. Ask for fewer days or channels.", l.Lifetime), err)
	}
	return db.outward(err)
}
