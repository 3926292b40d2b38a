package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// Lane bounds the long reads: those that go through many rows. They have connections of their own, so that however many
// are asked for, everything else finds one.
type Lane struct {
	Readers  int           // how many run at once; default 2
	Waiting  int           // how many wait for their turn; default 16, below zero none. Further ones are refused.
	Each     int           // how many of one caller run or wait; default 6, below zero none. No caller alone fills the lane.
	Patience time.Duration // how long one waits before it is refused; default 5 seconds
	Lifetime time.Duration // how long one runs before it is ended; zero: as long as its caller waits
}

func (l *Lane) complete() {
	l.Readers = cmp.Or(l.Readers, 2)
	l.Waiting = cmp.Or(l.Waiting, 16)
	l.Each = cmp.Or(l.Each, 6)
	l.Patience = cmp.Or(l.Patience, 5*time.Second)
}

// lane is a Lane with its connections.
type lane struct {
	Lane
	pool    *sql.DB
	running chan struct{} // a place for each that runs
	slow    chan struct{} // the one place of what takes minutes: it has a connection besides those of Readers
	waiting atomic.Int64

	mu      sync.Mutex
	callers map[string]int // what each runs and waits for
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

// deepPage is how many rows a page may pass over before it is a long read: the database goes through all of them.
const deepPage = 10_000

// Deep is Long where a page lies deep in its list.
func (tx *Tx) Deep(page travel.Page) error {
	if page.Skip() < deepPage {
		return nil
	}
	return tx.Long()
}

// SetLane changes the bounds of long reads; a zero stands for the default. Call it before the first of them.
func (db *DB) SetLane(l Lane) {
	l.complete()
	db.long.Lane, db.long.running = l, make(chan struct{}, l.Readers)
	db.long.pool.SetMaxOpenConns(l.Readers + 1)
	db.long.pool.SetMaxIdleConns(l.Readers)
}

// laneOf makes the lane over connections that nothing else uses.
func (db *DB) laneOf(pool *sql.DB) {
	db.long = &lane{pool: pool, slow: make(chan struct{}, 1)}
	db.SetLane(Lane{})
}

// ReadSlowly is Read for what takes minutes, such as a check of the whole book. It has a connection of its own, so it holds up no
// report, and it is not ended after some time. One runs at once; another is refused with Unavailable.
func (db *DB) ReadSlowly(ctx context.Context, fn func(tx *Tx) error) error {
	select {
	case db.long.slow <- struct{}{}:
	default:
		return db.long.refuse("Something that takes minutes is running already. Try again later.", nil)
	}
	defer func() { <-db.long.slow }()
	return db.outward(db.readOn(ctx, db.long.pool, false, fn))
}

// readLong runs fn in the lane of long reads, when it is its turn.
func (db *DB) readLong(ctx context.Context, caller string, report bool, fn func(tx *Tx) error) error {
	l := db.long
	if err := l.count(caller); err != nil {
		return err
	}
	defer l.forget(caller)
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer func() { <-l.running }()
	given := ctx
	if l.Lifetime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.Lifetime)
		defer cancel()
	}
	if report && db.replica != nil && db.replica.read(ctx, fn) {
		return nil
	}
	err := db.readOn(ctx, l.pool, false, fn)
	if err != nil && ctx.Err() != nil && given.Err() == nil && fault.KindOf(err) == fault.Internal {
		return l.refuse(fmt.Sprintf("This report took longer than %s. Ask for fewer days or channels.", l.Lifetime), err)
	}
	return err
}

// count counts a read of a caller, or refuses it. Those of the program itself, whose caller is "", are not counted.
func (l *lane) count(caller string) error {
	if caller == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.callers[caller] >= l.Each {
		return &fault.Error{
			Kind: fault.TooMany, RetryAfter: l.Patience,
			Message: "You have too many large reports open at the same time. Wait for some answers first.",
		}
	}
	if l.callers == nil {
		l.callers = map[string]int{}
	}
	l.callers[caller]++
	return nil
}

// forget ends what count has begun.
func (l *lane) forget(caller string) {
	if caller == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.callers[caller]--; l.callers[caller] == 0 {
		delete(l.callers, caller)
	}
}

// enter waits for a place. It refuses when too many wait, or when it has waited too long.
func (l *lane) enter(ctx context.Context) error {
	select {
	case l.running <- struct{}{}:
		return nil
	default:
	}
	const busy = "Too many large reports are being computed. Try again in some seconds."
	defer l.waiting.Add(-1)
	if l.waiting.Add(1) > int64(l.Waiting) {
		return l.refuse(busy, nil)
	}
	patience := time.NewTimer(l.Patience)
	defer patience.Stop()
	select {
	case l.running <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
		return l.refuse(busy, nil)
	}
}

func (l *lane) refuse(message string, err error) error {
	return &fault.Error{Kind: fault.Unavailable, Message: message, RetryAfter: l.Patience, Err: err}
}
