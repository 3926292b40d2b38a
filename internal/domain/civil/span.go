package civil

import "time"

// Span selects what happened after one instant and before another. Both are in whole seconds, as times are shown: what
// happened in the second of After is not after it. A zero instant is no bound.
type Span struct {
	After, Before time.Time
}
