package money

import (
	"cmp"
	"math/big"
	"slices"
)

// Split divides total in proportion to the weights so that the parts sum to total exactly. Each part is cut towards
// zero; the units left over go one each to the parts that lost most, the earlier one where two lost the same, so that
// equal input gives equal parts for ever. Weights that are all zero count as equal. Split panics where there is nothing
// to give total to, and for a negative weight: both are mistakes of the caller, not of a user.
func Split(total int64, weights []int64) []int64 {
	if len(weights) == 0 {
		if total != 0 {
			panic("money: split of an amount over no weights")
		}
		return nil
	}
	sum := new(big.Int) // weights are amounts: their sum and the products below go past 64 bits
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
