package money

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strings"
)

// Bounds of a rate. Published rates stay far below them, and the digits of a rate fit in 64 bits.
const (
	maxRateDigits   = 18
	maxRateDecimals = 12
)

// Rate is an exchange rate: a positive decimal such as 0.85365 (R0). It keeps the published text, because
// explanations and final reports show this text. The zero Rate means "no rate". The operator == compares the texts.
type Rate struct {
	text     string
	mantissa uint64 // the rate is mantissa / 10^scale
	scale    int
}

// UnitRate is the rate of a currency against itself: 1.
func UnitRate() Rate { return Rate{text: "1", mantissa: 1} }

// ParseRate reads a rate such as "0.85365": digits, with or without a point, at most 18 of them and 12 behind the
// point. The error describes the problem with the text.
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
		return Rate{}, fmt.Errorf("%.24q is not a rate: rates must be greater than zero", s)
	}
	return r, nil
}

// IsZero reports whether r is the zero Rate, which means "no rate".
func (r Rate) IsZero() bool { return r.mantissa == 0 }

// String returns the published text.
func (r Rate) String() string { return r.text }

// MarshalText writes the published text. Without it, a rate in JSON would be an empty object.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.text), nil }

// Rat returns the rate as an exact fraction.
func (r Rate) Rat() *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(r.mantissa), bigPow10(r.scale))
}

// Convert converts an amount from one currency to another: round(a · 10^(mTo−mFrom) · rTo/rFrom) (R9). Amounts are
// minor units. Both rates are in units per euro. An amount stays unchanged if from and to are equal, whatever the
// rates. A negative amount gives the negative of the positive result. Errors: a currency is not in ISO 4217, a rate is
// missing, or the result is too large (ErrRange).
func Convert(amount int64, from, to Currency, rFrom, rTo Rate) (int64, error) {
	mFrom, okFrom := from.exponent()
	mTo, okTo := to.exponent()
	if !okFrom || !okTo {
		return 0, fmt.Errorf("%.8q cannot be converted to %.8q: both must be ISO 4217 currencies", from, to)
	}
	if from == to {
		return amount, nil
	}
	if rFrom.IsZero() || rTo.IsZero() {
		return 0, fmt.Errorf("%s cannot be converted to %s: a rate is missing", from, to)
	}
	shift := mTo - mFrom + rFrom.scale - rTo.scale // all four powers of ten together
	negative, abs := magnitude(amount)
	if q, ok := scaleFast(abs, rTo.mantissa, rFrom.mantissa, shift); ok {
		return signed(negative, q)
	}
	return scaleBig(amount, rTo.mantissa, rFrom.mantissa, shift)
}

// scaleFast is round(a · mul · 10^shift / div) in 128 bits. It allocates no memory, because exposure converts every
// line. ok is false when a number on the way does not fit. Then scaleBig computes it; a test shows that both agree.
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
	if r >= div-r { // 2r >= div, but in 64 bits
		if q == math.MaxUint64 {
			return 0, false
		}
		q++
	}
	return q, true
}

// scaleBig computes the same for numbers of any size.
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
