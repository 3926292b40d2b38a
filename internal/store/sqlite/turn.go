package sqlite

import (
	"context"
	"time"
)

// A long job that yields checks this often whether others still write, and waits at most this long. Under constant load
// it still makes progress in small steps.
const (
	turnCheck = 2 * time.Millisecond
	turnWait  = 80 * time.Millisecond
)

// Wait returns when no process is between Begin and End, or after turnWait. The error is that of ctx.
func (t Turn) Wait(ctx context.Context) error {
	if t.Alone() {
		return ctx.Err()
	}
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	check := time.NewTicker(turnCheck)
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return caller.Err()
		case <-check.C:
			if t.Alone() {
				return nil
			}
		}
	}
}
