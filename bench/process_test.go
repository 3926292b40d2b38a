package main

import (
	"testing"
	"time"
)

// TestAChildThatEndsIsCountedOnce: its time becomes its parent's while all is read.
func TestAChildThatEndsIsCountedOnce(t *testing.T) {
	t.Parallel()
	own, child := 2*time.Second, 3*time.Second
	sum := steady(func() time.Duration { return own }, func() time.Duration {
		own, child = own+child, 0 // it ends before it is looked at
		return child
	})
	if sum != 5*time.Second {
		t.Errorf("parent and child took 5s, and are counted as %s", sum)
	}
}
