// Package limiter limits concurrency, in total and per caller, with a bounded queue in front. It adds callers and the
// queue's bound to golang.org/x/sync/semaphore. Start at Limiter.Acquire.
package limiter

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Bounds of a limiter. A place is whatever is scarce: a running request, a call, a byte of memory.
type Bounds struct {
	Places    int64         // taken at once
	PerCaller int64         // taken or waited for by one caller; zero: callers are not distinguished; negative: none
	Queue     int64         // maximum queue length; zero: no queue
	Wait      time.Duration // how long one waits; zero: as long as its context lasts
}

// The errors of a limiter, besides that of the context.
var (
	ErrCaller = errors.New("the caller has reached its own limit")
	ErrFull   = errors.New("the queue is full, or the wait for a slot timed out")
)

// Limiter grants slots in order of arrival. A caller has at most as many calls in the common queue as can run at the
// same time; the rest wait in the caller's own queue. So a new caller waits behind a few calls of a heavy caller, not
// behind all of them.
type Limiter struct {
	bounds Bounds
	places *semaphore.Weighted

	mu      sync.Mutex
	queued  int64 // taken, or waited for in the common queue
	callers map[string]*caller
}

// caller holds slots or waits for them.
type caller struct {
	asked int64               // taken or waited for
	own   *semaphore.Weighted // admits no more to the common queue than can run at the same time
}

// New makes a limiter.
func New(b Bounds) *Limiter {
	return &Limiter{bounds: b, places: semaphore.NewWeighted(b.Places), callers: map[string]*caller{}}
}

// Acquire waits for n places; n is at most what one caller may take. Unless it returns an error, Release must follow.
// The caller "" is anonymous: only the overall bounds apply. A cancelled context only ends waiting.
func (l *Limiter) Acquire(ctx context.Context, name string, n int64) error {
	c, err := l.admit(name, n)
	if err != nil {
		return err
	}
	if err := l.wait(ctx, c, n); err != nil {
		l.forget(name, n)
		return err
	}
	return nil
}

// Release gives n places back that a caller has acquired.
func (l *Limiter) Release(name string, n int64) {
	l.places.Release(n)
	l.forget(name, n).own.Release(n)
}

// Taken is how many places are taken or waited for in the common queue.
func (l *Limiter) Taken() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queued
}

// admit counts the slots that a caller requests, or refuses them.
func (l *Limiter) admit(name string, n int64) (*caller, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	most, share := l.perCaller(name)
	c := l.callers[name]
	if c == nil {
		c = &caller{own: semaphore.NewWeighted(share)}
	}
	if c.asked > most-n {
		return nil, ErrCaller
	}
	more := min(c.asked+n, share) - min(c.asked, share)
	if l.queued+more > l.bounds.Places+l.bounds.Queue {
		return nil, ErrFull
	}
	l.queued += more
	c.asked += n
	l.callers[name] = c
	return c, nil
}

// forget ends what admit began.
func (l *Limiter) forget(name string, n int64) *caller {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, share := l.perCaller(name)
	c := l.callers[name]
	l.queued -= min(c.asked, share) - min(c.asked-n, share)
	if c.asked -= n; c.asked == 0 {
		delete(l.callers, name)
	}
	return c
}

// perCaller is the most that a caller may request, and how much of that is in the common queue.
func (l *Limiter) perCaller(name string) (most, share int64) {
	if name == "" || l.bounds.PerCaller == 0 {
		return math.MaxInt64, math.MaxInt64
	}
	return l.bounds.PerCaller, max(0, min(l.bounds.PerCaller, l.bounds.Places))
}

// wait waits in the caller's own queue, then in the common one.
func (l *Limiter) wait(ctx context.Context, c *caller, n int64) error {
	within := ctx
	if l.bounds.Wait > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, l.bounds.Wait)
		defer cancel()
	}
	err := take(within, c.own, n)
	if err == nil {
		if err = take(within, l.places, n); err != nil {
			c.own.Release(n)
		}
	}
	if err != nil && ctx.Err() == nil {
		return ErrFull
	}
	return err
}

// take takes places that are free even when the context has ended: then nothing waits.
func take(ctx context.Context, from *semaphore.Weighted, n int64) error {
	if from.TryAcquire(n) {
		return nil
	}
	return from.Acquire(ctx, n)
}
