package money

import (
	"cmp"
	"math/big"
	"slices"
)

// Split divides total in proportion to the weights. The parts add up to total exactly. Each part is cut towards zero
// first; then the parts that lost most get one more unit each, the earlier part first when two lost the same. So equal
// input always gives equal parts. If all weights are zero, all count the same. Split panics if there are no weights for
// an amount, or a weight is negative: these are programming errors, not user errors.
func Split(total int64, weights []int64) []int64 {
	if len(weights) == 0 {
		if total != 0 {
			panic("money: split without weights")
		}
		return nil
	}
	sum := new(big.Int) // weights are amounts: their sum and the products below may not fit in 64 bits
	for _, w := range weights {
		if w < 0 {
			panic("money: split by a negative weight")
		}
		sum.Add(sum, big.NewInt(w))
	}
	equal := sum.Sign() == 0
	if equal {
		sum.SetInt64(int64(len(weights)))
	}

	negative, abs := magnitude(total)
	whole := new(big.Int).SetUint64(abs)
	parts := make([]uint64, len(weights))
	lost := make([]*big.Int, len(weights))
	order := make([]int, len(weights))
	left := abs
	for i, w := range weights {
		if equal {
			w = 1
		}
		q, r := new(big.Int).QuoRem(new(big.Int).Mul(whole, big.NewInt(w)), sum, new(big.Int))
		parts[i], lost[i], order[i] = q.Uint64(), r, i
		left -= parts[i]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(lost[b].Cmp(lost[a]), cmp.Compare(a, b))
	})
	for _, i := range order[:left] {
		parts[i]++
	}

	out := make([]int64, len(parts))
	for i, p := range parts {
		out[i] = int64(p)
		if negative {
			out[i] = -out[i]
		}
	}
	return out
}
