// Package sqlitefile looks after the files of a SQLite database: whether they are in place, whether there was a database, and which
// process writes. It owns the files that end in .made and .turn. Begin reading at Opened and Turn.
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

// ErrGone: there was a database, and its file has gone. Nobody wants an empty one in its place unasked.
var ErrGone = errors.New("the database has gone")

// ErrMoved: the file at the path of the database is not the one that was opened.
var ErrMoved = errors.New("the database file has been moved, replaced or deleted since it was opened")

// Files are the files of a SQLite database as they were when it was opened. A file that is deleted or replaced lives
// on for those who have it open. They would go on writing, and all of it would be gone when they end.
//
// Every write looks before it begins, and a read where nobody has looked within a millisecond. A write looks again between its
// commit and its answer: what is acknowledged was in place after it was durable. A look before the commit alone would leave a gap.
// It costs two calls of stat, some microseconds, beside a sync of the disk.
type Files struct {
	path string
	main os.FileInfo
	log  atomic.Pointer[os.FileInfo] // the write-ahead log; nil before it is made, with the first transaction

	looked atomic.Int64 // when InPlaceLately found the files in place, in nanoseconds of its caller's clock; 0: they may be gone
}

// lookAgain is how long a look lasts for reads. Thousands of them in a second share one.
const lookAgain = time.Millisecond

// InPlaceLately is InPlace for a read, which acknowledges nothing: it does not look again within a millisecond, unless somebody has
// found that a file has gone. now is the clock of the caller.
func (f *Files) InPlaceLately(now time.Time) error {
	if f == nil { // PostgreSQL
		return nil
	}
	if since := now.UnixNano() - f.looked.Load(); since > 0 && since < int64(lookAgain) {
		return nil
	}
	err := f.InPlace()
	if err == nil {
		f.looked.Store(now.UnixNano())
	}
	return err
}

const logSuffix = "-wal"

// Opened notes the files of the database at a path.
func WatchFile(path string) (*Files, error) {
	main, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("the database file: %w", err)
	}
	return &Files{path: path, main: main}, nil
}

// InPlace returns ErrMoved where a file is another one by inode and device, or is not there.
func (f *Files) InPlace() error {
	if f == nil { // PostgreSQL
		return nil
	}
	err := f.look()
	if err != nil {
		f.looked.Store(0)
	}
	return err
}

func (f *Files) look() error {
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

// markerSuffix ends the name of a file that lies beside a SQLite database. It says that there is a database, also when
// its file has gone.
const markerSuffix = ".made"

// Make makes the file of a SQLite database and its folder, for their owner alone to read, if they are missing. The
// error is ErrGone where there was a database before.
func MakeFile(path string) error {
	if empty(path) && marked(path) {
		return fmt.Errorf("%w: %s is missing or empty, and %s says that it was made", ErrGone, path, path+markerSuffix)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("the folder of the database cannot be made: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("the database file cannot be opened: %w", err)
	}
	return file.Close()
}

// Never reports whether there is no database at a path, and never was one.
func NeverExisted(path string) bool { return empty(path) && !marked(path) }

// empty reports whether there is no database in the file of a path.
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
	text := fmt.Sprintf("holdfast has a database in %s, since %s or before.\n"+
		"If that file is gone, this one keeps holdfast from making an empty database in its place. See docs/reliability.md.\n",
		filepath.Base(f.path), now.Format(time.DateOnly))
	if err := os.WriteFile(f.path+markerSuffix, []byte(text), 0o600); err != nil {
		return fmt.Errorf("the marker of the database: %w", err)
	}
	return nil
}

// Forget lets Make make a database at a path where one has gone. It changes nothing where the database is there.
func ForgetFile(path string) error {
	if !empty(path) {
		return nil
	}
	if err := os.Remove(path + markerSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the marker of the database: %w", err)
	}
	return nil
}
