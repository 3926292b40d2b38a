// Package claim implements R13: the snapshot of an insolvency, the claims made from disputes, their cover, reserve, payouts
// and recoveries. It consists of pure functions over plain values. Start at SnapshotLine: every claim draws on one.
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

// Failure has the two times of an insolvency.
type Failure struct {
	TriggerAt   time.Time // T: when the merchant failed
	ConfirmedAt time.Time // K: when this was confirmed
}

// Day is T₀, the day of the trigger.
func (f Failure) Day() civil.Day { return civil.DayOf(f.TriggerAt) }

// SnapshotLine is the state of an allocation when the merchant failed (R13). It never changes.
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

// Eligible reports whether claims on the allocation can be payable.
func (l SnapshotLine) Eligible() bool { return l.Ineligible == "" }

// Snapshot is the line of an allocation in the snapshot of an insolvency, as known at f.ConfirmedAt. ok is false if it is not
// in the snapshot: nothing of it remained (N_T = 0), or the last day to dispute it had passed (L < T₀).
//
// Refunds and travel dates count if they are effective by T. Chargebacks and reversals count if their day is before T₀: from
// T₀ on they are claims. by is the recognition of the policy in force at T.
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
	booked := protection.TermsAt(h.Terms, f.TriggerAt, f.ConfirmedAt)
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

// beforeFailure reports whether an event counts in N_T: a refund by T, or a chargeback or reversal before T₀.
func beforeFailure(e protection.Event, f Failure) bool {
	if e.Kind == payment.Refund {
		return !e.EffectiveAt.After(f.TriggerAt)
	}
	return civil.DayOf(e.EffectiveAt) < f.Day()
}
