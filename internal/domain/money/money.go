// Package money parses, converts and formats amounts. An amount is an int64 of minor units, such as cents. Currencies
// are those of ISO 4217 list one and, as long as they are needed, of list three. Rates are exact decimals. Each
// computed amount is rounded once, half away from zero (R0). No amount is ever a floating-point number.
package money

import (
	"errors"
	"math"
	"math/big"
)

// ErrRange is the error of an amount that does not fit in 64 bits.
var ErrRange = errors.New("the amount is too large")

// Add returns a + b. The error is ErrRange: a sum never wraps (R0).
func Add(a, b int64) (int64, error) {
	sum := a + b
	if (sum > a) != (b > 0) && b != 0 || sum == math.MinInt64 {
		return 0, ErrRange
	}
	return sum, nil
}

// Sum is Add for code that adds up many amounts and cannot continue without the sum: it panics with ErrRange. Callers of such code defer
// Catch, as all transactions of package sites do.
func Sum(a, b int64) int64 {
	sum, err := Add(a, b)
	if err != nil {
		panic(ErrRange)
	}
	return sum
}

// Catch turns a panic of Sum into the error ErrRange. Defer it with a pointer to the returned error.
func Catch(err *error) {
	if p := recover(); p != nil {
		if p != any(ErrRange) {
			panic(p)
		}
		*err = ErrRange
	}
}

// UpTo returns a + b, capped at the largest amount. A capped amount stays capped: as a use, it is above any limit (R12).
func UpTo(a, b int64) int64 {
	sum, err := Add(a, b)
	switch {
	case a == math.MaxInt64, err != nil && b > 0:
		return math.MaxInt64
	case err != nil:
		return math.MinInt64 + 1
	}
	return sum
}

// maxPow10 is the largest power of ten that fits in 64 bits.
const maxPow10 = 19

var pow10 = func() (p [maxPow10 + 1]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// Round returns num/den as a whole number, rounded half away from zero (R0). Callers bring everything to one fraction
// first, so that nothing is rounded twice. The error is ErrRange. It panics when den is zero.
func Round(num, den *big.Int) (int64, error) {
	q := roundBig(num, den)
	if q.BitLen() > 63 { // IsInt64 would let the smallest int64 through: see signed
		return 0, ErrRange
	}
	return q.Int64(), nil
}

func roundBig(num, den *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(num, den, new(big.Int)) // cut towards zero
	if r.Lsh(r, 1).CmpAbs(den) >= 0 {
		step := int64(num.Sign() * den.Sign())
		q.Add(q, big.NewInt(step))
	}
	return q
}

// bigPow10 is 10^n, for n ≥ 0.
func bigPow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// magnitude splits an amount into its sign and its size. The size of the smallest int64 fits only into an unsigned
// number.
func magnitude(v int64) (negative bool, abs uint64) {
	if v < 0 {
		return true, -uint64(v)
	}
	return false, uint64(v)
}

// signed joins sign and size again. It rejects the smallest int64, so that every amount can be negated for a refund.
func signed(negative bool, abs uint64) (int64, error) {
	switch {
	case abs > math.MaxInt64:
		return 0, ErrRange
	case negative:
		return -int64(abs), nil
	default:
		return int64(abs), nil
	}
}
