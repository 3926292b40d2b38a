package ledger

import (
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/fault"
)

// Moment is what every report is about: the end of a day, as known at an instant. Zero values stand for today and for
// what is known now.
type Moment struct {
	AsOf    *civil.Day
	KnownAt time.Time
}

// Complete fills in the defaults and notes what cannot be known.
func (m Moment) Complete(now time.Time, p *fault.Problems) (asOf civil.Day, knownAt time.Time) {
	asOf, knownAt = civil.DayOf(now), now
	if m.AsOf != nil {
		asOf = *m.AsOf
	}
	if !m.KnownAt.IsZero() {
		knownAt = m.KnownAt
	}
	if knownAt.After(now) {
		p.Wrong("known_at", "Nobody knows yet what will be known then.")
	}
	return asOf, knownAt
}
