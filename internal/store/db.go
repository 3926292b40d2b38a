// Package db gives the rooms transactions on two engines: SQLite inside the program, which is the default, and
// PostgreSQL where one machine is not enough. It also has the group commit of SQLite's one writer, deferred inserts,
// values that a transaction remembers, a cache of SQLite's statements, pages of lists, and migrations. It owns
// schema_migrations and knows no other table. Begin reading at DB.Write.
//
// The SQL text is the same for both engines. The differences (opening, three DDL tokens, error codes) are in sqlite.go
// and postgres.go. Instants are stored as microseconds since 1970 in GMT, days as days since 1970, money as minor
// units.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"holdfast/internal/store/beside"
	"holdfast/internal/store/catalog"
	"holdfast/internal/store/postgres"
	"holdfast/internal/store/sqlite"
)

// Errors that callers look for.
var (
	// ErrNotFound: the site has no such row.
	ErrNotFound = errors.New("not found")
	// ErrNoDatabase: at the address there is no database of this program.
	ErrNoDatabase = errors.New("there is no database")
	// ErrGone: there was a database, and its file has gone.
	ErrGone = sqlite.ErrGone
	// ErrConflict: the write breaks a uniqueness or reference rule of the schema.
	ErrConflict = errors.New("conflict with what is stored")
)

// writeLifetime is how long a write may last before it is rolled back (R0). Because of it, a report about a moment ten
// seconds ago can no longer change.
const writeLifetime = 5 * time.Second

// FinalAfter is the time after which a write is surely over. All rows that were recorded longer ago can be seen (R0).
const FinalAfter = 2 * writeLifetime

// readLifetime is how long a Read may last: nobody waits longer for a database that does not answer.
const readLifetime = 5 * time.Second

// DB is one open database.
type DB struct {
	engine  *engine
	clock   func() time.Time
	read    *sql.DB
	long    *longReads // reads that go through many rows
	replica *follower  // nil without one
	write   *sql.DB
	queue   *writeQueue                                    // of writes that share commits: on SQLite all, on PostgreSQL the short ones
	files   *sqlite.Files                                  // SQLite only
	log     *sqlite.Log                                    // SQLite only
	bounds  string                                         // a statement that each write begins with, where connections keep no settings
	watcher atomic.Pointer[func(query string, args []any)] // see Watch

	Listeners // hear of what this process stores: see Tx.Tell

	renewed atomic.Int64 // when the idle connections were closed last, in nanoseconds of the clock
	trouble trouble      // what stands in the way of writes
	work    work
}

// Tx is one transaction. It ends with the function that it is given to. That function may run more than once, so it
// changes nothing but the Tx and its own variables.
type Tx struct {
	// Now is the one clock reading of the transaction, in GMT, cut to the microseconds that are stored. A room that
	// has another clock (core, for sandboxes) sets it at the beginning.
	Now time.Time

	ctx    context.Context // of the transaction: every statement in it ends when this ends
	engine *engine
	sql    runner
	see    func(query string, args []any) // see Watch; nil for nobody
	work   *work
	copied bool          // it reads a copy: see Replica
	late   time.Duration // how much earlier Now is on the copy

	// What a write needs that shares its transaction with others and nothing stands between them (see batch.join).
	shared   *sharedRows // of the batch
	sharedAt int         // the place of the table whose rows the write added last, from 1
	ending   bool        // its function is done
	changed  bool        // it has sent a statement that may change something, or one that failed

	// bulk inserts many rows faster than a statement; nil where there is no such way. See Put.
	bulk func(t catalog.Table, rows [][]any) error

	locals  locals      // see Local
	waiting []*Deferral // those that have rows to write
	// parentsBelow is the place of the parent deferral whose rows are being written, 0 for none: those behind it wait.
	parentsBelow int
	ids          drawnIDs // see NewIDs
	expected     int64    // see Expect
	lone         bool     // see InsertsNow
	told         []int64  // sites: see Tell

	gather   bool                 // statements of rows are gathered, and run together
	gathered []postgres.Statement // those that do not run yet
	beside   beside.Line          // in which they run
}

// engine is what differs between the two databases.
type engine struct {
	name string
	// serial: commits come one after the other, in the order of the ids. Whoever sees a row sees all with lower ids.
	serial bool
	// ddl replaces the tokens of the migrations, such as {{serial}}.
	ddl *strings.Replacer
	// alter carries out a statement of a migration.
	alter func(ctx context.Context, tx *sql.Tx, statement string) error
	// hasSchema says whether the table of migrations is there.
	hasSchema string
	// lockSchema takes the lock under which migrations run; it ends with the transaction.
	lockSchema string
	// writers: transactions of several writes at once; batchTime: how long each takes up writes; rowsAtOnce: of a statement
	writers, rowsAtOnce int
	batchTime           time.Duration
	// manyWrites: other writes go on meanwhile, in transactions of their own. beginBatch begins such a shared transaction.
	manyWrites bool
	beginBatch string
	// alone takes the lock of the name $1 until the end of the transaction, or says that another one has it; "" where
	// there is one writer.
	alone string
	// rowLock stands behind a SELECT that locks its rows as an UPDATE does; "" where there is one writer.
	rowLock string
	// conflict: a uniqueness or reference rule is broken. transient: the same transaction may succeed when it is run
	// again. unreachable: the database does not answer, or cannot read or write its files.
	conflict, transient, unreachable func(err error) bool
	// locked: a lock did not come in time.
	locked func(err error) bool
	// lost: the connection is of no use any more. stuck: no write can succeed until somebody has mended the disk or the
	// server. notCommitted: this error of a COMMIT says for certain that nothing is stored.
	lost, stuck, notCommitted func(err error) bool

	// tell says for how many rows the database plans, or changes nothing; nil where the database counts them itself.
	tell func(ctx context.Context, tx *sql.Tx) (changed bool, err error)

	// columns lists table, column, type, place in the primary key (from 1), and whether the database counts it up;
	// parents lists which table refers to which.
	columns, parents string
	// byBytes stands behind a column of text, to order it by its bytes.
	byBytes string
	// sorted stands before a column by which rows are sorted after they were found; "" where the database sees best when to.
	sorted string
	// unbounded takes away all bounds on how long the statements of a transaction may take.
	unbounded string
	// size gives the bytes of the database.
	size string
	// largeCache has the writer keep more pages in memory; "" where a connection has no pages of its own.
	largeCache string
	// scanOnly counts the rows of a table, with an optional statement before and after it, and reads no index.
	scanOnly func(table string) []string
	// counted gives the last id given out of table $1, column $2; setCounter goes on after $3.
	counted    string
	setCounter []string
	// draw is a SELECT that draws {{n}} ids of {{table}}, or gives the last one where there is one writer. Its first column is {{at}}.
	draw string
	// bulk inserts rows in the transaction that is open on a connection; nil: there is no faster way than statements.
	bulk func(ctx context.Context, conn *sql.Conn, t catalog.Table, rows [][]any) error
}

// Open opens the database at url, sqlite:PATH or postgres://…, and does not look at its schema (see Migrate). A SQLite
// database that does not exist is made; the error is ErrGone if it did exist. Each transaction reads the clock once.
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

// OpenExisting is Open for a database that was made before. It makes nothing: where there is none, the error is
// ErrNoDatabase, or ErrGone.
func OpenExisting(ctx context.Context, url string, clock func() time.Time) (*DB, error) {
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok && path != "" {
		if sqlite.NeverExisted(path) {
			return nil, ErrNoDatabase
		}
	}
	db, err := Open(ctx, url, clock)
	if err != nil {
		return nil, err
	}
	var made bool
	if err := db.read.QueryRowContext(ctx, db.engine.hasSchema).Scan(&made); err != nil {
		return nil, errors.Join(db.outward(err), db.Close())
	}
	if !made {
		return nil, errors.Join(ErrNoDatabase, db.Close())
	}
	return db, nil
}

// BeginAnew allows Open to make a new SQLite database at url where one has gone (ErrGone). It changes nothing where the
// database is there.
func BeginAnew(url string) error {
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		return sqlite.ForgetFile(path)
	}
	return nil
}

// Close stops the writer, waits for the writes that it has taken, and closes all connections.
func (db *DB) Close() error {
	if db.queue != nil {
		db.queue.close()
	}
	err := errors.Join(db.log.Close(), db.read.Close(), db.long.pool.Close())
	if db.replica != nil {
		err = errors.Join(err, db.replica.Copy.Close())
	}
	if db.write != db.read {
		err = errors.Join(err, db.write.Close())
	}
	return err
}

// Engine names the engine: "sqlite" or "postgres".
func (db *DB) Engine() string { return db.engine.name }

// Size is how many bytes the database has.
func (tx *Tx) Size() (bytes int64, err error) {
	err = tx.Row(tx.engine.size, nil, &bytes)
	return bytes, err
}

// Watch shows each statement that runs from now on, before it runs, with its arguments; those of migrations are not shown.
// see is called by several goroutines at once, and copies what it keeps of args. nil ends it.
func (db *DB) Watch(see func(query string, args []any)) {
	if see == nil {
		db.watcher.Store(nil)
		return
	}
	db.watcher.Store(&see)
}

// Write runs fn in a transaction and returns when its changes are durable. fn may run more than once. An error of fn
// undoes all changes and is returned. A write is over after five seconds, whatever happens to it. A fault of the kind
// Unavailable says that nothing is stored, unless its reason is OutcomeUnknown.
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) error {
	return db.writeAs(ctx, false, fn)
}

// WriteShort is Write for what takes a few milliseconds, such as a request, and mostly succeeds. Several such writes that
// come at once share one transaction, on PostgreSQL, too. Each is stored, or is not, as if it were alone.
func (db *DB) WriteShort(ctx context.Context, fn func(tx *Tx) error) error {
	return db.writeAs(ctx, true, fn)
}

func (db *DB) writeAs(ctx context.Context, short bool, fn func(tx *Tx) error) error {
	var last *Tx // of the run that was stored
	err := db.attempt(ctx, short, func(tx *Tx) error {
		last = tx
		return fn(tx)
	})
	if err == nil {
		db.Tell(last.told...)
	}
	db.trouble.note(db, err)
	return db.outward(err)
}

func (db *DB) attempt(ctx context.Context, short bool, fn func(tx *Tx) error) error {
	if short || !db.engine.manyWrites {
		return db.queue.do(ctx, short, fn)
	}
	return db.writeAlone(ctx, fn)
}

// tx makes the transaction that a caller's function gets, and reads the clock for it.
func (db *DB) tx(ctx context.Context, on runner) *Tx {
	tx := &Tx{Now: db.now(), ctx: ctx, engine: db.engine, sql: on, work: &db.work}
	if see := db.watcher.Load(); see != nil {
		tx.see = *see
	}
	return tx
}

func (db *DB) now() time.Time { return db.clock().UTC().Truncate(time.Microsecond) }

// show tells who watches of a statement.
func (tx *Tx) show(query string, args []any) {
	tx.work.statements.Add(1)
	if tx.see != nil {
		tx.see(query, args)
	}
}

// Tell tells the listeners of a site that something has happened there, once this write is durable. If a savepoint is taken
// back, they may be told of nothing.
func (tx *Tx) Tell(siteID int64) {
	if !slices.Contains(tx.told, siteID) {
		tx.told = append(tx.told, siteID)
	}
}

// Exec runs a statement and returns how many rows it changed.
func (tx *Tx) Exec(query string, args ...any) (int64, error) {
	if err := tx.flushBefore(query); err != nil {
		return 0, err
	}
	if err := tx.settle(); err != nil {
		return 0, err
	}
	tx.changed = true
	tx.show(query, args)
	res, err := tx.sql.ExecContext(tx.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Remove deletes one row of a site, or returns ErrNotFound.
func (tx *Tx) Remove(table string, siteID, id int64) error {
	n, err := tx.Exec(`DELETE FROM `+table+` WHERE site_id = $1 AND id = $2`, siteID, id)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// Row reads the first row of the answer into dest, or returns ErrNotFound.
func (tx *Tx) Row(query string, args []any, dest ...any) error {
	return first(tx.Each, query, args, dest)
}

// RowAsIs is Row, but it does not write deferred rows first. The caller knows that the statement needs none of them.
func (tx *Tx) RowAsIs(query string, args []any, dest ...any) error {
	return first(tx.eachAsIs, query, args, dest)
}

func first(
	each func(query string, args []any, scan func(scan func(dest ...any) error) error) error,
	query string, args, dest []any,
) error {
	found := false
	err := each(query, args, func(scan func(dest ...any) error) error {
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

// RowLock stands behind a SELECT whose rows the write locks.
func RowLock(tx *Tx) string { return tx.engine.rowLock }

// SortsFound stands before a column by which the rows that a condition finds are sorted after they were found.
func SortsFound(tx *Tx) string { return tx.engine.sorted }

// Each calls scan for every row of the answer. scan gets a function that reads the columns, like sql.Rows.Scan.
func (tx *Tx) Each(query string, args []any, scan func(scan func(dest ...any) error) error) error {
	if err := tx.flushBefore(query); err != nil {
		return err
	}
	return tx.eachAsIs(query, args, scan)
}

// eachAsIs is Each, but it does not write deferred rows first.
func (tx *Tx) eachAsIs(query string, args []any, scan func(scan func(dest ...any) error) error) error {
	if err := tx.settle(); err != nil {
		return err
	}
	tx.show(query, args)
	tx.changed = tx.changed || changes(query)
	rows, err := tx.sql.QueryContext(tx.ctx, query, args...)
	if err != nil {
		tx.changed = true
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows.Scan); err != nil {
			return err
		}
	}
	if err = rows.Err(); err != nil {
		tx.changed = true
	}
	return err
}
