package cli

import "testing"

// Some threads are left for new requests while the maximum number of SQLite reads is running.
func TestSomeThreadsAreSpare(t *testing.T) {
	for processors, want := range map[int]int{1: 3, 2: 3, 3: 4, 16: 17} {
		if got := threadsFor(processors); got != want {
			t.Errorf("%d processors: %d threads", processors, got)
		}
	}
}
