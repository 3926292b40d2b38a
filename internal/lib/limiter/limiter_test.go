package limiter

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func acquire(t *testing.T, l *Limiter, caller string, n int64, want error) {
	t.Helper()
	if err := l.Acquire(t.Context(), caller, n); !errors.Is(err, want) {
		t.Fatalf("%s asks for %d: %v, want %v", caller, n, err, want)
	}
}

func empty(t *testing.T, l *Limiter) {
	t.Helper()
	if l.Taken() != 0 || len(l.callers) != 0 || !l.places.TryAcquire(l.bounds.Places) {
		t.Errorf("left: %d places of %d callers", l.Taken(), len(l.callers))
	}
}

// queue has callers wait for a slot, one after the other. Each appends its name to the order when it gets one.
func queue(ctx context.Context, l *Limiter, order chan<- string, callers ...string) {
	for _, caller := range callers {
		go func() {
			if l.Acquire(ctx, caller, 1) == nil {
				order <- caller
			}
		}()
		synctest.Wait()
	}
}

func TestPlacesAndQueueAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, order := New(Bounds{Places: 2, Queue: 1}), make(chan string, 1)
		acquire(t, l, "", 1, nil)
		acquire(t, l, "a", 1, nil)
		queue(t.Context(), l, order, "b")
		acquire(t, l, "c", 1, ErrFull)
		l.Release("a", 1)
		l.Release("", 1)
		if first := <-order; first != "b" {
			t.Errorf("%s gets the place", first)
		}
		l.Release("b", 1)
		empty(t, l)
	})
}

func TestOneCallerIsBounded(t *testing.T) {
	l := New(Bounds{Places: 10, PerCaller: 4})
	acquire(t, l, "a", 3, nil)
	acquire(t, l, "a", 2, ErrCaller)
	acquire(t, l, "a", 1, nil)
	acquire(t, l, "", 6, nil) // no caller
	acquire(t, l, "b", 1, ErrFull)
	l.Release("a", 3)
	l.Release("a", 1)
	l.Release("", 6)
	empty(t, l)
}

// TestAHeavyCallerHoldsNobodyUp: no more of its calls are ahead of a new caller than can run at the same time, and it
// cannot fill the common queue.
func TestAHeavyCallerHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, order := New(Bounds{Places: 1, PerCaller: 4, Queue: 2}), make(chan string, 5)
		acquire(t, l, "nobody", 1, nil)
		queue(t.Context(), l, order, "heavy", "heavy", "heavy", "heavy", "other")
		acquire(t, l, "heavy", 1, ErrCaller)
		acquire(t, l, "third", 1, ErrFull)
		l.Release("nobody", 1)
		for i, want := range []string{"heavy", "other", "heavy", "heavy", "heavy"} {
			got := <-order
			if got != want {
				t.Errorf("turn %d is that of %s, want %s", i, got, want)
			}
			l.Release(got, 1)
			synctest.Wait()
		}
		empty(t, l)
	})
}

func TestNobodyWaitsLongerThanTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Bounds{Places: 1, PerCaller: 2, Queue: 5, Wait: time.Second})
		acquire(t, l, "a", 1, nil)
		began := time.Now()
		acquire(t, l, "a", 1, ErrFull) // in its own queue
		acquire(t, l, "b", 1, ErrFull) // in the common one
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("both waited for %s", took)
		}
		l.Release("a", 1)
		empty(t, l)
	})
}

func TestWhoGoesLeavesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Bounds{Places: 1, PerCaller: 2, Queue: 1})
		acquire(t, l, "a", 1, nil)
		ctx, cancel := context.WithCancel(t.Context())
		for _, caller := range []string{"a", "b"} {
			go func() {
				if err := l.Acquire(ctx, caller, 1); !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", caller, err)
				}
			}()
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		l.Release("a", 1)
		empty(t, l)
	})
}

func TestManyAtOnce(t *testing.T) {
	const places, perCaller = 3, 5
	l := New(Bounds{Places: places, PerCaller: perCaller, Queue: 8})
	var running, passed, refused atomic.Int64
	var all sync.WaitGroup
	for i := range 60 {
		caller := fmt.Sprint(i % 7)
		ctx, cancel := context.WithCancel(t.Context())
		if i%5 == 0 {
			all.Go(cancel)
		}
		all.Go(func() {
			defer cancel()
			for range 200 {
				if err := l.Acquire(ctx, caller, 1); err != nil {
					refused.Add(1)
					continue
				}
				if running.Add(1) > places {
					t.Error("more run than may")
				}
				runtime.Gosched() // others come meanwhile
				passed.Add(1)
				running.Add(-1)
				l.Release(caller, 1)
			}
		})
	}
	all.Wait()
	if passed.Load() == 0 || refused.Load() == 0 {
		t.Errorf("%d passed, %d were refused", passed.Load(), refused.Load())
	}
	empty(t, l)
}
