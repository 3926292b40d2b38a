package protection

import (
	"cmp"
	"math/big"
	"slices"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/money"
)

// Vintage is what has become of a merchant's card payments of one month: how much came back, and how much of their premium is
// earned (R10). Test payments are in no vintage.
type Vintage struct {
	Month    string // of the payments, YYYY-MM
	Currency money.Currency
	Payments int64 // allocations
	Disputed int64 // of these, the ones with a chargeback, also when it was reversed
	Amounts        // their sums, in minor units of Currency
	// Booked is the premium that the ledger has for them, and Earned the part of it whose risk is over. Minor units of Policy.
	Policy money.Currency
	Booked int64
	Earned int64
}

func (v *Vintage) add(o Vintage) {
	v.Payments += o.Payments
	v.Disputed += o.Disputed
	v.Allocated += o.Allocated
	v.Refunded += o.Refunded
	v.ChargedBack += o.ChargedBack
	v.Reversed += o.Reversed
	v.Booked += o.Booked
	v.Earned += o.Earned
}

// Vintages adds up allocations by the month of their payment. Its memory depends on the number of months and currencies.
type Vintages struct {
	day   civil.Day
	known time.Time
	rows  map[vintageKey]*Vintage
}

type vintageKey struct {
	month            string
	currency, policy money.Currency
}

// NewVintages starts a report at the end of a day, as known at an instant.
func NewVintages(day civil.Day, known time.Time) *Vintages {
	return &Vintages{day, known, map[vintageKey]*Vintage{}}
}

// Add adds an allocation with its history up to the day, and all its premium lines. The error is money.ErrRange.
func (vs *Vintages) Add(h History, lines []PremiumLine) error {
	if h.Decision.Simulated || h.Decision.Reason == ReasonNotCardPayment || h.Paid() > vs.day {
		return nil
	}
	amounts := h.AmountsAt(h.Events, vs.day, vs.known)
	v := Vintage{Payments: 1, Amounts: amounts}
	if amounts.ChargedBack > 0 {
		v.Disputed = 1
	}
	for _, l := range lines {
		if !l.Simulated && !l.RecordedAt.After(vs.known) && civil.DayOf(l.EffectiveAt) <= vs.day {
			v.Booked += l.Amount
		}
	}
	var err error
	terms := TermsAt(h.Terms, vs.day, vs.known)
	v.Earned, err = earned(v.Booked, h.Paid(), terms.LastDay, vs.day, amounts.Remaining(h.Paid(), vs.day))
	if err != nil {
		return err
	}
	key := vintageKey{h.Paid().Month(), h.Currency, h.PolicyCurrency}
	row := at(vs.rows, key)
	row.Month, row.Currency, row.Policy = key.month, key.currency, key.policy
	row.add(v)
	return nil
}

// earned is the part of a premium whose risk is over at the end of a day: the risk of each day from the payment to the last day
// of dispute is the same. When nothing of the payment remains, all of it is earned.
func earned(booked int64, paid, last, day civil.Day, remaining int64) (int64, error) {
	if remaining == 0 || day >= last {
		return booked, nil
	}
	part := new(big.Int).Mul(big.NewInt(booked), big.NewInt(int64(day-paid)+1))
	return money.Round(part, big.NewInt(int64(last-paid)+1))
}

// List are the vintages in order of month and currency, and their sums for each pair of currencies.
func (vs *Vintages) List() (list, totals []Vintage) {
	sums := map[vintageKey]*Vintage{}
	for key, row := range vs.rows {
		list = append(list, *row)
		key.month = ""
		total := at(sums, key)
		total.Currency, total.Policy = key.currency, key.policy
		total.add(*row)
	}
	for _, total := range sums {
		totals = append(totals, *total)
	}
	order := func(a, b Vintage) int {
		return cmp.Or(cmp.Compare(a.Month, b.Month), cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Policy, b.Policy))
	}
	slices.SortFunc(list, order)
	slices.SortFunc(totals, order)
	return list, totals
}
