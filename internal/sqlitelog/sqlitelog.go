// Package sqlitelog keeps the write-ahead log of a SQLite database short, beside the writer: it brings what is in the log into the
// database file. SQLite would do so inside a commit, and who writes would wait. It owns nothing: the files are SQLite's. Begin reading
// at Log.
package sqlitelog

import (
	"database/sql"
	"sync"
)

// Bounds are lengths of the log, in pages of 4 KiB.
type Bounds struct {
	Long  int64 // when what is in the log goes into the file; a page that many writes change goes there once
	Fresh int64 // how much of it is not in the file yet when that is worth a sync of the disk
	Short int64 // how much of it the writer waits for
}

// Usual are the bounds of a server. What a process that died has left in the log is read in less than a second.
var Usual = Bounds{Long: 16_000, Fresh: 2000, Short: 300}

const (
	// look is how many short writes pass between two looks at the log.
	look = 8
	// rounds is how often what is new in the log goes into the file beside the writer, to make it short.
	rounds = 4
)

// Log is the write-ahead log of a database on whose connections SQLite makes no checkpoint by itself (wal_autocheckpoint=0).
type Log struct {
	Bounds
	checkpoint func(mode string) (pages, stored int64, err error)
	pool       *sql.DB
	writing    sync.Mutex // held while somebody writes
	writes     int        // guarded by writing
	grown      chan struct{}
	closed     sync.Once
	done       sync.WaitGroup
	tried      int64 // how long the log was when all that could go into the file was there
}

// Open begins to look after the log of a database. A connection of pool is used for it, and no other one. Close closes the pool.
func Open(pool *sql.DB, b Bounds) *Log {
	pool.SetMaxOpenConns(1)
	l := &Log{Bounds: b, pool: pool, grown: make(chan struct{}, 1)}
	l.checkpoint = l.sqlite
	l.done.Go(func() {
		for range l.grown {
			l.shorten()
		}
	})
	return l
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
	if l.writes++; !short || l.writes%look == 0 {
		select {
		case l.grown <- struct{}{}:
		default: // it will look soon
		}
	}
}

// shorten brings what is in the log into the file, if the log is long. SQLite writes at the start of the log again when all of it is
// there. Beside a writer who does not stop that never comes to pass, so the end of the log goes there while nobody writes. What fails is
// tried again later.
func (l *Log) shorten() {
	pages, stored, err := l.checkpoint("NOOP")
	if pages < l.tried {
		l.tried = 0 // SQLite has begun at the start again
	}
	// As long as a reader needs the log, nothing comes of it, and to try costs time.
	if err != nil || pages < l.Long || pages-max(stored, l.tried) < l.Fresh {
		return
	}
	for range rounds {
		if _, _, err = l.checkpoint("PASSIVE"); err != nil {
			return
		}
		if pages, stored, err = l.checkpoint("NOOP"); err != nil || pages-stored < l.Short {
			break
		}
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.tried, _, err = l.checkpoint("PASSIVE"); err != nil {
		l.tried = pages
	}
}

// sqlite runs a checkpoint of SQLite. It gives how many pages are in the log, and how many of them are in the file, too.
func (l *Log) sqlite(mode string) (pages, stored int64, err error) {
	var busy bool
	err = l.pool.QueryRow("PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &pages, &stored)
	return pages, stored, err
}
