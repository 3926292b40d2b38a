package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNotEmpty means that there already is a database, or something else, where one should be created.
var ErrNotEmpty = errors.New("the database is not empty")

// fileSuffixes are the endings of the files of a SQLite database. Leftovers of another database would be mistaken for
// ours.
var fileSuffixes = []string{"", "-wal", "-shm", "-journal"}

// BuildFile makes a whole database or none: fill gets the name of an empty file in the same folder, which is moved into place when
// it is complete and synced. The error is ErrNotEmpty if a file already exists, even the log of a missing database.
func BuildFile(path string, fill func(name string) error) (err error) {
	for _, ending := range fileSuffixes {
		if _, err := os.Lstat(path + ending); err == nil {
			return fmt.Errorf("%w: %s exists", ErrNotEmpty, path+ending)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("the database folder cannot be created: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.partial") // readable by its owner only
	if err != nil {
		return fmt.Errorf("the database cannot be created: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	if err := fill(file.Name()); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	// Unlike rename, link never replaces a file that was put there in the meantime.
	if err := os.Link(file.Name(), path); err != nil {
		return fmt.Errorf("the database cannot be moved into place: %w", err)
	}
	return SyncFolder(path)
}

// SyncFolder makes it durable that a file was put into its folder.
func SyncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
