package money

import (
	"fmt"
	"maps"
	"slices"
)

// Currency is an ISO 4217 alphabetic code. A value that came from ParseCurrency is in list one; the type itself does
// not promise it, so that plain text from a row or a test can be compared with it.
type Currency string

// EUR is the currency that all rates are quoted against.
const EUR Currency = "EUR"

// ParseCurrency reads a code exactly as ISO writes it, in upper case. Codes that the standard lists without a minor
// unit (metals, the SDR, testing) are refused: no amount can be counted in them.
func ParseCurrency(s string) (Currency, error) {
	if c := Currency(s); c.known() {
		return c, nil
	}
	// Cut: the text may be anything that a caller sent.
	return "", fmt.Errorf("%.8q is not an ISO 4217 currency", s)
}

func (c Currency) known() bool {
	_, ok := exponents[c]
	return ok
}

// Exponent is the number of decimals between the major and the minor unit. It panics for a code that is not in the
// list: a guess of 2 would be wrong by a factor of a hundred for some, and nothing downstream could tell.
func (c Currency) Exponent() int {
	e, ok := exponents[c]
	if !ok {
		panic(fmt.Sprintf("money: exponent of %.8q, which is not an ISO 4217 currency", string(c)))
	}
	return e
}

// Currencies returns every currency in which an amount can be, in alphabetical order.
func Currencies() []Currency { return slices.Sorted(maps.Keys(exponents)) }
