package sorting

import (
	"cmp"
	"slices"
	"testing"
)

// TestStable: in order, and what is equal stays as it was.
func TestStable(t *testing.T) {
	t.Parallel()
	type row struct{ key, place int }
	var list []row
	for place := range 200 {
		list = append(list, row{place * 7 % 10, place})
	}
	want := slices.Clone(list)
	byKey := func(a, b row) int { return cmp.Compare(a.key, b.key) }
	slices.SortStableFunc(want, byKey)
	Stable(list, byKey)
	if !slices.Equal(list, want) {
		t.Errorf("sorted: %v", list)
	}
	Stable[row](nil, byKey)
}
