package dispute

import (
	"cmp"
	"math/big"
	"slices"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
)

// Volume has the payments of a month and the chargebacks whose first debit is in it (R15).
type Volume struct {
	Payments, Disputes int64
	Amounts            []VolumeIn // in order of currencies
}

// VolumeIn has the amounts of a volume in one base currency, in its minor units.
type VolumeIn struct {
	Currency       money.Currency
	Paid, Disputed int64
}

// Add adds up volumes.
func (v Volume) Add(o Volume) Volume {
	sum := Volume{v.Payments + o.Payments, v.Disputes + o.Disputes, slices.Clone(v.Amounts)}
	for _, a := range o.Amounts {
		i := slices.IndexFunc(sum.Amounts, func(b VolumeIn) bool { return b.Currency == a.Currency })
		if i < 0 {
			i, sum.Amounts = len(sum.Amounts), append(sum.Amounts, VolumeIn{Currency: a.Currency})
		}
		sum.Amounts[i].Paid = money.Sum(sum.Amounts[i].Paid, a.Paid)
		sum.Amounts[i].Disputed = money.Sum(sum.Amounts[i].Disputed, a.Disputed)
	}
	slices.SortFunc(sum.Amounts, func(a, b VolumeIn) int { return cmp.Compare(a.Currency, b.Currency) })
	return sum
}

// Ratio is disputes ÷ payments by number, in parts per million, rounded once. ok is false without payments.
func (v Volume) Ratio() (ppm int64, ok bool) { return ratio(v.Disputes, v.Payments) }

// Ratio is the ratio by amount.
func (v VolumeIn) Ratio() (ppm int64, ok bool) { return ratio(v.Disputed, v.Paid) }

func ratio(part, whole int64) (ppm int64, ok bool) {
	if whole <= 0 {
		return 0, false
	}
	of := big.NewInt(part)
	ppm, err := money.Round(of.Mul(of, big.NewInt(1_000_000)), big.NewInt(whole))
	return ppm, err == nil
}

// Thresholds are the ratios by number from which a scheme acts, in parts per million, in force from a day on.
type Thresholds struct {
	From     civil.Day
	Acquirer []int64 // of the site, ascending
	Merchant int64
	Least    int64 // disputes of a month below which the threshold of merchants does not apply
}

// thresholds are in order of their days. A change is a new line.
var thresholds = []Thresholds{
	{From: civil.Date(2025, 4, 1), Acquirer: []int64{5_000, 7_000}, Merchant: 15_000, Least: 1_500},
}

// ThresholdsOn are those in force on a day. ok is false before the first.
func ThresholdsOn(day civil.Day) (t Thresholds, ok bool) {
	for _, x := range thresholds {
		if x.From <= day {
			t, ok = x, true
		}
	}
	return t, ok
}

// OfSite is the highest threshold that the volume of a site has reached, or 0.
func (t Thresholds) OfSite(v Volume) (reached int64) {
	ppm, ok := v.Ratio()
	for _, threshold := range t.Acquirer {
		if ok && ppm >= threshold {
			reached = threshold
		}
	}
	return reached
}

// OfMerchant is the threshold that the volume of a merchant has reached, or 0.
func (t Thresholds) OfMerchant(v Volume) int64 {
	if ppm, ok := v.Ratio(); ok && t.Merchant > 0 && ppm >= t.Merchant && v.Disputes >= t.Least {
		return t.Merchant
	}
	return 0
}
