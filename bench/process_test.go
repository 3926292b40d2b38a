package main

import (
	"testing"
	"time"
)

// TestAChildThatEndsIsCountedOnce: its time is added to its parent's during the reading.
func TestAChildThatEndsIsCountedOnce(t *testing.T) {
	t.Parallel()
	own, child := 2*time.Second, 3*time.Second
	sum := steady(func() time.Duration { return own }, func() time.Duration {
		own, child = own+child, 0 // it ends before it is read
		return child
	})
	if sum != 5*time.Second {
		t.Errorf("parent and child took 5s, but are counted as %s", sum)
	}
}
