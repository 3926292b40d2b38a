package db

import (
	"context"
	"sync/atomic"
)

// GiveWay is called by a long job, such as an import, before each of its small writes. It returns when no other process
// over the same SQLite database writes or waits to write, or after a moment that is twice as long as an
// import's write should take: so an import has a third of the time even where others never stop.
//
// Without it an import starves a server: SQLite gives its lock to whoever asks at the right moment, a waiting process asks
// a few times in a second, and the import asks again at once. So a writer holds a shared lock of a file as long as it has
// something to write, and also while it waits for SQLite; and the import waits until it could have that lock alone. In its
// own process writes wait in one line, and PostgreSQL has many writers.
func (db *DB) GiveWay(ctx context.Context) error {
	if db.engine.manyWrites {
		return ctx.Err()
	}
	return db.queue.turn.Wait(ctx)
}

// Others reports whether another write runs or waits that this one holds up: in this process, or in another one over the same
// SQLite database. On PostgreSQL there is none.
func (db *DB) Others() bool {
	return !db.engine.manyWrites && (len(db.queue.calls) > 0 || !db.queue.turn.Alone())
}

// RefreshStatistics lets PostgreSQL count how much its tables hold, where it believes that a table has fewer rows than it has
// for certain. It counts by itself, but only after a minute or so. Until then it plans for empty tables and reads all rows of a
// site, which makes the first large import several times as slow. Counting reads a sample of every table and takes a second or
// two, so it is not done where the plans are good already. SQLite needs no statistics, so nothing happens there.
func (db *DB) RefreshStatistics(ctx context.Context, table string, has int) error {
	if !db.engine.manyWrites {
		return nil
	}
	var known bool
	err := db.read.QueryRowContext(ctx, "SELECT reltuples >= $2 FROM pg_class WHERE oid = to_regclass($1)", table, has).Scan(&known)
	if err == nil && !known {
		_, err = db.write.ExecContext(ctx, "ANALYZE")
	}
	return db.outward(err)
}

// Work is how much an open database was asked to do since it was opened, by this process.
type Work struct {
	Statements int64 // SQL statements of reads and writes, without BEGIN, COMMIT and savepoints
	Commits    int64 // writing transactions that were stored; many writes may share one
	Again      int64 // runs of writes that came after a first one, because another transaction got in the way
}

// work counts it. Each number is right by itself, and they need not be of the same instant.
type work struct{ statements, commits, again atomic.Int64 }

// Work says what was done so far.
func (db *DB) Work() Work {
	return Work{Statements: db.work.statements.Load(), Commits: db.work.commits.Load(), Again: db.work.again.Load()}
}
