// Package recent keeps texts that are asked for again and again, up to a number of bytes. What nobody asks for goes. It owns
// nothing. Begin reading at Texts.
package recent

import "sync"

// Texts are those that were kept or asked for last, by keys. A key names one text for ever: whatever a text was made from is
// part of its key.
type Texts[K comparable] struct {
	most int

	mu sync.Mutex
	// What is asked for goes from old to young. When young has half of the bytes, it becomes old, and what was old goes.
	young, old map[K][]byte
	bytes      int // of young
}

// perText is what a text takes besides its own bytes, roughly: its key, its place in a map, and what the allocator adds.
const perText = 200

// New makes a place for texts. most is how many bytes they take, roughly.
func New[K comparable](most int) *Texts[K] { return &Texts[K]{most: most, young: map[K][]byte{}} }

// Get returns a text, nil when it is not kept. Nobody may change it.
func (t *Texts[K]) Get(key K) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text, ok := t.young[key]; ok {
		return text
	}
	text, ok := t.old[key]
	if ok {
		delete(t.old, key)
		t.add(key, text)
	}
	return text
}

// Put keeps a copy of a text that is not empty.
func (t *Texts[K]) Put(key K, text []byte) {
	kept := append([]byte(nil), text...)
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, twice := t.young[key]; !twice { // two requests may make one at the same time
		t.add(key, kept)
	}
}

func (t *Texts[K]) add(key K, text []byte) {
	if t.bytes+len(text)+perText > t.most/2 {
		t.young, t.old, t.bytes = map[K][]byte{}, t.young, 0
	}
	t.young[key] = text
	t.bytes += len(text) + perText
}
