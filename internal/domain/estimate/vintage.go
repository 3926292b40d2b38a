package estimate

import (
	"cmp"
	"math/big"
	"slices"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
)

// Vintage is the outcome of a merchant's card payments of one month: how much was returned, and how much of their
// premium is earned (R10). Test payments are left out.
type Vintage struct {
	Month              string // of the payments, YYYY-MM
	Currency           money.Currency
	Payments           int64 // allocations
	Disputed           int64 // of these, the ones with a chargeback, also when it was reversed
	protection.Amounts       // their sums, in minor units of Currency
	// Booked is the premium that the ledger has for them, and Earned the part of it whose risk is over. Minor units of Policy.
	Policy money.Currency
	Booked int64
	Earned int64
}

func (v *Vintage) add(o Vintage) {
	v.Payments += o.Payments
	v.Disputed += o.Disputed
	v.Allocated = money.Sum(v.Allocated, o.Allocated)
	v.Refunded = money.Sum(v.Refunded, o.Refunded)
	v.ChargedBack = money.Sum(v.ChargedBack, o.ChargedBack)
	v.Reversed = money.Sum(v.Reversed, o.Reversed)
	v.Booked = money.Sum(v.Booked, o.Booked)
	v.Earned = money.Sum(v.Earned, o.Earned)
}

// Vintages adds up allocations by the month of their payment. Its memory depends on the number of months and currencies.
type Vintages struct {
	day  civil.Day
	rows map[vintageKey]Vintage
}

type vintageKey struct {
	month            string
	currency, policy money.Currency
}

// NewVintages starts a report at the end of a day.
func NewVintages(day civil.Day) *Vintages {
	return &Vintages{day, map[vintageKey]Vintage{}}
}

// VintagePart is a card payment with its outcome at the time of a report.
type VintagePart struct {
	Paid, LastDay      civil.Day // P and L (R5)
	Currency, Policy   money.Currency
	protection.Amounts       // minor units of Currency
	Booked             int64 // all its premium, in minor units of Policy
}

// Add adds a payment. The error is money.ErrRange.
func (vs *Vintages) Add(p VintagePart) (err error) {
	v := Vintage{Payments: 1, Amounts: p.Amounts, Booked: p.Booked}
	if p.ChargedBack > 0 {
		v.Disputed = 1
	}
	if v.Earned, err = earned(p.Booked, p.Paid, p.LastDay, vs.day, p.Remaining(p.Paid, vs.day)); err != nil {
		return err
	}
	key := vintageKey{p.Paid.Month(), p.Currency, p.Policy}
	row := vs.rows[key]
	row.Month, row.Currency, row.Policy = key.month, key.currency, key.policy
	row.add(v)
	vs.rows[key] = row
	return nil
}

// earned is the part of a premium whose risk is over at the end of a day: each day from the payment to the last day of
// dispute has the same risk. When nothing of the payment remains, all of it is earned.
func earned(booked int64, paid, last, day civil.Day, remaining int64) (int64, error) {
	if remaining == 0 || day >= last {
		return booked, nil
	}
	part := new(big.Int).Mul(big.NewInt(booked), big.NewInt(int64(day-paid)+1))
	return money.Round(part, big.NewInt(int64(last-paid)+1))
}

// List are the vintages in order of month and currency, and their sums for each pair of currencies.
func (vs *Vintages) List() (list, totals []Vintage) {
	sums := map[vintageKey]Vintage{}
	for key, row := range vs.rows {
		list = append(list, row)
		key.month = ""
		total := sums[key]
		total.Currency, total.Policy = key.currency, key.policy
		total.add(row)
		sums[key] = total
	}
	for _, total := range sums {
		totals = append(totals, total)
	}
	order := func(a, b Vintage) int {
		return cmp.Or(cmp.Compare(a.Month, b.Month), cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Policy, b.Policy))
	}
	slices.SortFunc(list, order)
	slices.SortFunc(totals, order)
	return list, totals
}
