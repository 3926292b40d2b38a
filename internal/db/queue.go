package db

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/internal/fault"
	"holdfast/internal/sqlitefile"
)

// Bounds of the queue: how many callers may wait for a writer, how many wait for each writer before another one helps, and how
// long a writer may take for its calls before another one helps in any case.
const (
	queueLength   = 1024
	waitForWriter = 32
	slowWriter    = 100 * time.Millisecond
)

// writeQueue makes group commits. It runs the writes of all callers one after the other, and many in one transaction (see
// batch), then commits once for all, then all callers get their answers. So many writes share one sync of the disk.
// SQLite has one writer. On PostgreSQL there are a few, for short writes only. One begins when another has too much to do: the
// fewer write at once, the more writes share a transaction, and that costs the processes and the database less.
type writeQueue struct {
	db      *DB
	calls   chan *writeCall
	writers sync.WaitGroup
	turn    sqlitefile.Turn

	mu     sync.RWMutex // held while a call is sent, because calls must not be closed then
	closed bool

	careful atomic.Int32 // how many of the next batches are careful from the beginning

	crew         sync.Mutex
	active, late int           // writers that run, and those of them that take too long
	slow         time.Duration // slowWriter
}

type writeCall struct {
	ctx    context.Context
	fn     func(tx *Tx) error
	short  bool  // it need not be taken back alone: see batch.join
	err    error // what fn returned
	answer chan error
	begun  atomic.Bool // by the writer, or by a caller that gives up: whoever is first
}

// begin reports whether the call is still to be run, or given up.
func (c *writeCall) begin() bool { return c.begun.CompareAndSwap(false, true) }

func newWriteQueue(db *DB, turn sqlitefile.Turn) *writeQueue {
	return &writeQueue{db: db, calls: make(chan *writeCall, queueLength), turn: turn, slow: slowWriter}
}

// do hands fn to the writer and waits for its answer. If the caller gives up before its turn, or its turn does not come
// within the life of a write, fn does not run. After that the caller gets the true answer even if it has given up,
// because its changes may be durable. A disk that does not answer at all cannot be interrupted: then the outcome is
// unknown.
func (q *writeQueue) do(ctx context.Context, short bool, fn func(tx *Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeLifetime)
	defer cancel()
	call := &writeCall{ctx: ctx, fn: fn, short: short, answer: make(chan error, 1)}
	if err := q.hand(call); err != nil {
		return err
	}
	select {
	case err := <-call.answer:
		return err
	case <-ctx.Done():
		if call.begin() {
			return ctx.Err()
		}
	}
	ctx, cancel = context.WithTimeout(context.Background(), 2*writeLifetime)
	defer cancel()
	select {
	case err := <-call.answer:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%w: the disk does not answer", errOutcomeUnknown)
	}
}

func (q *writeQueue) hand(call *writeCall) error {
	q.mu.RLock()
	defer q.mu.RUnlock()
	if q.closed {
		return fault.New(fault.Unavailable, "The database is closing.")
	}
	select {
	case q.calls <- call:
		q.help(0)
		return nil
	case <-call.ctx.Done():
		return call.ctx.Err()
	}
}

func (q *writeQueue) close() {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.calls)
	}
	q.mu.Unlock()
	q.writers.Wait()
	q.turn.Close()
}

// help has one more writer run if so many calls wait for each one that is not late, and so if none runs. late is by how much the
// number of those changes.
func (q *writeQueue) help(late int) {
	q.crew.Lock()
	defer q.crew.Unlock()
	q.late += late
	if n := len(q.calls); n > 0 && q.active < q.db.engine.writers && n >= (q.active-q.late)*waitForWriter {
		q.active++
		q.writers.Go(q.run)
	}
}

// rests reports whether no call waits, so that a writer may end. A call that comes later finds that it does not run.
func (q *writeQueue) rests() bool {
	q.crew.Lock()
	defer q.crew.Unlock()
	if len(q.calls) > 0 {
		return false
	}
	q.active--
	return true
}

func (q *writeQueue) run() {
	for {
		first := q.next()
		if first == nil {
			if q.rests() {
				return
			}
			continue
		}
		q.turn.Begin()
		slow := time.AfterFunc(q.slow, func() { q.help(1) })
		b := &batch{queue: q, careful: q.careful.Load() > 0}
		b.write(first)
		if !slow.Stop() {
			q.help(-1)
		}
		if b.failed {
			q.careful.Store(carefulBatches)
		} else if b.careful {
			q.careful.Add(-1)
		}
		q.turn.End()
	}
}

// next takes a call that waits; nil when none does.
func (q *writeQueue) next() *writeCall {
	for {
		select {
		case call := <-q.calls: // nil when the queue is closed
			if call == nil || call.begin() {
				return call
			}
		default:
			return nil
		}
	}
}
