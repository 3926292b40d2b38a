package again_test

import (
	"testing"

	"holdfast/internal/again"
)

// TestAListComesBackEmpty, and nothing of what was in it is left in its memory.
func TestAListComesBackEmpty(t *testing.T) {
	t.Parallel()
	var lists again.Lists[*int]
	for range 100 {
		list := lists.Take()
		if len(*list) != 0 {
			t.Fatalf("a list has %d values from the beginning", len(*list))
		}
		for _, left := range (*list)[:cap(*list)] {
			if left != nil {
				t.Fatal("a value is left in the memory of a list")
			}
		}
		*list = append(*list, new(int), new(int), new(int))
		lists.GiveBack(list)
	}
}
