package api

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/errs"
)

// arrives brings a request of a caller to a gate, as far as its place in the line. nil is a request that runs.
func arrives(t *testing.T, g *gate, caller string, want errs.Kind) *place {
	t.Helper()
	err := g.arrive(caller)
	var at *place
	if err == nil {
		if at, err = g.queue(caller); err != nil {
			g.leave(caller)
		}
	}
	if errs.KindOf(err) != want {
		t.Fatalf("%s: %v", caller, err)
	}
	if f, ok := err.(*errs.Error); ok && f.RetryAfter <= 0 {
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
	if g.runs != 0 || g.overs != 0 || g.waits != 0 || g.arrived != 0 || len(g.callers) != 0 || len(g.turns) != 0 {
		t.Errorf("left: %d run, %d beside them, %d wait, %d arrived, callers %v, turns %v", g.runs, g.overs, g.waits, g.arrived, g.callers, g.turns)
	}
}

// TestALineHasAnEnd repeats an attack: three hundred callers waited, and nobody was refused.
func TestALineHasAnEnd(t *testing.T) {
	g := &gate{running: 2, waiting: 3, each: 4, reading: 100}
	for _, caller := range []string{"a", "b"} {
		if arrives(t, g, caller, errs.Internal) != nil {
			t.Fatal("there is room, and it waits")
		}
	}
	for _, caller := range []string{"c", "d", "e"} {
		if arrives(t, g, caller, errs.Internal) == nil {
			t.Fatal("more run than may")
		}
	}
	for _, caller := range []string{"a", "c", "f"} {
		arrives(t, g, caller, errs.Unavailable)
	}
}

func TestOneCallerHasABound(t *testing.T) {
	g := &gate{running: 2, waiting: 10, each: 3, reading: 100}
	for range 3 {
		arrives(t, g, "a", errs.Internal)
	}
	arrives(t, g, "a", errs.TooMany)
	arrives(t, g, "b", errs.Internal)
	g.end()
	g.leave("a")
	arrives(t, g, "a", errs.Internal)
}

// Requests that are still being sent have a bound, too.
func TestSlowSendersHaveABound(t *testing.T) {
	g := &gate{running: 1, waiting: 1, each: 10, reading: 2}
	for _, caller := range []string{"a", "b", "c", "d"} {
		if err := g.arrive(caller); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.arrive("e"); !errs.Is(err, errs.Unavailable) {
		t.Errorf("%v", err)
	}
}

// Where the line is full, the caller who has the most in it makes room for one who has less.
func TestOneCallerDoesNotKeepOthersOut(t *testing.T) {
	g := &gate{running: 1, waiting: 3, each: 10, reading: 100}
	arrives(t, g, "a", errs.Internal)
	line := []*place{arrives(t, g, "a", errs.Internal), arrives(t, g, "a", errs.Internal), arrives(t, g, "a", errs.Internal)}
	b := arrives(t, g, "b", errs.Internal)
	if err, over := isTurn(line[2]); !over || !errs.Is(err, errs.TooMany) {
		t.Errorf("the last of the longest line: %v, %t", err, over)
	}
	g.leave("a")
	arrives(t, g, "b", errs.Unavailable) // now both would have as many
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
	arrives(t, g, "a", errs.Internal)
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
				if errs.KindOf(err) != errs.Internal {
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

// TestALongReadGivesItsPlaceToOthers: when its turn is over it goes on beside those who have places, of whom there are no more than
// before. Where enough go on like that, it keeps its place.
func TestALongReadGivesItsPlaceToOthers(t *testing.T) {
	g := &gate{running: 1, waiting: 5, each: 5, turn: time.Nanosecond, beside: 1}
	if arrives(t, g, "a", errs.Internal) != nil {
		t.Fatal("there is room, and it waits")
	}
	next := arrives(t, g, "b", errs.Internal)
	long := g.stay()
	if err := <-next.turn; err != nil { // when the turn of the long one is over
		t.Fatal(err)
	}
	g.turn = time.Hour
	second := g.stay()
	third := arrives(t, g, "c", errs.Internal)
	second.giveWay()
	if _, is := isTurn(third); is {
		t.Fatal("two go on beside the one that runs")
	}
	long.leave()
	if _, is := isTurn(third); is {
		t.Fatal("one that goes on beside has given a place away that was not its own")
	}
	second.leave()
	if _, is := isTurn(third); !is {
		t.Fatal("the place is free, and nobody gets it")
	}
	last := g.stay()
	last.leave()
	last.giveWay() // its timer was late
	for _, caller := range []string{"a", "b", "c"} {
		g.leave(caller)
	}
	empty(t, g)
}

// TestWhileCallersAreRefusedFewerRun: somebody who comes finds a free processor, and is refused at once. When nobody waits any more, as
// many run as before.
func TestWhileCallersAreRefusedFewerRun(t *testing.T) {
	for name, refuse := range map[string]func(g *gate){
		"a caller has too many": func(g *gate) { arrives(t, g, "a", errs.TooMany) },
		"all have too many":     func(g *gate) { arrives(t, g, "e", errs.Unavailable) },
		"it was refused before": func(g *gate) { g.crowd() },
	} {
		g := &gate{running: 2, waiting: 2, each: 1, spare: 1}
		for _, caller := range []string{"a", "b"} {
			arrives(t, g, caller, errs.Internal)
		}
		c, d := arrives(t, g, "c", errs.Internal), arrives(t, g, "d", errs.Internal)
		refuse(g)
		g.end()
		if _, is := isTurn(c); is {
			t.Errorf("%s: as many run as before", name)
		}
		g.end()
		_, one := isTurn(c)
		if _, both := isTurn(d); !one || both {
			t.Errorf("%s: of two who wait, the first runs: %t, the second one: %t", name, one, both)
		}
		g.end()
		if _, is := isTurn(d); !is {
			t.Errorf("%s: the last one does not run", name)
		}
		for _, caller := range []string{"a", "b"} {
			g.leave(caller)
			if arrives(t, g, caller, errs.Internal); caller == "a" && g.runs != 2 {
				t.Errorf("%s: when nobody waits, %d run", name, g.runs)
			}
		}
	}
}

// TestACrowdIsOver: callers who only wait are no crowd, however long they do.
func TestACrowdIsOver(t *testing.T) {
	g := &gate{running: 2, waiting: 2, each: 4, spare: 1}
	for range 4 {
		arrives(t, g, "a", errs.Internal)
	}
	g.crowd()
	g.end()
	for n := range crowdedFor {
		if g.runs != 1 {
			t.Fatalf("after %d turns %d run", n, g.runs)
		}
		g.end()
		g.leave("a")
		arrives(t, g, "a", errs.Internal)
	}
	if g.end(); g.runs != 2 {
		t.Errorf("after the crowd %d run", g.runs)
	}
}

// TestReadsHaveAGateWhereTheyAreComputedHere: what only reads waits for a processor, and what writes for the disk.
func TestReadsHaveAGateWhereTheyAreComputedHere(t *testing.T) {
	get, post := Route{Method: "GET", Name: "getBooking"}, Route{Method: "POST", Name: "createBooking"}
	here, elsewhere := newDoor(Config{}.withDefaults(), 0, 2), newDoor(Config{}.withDefaults(), 0, 0)
	if here.gateOf(get) != &here.reads || here.gateOf(post) != &here.others || elsewhere.gateOf(get) != &elsewhere.others {
		t.Error("a request goes to the gate of another kind")
	}
	if g := &here.reads; g.running != 2 || g.running+g.beside != 64 || g.running+g.waiting != 64+128 || g.spare != 1 || g.turn == 0 {
		t.Errorf("the gate of reads lets in others than it should: %d run, %d beside them, %d wait, %d spare", g.running, g.beside, g.waiting, g.spare)
	}
	if g := &newDoor(Config{RequestsAtOnce: 1}.withDefaults(), 0, 2).reads; g.running != 1 || g.beside != 0 || g.spare != 0 {
		t.Errorf("of one request at once: %d run, %d beside them, %d spare", g.running, g.beside, g.spare)
	}
}
