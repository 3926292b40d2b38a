package sqliteparts

import (
	"errors"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// The functions of sqlite3_vfs and sqlite3_io_methods that are changed here (https://sqlite.org/c3ref/io_methods.html). Those for a read and
// for a write are alike.
type (
	openFunc     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, opened uintptr) int32
	writeFunc    = func(tls *libc.TLS, file, from uintptr, length int32, at int64) int32
	truncateFunc = func(tls *libc.TLS, file uintptr, size int64) int32
	syncFunc     = func(tls *libc.TLS, file uintptr, flags int32) int32
	sizeFunc     = func(tls *libc.TLS, file, size uintptr) int32
	lockFunc     = func(tls *libc.TLS, file uintptr, first, count, flags int32) int32
	fileFunc     = func(tls *libc.TLS, file uintptr) int32
)

// call is a function of SQLite, by its address.
func call[F any](at uintptr) F { return *(*F)(unsafe.Pointer(&at)) }

// own is SQLite's way to open files.
var own struct {
	vfs  uintptr
	open openFunc
}

// useFiles has SQLite open its files as before, but for what is done with logs.
func (s settings) useFiles() error {
	own.vfs = sqlite3.Xsqlite3_vfs_find(s.TLS, 0)
	ours := libc.Xcalloc(s.TLS, 1, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	name, err := libc.CString("holdfast")
	if own.vfs == 0 || ours == 0 || err != nil {
		return errors.Join(errors.New("SQLite has no files, or there is no memory for ours"), err)
	}
	vfs := (*sqlite3.Tsqlite3_vfs)(address(ours))
	*vfs = *(*sqlite3.Tsqlite3_vfs)(address(own.vfs))
	own.open = call[openFunc](vfs.FxOpen)
	vfs.FpNext, vfs.FzName, vfs.FxOpen = 0, name, pointer(openFile)
	return s.said(sqlite3.Xsqlite3_vfs_register(s.TLS, ours, 1))
}

// openFile opens any file of a database. A log, and the database that it belongs to, get methods of ours.
func openFile(tls *libc.TLS, _, name, file uintptr, flags int32, opened uintptr) int32 {
	code := own.open(tls, own.vfs, name, file, flags, opened)
	if code == sqlite3.SQLITE_OK && flags&sqlite3.SQLITE_OPEN_WAL != 0 {
		takeLog(tls, file)
	}
	return code
}

// methods are what SQLite does with a file. They lie outside the memory that Go manages.
type methods struct {
	sqlite3.Tsqlite3_io_methods
	own *sqlite3.Tsqlite3_io_methods // what SQLite did before
}

// kind is a kind of files that get methods of ours.
type kind struct {
	change func(m *sqlite3.Tsqlite3_io_methods) // makes SQLite's own ones ours
	made   sync.Map                             // ours, by the address of SQLite's, and by their own
}

// take gives a file methods of ours. All files with the same own ones share them. It reports false where there is no memory.
func (k *kind) take(tls *libc.TLS, file uintptr) bool {
	of := (*sqlite3.Tsqlite3_file)(address(file))
	at, known := k.made.Load(of.FpMethods)
	if !known {
		made := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(methods{})))
		if made == 0 {
			return false
		}
		m := (*methods)(address(made))
		m.own = (*sqlite3.Tsqlite3_io_methods)(address(of.FpMethods))
		m.Tsqlite3_io_methods = *m.own
		k.change(&m.Tsqlite3_io_methods)
		var second bool
		if at, second = k.made.LoadOrStore(of.FpMethods, made); second {
			libc.Xfree(tls, made)
		}
		k.made.Store(at, at) // a file that has ours keeps them
	}
	of.FpMethods = at.(uintptr)
	return true
}

// ownOf are the methods that SQLite gave a file.
func ownOf(file uintptr) *sqlite3.Tsqlite3_io_methods {
	return (*methods)(address((*sqlite3.Tsqlite3_file)(address(file)).FpMethods)).own
}
