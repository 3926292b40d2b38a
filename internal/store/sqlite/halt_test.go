package sqlite_test

import (
	"errors"
	"runtime"
	"testing"

	"holdfast/internal/store/sqlite"
)

// TestAFailedSyncHalts: nothing is written after the disk failed to store the pages of a checkpoint.
func TestAFailedSyncHalts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux, where syncing /dev/zero fails")
	}
	files, err := sqlite.WatchFile("/dev/zero") // accepts all writes, but cannot sync
	if err != nil {
		t.Fatal(err)
	}
	if err := files.Writable(); err != nil {
		t.Fatal(err)
	}
	if err := files.Sync(); err == nil {
		t.Fatal("/dev/zero can be synced")
	}
	if err := files.Writable(); !errors.Is(err, sqlite.ErrHalted) {
		t.Errorf("after a failed sync: %v", err)
	}
}
