package sqlite

import (
	"errors"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// code returns SQLite's primary result code inside an error, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// Conflict reports whether a constraint was violated.
func Conflict(err error) bool { return code(err) == lib.SQLITE_CONSTRAINT }

// Transient reports whether the same statement may succeed later.
func Transient(err error) bool {
	c := code(err)
	return c == lib.SQLITE_BUSY || c == lib.SQLITE_LOCKED
}

// Unreachable reports whether the file cannot be used.
func Unreachable(err error) bool { return code(err) == lib.SQLITE_CANTOPEN || Stuck(err) }

// Stuck reports whether the disk is full or broken, or the file is read-only.
func Stuck(err error) bool {
	c := code(err)
	return c == lib.SQLITE_FULL || c == lib.SQLITE_IOERR || c == lib.SQLITE_READONLY
}

// SumTooLarge reports whether a sum exceeds 64 bits.
func SumTooLarge(err error) bool {
	return code(err) == lib.SQLITE_ERROR && strings.Contains(err.Error(), "integer overflow")
}

// NotCommitted reports whether an error of a commit means that nothing is stored. After a disk error, the end of the
// write-ahead log may or may not contain the commit: the next reader decides.
func NotCommitted(err error) bool { return code(err) != lib.SQLITE_IOERR }
