//go:build unix

package dbtest

import (
	"os/signal"
	"syscall"
	"testing"
)

// FailWrites runs fn while writes beyond the first 64 KiB of a file fail (SQLITE_IOERR_WRITE). It affects the whole
// process, so the test must not be parallel.
func FailWrites(t testing.TB, fn func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var usual syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &usual); err != nil {
		t.Fatal(err)
	}
	small := usual
	small.Cur = 64 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &usual); err != nil {
			t.Error(err)
		}
	}()
	fn()
}
