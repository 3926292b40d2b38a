// Package crew decides how many workers take from one line of waiting calls: one, until more calls wait than it can see to, or until
// it is late. So calls that come together are done together.
package crew

import (
	"sync"
	"time"
)

// Crew is a bounded number of workers. Its fields are set before the first use.
type Crew struct {
	Most    int           // how many workers run at most
	Each    int           // how many calls wait for each worker before one more begins
	Late    time.Duration // a worker that takes longer for one piece of work is late, and no call waits for it
	Waiting func() int    // how many calls wait
	Work    func()        // what a worker does; it ends when Rests says so

	mu           sync.Mutex
	active, late int
	workers      sync.WaitGroup
}

// Come is told that a call waits. One more worker begins if none runs, or if too many calls wait.
func (c *Crew) Come() { c.come(0) }

func (c *Crew) come(late int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late += late
	if n := c.Waiting(); n > 0 && c.active < c.Most && n >= (c.active-c.late)*c.Each {
		c.active++
		c.workers.Go(c.Work)
	}
}

// Rests reports whether no call waits. Then the worker that asks must end: a call that comes later finds that it does not run.
func (c *Crew) Rests() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Waiting() > 0 {
		return false
	}
	c.active--
	return true
}

// Piece does one piece of a worker's work. If it takes too long, another worker may see to what waits.
func (c *Crew) Piece(do func()) {
	late := time.AfterFunc(c.Late, func() { c.come(1) })
	defer func() {
		if !late.Stop() {
			c.come(-1)
		}
	}()
	do()
}

// Beside does something that is no worker's, and that Wait waits for.
func (c *Crew) Beside(do func()) { c.workers.Go(do) }

// Wait returns when no worker runs. No call may come any more.
func (c *Crew) Wait() { c.workers.Wait() }
