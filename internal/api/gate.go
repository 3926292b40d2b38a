package api

import (
	"context"
	"slices"
	"sync"
	"time"

	"holdfast/internal/errs"
)

// gate lets a bounded number of requests run at once, and a bounded number wait in front of them. Callers take turns, so that
// one who sends much waits longer, and nobody else does. What finds no place is refused at once.
type gate struct {
	running int // at most
	waiting int // at most
	each    int // requests of one caller, at most, whether they run or wait
	reading int // requests that are still being sent, at most
	// turn is how long a request keeps its place when it runs; zero: until its end. After that it goes on beside those who have one, and
	// short requests need not wait for it.
	turn   time.Duration
	beside int // how many go on like that, at most; further ones keep their places
	spare  int // how many fewer run after somebody was refused, so that a processor is free for those who come

	mu      sync.Mutex
	crowded int // so many more get their turns before as many run as may
	runs    int
	overs   int // go on beside them
	waits   int
	arrived int // and not gone: those that are read, wait or run
	callers map[string]*atGate
	turns   []string // the callers who wait, in the order of their turns
}

// atGate is what one caller has at a gate.
type atGate struct {
	arrived int
	line    []*place
}

// place is a request's place in the line.
type place struct {
	turn chan error // nil when the request may run
}

// crowdedFor is how many turns a crowd lasts after somebody was refused. In one of 300 callers one of thirty is.
const crowdedFor = 1000

// retryAfter is how long a refused caller is asked to wait, at least. The door lets some wait longer.
const retryAfter = time.Second

func errTooMany() error {
	return &errs.Error{Kind: errs.TooMany, RetryAfter: retryAfter, Message: "You have too many requests open at the same time. Wait for some answers first."}
}

func errFull() error {
	return &errs.Error{Kind: errs.Unavailable, RetryAfter: retryAfter, Message: "There are too many requests at the moment. Send this one again."}
}

// arrive counts a request of a caller. Unless it returns an error, leave must follow.
func (g *gate) arrive(caller string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.callers == nil {
		g.callers = map[string]*atGate{}
	}
	of := g.callers[caller]
	switch {
	case of != nil && of.arrived >= g.each:
		g.crowded = crowdedFor
		return errTooMany()
	case g.arrived >= g.running+g.waiting+g.reading:
		g.crowded = crowdedFor
		return errFull()
	case of == nil:
		of = &atGate{}
		g.callers[caller] = of
	}
	of.arrived++
	g.arrived++
	return nil
}

// leave forgets a request that has arrived and does not run.
func (g *gate) leave(caller string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	of := g.callers[caller]
	of.arrived--
	g.arrived--
	if of.arrived == 0 {
		delete(g.callers, caller)
	}
}

// enter waits until a request that has arrived may run. Unless it returns an error, end must follow. The error is one for the
// caller, or that of the context.
func (g *gate) enter(ctx context.Context, caller string) error {
	at, err := g.queue(caller)
	if at == nil || err != nil {
		return err
	}
	select {
	case err := <-at.turn:
		return err
	case <-ctx.Done():
	}
	g.mu.Lock()
	of := g.callers[caller]
	if found := slices.Index(of.line, at); found >= 0 {
		of.line = slices.Delete(of.line, found, found+1)
		g.waits--
		g.forgetTurn(caller)
		g.mu.Unlock()
		return ctx.Err()
	}
	g.mu.Unlock()
	if err := <-at.turn; err != nil { // it was refused, or may run, in this moment
		return err
	}
	g.end()
	return ctx.Err()
}

// queue gives a request its place in the line, or none when it may run at once.
func (g *gate) queue(caller string) (*place, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.runs < g.most() { // then nobody waits
		g.runs++
		return nil, nil
	}
	of := g.callers[caller]
	if g.waits >= g.waiting {
		g.crowded = crowdedFor
		if !g.makeRoom(len(of.line)) {
			return nil, errFull()
		}
	}
	at := &place{turn: make(chan error, 1)}
	if len(of.line) == 0 {
		g.turns = append(g.turns, caller)
	}
	of.line = append(of.line, at)
	g.waits++
	return at, nil
}

// makeRoom refuses the last request of the caller who has the most in the line, if that is more than a newcomer would have.
func (g *gate) makeRoom(has int) bool {
	longest, most := "", has+1
	for _, caller := range g.turns {
		if n := len(g.callers[caller].line); n > most {
			longest, most = caller, n
		}
	}
	if longest == "" {
		return false
	}
	of := g.callers[longest]
	of.line[most-1].turn <- errTooMany()
	of.line = of.line[:most-1]
	g.waits--
	return true
}

// end gives the place of a request that has run to the next one.
func (g *gate) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next()
}

// next ends the turn of one that runs, and lets those run who are next.
func (g *gate) next() {
	for g.runs--; g.runs < g.most() && len(g.turns) > 0; g.runs++ {
		caller := g.turns[0]
		of := g.callers[caller]
		of.line[0].turn <- nil
		of.line = of.line[1:]
		g.waits--
		if g.turns = g.turns[1:]; len(of.line) > 0 {
			g.turns = append(g.turns, caller)
		}
		g.crowded = max(0, g.crowded-1)
	}
	if len(g.turns) == 0 {
		g.crowded = 0
	}
}

// most is how many run at the moment, at most.
func (g *gate) most() int {
	if g.crowded > 0 {
		return g.running - g.spare
	}
	return g.running
}

// crowd notes that somebody was refused who would have come to the gate.
func (g *gate) crowd() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.crowded = crowdedFor
}

// stay is the time in which a request runs.
type stay struct {
	at     *gate
	timer  *time.Timer // nil where a turn has no end
	ended  bool        // guarded by the gate, as is the next one
	beside bool        // its turn is over, and it goes on
}

// stay begins the stay of a request that has entered. It ends by leave.
func (g *gate) stay() *stay {
	s := &stay{at: g}
	if g.turn > 0 {
		s.timer = time.AfterFunc(g.turn, s.giveWay)
	}
	return s
}

// giveWay ends the turn of a request that runs.
func (s *stay) giveWay() {
	s.at.mu.Lock()
	defer s.at.mu.Unlock()
	if s.ended || s.at.overs >= s.at.beside {
		return
	}
	s.beside = true
	s.at.overs++
	s.at.next()
}

// leave ends the stay of a request that does not run any more.
func (s *stay) leave() {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.at.mu.Lock()
	defer s.at.mu.Unlock()
	if s.ended = true; s.beside {
		s.at.overs--
		return
	}
	s.at.next()
}

// forgetTurn ends the turns of a caller who waits for nothing any more.
func (g *gate) forgetTurn(caller string) {
	if len(g.callers[caller].line) == 0 {
		g.turns = slices.DeleteFunc(g.turns, func(other string) bool { return other == caller })
	}
}
