//go:build linux || darwin || freebsd || netbsd || openbsd

package sqlite

import (
	"os"
	"syscall"
)

// turnSuffix ends the name of the file by whose lock the processes over one SQLite database see who writes. It is empty.
const turnSuffix = ".turn"

// Turn is the file by whose lock processes see who writes. None waits for a lock of it, so a process that stops in the
// middle holds nobody up.
type Turn struct{ writes, looks *os.File }

// OpenTurn opens the file. Without it the processes do not see each other, and all works as well as SQLite lets it.
func OpenTurn(path string) Turn {
	open := func() *os.File {
		file, err := os.OpenFile(path+turnSuffix, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil
		}
		return file
	}
	return Turn{open(), open()}
}

// Begin says that this process writes, or waits to, until end.
func (t Turn) Begin() { t.lock(t.writes, syscall.LOCK_SH) }

// End says that it does not any more.
func (t Turn) End() { t.lock(t.writes, syscall.LOCK_UN) }

// Alone reports whether no process is between begin and end.
func (t Turn) Alone() bool {
	if !t.lock(t.looks, syscall.LOCK_EX) {
		return false
	}
	t.lock(t.looks, syscall.LOCK_UN)
	return true
}

func (t Turn) lock(file *os.File, how int) bool {
	return file == nil || syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB) == nil
}

// Close closes the file.
func (t Turn) Close() {
	for _, file := range []*os.File{t.writes, t.looks} {
		if file != nil {
			_ = file.Close() // nothing was written to it
		}
	}
}
