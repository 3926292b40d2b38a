package dispute

import (
	"math/big"

	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
)

// RuleVersion is the version of the rule that matches and converts (R14). It is kept with each match.
const RuleVersion = "1"

// Paid is what the base amount of a movement depends on: the payment that is disputed.
type Paid struct {
	Currency     money.Currency // of the payment
	Total, Left  int64          // minor units of it: the whole, and what is neither refunded nor charged back
	BaseCurrency money.Currency
	BaseTotal    int64 // minor units of BaseCurrency
	BaseLeft     int64
}

// Amount is a movement in the currencies of the payment.
type Amount struct {
	Paid, Base int64 // minor units of the payment's currency and of its base currency
	// Converted says that it was told in a third currency and converted at a fixing.
	Converted bool
}

// Rates convert an amount that is told in a third currency. A nil rate is missing.
type Rates struct {
	AsPaid     *fx.Quote // to the payment's currency, at the fixings of the day before the payment
	AsDisputed *fx.Quote // to the base currency, at the fixings of the day before the dispute
}

// DebitOf is the amount of a debit or a prevented dispute of a payment (R14). An amount told in base currency is that amount. In the
// currency of the payment it is in proportion to the payment. In a third currency it is the whole that remains, if it is said to be the
// whole or comes within 10 % of the payment; otherwise it is converted at the fixing of the day before the dispute. Without an amount it
// is the whole that remains. ok is false if it waits for a rate. The error is money.ErrRange.
func DebitOf(r Report, p Paid, rates Rates) (a Amount, ok bool, err error) {
	switch {
	case r.Amount == 0:
		return p.whole(), true, nil
	case r.Currency == p.BaseCurrency:
		return p.ofBase(r.Amount)
	case r.Currency == p.Currency:
		return p.ofPaid(r.Amount)
	case r.Whole:
		return p.whole(), true, nil
	}
	if rates.AsPaid == nil {
		return Amount{}, false, nil
	}
	near, err := rates.AsPaid.Convert(r.Amount)
	if err != nil {
		return Amount{}, false, err
	}
	if within(near, p.Total) {
		return p.whole(), true, nil
	}
	if rates.AsDisputed == nil {
		return Amount{}, false, nil
	}
	base, err := rates.AsDisputed.Convert(r.Amount)
	if err != nil {
		return Amount{}, false, err
	}
	a, _, err = p.ofBase(max(1, base))
	a.Converted = true
	return a, err == nil, err
}

// CreditOf is the amount of a credit (R14): in the currency of its debit in proportion to it; in the base currency or in that of the
// payment as for a debit; otherwise all of the debit. debit is the amount of its debit as told, of the whole debit in the payment's
// currencies. The error is money.ErrRange.
func CreditOf(r Report, told Report, debit Amount, p Paid) (Amount, error) {
	var err error
	a := debit
	switch {
	case r.Amount == 0 || r.Currency == told.Currency && r.Amount == told.Amount:
	case r.Currency == told.Currency && told.Amount > 0:
		if a.Paid, err = share(r.Amount, debit.Paid, told.Amount); err == nil {
			a.Base, err = share(r.Amount, debit.Base, told.Amount)
		}
	case r.Currency == p.BaseCurrency:
		a, _, err = p.ofBase(r.Amount)
	case r.Currency == p.Currency:
		a, _, err = p.ofPaid(r.Amount)
	}
	return a, err
}

// whole is all that remains of the payment, or, if nothing remains, all of it: then it is a double recovery.
func (p Paid) whole() Amount {
	if p.Left <= 0 || p.BaseLeft <= 0 {
		return Amount{Paid: p.Total, Base: p.BaseTotal}
	}
	return Amount{Paid: p.Left, Base: p.BaseLeft}
}

func (p Paid) ofBase(base int64) (Amount, bool, error) {
	if p.Currency == p.BaseCurrency {
		return Amount{Paid: base, Base: base}, true, nil
	}
	paid, err := share(base, p.Total, p.BaseTotal)
	return Amount{Paid: paid, Base: base}, err == nil, err
}

func (p Paid) ofPaid(paid int64) (Amount, bool, error) {
	base, err := share(paid, p.BaseTotal, p.Total)
	return Amount{Paid: paid, Base: base}, err == nil, err
}

// share is amount · of / whole, rounded once, and at least 1: a movement is never nothing.
func share(amount, of, whole int64) (int64, error) {
	n, err := money.Round(new(big.Int).Mul(big.NewInt(amount), big.NewInt(of)), big.NewInt(max(1, whole)))
	return max(1, n), err
}

// within reports whether an amount is within 10 % of another.
func within(amount, of int64) bool {
	apart := new(big.Int).Sub(big.NewInt(amount), big.NewInt(of))
	return apart.Abs(apart).Mul(apart, big.NewInt(10)).Cmp(big.NewInt(of)) <= 0
}

// Split divides a debit over the allocations of a payment (R14): by their original amounts, the last unit by largest remainder. What one
// cannot bear goes to those that have something left; what none can bear stays where it was and is a double recovery.
func Split(base int64, originals, left []int64) []int64 {
	shares := money.Split(base, originals)
	over, room := make([]int64, len(shares)), make([]int64, len(shares))
	var sumOver, sumRoom int64
	for i, s := range shares {
		bears := max(0, left[i])
		over[i], room[i] = max(0, s-bears), max(0, bears-s)
		sumOver, sumRoom = sumOver+over[i], money.UpTo(sumRoom, room[i])
	}
	moved := min(sumOver, sumRoom)
	if moved == 0 {
		return shares
	}
	from, to := money.Split(moved, over), money.Split(moved, room)
	for i := range shares {
		shares[i] += to[i] - from[i]
	}
	return shares
}
