package sqlite

import (
	"cmp"
	"database/sql"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds say when checkpoints are made, by lengths of the log in bytes of its pages, and a time.
type Bounds struct {
	Long  int64 // the length from which checkpoints are made: a page that many writes change is copied once
	Fresh int64 // how much must not be in the file yet, to be worth a sync of the disk
	Short int64 // how much the writer may wait for
	// Quiet is how long there were hardly any writes when the whole log is copied: reads are faster with a short log.
	Quiet time.Duration
}

// UsualBounds are those of a server. A longer log makes writes faster, and takes more of the disk.
var UsualBounds = Bounds{Long: 128 << 20, Fresh: 4 << 20, Short: 1 << 20, Quiet: time.Second}

const (
	// lookEvery is how many short writes pass between two looks at the length of the log.
	lookEvery = 8
	// rounds is how many checkpoints run concurrently with the writer before it has to wait for the last one.
	rounds = 4
)

// Log makes the checkpoints of a write-ahead log: it copies the log into the database file, concurrently with the writer. SQLite
// itself would do so inside a commit, and writes would wait. All connections of the database have wal_autocheckpoint=0.
type Log struct {
	Bounds
	checkpoint func(mode string) (length, stored int64, err error)
	sync       func() error // flushes the database file to the disk
	files      *Files
	pool       *sql.DB
	writing    sync.Mutex // held during a write
	writes     int        // guarded by writing
	grown      chan struct{}
	closed     sync.Once
	done       sync.WaitGroup
	tried      int64        // the length of the log after the last checkpoint that copied all it could
	page       int64        // bytes of a page, 0 before the first look
	long       atomic.Int64 // instead of Bounds.Long, unless it is 0
}

// OpenLog begins to make checkpoints, on one connection of pool, which nothing else uses. Close closes the pool.
func OpenLog(pool *sql.DB, b Bounds, files *Files) *Log {
	pool.SetMaxOpenConns(1)
	l := &Log{Bounds: b, pool: pool, files: files, sync: files.sync, grown: make(chan struct{}, 1)}
	l.checkpoint = l.sqlite
	l.done.Go(l.run)
	return l
}

func (l *Log) run() {
	quiet := time.NewTimer(time.Hour) // nothing was written yet
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

// Limit replaces Bounds.Long from now on. A nil Log has nothing to limit.
func (l *Log) Limit(long int64) {
	if l != nil {
		l.long.Store(long)
	}
}

// Close ends the checkpoints. No write may follow. A nil Log, that of PostgreSQL, has nothing to close.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.closed.Do(func() { close(l.grown) })
	l.done.Wait()
	return l.pool.Close()
}

// Write runs fn, which writes; short says that it writes a few pages. It waits while the end of a long log is copied. A nil Log just
// runs fn.
func (l *Log) Write(short bool, fn func()) {
	if l == nil {
		fn()
		return
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	fn()
	if l.writes++; !short || l.writes%lookEvery == 0 {
		select {
		case l.grown <- struct{}{}:
		default: // a look is due already
		}
	}
}

// shorten copies the log into the file if it is long. SQLite starts at the beginning of the log again once all of it is
// copied. With a busy writer that never happens, so the end of the log is copied while writes wait. SQLite syncs the
// file only then, so most of it is synced before. Failures are retried later.
func (l *Log) shorten() {
	length, fresh := l.look()
	if length < cmp.Or(l.long.Load(), l.Long) || fresh < l.Fresh {
		return
	}
	for range rounds {
		if _, _, err := l.checkpoint("PASSIVE"); err != nil {
			return
		}
		if err := l.sync(); err != nil {
			return
		}
		if length, stored, err := l.checkpoint("NOOP"); err != nil || length-stored < l.Short {
			break
		}
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	l.end()
}

// empty copies the log into the file when there are hardly any writes.
func (l *Log) empty() {
	if _, fresh := l.look(); fresh >= l.Short {
		l.end()
	}
}

// end copies all of the log into the file. On a full disk that fails, and the next look tries again.
func (l *Log) end() {
	if length, _, err := l.checkpoint("PASSIVE"); err == nil {
		l.tried = length
	}
}

// look returns the length of the log, and how much of it can be copied. While a reader needs the log, a checkpoint
// achieves nothing and costs time.
func (l *Log) look() (length, fresh int64) {
	length, stored, err := l.checkpoint("NOOP")
	if err != nil {
		return 0, 0
	}
	if length < l.tried {
		l.tried = 0 // SQLite started at the beginning of the log again
	}
	return length, length - max(stored, l.tried)
}

// sqlite runs a checkpoint of SQLite, unless nothing may be written. It returns the length of the log, and how much of that is in
// the file.
func (l *Log) sqlite(mode string) (length, stored int64, err error) {
	if err := l.files.Writable(); err != nil {
		return 0, 0, err
	}
	if l.page == 0 {
		if err := l.pool.QueryRow("PRAGMA page_size").Scan(&l.page); err != nil {
			return 0, 0, err
		}
	}
	var busy bool
	err = l.pool.QueryRow("PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &length, &stored)
	l.files.HaltAfter(err)
	return length * l.page, stored * l.page, err
}
