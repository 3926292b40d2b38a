package health

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"holdfast/internal/store"
)

// Lag is how far behind the replica was from which a request has read a report.
type Lag struct{ most atomic.Int64 } // in nanoseconds, and one more; 0: no copy was read

// Noting returns a context in which reports record in lag how far behind the replica was, if there is one.
func (h *Health) Noting(ctx context.Context, lag *Lag) context.Context {
	if !h.Store.Following() {
		return ctx
	}
	return store.NotingLag(ctx, func(behind time.Duration) { lag.most.Store(max(lag.most.Load(), int64(behind)+1)) })
}

// Seconds is how far behind the replica was, such as 0.250; "" if none was read.
func (l *Lag) Seconds() string {
	behind := time.Duration(l.most.Load() - 1)
	if behind < 0 {
		return ""
	}
	return fmt.Sprintf("%d.%03d", behind/time.Second, behind%time.Second/time.Millisecond)
}
