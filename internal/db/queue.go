package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"holdfast/internal/fault"
)

// Bounds of the one writer of SQLite: how many callers may wait, how many share a commit, and how long a commit may
// gather before it is made.
const (
	queueLength = 1024
	batchLength = 128
	batchTime   = 100 * time.Millisecond
)

// writeQueue runs the writes of all callers one after the other, many in one transaction: each in a savepoint of its
// own, one commit for all, then all are answered. So a write costs a sync of the disk only when nobody else writes.
type writeQueue struct {
	db    *DB
	calls chan *writeCall
	done  chan struct{}

	mu     sync.RWMutex // held while a call is handed over, so that close never meets a sender
	closed bool
}

type writeCall struct {
	ctx    context.Context
	fn     func(tx *Tx) error
	err    error // what fn said in the batch
	answer chan error
}

// errBatchLost: the transaction around the savepoints is gone, and with it what the others of the batch wrote.
var errBatchLost = errors.New("the shared transaction was rolled back")

func newWriteQueue(db *DB) *writeQueue {
	q := &writeQueue{db: db, calls: make(chan *writeCall, queueLength), done: make(chan struct{})}
	go q.run()
	return q
}

// do hands fn to the writer and waits for its answer. A caller that gives up before its turn is not run; one whose
// turn has come is answered truly, because what it wrote may be durable.
func (q *writeQueue) do(ctx context.Context, fn func(tx *Tx) error) error {
	call := &writeCall{ctx: ctx, fn: fn, answer: make(chan error, 1)}
	if err := q.hand(call); err != nil {
		return err
	}
	return <-call.answer
}

func (q *writeQueue) hand(call *writeCall) error {
	q.mu.RLock()
	defer q.mu.RUnlock()
	if q.closed {
		return fault.New(fault.Unavailable, "The database is closing.")
	}
	select {
	case q.calls <- call:
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
	<-q.done
}

func (q *writeQueue) run() {
	defer close(q.done)
	for first := range q.calls {
		q.answer(q.batch(first))
	}
}

// batch runs first and whatever waits behind it in one transaction and returns the calls with their answers set.
func (q *writeQueue) batch(first *writeCall) []*writeCall {
	// The callers' contexts do not reach the statements: a caller that gives up would interrupt a statement, and
	// with it SQLite rolls back the whole transaction, everyone's.
	ctx, cancel := context.WithTimeout(context.Background(), writeLifetime)
	defer cancel()
	sqlTx, err := q.db.write.BeginTx(ctx, nil)
	if err != nil {
		first.err = err
		return []*writeCall{first}
	}
	ran, lost := q.gather(ctx, sqlTx, first)
	if !lost {
		if err := sqlTx.Commit(); err != nil {
			for _, call := range ran {
				call.err = errors.Join(call.err, err)
			}
		}
		return ran
	}
	_ = sqlTx.Rollback() // the transaction is gone already; this only gives the connection back
	// The last call broke the transaction: it keeps its error, and the others run again without it, one at a time.
	for _, call := range ran[:len(ran)-1] {
		q.alone(call)
	}
	return ran
}

// gather runs calls until nobody waits or a bound is reached. lost says that the last one took the transaction along.
func (q *writeQueue) gather(ctx context.Context, sqlTx *sql.Tx, first *writeCall) (ran []*writeCall, lost bool) {
	began := q.db.clock()
	// The first needs no savepoint: when it fails, there is nobody else's work in the transaction yet. To a write of
	// many rows that is worth as much as the rows themselves, since SQLite copies what a savepoint might take back.
	ran = append(ran, first)
	if first.err = q.bare(ctx, sqlTx, first); first.err != nil {
		return ran, true
	}
	for len(ran) < batchLength && q.db.clock().Sub(began) <= batchTime {
		var call *writeCall
		select {
		case call = <-q.calls:
		default:
		}
		if call == nil { // nobody waits, or the queue is closed
			break
		}
		ran = append(ran, call)
		call.err = q.inSavepoint(ctx, sqlTx, call)
		if errors.Is(call.err, errBatchLost) {
			return ran, true
		}
	}
	return ran, false
}

// bare runs one call in the transaction itself.
func (q *writeQueue) bare(ctx context.Context, sqlTx *sql.Tx, call *writeCall) error {
	if err := call.ctx.Err(); err != nil {
		return err
	}
	return runGuarded(call.fn, q.db.tx(ctx, sqlTx))
}

func (q *writeQueue) inSavepoint(ctx context.Context, sqlTx *sql.Tx, call *writeCall) error {
	if _, err := sqlTx.ExecContext(ctx, "SAVEPOINT one"); err != nil {
		return errors.Join(errBatchLost, err)
	}
	err := q.bare(ctx, sqlTx, call)
	end := "RELEASE one"
	if err != nil {
		end = "ROLLBACK TO one; RELEASE one"
	}
	if _, endErr := sqlTx.ExecContext(ctx, end); endErr != nil {
		return errors.Join(err, errBatchLost, endErr)
	}
	return err
}

// alone runs one call in a transaction of its own.
func (q *writeQueue) alone(call *writeCall) {
	ctx, cancel := context.WithTimeout(context.Background(), writeLifetime)
	defer cancel()
	sqlTx, err := q.db.write.BeginTx(ctx, nil)
	if err != nil {
		call.err = err
		return
	}
	call.err = runGuarded(call.fn, q.db.tx(ctx, sqlTx))
	if call.err != nil {
		_ = sqlTx.Rollback() // the call's own error is the one to tell
		return
	}
	call.err = sqlTx.Commit()
}

func (q *writeQueue) answer(calls []*writeCall) {
	for _, call := range calls {
		call.answer <- call.err
	}
}

// runGuarded runs the function of a write, and what it left for its end. A panic of it becomes
// an error: the writer serves everyone and must outlive one caller's mistake.
func runGuarded(fn func(tx *Tx) error, tx *Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a write: %v\n%s", p, debug.Stack())
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Flush()
}
