package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/store/postgres"
	"holdfast/internal/store/sqlite"
)

// writer carries writes out: one at a time (oneByOne), or several in one commit (groupCommit).
type writer interface {
	// write runs fn in a transaction about a site, and returns when its changes are durable. A long write shares its commit with none.
	write(ctx context.Context, site int64, long bool, fn func(tx *Tx) error) error
	close()
}

// Bounds of a group of writes that share a commit.
const (
	queueLength = 1024 // how many callers may wait
	groupLength = 128
	groupTime   = 100 * time.Millisecond // how long a group takes up writes
)

// groupCommit is SQLite's single writer. It runs the writes of all callers one after the other, and concurrent ones in
// one transaction, each in a savepoint, so that it can be rolled back alone. So many writes share one sync of the disk.
// A write sees what is committed and what the earlier writes of its group have written. It cannot outlive them: they are
// committed together or, if the commit fails, all of their callers get the error.
type groupCommit struct {
	db    *DB
	calls chan *writeCall
	next  *writeCall // begins the next group
	done  chan struct{}

	mu     sync.RWMutex // held while a call is sent, because calls must not be closed then
	closed bool
}

type writeCall struct {
	ctx    context.Context
	site   int64
	fn     func(tx *Tx) error
	long   bool
	err    error // what fn returned
	answer chan error
	begun  atomic.Bool // by the writer or by a caller that gives up, whichever is first
}

// begin reports whether the call is still to be run, or given up.
func (c *writeCall) begin() bool { return c.begun.CompareAndSwap(false, true) }

func newGroupCommit(db *DB) *groupCommit {
	g := &groupCommit{db: db, calls: make(chan *writeCall, queueLength), done: make(chan struct{})}
	go g.run()
	return g
}

// write passes fn to the writer and waits for its result. If the caller gives up before its turn, or its turn does not come
// within writeLifetime, fn does not run. Once fn has begun, the caller gets the true result even if it has given up,
// because its changes may be durable. A disk that does not answer at all cannot be interrupted: then the outcome is
// unknown.
func (g *groupCommit) write(ctx context.Context, site int64, long bool, fn func(tx *Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeLifetime)
	defer cancel()
	call := &writeCall{ctx: ctx, site: site, fn: fn, long: long, answer: make(chan error, 1)}
	if err := g.hand(call); err != nil {
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
		return fmt.Errorf("%w: the disk is not responding", errOutcomeUnknown)
	}
}

func (g *groupCommit) hand(call *writeCall) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.closed {
		return errs.New(errs.Unavailable, "The database is shutting down.")
	}
	select {
	case g.calls <- call:
		return nil
	case <-call.ctx.Done():
		return call.ctx.Err()
	}
}

// close accepts no more calls, and waits until the queue is empty.
func (g *groupCommit) close() {
	g.mu.Lock()
	if !g.closed {
		g.closed = true
		close(g.calls)
	}
	g.mu.Unlock()
	<-g.done
	g.db.turn.Close()
}

func (g *groupCommit) run() {
	defer close(g.done)
	for first := g.wait(); first != nil; first = g.wait() {
		g.db.turn.Begin()
		g.db.log.Write(!first.long, func() { g.group(first) })
		g.db.turn.End()
	}
}

// wait waits for the call that begins the next group; nil when the queue is closed.
func (g *groupCommit) wait() *writeCall {
	if call := g.next; call != nil {
		g.next = nil
		return call
	}
	for call := range g.calls {
		if call.begin() {
			return call
		}
	}
	return nil
}

// poll is wait for a call that is already queued; nil if there is none.
func (g *groupCommit) poll() *writeCall {
	for {
		select {
		case call := <-g.calls: // nil when the queue is closed
			if call == nil || call.begin() {
				return call
			}
		default:
			return nil
		}
	}
}

// group runs first, and the calls that wait behind it, in one transaction, and answers them. Their statements do not get
// the callers' contexts: a caller that gives up would interrupt its statement, and SQLite would then roll back the whole
// transaction, with everyone's writes.
func (g *groupCommit) group(first *writeCall) {
	ctx, cancel := context.WithTimeout(context.Background(), writeLifetime)
	defer cancel()
	sqlTx, err := g.db.beginWrite(ctx, g.db.own)
	if err != nil {
		first.answer <- err
		return
	}
	began := g.db.clock()
	ran := []*writeCall{}
	for call := first; call != nil; {
		ran = append(ran, call)
		if lost := g.runCall(ctx, sqlTx, call, len(ran) == 1); lost {
			_ = sqlTx.Rollback() // it may be rolled back already: this only gives the connection back
			g.repeat(ran[:len(ran)-1])
			call.answer <- call.err
			return
		}
		if call = nil; !first.long && len(ran) < groupLength && g.db.clock().Sub(began) <= groupTime {
			call = g.poll()
		}
		if call != nil && call.long {
			g.next, call = call, nil
		}
	}
	err = g.db.commit(ctx, sqlTx)
	for _, call := range ran {
		if err != nil { // also for those that failed: perhaps because of others, which are not stored now
			call.err = err
		}
		call.answer <- call.err
	}
}

// runCall runs one call of a group. lost reports whether the transaction must be rolled back, with every call in it.
func (g *groupCommit) runCall(ctx context.Context, sqlTx transaction, call *writeCall, first bool) (lost bool) {
	if call.err = call.ctx.Err(); call.err != nil {
		return false
	}
	if !call.long {
		ctx = context.WithoutCancel(ctx) // to watch it takes a goroutine for each statement; commit looks at the time
	}
	// The first needs no savepoint: no other call has written anything yet.
	if first {
		call.err = runGuarded(call.fn, g.db.tx(ctx, call.site, g.db.own, sqlTx))
		return call.err != nil
	}
	if _, err := sqlTx.ExecContext(ctx, "SAVEPOINT one"); err != nil {
		call.err = err
		return true
	}
	call.err = runGuarded(call.fn, g.db.tx(ctx, call.site, g.db.own, sqlTx))
	end := "RELEASE one"
	if call.err != nil {
		end = "ROLLBACK TO one; RELEASE one"
	}
	if _, err := sqlTx.ExecContext(ctx, end); err != nil { // a full disk, for example, has ended the transaction
		call.err = errors.Join(call.err, err)
		return true
	}
	return false
}

// repeat runs calls again, each in a separate transaction, after another call has broken the one that they shared.
func (g *groupCommit) repeat(calls []*writeCall) {
	for _, call := range calls {
		if err := call.ctx.Err(); err != nil {
			call.answer <- err
			continue
		}
		g.db.work.again.Add(1)
		ctx, cancel := context.WithTimeout(context.Background(), writeLifetime)
		call.answer <- g.db.writeOnce(ctx, call.site, g.db.own, call.fn)
		cancel()
	}
}

// transaction is one that writes. After its end Commit and Rollback do nothing, and return sql.ErrTxDone.
type transaction interface {
	runner
	Commit() error
	Rollback() error
}

// beginWrite uses PostgreSQL's level "read committed". This is enough: a write first locks the rows that it depends on, by
// an UPDATE … RETURNING with a condition or with ForUpdate, and this reads what is committed at that moment. Foreign keys
// and unique indexes guard the rest. A transaction of SQLite is always a snapshot, and its driver knows no levels.
func (db *DB) beginWrite(ctx context.Context, on *postgres.Node) (transaction, error) {
	if err := db.files.Writable(); err != nil {
		return nil, err
	}
	if !db.engine.manyWrites {
		return sqlite.Begin(ctx, db.write, "BEGIN IMMEDIATE")
	}
	sqlTx, err := postgres.Begin(ctx, on.Short)
	if err != nil || db.bounds == "" {
		return sqlTx, err
	}
	if _, err = sqlTx.ExecContext(ctx, db.bounds); err != nil {
		_ = sqlTx.Rollback() // the error of the statement is the one to return
	}
	return sqlTx, err
}

// writeOnce runs fn in a transaction of its own on a node.
func (db *DB) writeOnce(ctx context.Context, site int64, on *postgres.Node, fn func(tx *Tx) error) error {
	sqlTx, err := db.beginWrite(ctx, on)
	if err != nil {
		return err
	}
	if err := runGuarded(fn, db.tx(ctx, site, on, sqlTx)); err != nil {
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
	}()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.finish()
}

// GiveWay is called by a long job, such as an import, before each of its writes. It waits until no other process over the
// same SQLite database writes or wants to, but not for long: a job that requests the lock again immediately would starve them.
func (db *DB) GiveWay(ctx context.Context) error {
	if db.engine.manyWrites {
		return ctx.Err()
	}
	return db.turn.Wait(ctx)
}

// Others reports whether another write is waiting for the current one, in this process or in another one on the same
// SQLite database. On PostgreSQL none does.
func (db *DB) Others() bool {
	g, ok := db.writer.(*groupCommit)
	return ok && (len(g.calls) > 0 || !db.turn.Alone())
}
