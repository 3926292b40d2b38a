package app

import "testing"

// ReadLines sets for one test how many lines a read of an export holds.
func ReadLines(t *testing.T, n int) {
	before := linesPerRead
	linesPerRead = n
	t.Cleanup(func() { linesPerRead = before })
}

// ReadAllocations sets for one test how many allocations an explanation reads at once.
func ReadAllocations(t *testing.T, n int) {
	before := allocationsPerRead
	allocationsPerRead = n
	t.Cleanup(func() { allocationsPerRead = before })
}
