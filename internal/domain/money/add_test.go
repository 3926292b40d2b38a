package money_test

import (
	"errors"
	"math"
	"testing"

	"holdfast/internal/domain/money"
)

// TestAddNeverWraps: a sum beyond 64 bits is an error (R0), and so is the smallest int64, which has no opposite.
func TestAddNeverWraps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b, want int64
		tooLarge   bool
	}{
		{1, 2, 3, false}, {5, 0, 5, false}, {0, 0, 0, false}, {5, -7, -2, false},
		{math.MaxInt64 - 1, 1, math.MaxInt64, false}, {-math.MaxInt64, math.MaxInt64, 0, false},
		{math.MaxInt64, 1, 0, true}, {math.MaxInt64, math.MaxInt64, 0, true},
		{-math.MaxInt64, -1, 0, true}, {-math.MaxInt64, -math.MaxInt64, 0, true},
	} {
		if got, err := money.Add(c.a, c.b); got != c.want || errors.Is(err, money.ErrRange) != c.tooLarge {
			t.Errorf("%d + %d = %d, %v", c.a, c.b, got, err)
		}
	}
}
