package store

import (
	"context"
	"io/fs"
	"runtime"
	"strconv"
	"testing/fstest"
	"time"

	"holdfast/internal/store/schemasteps"
	"holdfast/internal/store/sqlite"
)

// MigrateTo brings the schema of an empty database to an earlier version.
func (db *DB) MigrateTo(ctx context.Context, version int) error {
	steps, err := schemasteps.Read(migrationFiles, "migrations")
	if err != nil {
		return err
	}
	files := fstest.MapFS{}
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	for i, step := range steps[:version] {
		files[names[i]] = &fstest.MapFile{Data: []byte(step.Text)}
	}
	if err != nil {
		return err
	}
	return db.migrate(ctx, files)
}

// SetLog changes the bounds of SQLite's log. Call it before the first write.
func (db *DB) SetLog(b sqlite.Bounds) { db.log.Bounds = b }

// LimitPages makes the file of a SQLite database as full as a disk would be with so many pages.
func (db *DB) LimitPages(ctx context.Context, pages int64) error {
	_, err := db.write.ExecContext(ctx, "PRAGMA max_page_count = "+strconv.FormatInt(pages, 10))
	return err
}

// AwaitQueued returns when so many writes wait for their turn.
func (db *DB) AwaitQueued(calls int) {
	for db.Queued() < calls {
		runtime.Gosched()
	}
}

// LongReads is how many long reads run or wait.
func (db *DB) LongReads() int64 { return db.long.limiter.Taken() }

// Writers is how many transactions of several writes can be open at once.
func (db *DB) Writers() int { return db.engine.writers }

// Queued is how many writes wait for their turn.
func (db *DB) Queued() int { return len(db.queue.calls) }

// SetSlowWriter changes how long a writer takes before another one helps. Call it while nobody writes.
func (db *DB) SetSlowWriter(d time.Duration) { db.queue.crew.Late = d }

// CloseReplica closes the copy. After that, the database has none.
func (db *DB) CloseReplica() error {
	standby := db.replica.Copy
	db.replica = nil
	return standby.Close()
}

// DeferralOf is a deferral of one write, of no tables.
func DeferralOf(flush func(tx *Tx) error) *Deferral { return &Deferral{flush: flush} }
