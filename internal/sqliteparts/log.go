package sqliteparts

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite writes a commit to its log page by page, and each page with two calls of the system: the first one for the head of its frame. Here
// what follows the last bytes waits, and goes to the file in pieces. It is there before anybody may look for it: at the end of a commit, before a
// sync, and before its own connection reads that place. When the connection gives the lock of writers back, nothing may wait any more. What
// is left then was undone, and its place in the file belongs to the next writer, which may be another process.

// piece is how many bytes wait at most.
const piece = 64 << 10

// How a frame of the log begins: https://sqlite.org/fileformat2.html#walformat. Where the word at commitAt is not 0, a commit ends with the frame.
const (
	frameHead = 24
	commitAt  = 4
)

// writeLock is the place of the lock of writers: https://sqlite.org/walformat.html.
const writeLock = 0

// log is what waits of a connection's log. One goroutine at a time uses it, as it uses the connection.
type log struct {
	bytes []byte // outside the memory that Go manages
	from  int64  // their place in the file
	ends  bool   // with the page that comes now a commit ends
}

// logs are those that are open, by the database file that they belong to, as the connection has it open.
var logs sync.Map

// The kinds of files that have to do with a log.
var (
	databases = kind{change: func(m *sqlite3.Tsqlite3_io_methods) { m.FxShmLock = pointer(databaseLock) }}
	logFiles  = kind{change: func(m *sqlite3.Tsqlite3_io_methods) {
		m.FxRead, m.FxWrite, m.FxTruncate = pointer(logRead), pointer(logWrite), pointer(logTruncate)
		m.FxSync, m.FxFileSize, m.FxClose = pointer(logSync), pointer(logSize), pointer(logClose)
	}}
)

// databaseOf is the database file of a log, 0 where it is not found: SQLite keeps its own data of the log right before the file.
func databaseOf(file uintptr) uintptr {
	own := (*sqlite3.TWal)(address(file - unsafe.Sizeof(sqlite3.TWal{})))
	if own.FpWalFd != file {
		return 0
	}
	return own.FpDbFd
}

// takeLog gives a log that SQLite has opened methods of ours, and its database file, too. Else both stay as they are, and do as well.
func takeLog(tls *libc.TLS, file uintptr) {
	database := databaseOf(file)
	own := (*sqlite3.Tsqlite3_io_methods)(address((*sqlite3.Tsqlite3_file)(address(file)).FpMethods))
	// Without this, SQLite fills the sector in which a commit ends, and syncs amid a frame.
	if database == 0 || call[fileFunc](own.FxDeviceCharacteristics)(tls, file)&sqlite3.SQLITE_IOCAP_POWERSAFE_OVERWRITE == 0 {
		return
	}
	room := libc.Xmalloc(tls, piece)
	if room == 0 {
		return
	}
	logs.Store(database, &log{bytes: unsafe.Slice((*byte)(address(room)), piece)[:0]})
	if !databases.take(tls, database) || !logFiles.take(tls, file) {
		forget(tls, database)
	}
}

// forget gives back what a log has.
func forget(tls *libc.TLS, database uintptr) {
	if l, found := logs.LoadAndDelete(database); found {
		libc.Xfree(tls, uintptr(unsafe.Pointer(unsafe.SliceData(l.(*log).bytes))))
	}
}

func logOf(file uintptr) *log {
	l, _ := logs.Load(databaseOf(file))
	return l.(*log)
}

// end is where what waits ends in the file.
func (l *log) end() int64 { return l.from + int64(len(l.bytes)) }

// bring brings to the file what waits.
func (l *log) bring(tls *libc.TLS, file uintptr) int32 {
	if len(l.bytes) == 0 {
		return sqlite3.SQLITE_OK
	}
	waits, from := l.bytes, l.from
	l.bytes, l.from = waits[:0], l.end()
	return call[writeFunc](ownOf(file).FxWrite)(tls, file, uintptr(unsafe.Pointer(&waits[0])), int32(len(waits)), from)
}

// The methods of logs, and of the databases that they belong to. The first lines of each do what was left to be done.

func logWrite(tls *libc.TLS, file, from uintptr, length int32, at int64) int32 {
	l, written := logOf(file), unsafe.Slice((*byte)(address(from)), length)
	ends := l.ends && length != frameHead
	if length == frameHead {
		l.ends = [4]byte(written[commitAt:]) != [4]byte{}
	}
	follows := at == l.end()
	if !follows || len(l.bytes)+len(written) > cap(l.bytes) {
		if code := l.bring(tls, file); code != sqlite3.SQLITE_OK {
			return code
		}
	}
	// A head somewhere else may be one that SQLite corrects. Then nothing comes behind it.
	if !follows || len(written) > cap(l.bytes) {
		l.from = at + int64(length)
		return call[writeFunc](ownOf(file).FxWrite)(tls, file, from, length, at)
	}
	if l.bytes = append(l.bytes, written...); !ends {
		return sqlite3.SQLITE_OK
	}
	return l.bring(tls, file)
}

func logRead(tls *libc.TLS, file, to uintptr, length int32, at int64) int32 {
	if l := logOf(file); at < l.end() && at+int64(length) > l.from {
		if code := l.bring(tls, file); code != sqlite3.SQLITE_OK {
			return code
		}
	}
	return call[writeFunc](ownOf(file).FxRead)(tls, file, to, length, at)
}

func logTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	if code := logOf(file).bring(tls, file); code != sqlite3.SQLITE_OK {
		return code
	}
	return call[truncateFunc](ownOf(file).FxTruncate)(tls, file, size)
}

func logSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	if code := logOf(file).bring(tls, file); code != sqlite3.SQLITE_OK {
		return code
	}
	return call[syncFunc](ownOf(file).FxSync)(tls, file, flags)
}

func logSize(tls *libc.TLS, file, size uintptr) int32 {
	if code := logOf(file).bring(tls, file); code != sqlite3.SQLITE_OK {
		return code
	}
	return call[sizeFunc](ownOf(file).FxFileSize)(tls, file, size)
}

func logClose(tls *libc.TLS, file uintptr) int32 {
	forget(tls, databaseOf(file))
	return call[fileFunc](ownOf(file).FxClose)(tls, file)
}

// databaseLock takes or gives back a lock of a database's shared memory. With that of writers goes what waits.
func databaseLock(tls *libc.TLS, file uintptr, first, count, flags int32) int32 {
	if first == writeLock && flags == sqlite3.SQLITE_SHM_UNLOCK|sqlite3.SQLITE_SHM_EXCLUSIVE {
		if l, found := logs.Load(file); found {
			l.(*log).bytes = l.(*log).bytes[:0]
		}
	}
	return call[lockFunc](ownOf(file).FxShmLock)(tls, file, first, count, flags)
}
