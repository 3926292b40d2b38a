//go:build linux || darwin || freebsd || netbsd || openbsd

package sqlite

import (
	"os"
	"syscall"
)

// turnSuffix ends the name of an empty file. Its lock shows the processes over one SQLite database whether another one writes.
const turnSuffix = ".turn"

// Turn is that file, opened twice: to hold a shared lock while this process writes, and to check whether others do. No
// process waits for this lock, so a process that is paused in the middle blocks no other.
type Turn struct{ writes, checks *os.File }

// OpenTurn opens the file. Without it the processes do not see each other, and share the database as well as SQLite lets them.
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

// Begin marks this process as writing, or waiting to, until End.
func (t Turn) Begin() { t.lock(t.writes, syscall.LOCK_SH) }

// End removes the mark.
func (t Turn) End() { t.lock(t.writes, syscall.LOCK_UN) }

// Alone reports whether no process is between Begin and End.
func (t Turn) Alone() bool {
	if !t.lock(t.checks, syscall.LOCK_EX) {
		return false
	}
	t.lock(t.checks, syscall.LOCK_UN)
	return true
}

func (t Turn) lock(file *os.File, how int) bool {
	return file == nil || syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB) == nil
}

// Close closes the file.
func (t Turn) Close() {
	for _, file := range []*os.File{t.writes, t.checks} {
		if file != nil {
			_ = file.Close() // nothing was written to it
		}
	}
}
