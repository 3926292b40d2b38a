package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// ErrGone: there was a database, but its file is missing. An empty one is not created in its place automatically.
var ErrGone = errors.New("the database is gone")

// ErrMoved means that the file at the path of the database is not the one that was opened.
var ErrMoved = errors.New("the database file has been moved, replaced or deleted since it was opened")

// Files watches the files of a SQLite database. A file that is deleted or replaced lives on for processes that have it open. They would
// keep writing, and everything would be lost when they exit.
//
// Every write checks before it begins, and again between its commit and its response: the file was still in place after an acknowledged
// write became durable. Reads share a check for a millisecond. A check is two calls of stat, which take a few microseconds, far less than
// a disk sync.
type Files struct {
	path string
	main os.FileInfo
	log  atomic.Pointer[os.FileInfo] // the write-ahead log; nil before it is made, with the first transaction

	checked atomic.Int64          // when InPlaceLately last found the files in place, in nanoseconds of its caller's clock; 0: they may be missing
	halted  atomic.Pointer[error] // the first failed sync: see HaltAfter
}

// checkEvery is how long reads share a check. There are thousands of them in a second.
const checkEvery = time.Millisecond

// InPlaceLately returns ErrMoved if a file is not the one that was opened. It is for reads, which acknowledge nothing:
// it checks at most once per millisecond, unless a file was missing. now is the caller's clock.
func (f *Files) InPlaceLately(now time.Time) error {
	if f == nil { // PostgreSQL
		return nil
	}
	if since := now.UnixNano() - f.checked.Load(); since > 0 && since < int64(checkEvery) {
		return nil
	}
	err := f.inPlace()
	if err == nil {
		f.checked.Store(now.UnixNano())
	}
	return err
}

const logSuffix = "-wal"

// WatchFile returns the files of the database at a path, as they are now.
func WatchFile(path string) (*Files, error) {
	main, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("the database file: %w", err)
	}
	return &Files{path: path, main: main}, nil
}

// inPlace returns ErrMoved where a file is missing, or another one by inode and device.
func (f *Files) inPlace() error {
	err := f.compare()
	if err != nil {
		f.checked.Store(0)
	}
	return err
}

func (f *Files) compare() error {
	if now, err := os.Stat(f.path); err != nil || !os.SameFile(now, f.main) {
		return errors.Join(fmt.Errorf("%w: %s", ErrMoved, f.path), err)
	}
	log := f.path + logSuffix
	now, err := os.Stat(log)
	opened := f.log.Load()
	switch {
	case opened == nil && err == nil:
		f.log.Store(&now)
	case opened != nil && (err != nil || !os.SameFile(now, *opened)):
		return errors.Join(fmt.Errorf("%w: %s", ErrMoved, log), err)
	}
	return nil
}

// markerSuffix is the suffix of a file next to a SQLite database. It shows that there is a database even if its file is missing.
const markerSuffix = ".made"

// MakeFile makes the file of a SQLite database and its folder, readable by their owner only, if they are missing. The error is
// ErrGone where there was a database before.
func MakeFile(path string) error {
	if empty(path) && marked(path) {
		return fmt.Errorf("%w: %s is missing or empty, but %s shows that it was created", ErrGone, path, path+markerSuffix)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("the database folder cannot be created: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("the database file cannot be opened: %w", err)
	}
	return file.Close()
}

// NeverExisted reports whether there is no database at a path, and never was one.
func NeverExisted(path string) bool { return empty(path) && !marked(path) }

// empty reports whether the file of a path is missing or empty.
func empty(path string) bool {
	info, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}

func marked(path string) bool {
	_, err := os.Stat(path + markerSuffix)
	return err == nil
}

// Mark writes the marker of a database that has its schema.
func (f *Files) Mark(now time.Time) error {
	if f == nil || marked(f.path) {
		return nil
	}
	text := fmt.Sprintf("holdfast has had a database in %s since %s or earlier.\n"+
		"If that file is gone, this one keeps holdfast from creating an empty database in its place. See docs/reliability.md.\n",
		filepath.Base(f.path), now.Format(time.DateOnly))
	if err := os.WriteFile(f.path+markerSuffix, []byte(text), 0o600); err != nil {
		return fmt.Errorf("the database marker: %w", err)
	}
	return nil
}

// ForgetFile lets MakeFile create a database at a path where one is missing. It changes nothing if the database exists.
func ForgetFile(path string) error {
	if !empty(path) {
		return nil
	}
	if err := os.Remove(path + markerSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the database marker: %w", err)
	}
	return nil
}
