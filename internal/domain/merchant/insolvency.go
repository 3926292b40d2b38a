package merchant

import (
	"time"

	"holdfast/internal/domain/civil"
)

// Insolvency is the latest confirmed failure of a channel (R13). The zero value means that there was none.
type Insolvency struct {
	ID                int64     // 0: none
	TriggerAt         time.Time // T
	ConfirmedAt       time.Time // K
	ReinstatedAt      time.Time // when two people took the channel on again; zero while it is insolvent
	ProcessingAllowed bool      // whether a proposal lets the processor carry out refunds in spite of it
}

// InForce reports whether the channel is insolvent: nothing recorded now is protected (R2).
func (i Insolvency) InForce() bool { return i.ID != 0 && i.ReinstatedAt.IsZero() }

// Day is T₀, the day of the trigger.
func (i Insolvency) Day() civil.Day { return civil.DayOf(i.TriggerAt) }

// Concerns reports whether the insolvency applies to records of a time. A reinstated channel starts afresh.
func (i Insolvency) Concerns(recordedAt time.Time) bool {
	return i.ID != 0 && (i.ReinstatedAt.IsZero() || recordedAt.Before(i.ReinstatedAt))
}

// After reports whether something was recorded after the trigger. A payment that was protected then gets its premium back (R13).
func (i Insolvency) After(recordedAt time.Time) bool {
	return i.Concerns(recordedAt) && recordedAt.After(i.TriggerAt)
}
