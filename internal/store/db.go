// Package store provides transactions on two engines: embedded SQLite, which is the default, and PostgreSQL where one
// machine is not enough. It also provides group commit for SQLite's single writer, deferred inserts, values that a
// transaction remembers, a cache of SQLite's statements, pages of lists, and migrations. It owns schema_migrations and
// knows no other table. Start at DB.Write.
//
// The SQL text is the same for both engines. The differences (opening, a few DDL tokens, error codes) are in sqlite.go
// and postgres.go. Instants are stored as microseconds since 1970 in GMT, days as days since 1970, money as minor
// units.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

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
	// ErrGone: there was a database, but its file is missing.
	ErrGone = sqlite.ErrGone
	// ErrConflict: the write breaks a uniqueness or reference rule of the schema.
	ErrConflict = errors.New("conflict with stored data")
)

// writeLifetime is how long a write may last before it is rolled back (R0). Because of it, a report about a moment ten
// seconds ago can no longer change.
const writeLifetime = 5 * time.Second

// FinalAfter is the time after which a write is surely over. All rows that were recorded longer ago can be seen (R0).
const FinalAfter = 2 * writeLifetime

// readLifetime is the timeout of a Read, also if the database does not respond.
const readLifetime = 5 * time.Second

// DB is one open database.
type DB struct {
	engine  *engine
	clock   func() time.Time
	own     *postgres.Node    // the server of the URL, or the connections that read a SQLite file
	cluster *postgres.Cluster // nil unless sites can be on other nodes
	long    *longReads        // reads that go through many rows
	replica *follower         // nil without one
	write   *sql.DB           // of the server of the URL, or of the SQLite file
	writer  writer
	turn    sqlite.Turn                                    // among the processes that write; SQLite only
	files   *sqlite.Files                                  // SQLite only
	log     *sqlite.Log                                    // SQLite only
	bounds  string                                         // a statement that each write begins with, where connections keep no settings
	watcher atomic.Pointer[func(query string, args []any)] // see Watch

	Listeners // hear of what this process stores: see Tx.NotifySite

	trouble trouble // why writes are not possible
	work    work
}

// engine is what differs between the two databases.
type engine struct {
	name string
	// serial: commits happen one after the other, in the order of the ids. If a row is visible, so are all rows with lower ids.
	serial bool
	// ddl replaces the tokens of the migrations, such as {{serial}}.
	ddl *strings.Replacer
	// hasSchema says whether the table of migrations is there.
	hasSchema string
	// lockSchema takes the lock under which migrations run; it ends with the transaction.
	lockSchema string
	// rowsAtOnce: so many rows are in one statement at most.
	rowsAtOnce int
	// manyWrites: other writes run concurrently, in their own transactions.
	manyWrites bool
	// tryLock takes the lock of the name $1 until the end of the transaction, or says that another one has it; "" where
	// there is one writer.
	tryLock string
	// rowLock follows a SELECT that locks its rows as an UPDATE does; "" with a single writer.
	rowLock string
	// conflict: a uniqueness or reference rule is broken. transient: the same transaction may succeed when it is run
	// again. unreachable: the database does not answer, or cannot read or write its files.
	conflict, transient, unreachable func(err error) bool
	// sumTooLarge: a sum in SQL does not fit in 64 bits.
	sumTooLarge func(err error) bool
	// lost: the connection is no longer usable. stuck: no write can succeed until someone has fixed the disk or the
	// server. notCommitted: this error of a COMMIT says for certain that nothing is stored.
	lost, stuck, notCommitted func(err error) bool

	// afterwards runs after the migrations, in their transaction: it gives SQLite the statistics that it plans with, and distributes new
	// tables over the nodes of a cluster.
	afterwards func(ctx context.Context, tx *sql.Tx) (changed bool, err error)

	// columns lists table, column, type, place in the primary key (from 1), and whether the database counts it up;
	// parents lists which table refers to which.
	columns, parents string
	// byBytes follows a text column, to sort it by its bytes.
	byBytes string
	// sorted precedes a column by which rows are sorted after they were found; "" where the database knows best.
	sorted string
	// unbounded takes away all bounds on how long the statements of a transaction may take.
	unbounded string
	// size gives the bytes of the database.
	size string
	// largeCache has the writer keep more pages in memory; "" where a connection has no pages of its own.
	largeCache string
	// scanOnly counts the rows of a table, with an optional statement before and after it, and reads no index.
	scanOnly func(table string) []string
	// counted returns the last id used of table $1, column $2; setCounter continues after $3.
	counted    string
	setCounter []string
	// nextIDs draws $2 ids of table $1; where there is one writer, it gives the last id that was given out.
	nextIDs string
	// nextOfSite adds $2 to the counter of site $1 and returns it: in a cluster.
	nextOfSite string
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
	if err := db.own.Short.QueryRowContext(ctx, db.engine.hasSchema).Scan(&made); err != nil {
		return nil, errors.Join(db.outward(err), db.Close())
	}
	if !made {
		return nil, errors.Join(ErrNoDatabase, db.Close())
	}
	return db, nil
}

// BeginAnew allows Open to create a new SQLite database at url if the old one is missing (ErrGone). It changes nothing if the
// database is there.
func BeginAnew(url string) error {
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		return sqlite.ForgetFile(path)
	}
	return nil
}

// Close stops the writer, waits for the writes that it has taken, and closes all connections.
func (db *DB) Close() error {
	if db.writer != nil {
		db.writer.close()
	}
	err := db.log.Close()
	if db.cluster != nil {
		err = errors.Join(err, db.cluster.Close())
	}
	err = errors.Join(err, db.own.Close())
	if db.replica != nil {
		err = errors.Join(err, db.replica.Copy.Close())
	}
	if db.write != db.own.Short {
		err = errors.Join(err, db.write.Close())
	}
	return err
}

// Engine names the engine: "sqlite" or "postgres".
func (db *DB) Engine() string { return db.engine.name }

// Watch shows each statement that runs from now on, before it runs, with its arguments; those of migrations are not shown.
// see is called concurrently, and must copy any args that it keeps. nil ends it.
func (db *DB) Watch(see func(query string, args []any)) {
	if see == nil {
		db.watcher.Store(nil)
		return
	}
	db.watcher.Store(&see)
}

// Write runs fn in a transaction and returns when its changes are durable. site is the one whose rows fn writes. fn may
// run more than once. An error of fn undoes all changes and is returned. A write ends after at most five seconds, in
// every case. A fault of the kind Unavailable means that nothing is stored, unless its reason is OutcomeUnknown.
func (db *DB) Write(ctx context.Context, site int64, fn func(tx *Tx) error) error {
	return db.writeAs(ctx, site, false, fn)
}

// WriteLong is Write for what changes hundreds of rows, such as a piece of an import. On SQLite it shares its commit with
// no other write.
func (db *DB) WriteLong(ctx context.Context, site int64, fn func(tx *Tx) error) error {
	return db.writeAs(ctx, site, true, fn)
}

func (db *DB) writeAs(ctx context.Context, site int64, long bool, fn func(tx *Tx) error) error {
	var last *Tx // of the run that was stored
	err := db.writer.write(ctx, site, long, func(tx *Tx) error {
		last = tx
		return fn(tx)
	})
	if err == nil {
		db.NotifySites(last.notify...)
	}
	db.trouble.note(db, err)
	return db.outward(err)
}

func (db *DB) now() time.Time { return db.clock().UTC().Truncate(time.Microsecond) }

// show counts a statement and notifies the observer.
func (db *DB) show(query string, args []any) {
	db.work.statements.Add(1)
	if see := db.watcher.Load(); see != nil {
		(*see)(query, args)
	}
}

// sortsFound precedes a column by which the rows that a condition finds are sorted after they were found.
func sortsFound(tx *Tx) string { return tx.db.engine.sorted }
