package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"holdfast/internal/store/postgres"
)

// Tx is one transaction. It ends with the function that it is given to. That function may run more than once, so it
// changes nothing but the Tx and its own variables.
type Tx struct {
	// Now is the one clock reading of the transaction, in GMT, cut to the microseconds that are stored, by Clock.
	Now   time.Time
	Clock Clock
	// Site is the site whose rows the transaction reads or writes, or Deployment.
	Site int64

	ctx     context.Context // of the transaction: every statement in it ends when this ends
	db      *DB
	on      *postgres.Node // where it runs
	sql     runner
	reading        // of a transaction that only reads
	held    held   // rows that are not written yet
	locals  locals // see Local
	notify  []int64
}

// Clock is a clock that goes ahead of the real one: that of a sandbox (R0). The zero value is the real clock.
type Clock struct {
	SiteID int64
	Ahead  time.Duration
}

// reading is the state of a read-only transaction.
type reading struct {
	copied bool          // it reads a copy: see Replica
	late   time.Duration // how much earlier Now is on the copy
}

// runner runs statements: a transaction, or a connection.
type runner interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// tx makes the transaction that a caller's function gets, and reads the clock for it.
func (db *DB) tx(ctx context.Context, site int64, on *postgres.Node, sql runner) *Tx {
	return &Tx{Now: db.now(), Site: site, ctx: ctx, db: db, on: on, sql: sql}
}

// Exec runs a statement and returns how many rows it changed.
func (tx *Tx) Exec(query string, args ...any) (int64, error) {
	if err := tx.flush(); err != nil {
		return 0, err
	}
	return tx.exec(query, args)
}

// exec is Exec, but leaves held rows alone.
func (tx *Tx) exec(query string, args []any) (int64, error) {
	tx.db.show(query, args)
	res, err := tx.sql.ExecContext(tx.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// QueryRow reads the first row of the answer into dest, or returns ErrNotFound.
func (tx *Tx) QueryRow(query string, args []any, dest ...any) error {
	found := false
	err := tx.Query(query, args, func(scan func(dest ...any) error) error {
		if found { // the other rows are passed over
			return nil
		}
		found = true
		return scan(dest...)
	})
	if err == nil && !found {
		return ErrNotFound
	}
	return err
}

// Query calls scan for every row of the answer. scan gets a function that reads the columns, like sql.Rows.Scan.
func (tx *Tx) Query(query string, args []any, scan func(scan func(dest ...any) error) error) error {
	if err := tx.flush(); err != nil {
		return err
	}
	return tx.each(query, args, scan)
}

// each is Query, but leaves held rows alone.
func (tx *Tx) each(query string, args []any, scan func(scan func(dest ...any) error) error) error {
	tx.db.show(query, args)
	rows, err := tx.sql.QueryContext(tx.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// NotifySite notifies the listeners of a site once this write is durable. After a savepoint was rolled back, they may be notified
// although nothing has happened.
func (tx *Tx) NotifySite(siteID int64) {
	if !slices.Contains(tx.notify, siteID) {
		tx.notify = append(tx.notify, siteID)
	}
}

// Lock takes the lock with this name until the end of the transaction. It never waits: free is false if another
// transaction holds it. On SQLite every lock is free, because there is one writer.
func (tx *Tx) Lock(name string) (free bool, err error) {
	if tx.db.engine.tryLock == "" {
		return true, nil
	}
	err = tx.QueryRow(tx.db.engine.tryLock, []any{name}, &free)
	return free, err
}

// ForUpdate follows a SELECT whose rows the write locks.
func (tx *Tx) ForUpdate() string { return tx.db.engine.rowLock }

// Savepoint runs fn inside the transaction. If fn returns an error, its changes are rolled back, the error is returned,
// and the transaction can continue. A violated constraint is an ErrConflict.
func (tx *Tx) Savepoint(fn func() error) error {
	// Earlier writes must not be rolled back with fn, but the writes of fn must.
	if err := tx.finish(); err != nil {
		return err
	}
	if _, err := tx.Exec("SAVEPOINT part"); err != nil {
		return err
	}
	err := fn()
	if err == nil {
		err = tx.finish()
	}
	if err == nil {
		_, err = tx.Exec("RELEASE SAVEPOINT part")
		return err
	}
	tx.held.drop()
	tx.locals = nil
	if tx.db.engine.conflict(err) {
		err = fmt.Errorf("%w: %w", ErrConflict, err)
	}
	for _, text := range []string{"ROLLBACK TO SAVEPOINT part", "RELEASE SAVEPOINT part"} {
		if _, failed := tx.Exec(text); failed != nil {
			return fmt.Errorf("%w, and rolling it back: %w", err, failed)
		}
	}
	return err
}

// finish writes the held rows, and makes sure that no package forgot to store a change.
func (tx *Tx) finish() error {
	if err := tx.locals.allStored(); err != nil {
		return err
	}
	return tx.flush()
}
