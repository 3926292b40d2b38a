package store

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/store/crew"
	"holdfast/internal/store/sqlite"
)

// queueLength is how many callers may wait for a writer.
const queueLength = 1024

// writeQueue makes group commits. It runs the writes of all callers one after the other, and many in one transaction (see
// batch), then commits once for all, then all callers get their answers. So many writes share one sync of the disk.
// SQLite has one writer. On PostgreSQL there are a few, for short writes only, and the fewer of them run, the less it costs.
type writeQueue struct {
	db    *DB
	calls chan *writeCall
	crew  crew.Crew // the writers
	turn  sqlite.Turn
	held  *writeCall // that begins the next batch

	mu     sync.RWMutex // held while a call is sent, because calls must not be closed then
	closed bool

	careful atomic.Int32 // how many of the next batches are careful from the beginning
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

func newWriteQueue(db *DB, turn sqlite.Turn) *writeQueue {
	q := &writeQueue{db: db, calls: make(chan *writeCall, queueLength), turn: turn}
	q.crew = crew.Crew{Most: db.engine.writers, Each: 32, Late: 100 * time.Millisecond, Waiting: func() int { return len(q.calls) }, Work: q.run}
	return q
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
		return errs.New(errs.Unavailable, "The database is closing.")
	}
	select {
	case q.calls <- call:
		q.crew.Come()
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
	q.crew.Wait()
	q.turn.Close()
}

func (q *writeQueue) run() {
	for {
		first := q.next()
		if first == nil {
			if q.crew.Rests() {
				return
			}
			continue
		}
		q.turn.Begin()
		b := &batch{queue: q, careful: q.careful.Load() > 0}
		q.crew.Piece(func() { q.db.log.Write(first.short, func() { b.write(first) }) })
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
	if call := q.held; call != nil {
		q.held = nil
		return call
	}
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
