package sqlite

import (
	"context"
	"time"
)

// Bounds of a long job that gives way: how often it looks whether others still write, and how long it waits for them at
// most. Under a load that never ends it goes on all the same, a small piece at a time.
const (
	turnLook = 2 * time.Millisecond
	turnWait = 80 * time.Millisecond
)

// Wait returns when no process is between Begin and End, or after a moment. The error is that of ctx.
func (t Turn) Wait(ctx context.Context) error {
	if t.Alone() {
		return ctx.Err()
	}
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	look := time.NewTicker(turnLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return caller.Err()
		case <-look.C:
			if t.Alone() {
				return nil
			}
		}
	}
}
