package ledger

import (
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
)

// Moment is the point in time that a report is about: the end of a day, as known at an instant (R0). The zero value is
// today, as known now.
type Moment struct {
	AsOf    *civil.Day
	KnownAt time.Time
}

// Complete fills in the defaults. It notes a problem in p if KnownAt is in the future.
func (m Moment) Complete(now time.Time, p *errs.Problems) (asOf civil.Day, knownAt time.Time) {
	asOf, knownAt = civil.DayOf(now), now
	if m.AsOf != nil {
		asOf = *m.AsOf
	}
	if !m.KnownAt.IsZero() {
		knownAt = m.KnownAt
	}
	if knownAt.After(now) {
		p.Wrong("known_at", "Must not be in the future.")
	}
	return asOf, knownAt
}
