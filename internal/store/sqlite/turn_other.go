//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package sqlite

// Turn does nothing where the system has no such locks: an import and a server then compete for SQLite's lock.
type Turn struct{}

// OpenTurn opens nothing.
func OpenTurn(string) Turn { return Turn{} }

// Begin does nothing.
func (Turn) Begin() {}

// End does nothing.
func (Turn) End() {}

// Alone is always true.
func (Turn) Alone() bool { return true }

// Close does nothing.
func (Turn) Close() {}
