package money

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strings"
)

// Bounds of a rate. They are far outside what is published and keep a rate's digits within 64 bits.
const (
	maxRateDigits   = 18
	maxRateDecimals = 12
)

// Rate is an exchange rate: a positive decimal, kept exactly as published, because explanations show that text and
// reports repeat it for ever. The zero Rate is no rate. Rates can be compared with ==, which compares their texts.
type Rate struct {
	text     string
	mantissa uint64 // the rate is mantissa / 10^scale
	scale    int
}

// UnitRate is the rate of a currency against itself.
func UnitRate() Rate { return Rate{text: "1", mantissa: 1} }

// ParseRate reads a rate such as "0.85365": digits, with a point between them or none.
func ParseRate(s string) (Rate, error) {
	whole, fraction, point := strings.Cut(s, ".")
	switch {
	case !isDigits(whole), point && !isDigits(fraction), len(whole) > 1 && whole[0] == '0':
		return Rate{}, fmt.Errorf("%.24q is not a rate such as 0.85365", s)
	case len(whole)+len(fraction) > maxRateDigits:
		return Rate{}, fmt.Errorf("%.24q has more than %d digits", s, maxRateDigits)
	case len(fraction) > maxRateDecimals:
		return Rate{}, fmt.Errorf("%.24q has more than %d decimals", s, maxRateDecimals)
	}
	r := Rate{text: s, scale: len(fraction)}
	for i := range len(s) {
		if s[i] != '.' {
			r.mantissa = r.mantissa*10 + uint64(s[i]-'0')
		}
	}
	if r.mantissa == 0 {
		return Rate{}, fmt.Errorf("%.24q is not a rate: a rate is more than zero", s)
	}
	return r, nil
}

// IsZero reports whether r is no rate.
func (r Rate) IsZero() bool { return r.mantissa == 0 }

// String gives back the published text.
func (r Rate) String() string { return r.text }

// MarshalText writes the published text, so that a rate inside a report is not an empty object.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.text), nil }

// Rat is the rate as an exact fraction.
func (r Rate) Rat() *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(r.mantissa), bigPow10(r.scale))
}

// Convert turns an amount of one currency into another: round(a · 10^(mTo−mFrom) · rTo/rFrom), the rates in units of
// each currency per unit of a third one (R9). A currency converts into itself unchanged, whatever the rates. Negative
// amounts mirror positive ones.
func Convert(amount int64, from, to Currency, rFrom, rTo Rate) (int64, error) {
	mFrom, okFrom := exponents[from]
	mTo, okTo := exponents[to]
	if !okFrom || !okTo {
		return 0, fmt.Errorf("no conversion from %.8q to %.8q: not both are ISO 4217 currencies", from, to)
	}
	if from == to {
		return amount, nil
	}
	if rFrom.IsZero() || rTo.IsZero() {
		return 0, fmt.Errorf("no conversion from %s to %s: a rate is missing", from, to)
	}
	shift := mTo - mFrom + rFrom.scale - rTo.scale // the powers of ten of all four, in one
	negative, abs := magnitude(amount)
	if q, ok := scaleFast(abs, rTo.mantissa, rFrom.mantissa, shift); ok {
		return signed(negative, q)
	}
	return scaleBig(amount, rTo.mantissa, rFrom.mantissa, shift)
}

// scaleFast is round(a · mul · 10^shift / div) in 128 bits, without garbage: exposure converts every line. It is not
// ok where an intermediate does not fit; scaleBig then decides, and both are tested to agree.
func scaleFast(a, mul, div uint64, shift int) (q uint64, ok bool) {
	hi, lo := bits.Mul64(a, mul)
	var over uint64
	switch {
	case shift > maxPow10 || shift < -maxPow10:
		return 0, false
	case shift > 0:
		carry, low := bits.Mul64(lo, pow10[shift])
		over, hi = bits.Mul64(hi, pow10[shift])
		lo = low
		var c uint64
		hi, c = bits.Add64(hi, carry, 0)
		over |= c
	case shift < 0:
		over, div = bits.Mul64(div, pow10[-shift])
	}
	if over != 0 || hi >= div { // hi >= div: the quotient has more than 64 bits
		return 0, false
	}
	q, r := bits.Div64(hi, lo, div)
	if r >= div-r { // 2r >= div, without going past 64 bits
		if q == math.MaxUint64 {
			return 0, false
		}
		q++
	}
	return q, true
}

// scaleBig is the same without bounds.
func scaleBig(a int64, mul, div uint64, shift int) (int64, error) {
	num := new(big.Int).Mul(big.NewInt(a), new(big.Int).SetUint64(mul))
	den := new(big.Int).SetUint64(div)
	if shift >= 0 {
		num.Mul(num, bigPow10(shift))
	} else {
		den.Mul(den, bigPow10(-shift))
	}
	return Round(num, den)
}
