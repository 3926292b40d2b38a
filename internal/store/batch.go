package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"holdfast/internal/store/postgres"
	"holdfast/internal/store/sqlite"
)

// Bounds of a batch: how many writes share it, and after one that failed, how many batches are careful.
const (
	batchLength    = 128
	carefulBatches = 16
)

// batch is one transaction that several writes share. Most writes succeed, so the short ones run one after the other with
// nothing between them, and the rows that they hold back until their ends go in together (see sharedRows). One that fails
// after it has changed something loses the batch for all. Then everything is rolled back, and the writes run again with
// care: each in a savepoint, which takes back what fails. A write that is not short comes first: a savepoint would copy all pages that it changes.
type batch struct {
	queue   *writeQueue
	careful bool
	failed  bool // the writes had to run again
	ran     []*writeCall

	ctx  context.Context
	sql  transaction
	rows sharedRows
	ids  drawnIDs
}

// errBatchLost: the transaction around the savepoints was rolled back, and with it the writes of the others.
var errBatchLost = errors.New("the shared transaction was rolled back")

// write runs first, and the calls that wait behind it, and answers them.
func (b *batch) write(first *writeCall) {
	done := b.attempt(func() *writeCall {
		if len(b.ran) == 0 {
			return first
		}
		return b.queue.next()
	})
	if done {
		return
	}
	if b.careful || !first.short && len(b.ran) == 1 {
		b.rescue()
		return
	}
	b.failed, b.careful = true, true
	list := awaited(b.ran)
	b.queue.db.work.again.Add(int64(len(list)))
	for rest := list; len(rest) > 0; rest = rest[len(b.ran):] {
		b.ran = nil
		again := func() *writeCall {
			if len(b.ran) == len(rest) {
				return nil
			}
			return rest[len(b.ran)]
		}
		if !b.attempt(again) {
			b.rescue()
		}
	}
}

// awaited leaves out the calls whose time is over, and tells them so at once: what has stopped the first try may stop the next one, too, such
// as a server that does not answer.
func awaited(calls []*writeCall) []*writeCall {
	return slices.DeleteFunc(calls, func(call *writeCall) bool {
		err := call.ctx.Err()
		if err != nil {
			call.answer <- err
		}
		return err != nil
	})
}

// rescue runs the calls of a lost transaction again, each in one of its own. The last of them broke it: it keeps its error
// where it is the only writer, because it would take the time of all others once more.
func (b *batch) rescue() {
	last := len(b.ran) - 1
	b.eachAlone(b.ran[:last])
	if b.queue.db.engine.manyWrites {
		b.eachAlone(b.ran[last:])
	} else {
		b.ran[last].answer <- b.ran[last].err
	}
}

// attempt runs calls in one transaction until there is no next one or a bound is reached, commits, and answers. It returns
// false when the transaction was lost by the last of them.
func (b *batch) attempt(next func() *writeCall) bool {
	// The statements do not get the callers' contexts. A caller that gives up would interrupt its statement, and SQLite
	// would then roll back the whole transaction, with everyone's writes.
	ctx, cancel := context.WithTimeout(context.Background(), writeLifetime)
	defer cancel()
	db := b.queue.db
	b.ctx, b.rows, b.ids = ctx, sharedRows{}, drawnIDs{}
	var err error
	if b.sql, err = db.beginShared(ctx); err != nil {
		call := next()
		call.err, b.ran = err, append(b.ran, call)
		return false
	}
	began := db.clock()
	for len(b.ran) < batchLength && db.clock().Sub(began) <= db.engine.batchTime {
		call := next()
		if call == nil {
			break
		}
		if !call.short && !b.careful && len(b.ran) > 0 {
			b.queue.held = call
			break
		}
		b.ran = append(b.ran, call)
		if b.run(call) {
			_ = b.sql.Rollback() // it may be rolled back already: this only gives the connection back
			return false
		}
	}
	if err := b.rows.write(b.shortTx()); err != nil {
		b.ran[len(b.ran)-1].err = err
		_ = b.sql.Rollback()
		return false
	}
	err = db.commit(ctx, b.sql)
	for i, call := range b.ran {
		if err != nil { // also for those that were refused: perhaps because of others, which are not stored now
			call.err = err
		}
		if db.crossed(call.err) {
			b.eachAlone(b.ran[i : i+1])
		} else {
			call.answer <- call.err
		}
	}
	return true
}

// crossed reports whether a write failed because of a write in another transaction, and may succeed when it runs again.
func (db *DB) crossed(err error) bool {
	e := db.engine
	return err != nil && e.manyWrites && !errors.Is(err, errOutcomeUnknown) &&
		(e.transient(err) || e.conflict(err) || e.lost(err) || e.locked(err))
}

func (b *batch) tx() *Tx {
	tx := b.queue.db.tx(b.ctx, b.sql)
	tx.ids = b.ids
	return tx
}

// shortTx is tx for what takes a few milliseconds: nobody watches whether its time is over (see readOneOn).
func (b *batch) shortTx() *Tx {
	tx := b.tx()
	if !b.queue.db.engine.manyWrites {
		tx.ctx = context.WithoutCancel(b.ctx)
	}
	return tx
}

// run runs one call. lost: what the others wrote is lost with it.
func (b *batch) run(call *writeCall) (lost bool) {
	if call.err = call.ctx.Err(); call.err != nil {
		return false
	}
	if call.short && !b.careful {
		return b.join(call)
	}
	// The first needs no savepoint: if it fails, no other call has written in the transaction yet. For a write of many
	// rows this halves the time, because SQLite copies whatever a savepoint might roll back.
	if len(b.ran) == 1 {
		call.err = runGuarded(call.fn, b.tx())
		return call.err != nil
	}
	call.err = b.inSavepoint(call)
	return errors.Is(call.err, errBatchLost)
}

// join runs one call with nothing around it. One that is refused before it has changed anything does no harm.
func (b *batch) join(call *writeCall) (lost bool) {
	tx := b.shortTx()
	tx.shared, tx.lone = &b.rows, len(b.ran) == 1 && len(b.queue.calls) == 0
	call.err = runGuarded(call.fn, tx)
	return call.err != nil && tx.changed
}

func (b *batch) inSavepoint(call *writeCall) error {
	if _, err := b.sql.ExecContext(b.ctx, "SAVEPOINT one"); err != nil {
		return errors.Join(errBatchLost, err)
	}
	err := runGuarded(call.fn, b.tx())
	end := "RELEASE one"
	if err != nil {
		end = "ROLLBACK TO one; RELEASE one"
	}
	if _, endErr := b.sql.ExecContext(b.ctx, end); endErr != nil {
		return errors.Join(err, errBatchLost, endErr)
	}
	return err
}

// eachAlone runs each call in a transaction of its own, and answers it. Where there are many writers, nobody waits for it.
func (b *batch) eachAlone(calls []*writeCall) {
	db := b.queue.db
	db.work.again.Add(int64(len(calls)))
	for _, call := range calls {
		if db.engine.manyWrites {
			b.queue.crew.Beside(func() { call.answer <- db.writeAlone(call.ctx, call.fn) })
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), writeLifetime)
		call.answer <- db.writeOnce(ctx, call.fn)
		cancel()
	}
}

// transaction is one that writes. After its end Commit and Rollback do nothing, and return sql.ErrTxDone.
type transaction interface {
	runner
	Commit() error
	Rollback() error
}

// beginShared begins the transaction of a batch. Where the connection turns out to be lost, it takes another one.
func (db *DB) beginShared(ctx context.Context) (sqlTx transaction, err error) {
	for range lossAttempts {
		if sqlTx, err = db.beginWrite(ctx, db.engine.beginBatch); err == nil || !db.engine.lost(err) || !db.renewAfter(ctx, err) {
			return sqlTx, err
		}
	}
	return sqlTx, err
}

// beginWrite uses PostgreSQL's level "read committed". This is enough: a write first locks the rows that it depends on, by
// an UPDATE … RETURNING with a condition or with RowLock, and this reads what is committed at that moment. Foreign keys and unique indexes
// guard the rest. A transaction of SQLite is always a snapshot, and its driver knows no levels. first is a statement that the
// transaction begins with, or "".
func (db *DB) beginWrite(ctx context.Context, first string) (transaction, error) {
	if err := db.files.InPlace(); err != nil {
		return nil, err
	}
	if !db.engine.manyWrites {
		return sqlite.Begin(ctx, db.write, "BEGIN IMMEDIATE")
	}
	sqlTx, err := postgres.Begin(ctx, db.write)
	if err != nil {
		return nil, err
	}
	if first = db.bounds + first; first == "" {
		return sqlTx, nil
	}
	if _, err = sqlTx.ExecContext(ctx, first); err != nil {
		_ = sqlTx.Rollback() // the error of the statement is the one to return
	}
	return sqlTx, err
}

// writeOnce runs fn in a transaction of its own.
func (db *DB) writeOnce(ctx context.Context, fn func(tx *Tx) error) error {
	sqlTx, err := db.beginWrite(ctx, "")
	if err != nil {
		return err
	}
	if err := runGuarded(fn, db.tx(ctx, sqlTx)); err != nil {
		_ = sqlTx.Rollback() // the error of fn is the one to return
		return err
	}
	return db.commit(ctx, sqlTx)
}

// runGuarded runs the function of a write and then writes the rows that it holds back. A panic becomes an error: the
// writer serves everyone, and one caller's mistake must not end it.
func runGuarded(fn func(tx *Tx) error, tx *Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a write: %v\n%s", p, debug.Stack())
		}
		if last := tx.settle(); err == nil {
			err = last
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	tx.ending, tx.gather = true, tx.gathers()
	return tx.Flush()
}
