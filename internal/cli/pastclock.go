package cli

import (
	"sync/atomic"
	"time"
)

// pastClock is the program's clock. It shows real time, except while the demo creates the history of a new sandbox.
type pastClock struct{ behind atomic.Int64 }

// Now returns the time.
func (c *pastClock) Now() time.Time { return time.Now().Add(-time.Duration(c.behind.Load())) }

// setBack sets the clock back by a duration, or to real time with 0.
func (c *pastClock) setBack(by time.Duration) { c.behind.Store(int64(by)) }
