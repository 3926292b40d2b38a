package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/internal/fault"
)

// Bounds of SQLite's one writer: how many callers may wait, how many share a commit, and how long calls are gathered
// before their commit.
const (
	queueLength = 1024
	batchLength = 128
	batchTime   = 100 * time.Millisecond
)

// writeQueue makes group commits. It runs the writes of all callers one after the other, and many in one transaction:
// each in its own savepoint, then one commit for all, then all callers get their answers. So many writes share one
// sync of the disk.
type writeQueue struct {
	db    *DB
	calls chan *writeCall
	done  chan struct{}
	turn  turn

	mu     sync.RWMutex // held while a call is sent, because calls must not be closed then
	closed bool
}

type writeCall struct {
	ctx    context.Context
	fn     func(tx *Tx) error
	err    error // what fn returned
	answer chan error
	begun  atomic.Bool // by the writer, or by a caller that gives up: whoever is first
}

// begin reports whether the call is still to be run, or given up.
func (c *writeCall) begin() bool { return c.begun.CompareAndSwap(false, true) }

// errBatchLost: the transaction around the savepoints was rolled back, and with it the writes of the others.
var errBatchLost = errors.New("the shared transaction was rolled back")

func newWriteQueue(db *DB) *writeQueue {
	q := &writeQueue{db: db, calls: make(chan *writeCall, queueLength), done: make(chan struct{}), turn: openTurn(db.files.path)}
	go q.run()
	return q
}

// do hands fn to the writer and waits for its answer. If the caller gives up before its turn, or its turn does not come
// within the life of a write, fn does not run. After that the caller gets the true answer even if it has given up,
// because its changes may be durable. A disk that does not answer at all cannot be interrupted: then the outcome is
// unknown.
func (q *writeQueue) do(ctx context.Context, fn func(tx *Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeLifetime)
	defer cancel()
	call := &writeCall{ctx: ctx, fn: fn, answer: make(chan error, 1)}
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
	q.turn.close()
}

func (q *writeQueue) run() {
	defer close(q.done)
	for first := range q.calls {
		if first.begin() {
			q.turn.begin()
			ran := q.batch(first)
			q.turn.end()
			q.answer(ran)
		}
	}
}

// batch runs first, and the calls that wait behind it, in one transaction. It returns them with their answers set.
func (q *writeQueue) batch(first *writeCall) []*writeCall {
	// The statements do not get the callers' contexts. A caller that gives up would interrupt its statement, and
	// SQLite would then roll back the whole transaction, with everyone's writes.
	ctx, cancel := context.WithTimeout(context.Background(), writeLifetime)
	defer cancel()
	sqlTx, err := q.beginTx(ctx)
	if err != nil {
		first.err = err
		return []*writeCall{first}
	}
	ran, lost := q.gather(ctx, sqlTx, first)
	if !lost {
		if err := q.db.commit(ctx, sqlTx); err != nil {
			// Also those that were refused: they may have been so because of others, which are not stored now.
			for _, call := range ran {
				call.err = err
			}
		}
		return ran
	}
	_ = sqlTx.Rollback() // it is rolled back already: this only gives the connection back
	// The last call broke the transaction. It keeps its error. The others run again without it, one at a time.
	for _, call := range ran[:len(ran)-1] {
		q.alone(call)
	}
	return ran
}

// gather runs calls until nobody waits or a bound is reached. lost: the transaction is broken by the last of them.
func (q *writeQueue) gather(ctx context.Context, sqlTx *sql.Tx, first *writeCall) (ran []*writeCall, lost bool) {
	began := q.db.clock()
	// The first needs no savepoint: if it fails, no other call has written in the transaction yet. For a write of many
	// rows this halves the time, because SQLite copies whatever a savepoint might roll back.
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
		if !call.begin() {
			continue
		}
		ran = append(ran, call)
		call.err = q.inSavepoint(ctx, sqlTx, call)
		if errors.Is(call.err, errBatchLost) {
			return ran, true
		}
	}
	return ran, false
}

// bare runs one call in the transaction, without a savepoint.
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
	sqlTx, err := q.beginTx(ctx)
	if err != nil {
		call.err = err
		return
	}
	call.err = runGuarded(call.fn, q.db.tx(ctx, sqlTx))
	if call.err != nil {
		_ = sqlTx.Rollback() // the error of the call is the one to return
		return
	}
	call.err = q.db.commit(ctx, sqlTx)
}

func (q *writeQueue) beginTx(ctx context.Context) (*sql.Tx, error) {
	if err := q.db.files.inPlace(); err != nil {
		return nil, err
	}
	return q.db.write.BeginTx(ctx, nil)
}

func (q *writeQueue) answer(calls []*writeCall) {
	for _, call := range calls {
		call.answer <- call.err
	}
}

// runGuarded runs the function of a write and then writes the rows that it holds back. A panic becomes an error: the
// writer serves everyone, and one caller's mistake must not end it.
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
