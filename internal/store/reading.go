package store

import (
	"context"
	"database/sql"
	"runtime"

	"holdfast/internal/store/postgres"
	"holdfast/internal/store/sqlite"
)

// Deployment is the site of everything that belongs to no site: people, jobs, rates.
const Deployment int64 = 0

// Read runs fn on one snapshot of the database. It is for short look-ups: it times out after five seconds. site is the
// one whose rows fn reads.
func (db *DB) Read(ctx context.Context, site int64, fn func(tx *Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, readLifetime)
	defer cancel()
	return db.outward(db.readOn(ctx, site, shortRead, fn))
}

// Lookup is Read for a few rows that fn finds by their keys. On SQLite, none of its statements is watched for the end of ctx:
// that takes two goroutines for each, which is longer than the look into an index.
func (db *DB) Lookup(ctx context.Context, site int64, fn func(tx *Tx) error) error {
	return db.Read(ctx, site, func(tx *Tx) error {
		if !db.engine.manyWrites {
			tx.ctx = context.WithoutCancel(tx.ctx)
		}
		return fn(tx)
	})
}

// length says over how many rows a read goes, and with it the connections that it uses.
type length bool

const (
	shortRead length = false
	longRead  length = true
)

// readOn runs fn on one snapshot of the node of a site.
func (db *DB) readOn(ctx context.Context, site int64, length length, fn func(tx *Tx) error) error {
	on, sqlTx, end, err := db.beginRead(ctx, site, length)
	if err != nil {
		return err
	}
	defer end()
	err = fn(db.tx(ctx, site, on, sqlTx))
	db.noteFailure(ctx, on, err)
	return err
}

// beginRead begins a reading transaction, on which statements run until it is ended. If the connection turns out to be lost,
// it takes another one. Nothing is written, so rolling back ends the transaction well, and its error says nothing new.
func (db *DB) beginRead(ctx context.Context, site int64, length length) (on *postgres.Node, run runner, end func(), err error) {
	if err := db.files.InPlaceLately(db.now()); err != nil {
		return nil, nil, nil, err
	}
	for range lossAttempts {
		if on, err = db.readsAt(site); err != nil {
			break
		}
		pool := on.Short
		if length == longRead {
			pool = on.Long
		}
		if !db.engine.manyWrites { // SQLite: each transaction is a snapshot
			tx, err := sqlite.Begin(ctx, pool, "BEGIN")
			if err != nil {
				return nil, nil, nil, err
			}
			return on, tx, func() { _ = tx.Rollback() }, nil
		}
		var sqlTx *sql.Tx
		sqlTx, err = pool.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
		if err == nil {
			return on, sqlTx, func() { _ = sqlTx.Rollback() }, nil
		}
		db.noteFailure(ctx, on, err)
		if !db.engine.lost(err) || !db.renewAfter(ctx, on, err) {
			break
		}
	}
	return nil, nil, nil, err
}

// Computing is how many short reads run concurrently if this process computes them, 0 if a server does. Each takes a thread:
// one is left for what arrives, and for the writer.
func (db *DB) Computing() int {
	if db.engine.manyWrites {
		return 0
	}
	return max(2, runtime.GOMAXPROCS(0)-1)
}
