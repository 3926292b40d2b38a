// Package money counts in minor units: amounts are int64, currencies come from ISO 4217 list one, exchange rates are
// exact decimals. Every amount that is produced was rounded once, half away from zero (R0), and never passes through
// floating point.
package money

import (
	"errors"
	"math"
	"math/big"
)

// ErrRange says that an amount does not fit in 64 bits.
var ErrRange = errors.New("the amount is too large to be counted")

// maxPow10 is the largest power of ten that fits in 64 bits.
const maxPow10 = 19

var pow10 = func() (p [maxPow10 + 1]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// Round returns num/den rounded to a whole number, half away from zero: the one rounding of a produced amount. Callers
// bring everything to one fraction first, so that nothing is rounded twice. It panics where den is zero.
func Round(num, den *big.Int) (int64, error) {
	q := roundBig(num, den)
	if q.BitLen() > 63 { // not IsInt64, which lets the smallest int64 through: see signed
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

// bigPow10 is 10^n for n of zero and more.
func bigPow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// magnitude takes the sign off an amount; the smallest int64 has a magnitude that only fits unsigned.
func magnitude(v int64) (negative bool, abs uint64) {
	if v < 0 {
		return true, -uint64(v)
	}
	return false, uint64(v)
}

// signed puts the sign back. The range is kept symmetric, so that what holds for an amount holds for its refund.
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
