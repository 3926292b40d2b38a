package sqliteparts

import (
	"database/sql"
	"path/filepath"
	"sync"
	"testing"

	"modernc.org/libc"
	_ "modernc.org/sqlite" // the driver
	sqlite3 "modernc.org/sqlite/lib"
)

// TestLocksLock: what SQLite asks for stands between goroutines, but for the lock of a connection. Each of the static locks is one.
func TestLocksLock(t *testing.T) {
	t.Parallel()
	tls := libc.NewTLS()
	defer tls.Close()
	seen := map[uintptr]bool{}
	for kind := int32(sqlite3.SQLITE_MUTEX_FAST); kind <= sqlite3.SQLITE_MUTEX_STATIC_VFS3; kind++ {
		place := lockAlloc(tls, kind)
		if place == 0 || seen[place] {
			t.Fatalf("lock %d: %#x, which is none of its own", kind, place)
		}
		seen[place] = true
		if kind == sqlite3.SQLITE_MUTEX_FAST || kind == sqlite3.SQLITE_MUTEX_RECURSIVE {
			defer lockFree(tls, place)
		} else {
			if lockAlloc(tls, kind) != place {
				t.Errorf("the static lock %d is another one each time", kind)
			}
			continue // SQLite itself may hold it
		}
		want := int32(sqlite3.SQLITE_BUSY)
		if kind == sqlite3.SQLITE_MUTEX_RECURSIVE {
			want = sqlite3.SQLITE_OK
		}
		lockEnter(tls, place)
		if rc := lockTry(tls, place); rc != want {
			t.Errorf("lock %d, while it is held: %d", kind, rc)
		}
		lockLeave(tls, place)
		if rc := lockTry(tls, place); rc != sqlite3.SQLITE_OK {
			t.Errorf("lock %d, when it is free: %d", kind, rc)
		}
		lockLeave(tls, place)
	}
	if place := lockAlloc(tls, sqlite3.SQLITE_MUTEX_STATIC_VFS3+1); place != 0 {
		t.Error("there is a lock that nobody knows")
	}
}

// TestConnectionsComeAndGo: they open, write, read and close at once. It is for the race detector, and for what SQLite does once for all connections.
func TestConnectionsComeAndGo(t *testing.T) {
	t.Parallel()
	if err := Use(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "words.db")
	open := func() *sql.DB {
		db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(20000)&_txlock=immediate")
		if err != nil {
			t.Error(err)
		}
		return db
	}
	first := open()
	defer first.Close()
	if _, err := first.ExecContext(t.Context(), "CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT NOT NULL)"); err != nil {
		t.Fatal(err)
	}
	const writers, rows = 6, 40
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			db := open()
			for range rows {
				if _, err := db.ExecContext(t.Context(), "INSERT INTO words (word) VALUES (hex(randomblob(20)))"); err != nil {
					t.Error(err)
				}
				var n, distinct int
				if err := db.QueryRowContext(t.Context(), "SELECT count(*), count(DISTINCT word) FROM words").Scan(&n, &distinct); err != nil || n != distinct {
					t.Errorf("%v: %d words, of which %d are different", err, n, distinct)
				}
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	var n int
	if err := first.QueryRowContext(t.Context(), "SELECT count(*) FROM words").Scan(&n); err != nil || n != writers*rows {
		t.Errorf("%v: %d words, want %d", err, n, writers*rows)
	}
}
