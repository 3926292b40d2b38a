package cache_test

import (
	"testing"

	"holdfast/internal/lib/cache"
)

// TestUnusedValuesAreEvicted, and used ones stay.
func TestUnusedValuesAreEvicted(t *testing.T) {
	t.Parallel()
	c := cache.New[string, int](2)
	c.Put("a", 1)
	c.Put("b", 2)
	c.Get("a")
	c.Put("c", 3)
	if _, ok := c.Get("b"); ok {
		t.Error("the unused one is kept")
	}
	if a, ok := c.Get("a"); !ok || a != 1 {
		t.Errorf("the one that was asked for: %d, %t", a, ok)
	}
	c.Put("a", 4)
	if a, _ := c.Get("a"); a != 4 {
		t.Errorf("a later value does not replace it: %d", a)
	}
	c.Drop("a")
	if _, ok := c.Get("a"); ok {
		t.Error("it was dropped, and is kept")
	}
}
