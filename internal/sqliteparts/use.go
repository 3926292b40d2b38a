// Package sqliteparts gives SQLite parts of its own for those that are built into the driver: a page cache for each connection, in place
// of one for all, locks that cost nothing where nobody else can come, and a log that is written in pieces. It owns nothing. Begin reading
// at Use.
package sqliteparts

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Use has SQLite use these parts, from its first database on. After that it is refused: SQLite keeps what it began with. What the first
// call came to, all later ones say, too.
func Use() error { return use() }

var use = sync.OnceValue(func() error {
	s := settings{TLS: libc.NewTLS()}
	defer s.Close()
	// Outside the memory that Go manages, which may move what lies on a stack.
	if s.arguments = libc.Xcalloc(s.TLS, 1, libc.Tsize_t(unsafe.Sizeof(uintptr(0))+largestMethods)); s.arguments == 0 {
		return errors.New("there is no memory for the settings of SQLite")
	}
	defer libc.Xfree(s.TLS, s.arguments)
	if err := s.usePages(); err != nil {
		return err
	}
	if err := s.useLocks(); err != nil {
		return err
	}
	// Now, while nobody else can: the lock for it is of the sort that connections have.
	if err := s.said(sqlite3.Xsqlite3_initialize(s.TLS)); err != nil {
		return err
	}
	return s.useFiles()
})

// settings are what SQLite is told before its first database.
type settings struct {
	*libc.TLS
	arguments uintptr // room for one argument, and behind it for what it points to
}

// largestMethods is the size of the larger ones of what an argument points to.
const largestMethods = max(unsafe.Sizeof(sqlite3.Tsqlite3_pcache_methods2{}), unsafe.Sizeof(sqlite3.Tsqlite3_mutex_methods{}))

// methods is the place of what an argument points to. SQLite copies it.
func (s settings) methods() uintptr { return s.arguments + unsafe.Sizeof(uintptr(0)) }

// set sets one of SQLite's options.
func (s settings) set(option int32, argument any) error {
	return s.said(sqlite3.Xsqlite3_config(s.TLS, option, libc.VaList(s.arguments, argument)))
}

func (s settings) said(code int32) error {
	if code == sqlite3.SQLITE_OK {
		return nil
	}
	return fmt.Errorf("SQLite does not take other parts any more: %s", libc.GoString(sqlite3.Xsqlite3_errstr(s.TLS, code)))
}

// pointer is a function that is declared, as SQLite calls it.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f F }{f})) }

// address is the memory at an address that libc gave.
func address(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }
