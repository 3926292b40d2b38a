package money

import (
	"fmt"
	"maps"
	"slices"

	"holdfast/internal/domain/civil"
)

// Currency is an ISO 4217 alphabetic code, such as EUR. ParseCurrency only returns codes of list one and recently
// withdrawn ones. The type itself does not guarantee this, so that text from a row or a test can be compared with it.
type Currency string

// EUR is the currency that all rates are quoted against.
const EUR Currency = "EUR"

// ParseCurrency reads a code as ISO writes it, in upper case (R0). It refuses the codes that the standard lists
// without a minor unit (metals, the SDR, testing): no amount can be counted in them.
func ParseCurrency(s string) (Currency, error) {
	if c := Currency(s); c.known() {
		return c, nil
	}
	// The text is cut: a caller may have sent anything.
	return "", fmt.Errorf("%.8q is not an ISO 4217 currency", s)
}

func (c Currency) known() bool {
	_, ok := c.exponent()
	return ok
}

func (c Currency) exponent() (decimals int, ok bool) {
	if decimals, ok = exponents[c]; ok {
		return decimals, true
	}
	w, ok := withdrawn[c]
	return w.exponent, ok
}

// Withdrawn reports whether a currency is no longer in use on a day. last is the last day on which it was, or
// civil.NoDay if it was never withdrawn.
func (c Currency) Withdrawn(day civil.Day) (last civil.Day, yes bool) {
	w, ok := withdrawn[c]
	if !ok {
		return civil.NoDay, false
	}
	return w.last, day > w.last
}

// Exponent is the number of decimals of the currency: 0 for JPY, 2 for GBP, 3 for KWD (R0). It panics for a code that
// is not in the list. A guess of 2 would be wrong by a factor of a hundred for some, and no later step could see it.
func (c Currency) Exponent() int {
	e, ok := c.exponent()
	if !ok {
		panic(fmt.Sprintf("money: exponent of %.8q, which is not an ISO 4217 currency", string(c)))
	}
	return e
}

// Currencies returns all currencies that amounts can have, in alphabetical order: current and recently withdrawn ones.
func Currencies() []Currency {
	all := slices.AppendSeq(slices.Collect(maps.Keys(exponents)), maps.Keys(withdrawn))
	slices.Sort(all)
	return all
}
