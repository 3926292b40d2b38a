// Package sqlitelog keeps the write-ahead log of a SQLite database short, beside the writer: it brings what is in the log into the
// database file. SQLite would do so inside a commit, and who writes would wait. It owns nothing: the files are SQLite's. Begin reading
// at Log.
package sqlite

import (
	"cmp"
	"database/sql"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds are lengths of the log, in bytes of its pages, and a time.
type Bounds struct {
	Long  int64 // when what is in the log goes into the file; a page that many writes change goes there once
	Fresh int64 // how much of it is not in the file yet when that is worth a sync of the disk
	Short int64 // how much of it the writer waits for, and readers do not feel
	// Quiet is how long nobody has written much when all of it goes into the file: readers are quicker then.
	Quiet time.Duration
}

// Usual are the bounds of a server. Writers are quicker with a longer log, and it takes more of the disk.
var UsualBounds = Bounds{Long: 128 << 20, Fresh: 4 << 20, Short: 1 << 20, Quiet: time.Second}

const (
	// between is how many short writes pass between two looks at the log.
	between = 8
	// rounds is how often what is new in the log goes into the file beside the writer, to make it short.
	rounds = 4
)

// Log is the write-ahead log of a database on whose connections SQLite makes no checkpoint by itself (wal_autocheckpoint=0).
type Log struct {
	Bounds
	checkpoint func(mode string) (length, stored int64, err error)
	sync       func() error // has the disk take what is written to the database file
	pool       *sql.DB
	writing    sync.Mutex // held while somebody writes
	writes     int        // guarded by writing
	grown      chan struct{}
	closed     sync.Once
	done       sync.WaitGroup
	tried      int64        // how long the log was when all that could go into the file was there
	page       int64        // bytes of a page, 0 before the first look
	long       atomic.Int64 // in place of Bounds.Long, unless it is 0
}

// Open begins to look after the log of a database. A connection of pool is used for it, and no other one. Close closes the pool. sync
// has the disk take what is written to the database file.
func OpenLog(pool *sql.DB, b Bounds, sync func() error) *Log {
	pool.SetMaxOpenConns(1)
	l := &Log{Bounds: b, pool: pool, sync: sync, grown: make(chan struct{}, 1)}
	l.checkpoint = l.sqlite
	l.done.Go(l.run)
	return l
}

func (l *Log) run() {
	quiet := time.NewTimer(time.Hour) // nobody has written yet
	defer quiet.Stop()
	for {
		select {
		case _, open := <-l.grown:
			if !open {
				return
			}
			l.shorten()
			quiet.Reset(l.Quiet)
		case <-quiet.C:
			l.empty()
		}
	}
}

// Limit sets when what is in the log goes into the file from now on, in place of Bounds.Long. A nil Log has nothing to limit.
func (l *Log) Limit(long int64) {
	if l != nil {
		l.long.Store(long)
	}
}

// Close ends it. Nobody may write any more. A nil Log, that of a database that is not SQLite, has nothing to close.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.closed.Do(func() { close(l.grown) })
	l.done.Wait()
	return l.pool.Close()
}

// Write runs fn, which writes; short says that it writes a few pages. It waits while the end of a long log goes into the file. A nil Log
// just runs fn.
func (l *Log) Write(short bool, fn func()) {
	if l == nil {
		fn()
		return
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	fn()
	if l.writes++; !short || l.writes%between == 0 {
		select {
		case l.grown <- struct{}{}:
		default: // it will look soon
		}
	}
}

// shorten brings what is in the log into the file, if the log is long. SQLite writes at the start of the log again when all of it is
// there. Beside a writer who does not stop that never comes to pass, so the end of the log goes there while nobody writes. Only then
// SQLite has the disk take the file, and all who write would wait for it, so most of it is on the disk before. What fails is tried again
// later.
func (l *Log) shorten() {
	length, fresh := l.look()
	if length < cmp.Or(l.long.Load(), l.Long) || fresh < l.Fresh {
		return
	}
	for range rounds {
		if _, _, err := l.checkpoint("PASSIVE"); err != nil {
			return
		}
		_ = l.sync() // what fails here fails again at SQLite's own sync, or only makes that one longer
		if length, stored, err := l.checkpoint("NOOP"); err != nil || length-stored < l.Short {
			break
		}
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	l.end()
}

// empty brings what is in the log into the file when hardly anybody writes.
func (l *Log) empty() {
	if _, fresh := l.look(); fresh >= l.Short {
		l.end()
	}
}

// end brings all that is in the log into the file. Where the disk is full it fails, and the next look tries again.
func (l *Log) end() {
	if length, _, err := l.checkpoint("PASSIVE"); err == nil {
		l.tried = length
	}
}

// look returns how long the log is, and how much of it can go into the file. As long as a reader needs the log, nothing comes of
// it, and to try costs time: so what was tried does not count.
func (l *Log) look() (length, fresh int64) {
	length, stored, err := l.checkpoint("NOOP")
	if err != nil {
		return 0, 0
	}
	if length < l.tried {
		l.tried = 0 // SQLite has begun at the start again
	}
	return length, length - max(stored, l.tried)
}

// sqlite runs a checkpoint of SQLite. It gives how much is in the log, and how much of that is in the file, too.
func (l *Log) sqlite(mode string) (length, stored int64, err error) {
	if l.page == 0 {
		if err := l.pool.QueryRow("PRAGMA page_size").Scan(&l.page); err != nil {
			return 0, 0, err
		}
	}
	var busy bool
	err = l.pool.QueryRow("PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &length, &stored)
	return length * l.page, stored * l.page, err
}
