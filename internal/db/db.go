// Package db is the ground that the rooms stand on: transactions on two engines, SQLite inside by default and PostgreSQL
// where one machine is not enough; the queue of the one writer, deferred rows, values of a write, paging, migrations.
// It owns schema_migrations and knows no other table. Begin reading at DB.Write.
//
// The SQL text is the same for both engines; what differs (opening, two DDL tokens, error codes) is in sqlite.go and
// postgres.go. Instants are stored as microseconds since 1970 in GMT, days as days since 1970, money as minor units.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"holdfast/internal/fault"
)

// Errors that a caller decides on.
var (
	// ErrNotFound: the row asked for does not exist in this site.
	ErrNotFound = errors.New("not found")
	// ErrConflict: a uniqueness or reference rule of the schema forbids the write.
	ErrConflict = errors.New("conflict with what is stored")
)

// writeLifetime is how long a write may live before it is rolled back (R0): a report about a moment ten seconds ago
// can then no longer change.
const writeLifetime = 5 * time.Second

// DB is one open database.
type DB struct {
	engine *engine
	clock  func() time.Time
	read   *sql.DB
	write  *sql.DB
	queue  *writeQueue // SQLite only: one writer, whose callers share a commit
	counts *counts
}

// Tx is one transaction. It lives as long as the function it was given to; that function may run more than once, so
// it touches the Tx and its own variables only.
type Tx struct {
	// Now is the one clock reading of the transaction, in GMT and cut to the microseconds that are stored. A room that
	// knows of other clocks sets it at the beginning.
	Now time.Time

	ctx    context.Context // of the transaction: every statement inside ends with it
	engine *engine
	sql    *sql.Tx
	counts *counts

	locals  map[*local]any // see Local
	waiting []*Deferral    // of which something waits
}

// engine is what differs between the two databases.
type engine struct {
	name string
	// ddl gives the text of the DDL tokens of the migrations.
	ddl *strings.Replacer
	// lockSchema takes the lock under which migrations run; it ends with the transaction.
	lockSchema string
	// conflict says that err is a broken uniqueness or reference rule, transient that the same transaction may well
	// succeed when run again, unreachable that the database cannot be talked to at all.
	conflict, transient, unreachable func(err error) bool
}

// Open opens the database at url, sqlite:PATH or postgres://…, without looking at its schema (see Migrate). The clock
// gives the reading of each transaction.
func Open(ctx context.Context, url string, clock func() time.Time) (*DB, error) {
	switch scheme, rest, _ := strings.Cut(url, ":"); scheme {
	case "sqlite":
		return openSQLite(ctx, rest, clock)
	case "postgres", "postgresql":
		return openPostgres(ctx, url, clock)
	default:
		return nil, fmt.Errorf("database %q is neither sqlite:PATH nor postgres://…", scheme)
	}
}

// Close ends the writer, waits for what it has taken on, and closes all connections.
func (db *DB) Close() error {
	if db.queue != nil {
		db.queue.close()
	}
	err := db.read.Close()
	if db.write != db.read {
		err = errors.Join(err, db.write.Close())
	}
	return err
}

// Engine names the engine: "sqlite" or "postgres".
func (db *DB) Engine() string { return db.engine.name }

// Ping answers whether the database can be reached.
func (db *DB) Ping(ctx context.Context) error {
	if err := db.read.PingContext(ctx); err != nil {
		return db.outward(err)
	}
	return nil
}

// Write runs fn in a transaction and answers when it is durable. fn may run more than once.
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) error {
	if db.queue != nil {
		return db.outward(db.queue.do(ctx, fn))
	}
	return db.outward(db.writeWithRetries(ctx, fn))
}

// Read runs fn over one consistent picture of the database.
func (db *DB) Read(ctx context.Context, fn func(tx *Tx) error) error {
	opts := &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
	if db.queue != nil { // A SQLite transaction is a snapshot by nature, and its driver knows no levels.
		opts = &sql.TxOptions{ReadOnly: true}
	}
	sqlTx, err := db.read.BeginTx(ctx, opts)
	if err != nil {
		return db.outward(err)
	}
	err = fn(db.tx(ctx, sqlTx))
	// Nothing was written: rolling back is how a reading transaction ends, and its error says nothing new.
	_ = sqlTx.Rollback()
	return db.outward(err)
}

// tx makes the transaction that a caller's function gets, with its one clock reading.
func (db *DB) tx(ctx context.Context, sqlTx *sql.Tx) *Tx {
	return &Tx{Now: db.now(), ctx: ctx, engine: db.engine, sql: sqlTx, counts: db.counts}
}

func (db *DB) now() time.Time { return db.clock().UTC().Truncate(time.Microsecond) }

// outward turns what the drivers say into what callers decide on. Faults and the caller's own errors pass unchanged.
func (db *DB) outward(err error) error {
	switch {
	case err == nil:
		return nil
	case fault.KindOf(err) != fault.Internal, errors.Is(err, ErrNotFound), errors.Is(err, context.Canceled):
		return err
	case db.engine.conflict(err):
		return fmt.Errorf("%w: %w", ErrConflict, err)
	case db.engine.unreachable(err), db.engine.transient(err), errors.Is(err, context.DeadlineExceeded):
		return &fault.Error{
			Kind:       fault.Unavailable,
			Message:    "The database cannot be reached at the moment.",
			RetryAfter: time.Second,
			Err:        err,
		}
	default:
		return err
	}
}

// Exec runs a statement and returns how many rows it concerned.
func (tx *Tx) Exec(query string, args ...any) (int64, error) {
	if err := tx.flushBefore(query); err != nil {
		return 0, err
	}
	res, err := tx.sql.ExecContext(tx.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Remove deletes one row of a site; ErrNotFound where there is none.
func (tx *Tx) Remove(table string, siteID, id int64) error {
	n, err := tx.Exec(`DELETE FROM `+table+` WHERE site_id = $1 AND id = $2`, siteID, id)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// Row reads one row into dest; ErrNotFound where there is none.
func (tx *Tx) Row(query string, args []any, dest ...any) error {
	return first(tx.Each, query, args, dest)
}

// RowAsIs is row for a statement that concerns no row that waits.
func (tx *Tx) RowAsIs(query string, args []any, dest ...any) error {
	return first(tx.EachAsIs, query, args, dest)
}

func first(
	each func(query string, args []any, scan func(scan func(dest ...any) error) error) error,
	query string, args, dest []any,
) error {
	found := false
	err := each(query, args, func(scan func(dest ...any) error) error {
		if found { // only the first row is asked for
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

// Each calls scan for every row of the answer.
func (tx *Tx) Each(query string, args []any, scan func(scan func(dest ...any) error) error) error {
	if err := tx.flushBefore(query); err != nil {
		return err
	}
	return tx.EachAsIs(query, args, scan)
}

// EachAsIs is each for a statement that concerns no row that waits, whatever tables it names.
func (tx *Tx) EachAsIs(query string, args []any, scan func(scan func(dest ...any) error) error) error {
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

// Ids reads a column of whole numbers.
func Ids(tx *Tx, query string, args ...any) ([]int64, error) {
	var list []int64
	err := tx.Each(query, args, func(scan func(dest ...any) error) error {
		var id int64
		err := scan(&id)
		list = append(list, id)
		return err
	})
	return list, err
}
