package fx

import (
	"fmt"
	"math/big"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
)

// freshDays is the greatest age of a fixing for which Spot keeps to the order of the providers. It is a constant and
// not the setting of R9: a final report stays the same bytes, even if a setting is changed (R0).
const freshDays = 7

// Leg is one of the two rates of a conversion, in units per euro, with its source (R9). Explanations show it.
type Leg struct {
	Currency money.Currency
	Rate     money.Rate
	Provider Provider  // "" for the leg of the euro, which is 1 and needs no fixing
	Day      civil.Day // of the fixing, when there is a Provider
}

// HasFixing reports whether the leg has a fixing. The leg of the euro has none.
func (l Leg) HasFixing() bool { return l.Provider != "" }

// Quote is everything that a conversion needs. Both legs are zero if From and To are equal.
type Quote struct {
	From, To       money.Currency
	FromLeg, ToLeg Leg
}

// Convert converts minor units of From to minor units of To, rounded once. The error is money.ErrRange.
func (q Quote) Convert(amount int64) (int64, error) {
	return money.Convert(amount, q.From, q.To, q.FromLeg.Rate, q.ToLeg.Rate)
}

// Explain explains how the quote converted an amount to a value.
func (q Quote) Explain(amount, value int64) string {
	exact := new(big.Rat).Mul(big.NewRat(amount, 1), new(big.Rat).Quo(q.ToLeg.Rate.Rat(), q.FromLeg.Rate.Rat()))
	shift := q.To.Exponent() - q.From.Exponent()
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(shift, -shift))), nil))
	if shift < 0 {
		power.Inv(power)
	}
	return fmt.Sprintf("round(%d · 10^(%d−%d) · %s/%s) = round(%s) = %d, half away from zero",
		amount, q.To.Exponent(), q.From.Exponent(), q.ToLeg.Rate, q.FromLeg.Rate, exact.Mul(exact, power).FloatString(6), value)
}

// Lock finds the quote that prices a payment for good (R9): from the currency of the amount to that of the policy.
// Each leg is the last fixing that is dated on or before the day before the payment, and that was on file at known.
// The age of a fixing is counted from the day of the payment. ok is false when a leg has no fixing, or only one that
// is older than maxAge days. Then the allocation is pending_rate, and a later call finds the fixing when it has
// arrived.
func Lock(t *Table, amount, policy money.Currency, paid civil.Day, known time.Time, maxAge int) (Quote, bool) {
	return quote(amount, policy, func(c money.Currency) (Fixing, bool) {
		return t.On(c, paid-1, known, maxAge-1) // the day before is one day younger
	})
}

// Spot finds the quote that values an amount at the end of a day (R7). Each leg is the last fixing up to that day. It
// may be old, because a valuation must not fail for a currency that gets no more fixings. The order of the providers
// only matters for fresh fixings; otherwise the latest date wins, so that the last ECB fixing of a dropped currency
// does not win forever over the manual quotes that replace it. ok is false if a leg has no fixing.
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
