package exposure_test

import (
	"slices"
	"testing"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
)

// TestMerge: deltas with the same bucket, day and recording time are one sum, however many others there are, in the
// order of their first one.
func TestMerge(t *testing.T) {
	t.Parallel()
	delta := func(day civil.Day, known, amount int64) exposure.Delta {
		return exposure.Delta{Bucket: exposure.Bucket{LastDay: 1000, Category: "paid"}, Day: day, Known: known, Count: 1, Amount: amount}
	}
	for n := range int64(50) {
		var list, want []exposure.Delta
		for round := range int64(3) {
			for i := range n {
				list = append(list, delta(civil.Day(i/2), i%2, i+round))
			}
			list = append(list, delta(2000, 0, 1), exposure.Delta{Bucket: exposure.Bucket{LastDay: 1000}, Count: 1}, delta(500, round, 1), delta(500, round, 1).Negative())
		}
		for i := range n {
			sum := delta(civil.Day(i/2), i%2, 3*i+3)
			sum.Count = 3
			want = append(want, sum)
		}
		if got := exposure.Merge(list); !slices.Equal(got, want) {
			t.Errorf("%d sums: %v, want %v", n, got, want)
		}
	}
}
