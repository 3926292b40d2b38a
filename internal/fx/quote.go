package fx

import (
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/money"
)

// freshDays is the age up to which Spot trusts providers in their order. It is a constant, not the setting of the
// same size in R9: a final report must stay the same bytes when somebody changes a setting.
const freshDays = 7

// Leg is one side of a conversion: the rate of one currency per euro and where it came from, for explanations to show.
type Leg struct {
	Currency money.Currency
	Rate     money.Rate
	Provider Provider  // empty: the euro's own leg, which is 1 without a fixing
	Day      civil.Day // of the fixing; means nothing where Provider is empty
}

// HasFixing reports whether the leg rests on a published rate.
func (l Leg) HasFixing() bool { return l.Provider != "" }

// Quote is all that a conversion rests on. Both legs are zero where From and To are the same.
type Quote struct {
	From, To       money.Currency
	FromLeg, ToLeg Leg
}

// Convert converts an amount of From into To, rounded once.
func (q Quote) Convert(amount int64) (int64, error) {
	return money.Convert(amount, q.From, q.To, q.FromLeg.Rate, q.ToLeg.Rate)
}

// Lock finds the quote at which a payment is priced for good (R9): from the currency of the amount into the policy's,
// each leg by the last fixing dated on or before the day before the payment and on file at known. The age of a fixing
// counts from the day of the payment. It is not ok where a leg has no fixing or only an older one than maxAge days: the
// allocation is pending_rate then, and the same call answers once the fixing has arrived and known has moved on.
func Lock(t *Table, amount, policy money.Currency, paid civil.Day, known time.Time, maxAge int) (Quote, bool) {
	return quote(amount, policy, func(c money.Currency) (Fixing, bool) {
		return t.On(c, paid-1, known, maxAge-1) // the day before is one day younger
	})
}

// Spot finds the quote at which an amount is valued at the end of a day (R7): each leg by its last fixing up to then,
// however old, because a valuation must not fail for a currency that is no longer fixed. A provider comes before
// another only as long as its fixing is fresh; after that the most recent date wins. Else the last ECB fixing of a
// currency that the ECB has suspended would beat, for ever, the manual quotes entered to replace it.
func Spot(t *Table, from, to money.Currency, day civil.Day, known time.Time) (Quote, bool) {
	return quote(from, to, func(c money.Currency) (Fixing, bool) {
		if f, ok := t.On(c, day, known, freshDays); ok {
			return f, true
		}
		return t.newest(c, day, known)
	})
}

func quote(from, to money.Currency, fixing func(money.Currency) (Fixing, bool)) (Quote, bool) {
	q := Quote{From: from, To: to}
	if from == to {
		return q, true
	}
	var ok bool
	if q.FromLeg, ok = leg(from, fixing); !ok {
		return Quote{}, false
	}
	if q.ToLeg, ok = leg(to, fixing); !ok {
		return Quote{}, false
	}
	return q, true
}

func leg(c money.Currency, fixing func(money.Currency) (Fixing, bool)) (Leg, bool) {
	if c == money.EUR {
		return Leg{Currency: c, Rate: money.UnitRate()}, true
	}
	f, ok := fixing(c)
	return Leg{Currency: c, Rate: f.Rate, Provider: f.Provider, Day: f.Day}, ok
}
