package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"holdfast/internal/store/catalog"
	"holdfast/internal/store/postgres"
	"holdfast/internal/store/sqltext"
)

// Bounds of the PostgreSQL pool and of the retries of one write.
const (
	writeAttempts = 10
	lossAttempts  = 3 // of these, how many may end with a lost connection
	// connectTime is the timeout for a connection to one server. It is shorter than writeLifetime, so that the second of
	// several servers in an address is tried in time.
	connectTime = 2 * time.Second
	// renewPause is the shortest time between two renewals of the pool.
	renewPause = time.Second
)

var postgresEngine = &engine{
	name: "postgres",
	ddl: strings.NewReplacer(
		"{{serial}}", "BIGSERIAL",
		"{{key}}", "PRIMARY KEY",
		"{{bytes}}", "BYTEA",
		"{{bytewise}}", ` COLLATE "C"`,
		"{{postgres}}", "",
	),
	hasSchema:    "SELECT to_regclass('schema_migrations') IS NOT NULL",
	lockSchema:   "SELECT pg_advisory_xact_lock(7310032)", // any number, as long as every holdfast takes the same
	rowLock:      " FOR NO KEY UPDATE",
	afterwards:   keepLaidOut,
	tryLock:      "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 7310033))",
	conflict:     postgres.Conflict,
	transient:    postgres.Transient,
	unreachable:  postgres.Unreachable,
	sumTooLarge:  postgres.SumTooLarge,
	lost:         postgres.Lost,
	stuck:        postgres.Stuck,
	notCommitted: postgres.NotCommitted,
	rowsAtOnce:   sqltext.MostRows, manyWrites: true,
	columns: `SELECT c.relname, a.attname, upper(format_type(a.atttypid, NULL)),
			COALESCE(array_position(i.indkey::int2[], a.attnum) + 1, 0), pg_get_serial_sequence(c.oid::regclass::text, a.attname) IS NOT NULL
		FROM pg_class c
		JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
		WHERE c.relkind = 'r' ORDER BY c.relname, a.attnum`,
	parents: `SELECT c.relname, p.relname
		FROM pg_constraint k
		JOIN pg_class c ON c.oid = k.conrelid
		JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
		JOIN pg_class p ON p.oid = k.confrelid
		WHERE k.contype = 'f'`,
	byBytes:   ` COLLATE "C"`,
	unbounded: postgres.Unbounded,
	size:      `SELECT pg_database_size(current_database())`,
	scanOnly: func(table string) []string {
		return []string{
			"SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off",
			"SELECT COUNT(*) FROM " + table,
			"SET LOCAL enable_indexscan = on; SET LOCAL enable_indexonlyscan = on; SET LOCAL enable_bitmapscan = on",
		}
	},
	counted:    "SELECT COALESCE(pg_sequence_last_value(pg_get_serial_sequence($1, $2)::regclass), 0)",
	setCounter: []string{"SELECT setval(pg_get_serial_sequence($1, $2), $3)"},
	// With OFFSET 0 the name of the sequence is looked for once, and not for each id.
	nextIDs: "SELECT nextval(s) FROM (SELECT CAST(pg_get_serial_sequence($1, 'id') AS regclass) AS s OFFSET 0) q, " +
		"generate_series(1, CAST($2 AS BIGINT))",
	nextOfSite: postgres.NextOfSite,
	bulk: func(ctx context.Context, conn *sql.Conn, t catalog.Table, rows [][]any) error {
		return postgres.Copy(ctx, conn, t.Name, t.Names(), rows)
	},
}

// openPostgres opens the pool and tries one connection. If the server is the coordinator of a Citus cluster, it follows the cluster.
func openPostgres(ctx context.Context, url string, clock func() time.Time) (*DB, error) {
	db, err := postgresAt(url, clock)
	if err != nil {
		return nil, err
	}
	if err := db.own.Short.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the database cannot be used: %w", err), db.Close())
	}
	if err := db.followCluster(ctx, url); err != nil {
		return nil, errors.Join(db.outward(err), db.Close())
	}
	return db, nil
}

// postgresAt is openPostgres, but it connects on the first read or write.
func postgresAt(url string, clock func() time.Time) (*DB, error) {
	db := &DB{engine: postgresEngine, clock: clock, long: &longReads{}}
	var err error
	// A transaction may be idle for writeLifetime: together they stay within FinalAfter (R0).
	if db.own, db.bounds, err = postgres.Connect(url, connectTime, writeLifetime); err != nil {
		return nil, err
	}
	db.write = db.own.Short
	db.BoundReports(ReportBounds{Bounds: DefaultReportBounds()})
	db.writer = oneByOne{db}
	return db, nil
}

// oneByOne runs each write in a transaction of its own.
type oneByOne struct{ db *DB }

func (oneByOne) close() {}

// write runs fn in a transaction of its own, and again if another transaction got in its way: after a
// serialization failure, a deadlock, or a broken uniqueness or reference rule. A broken rule is mostly a race: two
// transactions looked, found nothing, and inserted the same. The second run then sees what the other one wrote. It also
// runs again when a connection was lost before the commit: nothing is stored then. All runs together have
// writeLifetime.
func (o oneByOne) write(ctx context.Context, site int64, _ bool, fn func(tx *Tx) error) error {
	db := o.db
	ctx, cancel := context.WithTimeout(ctx, writeLifetime)
	defer cancel()
	var err error
	conflicts, losses := 0, 0
	for attempt := 0; attempt < writeAttempts; attempt++ {
		if attempt > 0 {
			db.work.again.Add(1)
		}
		on, away := db.writesAt(site)
		if away != nil {
			return away
		}
		err = db.writeOnce(ctx, site, on, fn)
		db.noteFailure(ctx, on, err)
		again := false
		switch {
		case err == nil, errors.Is(err, errOutcomeUnknown):
			return err
		case db.engine.lost(err):
			losses++
			again = db.renewAfter(ctx, on, err) && losses < lossAttempts
		case db.engine.conflict(err):
			conflicts++
			again = conflicts <= 2
		default:
			again = db.engine.transient(err)
		}
		if !again || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// renewAfter reports whether another connection may do better after an error. A server that restarts or changes its role makes all idle
// connections unusable, so these are closed, and the next one is a new one. That happens at most once a second: connecting is expensive,
// and a server may stay read-only for long. Only on a read-only server is it pointless to retry without new connections. Closing takes
// seconds if the server is frozen, and is abandoned when ctx ends.
func (db *DB) renewAfter(ctx context.Context, on *postgres.Node, err error) bool {
	now := db.clock().UnixNano()
	last := on.Renewed.Load()
	first := last == 0 || now-last >= int64(renewPause)
	if first && on.Renewed.CompareAndSwap(last, now) {
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			on.CloseIdle(int(db.long.bounds.Places))
		}()
		select {
		case <-closed:
			return true
		case <-ctx.Done():
			return false
		}
	}
	return !postgres.ReadOnly(err)
}
