package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"holdfast/internal/fault"
	"holdfast/internal/lane"
)

// longReads are those that go through many rows. They have connections of their own, so that however many are asked for, everything
// else finds one.
type longReads struct {
	*lane.Lane
	pool *sql.DB
	slow chan struct{} // the one place of what takes minutes: it has a connection besides those of Readers
}

// errLong: the function of a read asked for the lane of long reads.
var errLong = errors.New("this read is long")

// Long says that a read is about to go through many rows. The function of the read returns the error as it is, and runs
// again from its beginning, in the lane of long reads: there, Long returns nil. In a write it returns nil, too, because
// writes take turns already.
func (tx *Tx) Long() error {
	if tx.quick {
		return errLong
	}
	return nil
}

// SetLane changes the bounds of long reads; a zero stands for the default. Call it before the first of them.
func (db *DB) SetLane(b lane.Bounds) {
	l := lane.New(b)
	db.long.Lane = l
	db.long.pool.SetMaxOpenConns(l.Readers + 1)
	db.long.pool.SetMaxIdleConns(l.Readers)
}

// laneOf makes the lane over connections that nothing else uses.
func (db *DB) laneOf(pool *sql.DB) {
	db.long = &longReads{pool: pool, slow: make(chan struct{}, 1)}
	db.SetLane(lane.Bounds{})
}

// ReadSlowly is Read for what takes minutes, such as a check of the whole book. It has a connection of its own, so it holds up no
// report, and it is not ended after some time. One runs at once; another is refused with Unavailable.
func (db *DB) ReadSlowly(ctx context.Context, fn func(tx *Tx) error) error {
	select {
	case db.long.slow <- struct{}{}:
	default:
		return db.long.Refuse("Something that takes minutes is running already. Try again later.", nil)
	}
	defer func() { <-db.long.slow }()
	return db.outward(db.readOn(ctx, db.long.pool, false, fn))
}

// readLong runs fn in the lane of long reads, when it is its turn.
func (db *DB) readLong(ctx context.Context, caller string, report bool, fn func(tx *Tx) error) error {
	l := db.long
	leave, err := l.Enter(ctx, caller)
	if err != nil {
		return err
	}
	defer leave()
	given := ctx
	if l.Lifetime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.Lifetime)
		defer cancel()
	}
	if report && db.replica != nil && db.replica.read(ctx, fn) {
		return nil
	}
	err = db.readOn(ctx, l.pool, false, fn)
	if err != nil && ctx.Err() != nil && given.Err() == nil && fault.KindOf(err) == fault.Internal {
		return l.Refuse(fmt.Sprintf("This report took longer than %s. Ask for fewer days or channels.", l.Lifetime), err)
	}
	return err
}
