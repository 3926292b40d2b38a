package cli

import (
	"sync/atomic"
	"time"
)

// pastClock is the clock of the program. It shows the real time, except while the demo makes the past of a new sandbox.
type pastClock struct{ behind atomic.Int64 }

// Now returns the time.
func (c *pastClock) Now() time.Time { return time.Now().Add(-time.Duration(c.behind.Load())) }

// setBack sets the clock back by a time, or to the real time with 0.
func (c *pastClock) setBack(by time.Duration) { c.behind.Store(int64(by)) }
