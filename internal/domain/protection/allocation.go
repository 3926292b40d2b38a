package protection

import (
	"slices"
	"time"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
)

// Allocation is the part of a purchase or capture for one booking (R3), with the decisions made when it was
// recorded (R2, R5, R9). Its ID is that of its payment record.
type Allocation struct {
	SiteID         int64
	ID             int64 // of its payment
	ChannelID      int64
	BookingID      int64
	TransactionID  int64
	Currency       money.Currency
	Amount         int64
	Scheme         card.Scheme
	EffectiveAt    time.Time
	RecordedAt     time.Time
	Decision       Decision
	Rulepack       string // version
	PolicyID       int64  // in force on P when it was recorded; 0: recorded before policies were stored
	PolicyCurrency money.Currency
	MaxFixingAge   int64
	PricedAt       time.Time // zero while pending_rate
	Value          int64     // PV of Amount, minor units of PolicyCurrency; 0 while pending_rate
	Quote          fx.Quote  // the locked rate; its legs are zero when both currencies are equal
}

// Paid is P: the day of the payment.
func (a Allocation) Paid() civil.Day { return civil.DayOf(a.EffectiveAt) }

// Priced reports whether the rate was locked at a time (R9).
func (a Allocation) Priced(known time.Time) bool {
	return !a.PricedAt.IsZero() && !a.PricedAt.After(known)
}

// Price locks the rate of the allocation at a time (R9). priced is false when a fixing is missing: the allocation is
// pending_rate then. A locked rate never changes. The error is money.ErrRange.
func (a *Allocation) Price(fixings *fx.Table, at time.Time) (priced bool, err error) {
	quote, ok := fx.Lock(fixings, a.Currency, a.PolicyCurrency, a.Paid(), at, int(a.MaxFixingAge))
	if !ok {
		return false, nil
	}
	value, err := quote.Convert(a.Amount)
	if err != nil {
		return false, err
	}
	a.Quote, a.Value, a.PricedAt = quote, value, at
	return true, nil
}

// TermsOf computes the terms of the allocation from its booking. The last day of dispute follows the rulepack that
// was in force when the allocation was recorded (R5).
func (a Allocation) TermsOf(b booking.Booking, packs Rulepacks) Terms {
	pack, ok := packs.ByVersion(a.Rulepack)
	if !ok { // its version is no longer in the file, so the one in force on P counts
		pack = packs.On(a.Paid())
	}
	return Terms{
		Start:   b.FirstTravelDay(),
		End:     b.End,
		LastDay: pack.Window(a.Scheme).LastDay(a.Paid(), b.End),
		Country: b.Country, Suppliers: SupplierKey(b.Suppliers),
	}
}

// DatedTerms is terms with the two times of every fact (R0).
type DatedTerms struct {
	Terms
	EffectiveAt time.Time
	RecordedAt  time.Time
}

// Event is a refund, chargeback or reversal of an allocation (R3).
type Event struct {
	TransactionID int64
	Kind          payment.TransactionType // refund, chargeback, prevented or chargeback-reversal
	Amount        int64                   // minor units of the allocation, positive
	EffectiveAt   time.Time
	RecordedAt    time.Time
}

// AmountsAt are the sums of the allocation with the events that were in effect at the end of a day, as known at a
// time (R3).
func (a Allocation) AmountsAt(events []Event, day civil.Day, known time.Time) Amounts {
	return a.Sum(slices.DeleteFunc(slices.Clone(events), func(e Event) bool {
		return e.EffectiveAt.After(day.End()) || e.RecordedAt.After(known)
	}))
}

// Sum are the sums of the allocation with all given events.
func (a Allocation) Sum(events []Event) Amounts {
	sum := Amounts{Allocated: a.Amount}
	for _, e := range events {
		sum.add(e)
	}
	return sum
}

// DoubleRecoveries reports for each chargeback and reversal, by its transaction, whether money was returned twice (R3):
// with all events before it, or also with the refunds up to the next chargeback or reversal, the bounds of N cut
// something off. The same holds for a reversal that returns more than was charged back. The events are in order of
// EffectiveAt, so the result does not depend on when they were learned.
func (a Allocation) DoubleRecoveries(events []Event) map[int64]bool {
	found := map[int64]bool{}
	last, sum := int64(0), a.Sum(nil)
	for _, e := range events {
		if sum.add(e); e.Kind != payment.Refund {
			last = e.TransactionID
			found[last] = false
		}
		if last != 0 && (sum.DoubleRecovery() > 0 || e.Kind == payment.ChargebackReversal && sum.Reversed > sum.ChargedBack) {
			found[last] = true
		}
	}
	return found
}

// TermsAt picks the terms in effect at a time, as known at another: the last ones recorded. history is in order of
// recording, and its first terms also count for all earlier times.
func TermsAt(history []DatedTerms, at, known time.Time) Terms {
	var found Terms
	for i, t := range history {
		if i == 0 || !t.EffectiveAt.After(at) && !t.RecordedAt.After(known) {
			found = t.Terms
		}
	}
	return found
}
