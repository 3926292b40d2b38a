//go:build linux || darwin || freebsd || netbsd || openbsd

package db

import (
	"os"
	"syscall"
)

// turn is the file by whose lock processes see who writes. None waits for a lock of it, so a process that stops in the
// middle holds nobody up.
type turn struct{ writes, looks *os.File }

// openTurn opens the file. Without it the processes do not see each other, and all works as well as SQLite lets it.
func openTurn(path string) turn {
	open := func() *os.File {
		file, err := os.OpenFile(path+turnSuffix, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil
		}
		return file
	}
	return turn{open(), open()}
}

// begin says that this process writes, or waits to, until end.
func (t turn) begin() { t.lock(t.writes, syscall.LOCK_SH) }
func (t turn) end()   { t.lock(t.writes, syscall.LOCK_UN) }

// alone reports whether no process is between begin and end.
func (t turn) alone() bool {
	if !t.lock(t.looks, syscall.LOCK_EX) {
		return false
	}
	t.lock(t.looks, syscall.LOCK_UN)
	return true
}

func (t turn) lock(file *os.File, how int) bool {
	return file == nil || syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB) == nil
}

func (t turn) close() {
	for _, file := range []*os.File{t.writes, t.looks} {
		if file != nil {
			_ = file.Close() // nothing was written to it
		}
	}
}
