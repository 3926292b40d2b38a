package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"holdfast/internal/store/postgres"
	"holdfast/internal/store/sqlite"
	"holdfast/internal/store/sqltext"
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
	hasSchema:   "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations')",
	lockSchema:  "SELECT 1", // BEGIN IMMEDIATE already holds the only write lock
	conflict:    sqlite.Conflict,
	transient:   sqlite.Transient,
	unreachable: sqlite.Unreachable,
	sumTooLarge: sqlite.SumTooLarge,
	lost:        func(error) bool { return false },
	stuck:       sqlite.Stuck,
	// It caches each parsed statement, in twenty times the length of its text, and needs no round trip for another one.
	rowsAtOnce:   sqltext.MostRows / 2,
	notCommitted: sqlite.NotCommitted,
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
	largeCache: sqlite.LargeCache,
	scanOnly:   func(table string) []string { return []string{"SELECT COUNT(*) FROM " + table + " NOT INDEXED"} },
	counted:    "SELECT seq FROM sqlite_sequence WHERE name = $1 AND $2 <> ''",
	nextIDs:    "SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = $1",
	// SQLite's own table has no key that would find the row.
	setCounter: []string{
		"DELETE FROM sqlite_sequence WHERE name = $1 AND $2 <> '' AND $3 > 0",
		"INSERT INTO sqlite_sequence (name, seq) SELECT $1, $3 WHERE $2 <> ''",
	},
}

// openSQLite opens the file at path. If it or its folder is missing, it makes them, for their owner alone to read.
func openSQLite(ctx context.Context, path string, clock func() time.Time) (*DB, error) {
	if path == "" || strings.HasPrefix(path, ":memory:") {
		return nil, errors.New("a SQLite database is a file: write sqlite:PATH")
	}
	if err := sqlite.MakeFile(path); err != nil {
		return nil, err
	}
	writer, err := sqlite.NewConnector(sqlite.WriterName(path))
	reader, second := sqlite.NewConnector(sqlite.ReaderName(path))
	long, third := sqlite.NewConnector(sqlite.ReaderName(path))
	checkpoints, fourth := sqlite.NewConnector(sqlite.CheckpointName(path))
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
