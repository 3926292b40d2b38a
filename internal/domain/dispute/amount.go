package dispute

import (
	"math/big"

	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
)

// RuleVersion is the version of the rule that matches and converts (R14). It is kept with each match.
const RuleVersion = "1"

// Paid is the disputed payment.
type Paid struct {
	Currency     money.Currency // of the payment
	Total, Left  int64          // minor units of Currency: the payment, and the part that is neither refunded nor charged back
	BaseCurrency money.Currency
	BaseTotal    int64 // minor units of BaseCurrency
	BaseLeft     int64
}

// Amount is a movement in the currencies of the payment.
type Amount struct {
	Paid, Base int64 // minor units of the payment's currency and of its base currency
	// Converted says that it was reported in a third currency and converted at a fixing.
	Converted bool
}

// Rates convert an amount in a third currency. A nil rate is missing.
type Rates struct {
	AsPaid     *fx.Quote // to the payment's currency, at the fixings of the day before the payment
	AsDisputed *fx.Quote // to the base currency, at the fixings of the day before the dispute
}

// DebitOf computes the amount of a debit or a prevented dispute (R14), by the currency of the report:
//   - base currency: as reported
//   - the payment's currency: converted in the ratio of the payment's two totals
//   - a third currency: all that remains of the payment, if the report says so (Whole) or its amount is within 10 % of the payment;
//     otherwise converted at the fixing of the day before the dispute
//   - no amount: all that remains of the payment
//
// ok is false if a rate is missing. The error is money.ErrRange.
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

// CreditOf computes the amount of a credit (R14). In the currency in which its debit was reported, it is the same share of the debit; in
// another currency of the payment, it is computed like a debit; otherwise it is the whole debit. debited is the report of the debit, and
// debit its amount. The error is money.ErrRange.
func CreditOf(r, debited Report, debit Amount, p Paid) (Amount, error) {
	var err error
	a := debit
	switch {
	case r.Amount == 0 || r.Currency == debited.Currency && r.Amount == debited.Amount:
	case r.Currency == debited.Currency && debited.Amount > 0:
		if a.Paid, err = share(r.Amount, debit.Paid, debited.Amount); err == nil {
			a.Base, err = share(r.Amount, debit.Base, debited.Amount)
		}
	case r.Currency == p.BaseCurrency:
		a, _, err = p.ofBase(r.Amount)
	case r.Currency == p.Currency:
		a, _, err = p.ofPaid(r.Amount)
	}
	return a, err
}

// whole is all that remains of the payment. If nothing remains it is the whole payment, a double recovery.
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

// share is amount · of / whole, rounded once. It is at least 1: no movement is zero.
func share(amount, of, whole int64) (int64, error) {
	n, err := money.Round(new(big.Int).Mul(big.NewInt(amount), big.NewInt(of)), big.NewInt(max(1, whole)))
	return max(1, n), err
}

// within reports whether an amount is within 10 % of another.
func within(amount, of int64) bool {
	apart := new(big.Int).Sub(big.NewInt(amount), big.NewInt(of))
	return apart.Abs(apart).Mul(apart, big.NewInt(10)).Cmp(big.NewInt(of)) <= 0
}

// Split divides a debit over the allocations of a payment (R14): by their original amounts, the last unit by largest remainder. The excess of
// one allocation goes to the others, up to what is left of each. The rest stays on it, as a double recovery.
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
