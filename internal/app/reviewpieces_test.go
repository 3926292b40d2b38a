package app

import "testing"

// ReviewAFew sets for one test how many allocations one write of a review walks through.
func ReviewAFew(t *testing.T, n int) {
	before := reviewedPerWrite
	reviewedPerWrite = n
	t.Cleanup(func() { reviewedPerWrite = before })
}
