package store

import (
	"context"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"testing/fstest"
	"time"

	"holdfast/internal/store/sqlite"
)

// MigrateWith runs other migrations.
func (db *DB) MigrateWith(ctx context.Context, files fs.FS) error {
	list, err := readMigrations(files)
	if err != nil {
		return err
	}
	return db.migrate(ctx, list)
}

// BuildWith is Build of a program with other migrations.
func BuildWith(ctx context.Context, url string, clock func() time.Time, c Content, files fs.FS) (err error) {
	if c.migrations, err = readMigrations(files); err != nil {
		return err
	}
	return build(ctx, url, clock, c)
}

// WithMigration are the migrations of this program and a later one.
func WithMigration(name, text string) (fs.FS, error) {
	list, err := readMigrations(migrationFiles)
	files := fstest.MapFS{"migrations/" + name + ".sql": {Data: []byte(text)}}
	for _, m := range list {
		files["migrations/"+m.name+".sql"] = &fstest.MapFile{Data: []byte(m.text)}
	}
	return files, err
}

// SetLog changes the bounds of SQLite's log. Call it before the first write.
func (db *DB) SetLog(b sqlite.Bounds) { db.log.Bounds = b }

// LimitPages limits the pages of a SQLite database, like a full disk.
func (db *DB) LimitPages(ctx context.Context, pages int64) error {
	_, err := db.write.ExecContext(ctx, "PRAGMA max_page_count = "+strconv.FormatInt(pages, 10))
	return err
}

// AwaitQueued returns when this many writes are queued.
func (db *DB) AwaitQueued(calls int) {
	for db.Queued() < calls {
		runtime.Gosched()
	}
}

// LongReads is how many long reads run or wait.
func (db *DB) LongReads() int64 { return db.long.limiter.Taken() }

// Queued is the number of queued writes.
func (db *DB) Queued() int { return len(db.writer.(*groupCommit).calls) }

// Table adds a test table after all others.
func Table(name string) { tables = append(tables, name) }

// Tables are the tables in the order in which rows are written.
func Tables() []string { return slices.Clone(tables) }

// Counted reports whether the ids of a table are allocated.
func Counted(table string) bool { return slices.Contains(counted, table) }

// IDsOfCounter are the ids of a site up to a value of its counter.
var IDsOfCounter = idsOfCounter

// CloseReplica closes the copy. After that, the database has none.
func (db *DB) CloseReplica() error {
	standby := db.replica.Copy
	db.replica = nil
	return standby.Close()
}

// LookAtCluster reads the nodes and the placement of the sites now.
func (db *DB) LookAtCluster(ctx context.Context) error { return db.cluster.Look(ctx) }

// PingCluster asks all nodes whether they answer.
func (db *DB) PingCluster(ctx context.Context) { db.cluster.Ping(ctx) }
