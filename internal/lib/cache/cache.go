// Package cache keeps a bounded number of values that are asked for again. It is a typed face of hashicorp/golang-lru: what
// nobody has asked for longest goes first. A value that changes with a version has the version in its key, or beside it.
package cache

import lru "github.com/hashicorp/golang-lru/v2"

// Cache keeps values by key. Several goroutines may use it at once. They share the values, so nobody may change one.
type Cache[K comparable, V any] struct{ entries *lru.Cache[K, V] }

// New makes a cache of at most size values.
func New[K comparable, V any](size int) *Cache[K, V] {
	entries, err := lru.New[K, V](size)
	if err != nil {
		panic(err) // the size is not positive
	}
	return &Cache[K, V]{entries}
}

// Get returns the value of a key, if it is kept.
func (c *Cache[K, V]) Get(key K) (V, bool) { return c.entries.Get(key) }

// Put keeps a value.
func (c *Cache[K, V]) Put(key K, value V) { c.entries.Add(key, value) }

// Drop forgets the value of a key.
func (c *Cache[K, V]) Drop(key K) { c.entries.Remove(key) }
