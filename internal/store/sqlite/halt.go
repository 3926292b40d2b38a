package sqlite

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrHalted: the disk has failed to store something, so nothing more is written until a restart.
var ErrHalted = errors.New("no more writes until a restart, because a disk write failed")

// errSync: the disk did not store the writes to the database file.
var errSync = errors.New("syncing the database file")

// HaltAfter makes Writable fail from now on if err is that of a failed sync. When a sync fails, the system may drop the pages
// that it could not write, and report the error only once. The next sync succeeds, and commits that are acknowledged
// after it can get lost. A restart reads what is really there. A full disk is another error (SQLITE_FULL), and passes.
func (f *Files) HaltAfter(err error) {
	if f != nil && syncFailed(err) && f.halted.CompareAndSwap(nil, &err) {
		slog.Error("a disk write failed: no more writes until a restart", "database", f.path, "error", err)
	}
}

func syncFailed(err error) bool {
	if errors.Is(err, errSync) {
		return true
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	switch e.Code() {
	case sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC, sqlite3.SQLITE_IOERR_WRITE:
		return true
	}
	return false
}

// Writable returns ErrHalted after a failed sync, and ErrMoved if a file is not the one that was opened.
func (f *Files) Writable() error {
	if f == nil { // PostgreSQL
		return nil
	}
	if cause := f.halted.Load(); cause != nil {
		return fmt.Errorf("%w: %w", ErrHalted, *cause)
	}
	return f.inPlace()
}

// sync flushes the database file to the disk, so that little is left for SQLite's own sync. It does nothing where closing the
// file would release SQLite's locks.
func (f *Files) sync() error {
	if !sqlite.OFDLockingEnabled() {
		return nil
	}
	file, err := os.OpenFile(f.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err = file.Sync(); err != nil {
		err = fmt.Errorf("%w: %w", errSync, err)
		f.HaltAfter(err)
	}
	return errors.Join(err, file.Close())
}
