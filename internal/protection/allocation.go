package protection

import (
	"slices"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/fx"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// Allocation is the part of a purchase or capture that one booking got, with all that was decided about it (R2, R3,
// R5, R9).
type Allocation struct {
	SiteID         int64
	ID             int64 // of its payment
	ChannelID      int64
	BookingID      int64
	TransactionID  int64
	Currency       money.Currency
	Amount         int64
	Scheme         travel.Scheme
	EffectiveAt    time.Time
	RecordedAt     time.Time
	Decision       Decision
	Rulepack       string // version
	PolicyID       int64  // in force on P when it was recorded; 0: it was recorded before policies were kept
	PolicyCurrency money.Currency
	MaxFixingAge   int64
	PricedAt       time.Time // zero while pending_rate
	Value          int64     // PV of Amount, minor units of PolicyCurrency; 0 while pending_rate
	Quote          fx.Quote  // locked; its legs are zero where both currencies are the same
}

// Paid is P: the day of the payment.
func (a Allocation) Paid() civil.Day { return civil.DayOf(a.EffectiveAt) }

// Priced reports whether the rate is locked, as known at an instant.
func (a Allocation) Priced(known time.Time) bool {
	return !a.PricedAt.IsZero() && !a.PricedAt.After(known)
}

// Price locks the rate of the allocation at an instant by R9, and reports whether the fixings for it were on file.
// Once locked a rate stays for ever.
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

// TermsOf is what of the allocation follows its booking: travel days, country, and the last day of dispute by the
// rulepack that the allocation was recorded under.
func (a Allocation) TermsOf(b travel.Booking, packs Rulepacks) Terms {
	pack, ok := packs.ByVersion(a.Rulepack)
	if !ok { // its version was taken out of the file: the one in force on P is the nearest to it
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

// Event is what became of an allocation later (R3).
type Event struct {
	TransactionID int64
	Kind          travel.TransactionType // refund, chargeback or chargeback-reversal
	Amount        int64                  // positive
	EffectiveAt   time.Time
	RecordedAt    time.Time
}

// AmountsAt sums up what became of the allocation by the events with an effective time up to the end of a day, as
// known at an instant.
func (a Allocation) AmountsAt(events []Event, day civil.Day, known time.Time) Amounts {
	return a.Sum(slices.DeleteFunc(slices.Clone(events), func(e Event) bool {
		return e.EffectiveAt.After(day.End()) || e.RecordedAt.After(known)
	}))
}

// Sum adds up what became of the allocation by all the given events.
func (a Allocation) Sum(events []Event) Amounts {
	sum := Amounts{Allocated: a.Amount}
	for _, e := range events {
		switch e.Kind {
		case travel.Refund:
			sum.Refunded += e.Amount
		case travel.Chargeback:
			sum.ChargedBack += e.Amount
		case travel.ChargebackReversal:
			sum.Reversed += e.Amount
		}
	}
	return sum
}

// TermsAt picks the terms that count at the end of a day, as known at an instant: the last ones in effect by then.
// The first ones count for all time before, too.
func TermsAt(history []DatedTerms, day civil.Day, known time.Time) Terms {
	var found Terms
	for i, t := range history { // in order of recording
		if i == 0 || !t.EffectiveAt.After(day.End()) && !t.RecordedAt.After(known) {
			found = t.Terms
		}
	}
	return found
}
