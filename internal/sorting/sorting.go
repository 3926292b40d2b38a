// Package sorting sorts what is small, by code that the program has once. It owns nothing. Begin reading at Stable.
package sorting

import "sort"

// Stable is slices.SortStableFunc for the lists of a page. That one is there again for each type, with 10 to 20 KB of the program. This
// one needs some hundred bytes for each, and takes two or three times as long, which is nothing for a hundred rows.
func Stable[T any](list []T, compare func(a, b T) int) {
	sort.SliceStable(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}
