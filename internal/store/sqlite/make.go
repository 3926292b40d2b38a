package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNotEmpty: where a database is to be made, there is one already, or something else.
var ErrNotEmpty = errors.New("the database is not empty")

// besides are the endings of the files that SQLite keeps beside a database. Those of another database would be taken for
// ours.
var besides = []string{"", "-wal", "-shm", "-journal"}

// Build makes a database: fill gets the name of an empty file beside its place, and when the file is whole and on the disk, it
// is moved there. If anything fails, nothing is left behind. The error is ErrNotEmpty if a file is there already, also the log
// of a database that has gone.
func BuildFile(path string, fill func(name string) error) (err error) {
	for _, ending := range besides {
		if _, err := os.Lstat(path + ending); err == nil {
			return fmt.Errorf("%w: %s is there", ErrNotEmpty, path+ending)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("the folder of the database cannot be made: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.partial") // for its owner alone to read
	if err != nil {
		return fmt.Errorf("the database cannot be made: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	if err := fill(file.Name()); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	// Unlike a renaming, a link never replaces what somebody has put there meanwhile.
	if err := os.Link(file.Name(), path); err != nil {
		return fmt.Errorf("the database cannot be put in its place: %w", err)
	}
	return SyncFolder(path)
}

// SyncFolder makes durable that a file was put into its folder.
func SyncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
