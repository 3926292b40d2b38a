package sqliteparts

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

func (s settings) useLocks() error {
	*(*sqlite3.Tsqlite3_mutex_methods)(address(s.methods())) = sqlite3.Tsqlite3_mutex_methods{
		FxMutexInit: pointer(lockInit), FxMutexEnd: pointer(lockEnd), FxMutexAlloc: pointer(lockAlloc), FxMutexFree: pointer(lockFree),
		FxMutexEnter: pointer(lockEnter), FxMutexTry: pointer(lockTry), FxMutexLeave: pointer(lockLeave),
	}
	if err := s.set(sqlite3.SQLITE_CONFIG_MUTEX, s.methods()); err != nil {
		return err
	}
	// Nobody asks SQLite how much memory it has, and to count that it takes one lock for all connections.
	return s.set(sqlite3.SQLITE_CONFIG_MEMSTATUS, int32(0))
}

// lock is what SQLite knows as sqlite3_mutex.
type lock struct {
	sync.Mutex
	connection bool // nobody else can come, so it is never locked
}

// static are the locks that SQLite has once each, by their number.
var static [1 + sqlite3.SQLITE_MUTEX_STATIC_VFS3]lock

func lockAt(place uintptr) *lock { return (*lock)(address(place)) }

// The methods of sqlite3_mutex_methods (https://sqlite.org/c3ref/mutex_methods.html). The two that it has besides are for builds that look
// for mistakes.

func lockInit(*libc.TLS) int32 { return sqlite3.SQLITE_OK }

func lockEnd(*libc.TLS) int32 { return sqlite3.SQLITE_OK }

// lockAlloc makes a lock. SQLite asks for one that its owner may take again (SQLITE_MUTEX_RECURSIVE) for a connection, and while it
// initializes itself. As the driver locks it, two goroutines with one connection count as one owner. So it guards nothing; what guards
// a connection is database/sql, by which one goroutine at a time uses it.
func lockAlloc(tls *libc.TLS, kind int32) uintptr {
	switch {
	case kind > sqlite3.SQLITE_MUTEX_RECURSIVE && int(kind) < len(static):
		return uintptr(unsafe.Pointer(&static[kind]))
	case kind != sqlite3.SQLITE_MUTEX_FAST && kind != sqlite3.SQLITE_MUTEX_RECURSIVE:
		return 0
	}
	place := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(lock{})))
	if place != 0 {
		lockAt(place).connection = kind == sqlite3.SQLITE_MUTEX_RECURSIVE
	}
	return place
}

func lockFree(tls *libc.TLS, place uintptr) { libc.Xfree(tls, place) }

func lockEnter(_ *libc.TLS, place uintptr) {
	if l := lockAt(place); !l.connection {
		l.Lock()
	}
}

func lockTry(_ *libc.TLS, place uintptr) int32 {
	if l := lockAt(place); l.connection || l.TryLock() {
		return sqlite3.SQLITE_OK
	}
	return sqlite3.SQLITE_BUSY
}

func lockLeave(_ *libc.TLS, place uintptr) {
	if l := lockAt(place); !l.connection {
		l.Unlock()
	}
}
