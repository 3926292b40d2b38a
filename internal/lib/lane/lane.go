// Package lane bounds long work, so that short work goes on beside it. A few pieces run at once, some wait, and the rest are refused.
// It owns nothing. Begin reading at Lane.Enter.
package lane

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/internal/errs"
)

// Bounds of a lane.
type Bounds struct {
	Readers  int           // how many run at once; default 2
	Waiting  int           // how many wait for their turn; default 16, below zero none. Further ones are refused.
	Each     int           // how many of one caller run or wait; default 6, below zero none. No caller alone fills the lane.
	Patience time.Duration // how long one waits before it is refused; default 5 seconds
	Lifetime time.Duration // how long one runs before it is ended; zero: as long as its caller waits
}

func (b *Bounds) complete() {
	b.Readers = cmp.Or(b.Readers, 2)
	b.Waiting = cmp.Or(b.Waiting, 16)
	b.Each = cmp.Or(b.Each, 6)
	b.Patience = cmp.Or(b.Patience, 5*time.Second)
}

// Lane is a lane with those who are in it.
type Lane struct {
	Bounds
	running chan struct{} // a place for each that runs
	waiting atomic.Int64

	mu      sync.Mutex
	callers map[string]int // what each runs and waits for
}

// New makes a lane. A zero of its bounds stands for the default.
func New(b Bounds) *Lane {
	b.complete()
	return &Lane{Bounds: b, running: make(chan struct{}, b.Readers)}
}

// Enter waits for a place, and returns how to leave it. It refuses when the caller has too many (TooMany), when too many wait, or
// when it has waited too long (Unavailable). The program itself, whose caller is "", may have any number.
func (l *Lane) Enter(ctx context.Context, caller string) (leave func(), err error) {
	if err := l.count(caller); err != nil {
		return nil, err
	}
	if err := l.enter(ctx); err != nil {
		l.forget(caller)
		return nil, err
	}
	return func() {
		<-l.running
		l.forget(caller)
	}, nil
}

// Callers is how many callers have something in the lane.
func (l *Lane) Callers() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.callers)
}

// Refuse is the error of what has no place, and may come again later.
func (l *Lane) Refuse(message string, err error) error {
	return &errs.Error{Kind: errs.Unavailable, Message: message, RetryAfter: l.Patience, Err: err}
}

// count counts something of a caller, or refuses it. That of the program itself is not counted.
func (l *Lane) count(caller string) error {
	if caller == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.callers[caller] >= l.Each {
		return &errs.Error{
			Kind: errs.TooMany, RetryAfter: l.Patience,
			Message: "You have too many large reports open at the same time. Wait for some answers first.",
		}
	}
	if l.callers == nil {
		l.callers = map[string]int{}
	}
	l.callers[caller]++
	return nil
}

// forget ends what count has begun.
func (l *Lane) forget(caller string) {
	if caller == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.callers[caller]--; l.callers[caller] == 0 {
		delete(l.callers, caller)
	}
}

// enter waits for a place. It refuses when too many wait, or when it has waited too long.
func (l *Lane) enter(ctx context.Context) error {
	select {
	case l.running <- struct{}{}:
		return nil
	default:
	}
	const busy = "Too many large reports are being computed. Try again in some seconds."
	defer l.waiting.Add(-1)
	if l.waiting.Add(1) > int64(l.Waiting) {
		return l.Refuse(busy, nil)
	}
	patience := time.NewTimer(l.Patience)
	defer patience.Stop()
	select {
	case l.running <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
		return l.Refuse(busy, nil)
	}
}
