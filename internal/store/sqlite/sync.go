package sqlite

import (
	"errors"
	"os"

	"modernc.org/sqlite"
)

// SQLite takes locks that belong to an open file, where the system has them: Linux. Other locks belong to the process, which
// loses them when it closes any file of the database. Without them Sync does nothing.
func init() { _, _ = sqlite.OFDLocking(true) }

// Sync has the disk take what is written to the database file, so that SQLite's own sync finds little left. It does nothing where
// closing the file would take SQLite's locks away.
func Sync(path string) error {
	if !sqlite.OFDLockingEnabled() {
		return nil
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
