package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/store/postgres"
	"holdfast/internal/store/sqlite"
	"holdfast/internal/store/sqltext"

	sqlite3 "modernc.org/sqlite/lib"
)

var sqliteEngine = &engine{
	name:   "sqlite",
	serial: true,
	ddl: strings.NewReplacer(
		// AUTOINCREMENT: an id is never reused, even after its row has been deleted.
		"{{serial}}", "INTEGER PRIMARY KEY AUTOINCREMENT",
		"{{key}}", "UNIQUE",
		"{{bytes}}", "BLOB",
		"{{bytewise}}", "",
		"{{postgres}}", "-- ",
	),
	hasSchema:  "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations')",
	lockSchema: "SELECT 1", // BEGIN IMMEDIATE already holds the only write lock
	conflict: func(err error) bool {
		return sqlite.Code(err) == sqlite3.SQLITE_CONSTRAINT
	},
	transient: func(err error) bool {
		c := sqlite.Code(err)
		return c == sqlite3.SQLITE_BUSY || c == sqlite3.SQLITE_LOCKED
	},
	unreachable: func(err error) bool {
		c := sqlite.Code(err)
		return c == sqlite3.SQLITE_CANTOPEN || stuckSQLite(err)
	},
	sumTooLarge: func(err error) bool {
		return sqlite.Code(err) == sqlite3.SQLITE_ERROR && strings.Contains(err.Error(), "integer overflow")
	},
	lost:  func(error) bool { return false },
	stuck: stuckSQLite,
	// It caches each parsed statement, in twenty times the length of its text, and needs no round trip for another one.
	rowsAtOnce: sqltext.MostRows / 2,
	// After a disk error, the end of the write-ahead log may or may not contain the commit: the next reader decides.
	notCommitted: func(err error) bool { return sqlite.Code(err) != sqlite3.SQLITE_IOERR },
	afterwards:   sqlite.PlanForLargeBooks,
	// Only {{serial}} has the type INTEGER. Virtual tables, which have no root page, are skipped: reading their columns fails without
	// their module.
	columns: `SELECT m.name, c.name, upper(c.type), c.pk, c.pk = 1 AND upper(c.type) = 'INTEGER'
		FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.rootpage > 0 AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY m.name, c.cid`,
	parents:    `SELECT m.name, f."table" FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`,
	sorted:     "+",
	unbounded:  "SELECT 1", // it has none
	size:       `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`,
	largeCache: fmt.Sprintf("PRAGMA cache_size(-%d)", longWritesCache),
	scanOnly:   func(table string) []string { return []string{"SELECT COUNT(*) FROM " + table + " NOT INDEXED"} },
	counted:    "SELECT seq FROM sqlite_sequence WHERE name = $1 AND $2 <> ''",
	nextIDs:    "SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = $1",
	// SQLite's own table has no key that would find the row.
	setCounter: []string{
		"DELETE FROM sqlite_sequence WHERE name = $1 AND $2 <> '' AND $3 > 0",
		"INSERT INTO sqlite_sequence (name, seq) SELECT $1, $3 WHERE $2 <> ''",
	},
}

// stuckSQLite: the disk is full or broken, or the file can only be read.
func stuckSQLite(err error) bool {
	c := sqlite.Code(err)
	return c == sqlite3.SQLITE_FULL || c == sqlite3.SQLITE_IOERR || c == sqlite3.SQLITE_READONLY
}

// The page caches of a connection, in KiB. The system keeps the file in memory, too, so a page that a connection lacks costs a copy. The
// upper pages of all indexes, which everything goes through, fit in 2 MiB, and after every write a reader starts with an empty cache. A
// writer also holds the changes of a transaction, and creates most of its pages itself: larger caches were not faster.
const (
	readerCache     = 2 << 10
	longCache       = 2 << 10
	writerCache     = 4 << 10
	checkpointCache = 64
	// A long write changes more than writerCache holds, and what does not fit is written to the log before its commit, some of it several times.
	longWritesCache = 16 << 10
)

// pageBytes is the page size of a new file; an existing file keeps its size. SQLite's default of 4,096 bytes makes the
// log longer: a booking changes a page in each of its indexes, and pages are logged as a whole (decision 23).
const pageBytes = 2048

// openSQLite opens the file at path. If it or its folder is missing, it makes them, for their owner alone to read.
func openSQLite(ctx context.Context, path string, clock func() time.Time) (*DB, error) {
	if path == "" || strings.HasPrefix(path, ":memory:") {
		return nil, errors.New("a SQLite database is a file: write sqlite:PATH")
	}
	if err := sqlite.MakeFile(path); err != nil {
		return nil, err
	}
	writer, err := sqlite.NewConnector(sqliteName(path, "_txlock=immediate", writerCache))
	reader, second := sqlite.NewConnector(sqliteName(path, "_query_only=1", readerCache))
	long, third := sqlite.NewConnector(sqliteName(path, "_query_only=1", longCache))
	checkpoints, fourth := sqlite.NewConnector(sqliteName(path, "", checkpointCache))
	if err := errors.Join(err, second, third, fourth); err != nil {
		return nil, err
	}
	write := sql.OpenDB(writer)
	write.SetMaxOpenConns(1)
	if err := write.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the database %s cannot be used: %w", path, err), write.Close())
	}
	read := sql.OpenDB(reader)
	db := &DB{engine: sqliteEngine, clock: clock, own: &postgres.Node{Short: read, Long: sql.OpenDB(long)}, write: write, long: &longReads{}}
	read.SetMaxOpenConns(db.Computing())
	read.SetMaxIdleConns(db.Computing())
	db.own.Long.SetConnMaxIdleTime(time.Minute) // gives its cache back
	db.BoundReports(ReportBounds{Bounds: DefaultReportBounds()})
	if db.files, err = sqlite.WatchFile(path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	db.log = sqlite.OpenLog(sql.OpenDB(checkpoints), sqlite.UsualBounds, db.files)
	db.turn = sqlite.OpenTurn(path)
	db.writer = newGroupCommit(db)
	return db, nil
}

// importLog is when the log of an import goes into the file: while it still writes, on another processor. At its end everybody waits for that.
const importLog = 64 << 20

// ForLongWrites gives the writer of a process room for what one long write changes. It is for a process that makes little else, such as an import.
func ForLongWrites(ctx context.Context, db *DB) error {
	db.log.Limit(importLog)
	if db.engine.largeCache == "" {
		return nil
	}
	_, err := db.write.ExecContext(ctx, db.engine.largeCache)
	return db.outward(err)
}

// sqliteName returns the data source name. It sets a write-ahead log, so that readers never wait; a full sync at each
// commit, so that a write is durable when it is acknowledged; no checkpoint at a commit, because checkpoints run
// concurrently with the writer; and in-memory journals for savepoints, because they need not outlive the process. cache
// is the size of the page cache in KiB.
func sqliteName(path, more string, cache int) string {
	return sqliteNameWith(path, "_journal_mode=WAL&"+more, cache, "busy_timeout(5000)", "synchronous(FULL)", "wal_autocheckpoint(0)")
}

// sqliteNameWith takes the pragmas that differ. The driver runs them in alphabetical order. The journal mode is not a
// pragma here, because it has to be set after the page size: it creates the file.
func sqliteNameWith(path, more string, cache int, pragmas ...string) string {
	name := "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + more
	for _, p := range append(pragmas, "foreign_keys(1)", "cache_size(-"+strconv.Itoa(cache)+")", "page_size("+strconv.Itoa(pageBytes)+")", "temp_store(MEMORY)") {
		name += "&_pragma=" + p
	}
	return name
}
