// Package claim implements R13: what an insolvency leaves unpaid, which disputes of it are payable, what the cover pays of
// them, and what is still to be expected. It consists of pure functions over plain values. Start at SnapshotLine: every
// claim takes from one.
package claim

import (
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
)

// Failure is when a merchant failed, and when this was confirmed.
type Failure struct {
	TriggerAt   time.Time // T
	ConfirmedAt time.Time // K
}

// Day is T₀, the day of the trigger.
func (f Failure) Day() civil.Day { return civil.DayOf(f.TriggerAt) }

// SnapshotLine is an allocation as it was when the merchant failed (R13). It never changes.
type SnapshotLine struct {
	AllocationID  int64
	TransactionID int64
	BookingID     int64
	Currency      money.Currency // of both amounts
	Remaining     int64          // N_T
	Undelivered   int64          // U_T
	LastDay       civil.Day      // L
	Priced        bool           // false while pending_rate
	Quote         fx.Quote       // the locked rate
	// Ineligible is NotProtected, RecordedAfterTrigger or Delivered, the first that fits. It is empty if the allocation is eligible.
	Ineligible Reason
}

// Eligible reports whether claims can take from the allocation.
func (l SnapshotLine) Eligible() bool { return l.Ineligible == "" }

// Snapshot is the line of an allocation in the snapshot of an insolvency, as known at f.ConfirmedAt. ok is false if it is not
// in the snapshot: nothing of it remained (N_T = 0), or the last day to dispute it had passed (L < T₀).
//
// Refunds and travel dates count if they are effective by T. Of disputes only those of days before T₀ count: those of T₀
// itself are claims. by is the recognition of the policy in force at T.
func Snapshot(h protection.History, f Failure, by terms.Recognition) (line SnapshotLine, ok bool) {
	if h.EffectiveAt.After(f.TriggerAt) || h.RecordedAt.After(f.ConfirmedAt) {
		return SnapshotLine{}, false
	}
	var counted []protection.Event
	for _, e := range h.Events {
		if !e.RecordedAt.After(f.ConfirmedAt) && beforeFailure(e, f) {
			counted = append(counted, e)
		}
	}
	booked := termsAt(h.Terms, f)
	n := h.Sum(counted).Remaining(h.Paid(), f.Day())
	if n == 0 || booked.LastDay < f.Day() {
		return SnapshotLine{}, false
	}
	line = SnapshotLine{
		AllocationID: h.ID, TransactionID: h.TransactionID, BookingID: h.BookingID, Currency: h.Currency,
		Remaining: n, Undelivered: booked.Undelivered(n, f.Day(), by), LastDay: booked.LastDay,
	}
	if line.Priced = h.Priced(f.ConfirmedAt); line.Priced {
		line.Quote = h.Quote
	}
	switch {
	case !h.Decision.Protected:
		line.Ineligible = NotProtected
	case h.RecordedAt.After(f.TriggerAt), h.Decision.CoverFrom.After(f.TriggerAt):
		line.Ineligible = RecordedAfterTrigger
	case line.Undelivered == 0:
		line.Ineligible = Delivered
	}
	return line, true
}

// beforeFailure reports whether an event is in N_T: a refund by T, or a dispute of a day before T₀.
func beforeFailure(e protection.Event, f Failure) bool {
	if e.Kind == payment.Refund {
		return !e.EffectiveAt.After(f.TriggerAt)
	}
	return civil.DayOf(e.EffectiveAt) < f.Day()
}

// termsAt picks the terms in effect at T, as known at K. history is in order of recording, and its first terms count for
// all earlier times, too.
func termsAt(history []protection.DatedTerms, f Failure) protection.Terms {
	var found protection.Terms
	for i, t := range history {
		if i == 0 || !t.EffectiveAt.After(f.TriggerAt) && !t.RecordedAt.After(f.ConfirmedAt) {
			found = t.Terms
		}
	}
	return found
}
