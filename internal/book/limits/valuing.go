package limits

import (
	"holdfast/internal/book/fixings"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
)

// valuing values uses in the currency of a limit. Amounts priced under a policy in another currency stay priced in it
// (R9). So a use has subtotals in several currencies. In the currency of the current policy it is E1 locked: each other
// subtotal is converted at spot and rounded once. In any other currency only the subtotal in it counts.
type valuing struct {
	tx     *store.Tx
	siteID int64
	day    civil.Day
	policy money.Currency
	quotes map[money.Currency]*fx.Quote // to the policy currency; nil when a rate is missing
}

func newValuing(tx *store.Tx, siteID int64, day civil.Day, policy money.Currency) valuing {
	return valuing{tx: tx, siteID: siteID, day: day, policy: policy, quotes: map[money.Currency]*fx.Quote{}}
}

// counts reports whether amounts priced in a currency count against a limit in another one.
func (v valuing) counts(priced, limit money.Currency) bool {
	return priced == limit || limit == v.policy
}

// value converts a subtotal to the currency of a limit. It is 0 when the subtotal does not count, or when a rate is
// missing: then known is false.
func (v valuing) value(priced money.Currency, sum int64, limit money.Currency) (value int64, known bool, err error) {
	if priced == limit {
		return sum, true, nil
	}
	if sum == 0 || !v.counts(priced, limit) {
		return 0, true, nil
	}
	quote, found := v.quotes[priced]
	if !found {
		q, ok, err := fixings.SpotQuote(v.tx, v.siteID, priced, limit, v.day)
		if err != nil {
			return 0, false, err
		}
		if ok {
			quote = &q
		}
		v.quotes[priced] = quote
	}
	if quote == nil {
		return 0, false, nil
	}
	value, err = quote.Convert(sum)
	return value, true, err
}

// total adds up subtotals of one channel in the currency of a limit.
func (v valuing) total(sums map[money.Currency]int64, limit money.Currency) (total int64, err error) {
	for priced, sum := range sums {
		value, _, err := v.value(priced, sum, limit)
		if err != nil {
			return 0, err
		}
		total = money.UpTo(total, value)
	}
	return total, nil
}
