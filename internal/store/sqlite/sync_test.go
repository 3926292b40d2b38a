package sqlite_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"holdfast/internal/store/sqlite"

	driver "modernc.org/sqlite"
)

// other is the environment variable with the database for another process.
const other = "HOLDFAST_TEST_SYNC"

// TestSyncLeavesTheLocks: SQLite's locks outlast the file that a sync opens and closes, so another process does not write into a
// transaction.
func TestSyncLeavesTheLocks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux: other systems have no open file description locks, and a sync does nothing there")
	}
	if !driver.OFDLockingEnabled() {
		t.Fatal("SQLite takes locks that belong to the process.")
	}
	path := filepath.Join(t.TempDir(), "a.db")
	db := openLocked(t, path)
	for _, statement := range []string{"CREATE TABLE t (n BIGINT)", "BEGIN EXCLUSIVE"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	files, err := sqlite.WatchFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := files.Sync(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAnotherProcessWrites$", "-test.v")
	cmd.Env = append(os.Environ(), other+"="+path)
	if said, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(said), "locked") {
		t.Errorf("another process, while this one has a lock: %v\n%s", err, said)
	}
	if _, err := db.Exec("COMMIT"); err != nil {
		t.Error(err)
	}
}

// TestAnotherProcessWrites is run by TestSyncLeavesTheLocks.
func TestAnotherProcessWrites(t *testing.T) {
	path := os.Getenv(other)
	if path == "" {
		return
	}
	_, err := openLocked(t, path).Exec("INSERT INTO t VALUES (1)")
	t.Log(err)
}

// TestASyncThatDoesNotBegin: a file that cannot be opened is not a failed sync.
func TestASyncThatDoesNotBegin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	if err := sqlite.MakeFile(path); err != nil {
		t.Fatal(err)
	}
	files, err := sqlite.WatchFile(path)
	if err == nil {
		err = os.Rename(path, path+".old")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := files.Sync(); driver.OFDLockingEnabled() && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a sync of a file that is not there: %v", err)
	}
	if err := os.Rename(path+".old", path); err != nil {
		t.Fatal(err)
	}
	if err := files.Writable(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func openLocked(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	return db
}
