package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/lib/limiter"
)

// longReads are reads over many rows. They have separate connections, so that short reads and writes always find one.
type longReads struct {
	bounds  ReportBounds
	limiter *limiter.Limiter
}

// ReportBounds bound long reads.
type ReportBounds struct {
	limiter.Bounds
	Lifetime time.Duration // how long one runs before it is ended; zero: as long as its caller waits
}

// DefaultReportBounds lets two long reads run concurrently. No single caller can fill the queue.
func DefaultReportBounds() limiter.Bounds {
	return limiter.Bounds{Places: 2, PerCaller: 6, Queue: 16, Wait: 5 * time.Second}
}

// BoundReports changes the bounds of long reads. Call it before the first of them.
func (db *DB) BoundReports(b ReportBounds) {
	db.long.bounds, db.long.limiter = b, limiter.New(b.Bounds)
	for _, n := range db.nodes() {
		db.long.bound(n.Long)
	}
}

// bound limits the connections to one node. The program's own reads find one besides those of the readers.
func (l *longReads) bound(pool *sql.DB) {
	pool.SetMaxOpenConns(int(l.bounds.Places) + 1)
	pool.SetMaxIdleConns(int(l.bounds.Places))
}

// refuse is the error of a long read that has no place, and may come again later.
func (l *longReads) refuse(message string, err error) error {
	return &errs.Error{Kind: errs.Unavailable, Message: message, RetryAfter: l.bounds.Wait, Err: err}
}

// acquire waits for a place.
func (l *longReads) acquire(ctx context.Context, caller string) error {
	err := l.limiter.Acquire(ctx, caller, 1)
	switch {
	case errors.Is(err, limiter.ErrCaller):
		return &errs.Error{
			Kind: errs.TooMany, RetryAfter: l.bounds.Wait,
			Message: "Too many of your large reports are running. Wait for some to finish.",
		}
	case errors.Is(err, limiter.ErrFull):
		return l.refuse("Too many large reports are running. Try again in a few seconds.", nil)
	}
	return err
}

// Report runs fn on one snapshot, without a time limit of its own: it is for reads over many rows. A few run concurrently, some
// wait, and the rest are refused; none of this holds up a Read or a Write. Where a standby follows closely enough, the
// snapshot is the standby's, and Now the instant up to which it has everything. caller identifies the caller: no single caller
// takes all places. "" is the program itself: it takes no place, reads the database itself, and is never cut short.
func (db *DB) Report(ctx context.Context, site int64, caller string, fn func(tx *Tx) error) error {
	l := db.long
	if caller == "" {
		return db.outward(db.readOn(ctx, site, longRead, fn))
	}
	if err := l.acquire(ctx, caller); err != nil {
		return err
	}
	defer l.limiter.Release(caller, 1)
	within := ctx
	if l.bounds.Lifetime > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, l.bounds.Lifetime)
		defer cancel()
	}
	if db.replica != nil && db.replica.read(within, site, fn) {
		return nil
	}
	err := db.readOn(within, site, longRead, fn)
	if err != nil && within.Err() != nil && ctx.Err() == nil && errs.KindOf(err) == errs.Internal {
		return l.refuse(fmt.Sprintf("This report took longer than %s. Choose fewer days or merchants.", l.bounds.Lifetime), err)
	}
	return db.outward(err)
}
