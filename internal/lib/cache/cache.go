// Package cache is a bounded cache: a typed wrapper around hashicorp/golang-lru that evicts the least recently used
// value. A value that changes with a version has the version in its key, or next to it.
package cache

import (
	"cmp"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
)

// DefaultSize is how many values a cache keeps that was not made by New.
const DefaultSize = 10_000

// Cache holds values by key. The zero value is ready to use, also concurrently. Goroutines share the values, so they
// must not be changed.
type Cache[K comparable, V any] struct {
	size   int
	once   sync.Once
	values *lru.Cache[K, V]
}

// New makes a cache of at most size values.
func New[K comparable, V any](size int) *Cache[K, V] { return &Cache[K, V]{size: size} }

// Get returns the value of a key, if it is kept.
func (c *Cache[K, V]) Get(key K) (V, bool) { return c.all().Get(key) }

// Put keeps a value.
func (c *Cache[K, V]) Put(key K, value V) { c.all().Add(key, value) }

// Drop forgets the value of a key.
func (c *Cache[K, V]) Drop(key K) { c.all().Remove(key) }

func (c *Cache[K, V]) all() *lru.Cache[K, V] {
	c.once.Do(func() {
		c.values, _ = lru.New[K, V](max(1, cmp.Or(c.size, DefaultSize))) // no error: the size is positive
	})
	return c.values
}
