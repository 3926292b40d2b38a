package sqlitefile

import (
	"errors"
	"os"

	"modernc.org/sqlite"
)

// OwnLocks has SQLite take locks that belong to an open file, where the system has them: Linux. Others belong to the process, and it
// loses them when it closes the file anywhere. It counts for the whole process, and only before its first database is opened.
func OwnLocks() { _, _ = sqlite.OFDLocking(true) } // without them Sync does nothing

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
