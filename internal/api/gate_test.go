package api

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"holdfast/internal/fault"
)

// arrives brings a request of a caller to a gate, as far as its place in the line. nil is a request that runs.
func arrives(t *testing.T, g *gate, caller string, want fault.Kind) *place {
	t.Helper()
	err := g.arrive(caller)
	var at *place
	if err == nil {
		if at, err = g.queue(caller); err != nil {
			g.leave(caller)
		}
	}
	if fault.KindOf(err) != want {
		t.Fatalf("%s: %v", caller, err)
	}
	if f, ok := err.(*fault.Error); ok && f.RetryAfter <= 0 {
		t.Errorf("%s: %v says nothing of when to come back", caller, err)
	}
	return at
}

// isTurn says whether it is a place's turn, and with which error.
func isTurn(at *place) (error, bool) {
	select {
	case err := <-at.turn:
		return err, true
	default:
		return nil, false
	}
}

func empty(t *testing.T, g *gate) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.runs != 0 || g.waits != 0 || g.arrived != 0 || len(g.callers) != 0 || len(g.turns) != 0 {
		t.Errorf("left: %d run, %d wait, %d arrived, callers %v, turns %v", g.runs, g.waits, g.arrived, g.callers, g.turns)
	}
}

// TestALineHasAnEnd repeats an attack: three hundred callers waited, and nobody was refused.
func TestALineHasAnEnd(t *testing.T) {
	g := &gate{running: 2, waiting: 3, each: 4, reading: 100}
	for _, caller := range []string{"a", "b"} {
		if arrives(t, g, caller, fault.Internal) != nil {
			t.Fatal("there is room, and it waits")
		}
	}
	for _, caller := range []string{"c", "d", "e"} {
		if arrives(t, g, caller, fault.Internal) == nil {
			t.Fatal("more run than may")
		}
	}
	for _, caller := range []string{"a", "c", "f"} {
		arrives(t, g, caller, fault.Unavailable)
	}
}

func TestOneCallerHasABound(t *testing.T) {
	g := &gate{running: 2, waiting: 10, each: 3, reading: 100}
	for range 3 {
		arrives(t, g, "a", fault.Internal)
	}
	arrives(t, g, "a", fault.TooMany)
	arrives(t, g, "b", fault.Internal)
	g.end()
	g.leave("a")
	arrives(t, g, "a", fault.Internal)
}

// Requests that are still being sent have a bound, too.
func TestSlowSendersHaveABound(t *testing.T) {
	g := &gate{running: 1, waiting: 1, each: 10, reading: 2}
	for _, caller := range []string{"a", "b", "c", "d"} {
		if err := g.arrive(caller); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.arrive("e"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v", err)
	}
}

// Where the line is full, the caller who has the most in it makes room for one who has less.
func TestOneCallerDoesNotKeepOthersOut(t *testing.T) {
	g := &gate{running: 1, waiting: 3, each: 10, reading: 100}
	arrives(t, g, "a", fault.Internal)
	line := []*place{arrives(t, g, "a", fault.Internal), arrives(t, g, "a", fault.Internal), arrives(t, g, "a", fault.Internal)}
	b := arrives(t, g, "b", fault.Internal)
	if err, over := isTurn(line[2]); !over || !fault.Is(err, fault.TooMany) {
		t.Errorf("the last of the longest line: %v, %t", err, over)
	}
	g.leave("a")
	arrives(t, g, "b", fault.Unavailable) // now both would have as many
	for i, next := range []*place{line[0], b, line[1]} {
		if err, its := isTurn(next); its || err != nil {
			t.Fatalf("%d comes too early", i)
		}
		g.end()
		if err, its := isTurn(next); !its || err != nil {
			t.Fatalf("%d: %v, %t", i, err, its)
		}
	}
	g.end()
	for _, caller := range []string{"a", "a", "a", "b"} {
		g.leave(caller)
	}
	empty(t, g)
}

func TestWhoGoesLeavesItsPlace(t *testing.T) {
	g := &gate{running: 1, waiting: 2, each: 10, reading: 100}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	arrives(t, g, "a", fault.Internal)
	for range 3 { // more than the line holds
		if err := g.arrive("b"); err != nil {
			t.Fatal(err)
		}
		if err := g.enter(gone, "b"); err != context.Canceled {
			t.Errorf("%v", err)
		}
		g.leave("b")
	}
	g.end()
	g.leave("a")
	empty(t, g)
}

func TestManyAtAGate(t *testing.T) {
	t.Parallel()
	g := &gate{running: 3, waiting: 8, each: 5, reading: 8}
	var running, passed, refused atomic.Int64
	var all sync.WaitGroup
	for i := range 60 {
		caller := string(rune('a' + i%7))
		ctx, cancel := context.WithCancel(t.Context())
		if i%5 == 0 {
			all.Go(cancel)
		}
		all.Go(func() {
			defer cancel()
			for range 200 {
				if g.arrive(caller) != nil {
					refused.Add(1)
					continue
				}
				err := g.enter(ctx, caller)
				if fault.KindOf(err) != fault.Internal {
					refused.Add(1)
				}
				if err == nil {
					if running.Add(1) > 3 {
						t.Error("more run than may")
					}
					runtime.Gosched() // others come meanwhile
					passed.Add(1)
					running.Add(-1)
					g.end()
				}
				g.leave(caller)
			}
		})
	}
	all.Wait()
	if passed.Load() == 0 || refused.Load() == 0 {
		t.Errorf("%d passed, %d refused", passed.Load(), refused.Load())
	}
	empty(t, g)
}
