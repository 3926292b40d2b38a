package db

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"holdfast/internal/sqlitetx"
)

// Read runs fn on one consistent snapshot of the database. When fn calls Tx.Long, it runs again, in the lane of long reads.
func (db *DB) Read(ctx context.Context, fn func(tx *Tx) error) error { return db.ReadFor(ctx, "", fn) }

// ReadFor is Read for a caller, by a name that tells callers apart. The lane of long reads bounds what one of them has in it;
// "" is the program itself, and not bounded.
func (db *DB) ReadFor(ctx context.Context, caller string, fn func(tx *Tx) error) error {
	return db.readAs(ctx, caller, false, fn)
}

// ReadReportFor is ReadFor for a report that says up to when it knows all. If it is long, it is read from the copy of the
// database that follows it, where there is one that is near enough; the Now of the transaction is then a little earlier.
func (db *DB) ReadReportFor(ctx context.Context, caller string, fn func(tx *Tx) error) error {
	return db.readAs(ctx, caller, true, fn)
}

// Computing is how many short reads run at once where this process computes them, 0 where another one does. Each takes a thread: one is
// left for what arrives, and for the writer.
func (db *DB) Computing() int {
	if db.engine.manyWrites {
		return 0
	}
	return max(2, runtime.GOMAXPROCS(0)-1)
}

func (db *DB) readAs(ctx context.Context, caller string, report bool, fn func(tx *Tx) error) error {
	err := db.readOn(ctx, db.read, true, fn)
	if errors.Is(err, errLong) {
		err = db.readLong(ctx, caller, report, fn)
	}
	return db.outward(err)
}

func (db *DB) readOn(ctx context.Context, pool *sql.DB, quick bool, fn func(tx *Tx) error) error {
	if quick {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, readLifetime)
		defer cancel()
	}
	on, end, err := db.beginRead(ctx, pool)
	if err != nil {
		return err
	}
	defer end()
	tx := db.tx(ctx, on)
	tx.quick, tx.reads = quick, true
	return fn(tx)
}

// errOneStatement: a function that was given to ReadOne wants more.
var errOneStatement = errors.New("a read of one statement runs another one")

// ReadOne is Read for a function that mostly runs one statement: a query that finds what it needs by keys. That sees one state of the
// database by itself, so nothing begins and ends a transaction around it. A function that wants more runs again, in a transaction.
func (db *DB) ReadOne(ctx context.Context, fn func(tx *Tx) error) error {
	if db.engine.manyWrites {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, readLifetime)
		defer cancel()
	}
	if err := db.files.InPlaceLately(db.now()); err != nil {
		return db.outward(err)
	}
	var err error
	for range lossAttempts {
		if err = db.readOneOn(ctx, fn); err == nil || !db.engine.lost(err) || !db.renewAfter(ctx, err) {
			break
		}
	}
	if errors.Is(err, errOneStatement) {
		return db.readAs(ctx, "", false, fn)
	}
	return db.outward(err)
}

func (db *DB) readOneOn(ctx context.Context, fn func(tx *Tx) error) error {
	wait := ctx
	if !db.engine.manyWrites {
		if err := ctx.Err(); err != nil {
			return err
		}
		// To watch whether the context ends takes two goroutines for each statement, which is longer than SQLite looks into an index.
		wait, ctx = db.patience.context(), context.WithoutCancel(ctx)
	}
	conn, err := db.read.Conn(wait)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // it goes back to the pool
	tx := db.tx(ctx, conn)
	tx.one = true
	return fn(tx)
}

// runner runs statements: a transaction, or a connection.
type runner interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// query starts a query.
func (tx *Tx) query(query string, args []any) (*sql.Rows, error) {
	on := tx.sql
	if on == nil {
		return nil, errOneStatement
	}
	if tx.one {
		tx.sql = nil
	}
	return on.QueryContext(tx.ctx, query, args...)
}

// beginRead begins a reading transaction, on which statements run until it is ended. Where the connection turns out to be lost, it takes
// another one. Nothing is written, so rolling back ends the transaction well, and its error says nothing new.
func (db *DB) beginRead(ctx context.Context, pool *sql.DB) (on runner, end func(), err error) {
	if err := db.files.InPlaceLately(db.now()); err != nil {
		return nil, nil, err
	}
	if !db.engine.manyWrites { // where each transaction is a snapshot
		tx, err := sqlitetx.Begin(ctx, pool, "BEGIN")
		if err != nil {
			return nil, nil, err
		}
		return tx, func() { _ = tx.Rollback() }, nil
	}
	for range lossAttempts {
		var sqlTx *sql.Tx
		sqlTx, err = pool.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
		if err == nil {
			return sqlTx, func() { _ = sqlTx.Rollback() }, nil
		}
		if !db.engine.lost(err) || !db.renewAfter(ctx, err) {
			break
		}
	}
	return nil, nil, err
}

// RowByKey is Row for a query that finds what it reads by keys. To see whether the context ends takes SQLite's driver a goroutine, which is
// longer than a look into an index.
func RowByKey(tx *Tx, query string, args []any, dest ...any) error {
	ctx := tx.ctx
	if !tx.engine.manyWrites {
		tx.ctx = context.WithoutCancel(ctx)
		defer func() { tx.ctx = ctx }()
	}
	return tx.Row(query, args, dest...)
}

// patience is how long short reads of SQLite wait for a connection. Those that begin within a second share it: a deadline for each takes a
// timer and a tenth of the memory of a read.
type patience struct{ now atomic.Pointer[shared] }

type shared struct {
	context.Context
	old atomic.Bool // it is more than a second old
}

// context ends readLifetime from now, or up to a second later.
func (p *patience) context() context.Context {
	if now := p.now.Load(); now != nil && !now.old.Load() {
		return now
	}
	ctx, cancel := context.WithTimeout(context.Background(), readLifetime+time.Second)
	time.AfterFunc(2*readLifetime, cancel) // it has ended before, by its time, and says so
	next := &shared{Context: ctx}
	time.AfterFunc(time.Second, func() { next.old.Store(true) })
	p.now.Store(next)
	return next
}
