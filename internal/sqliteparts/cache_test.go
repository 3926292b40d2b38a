package sqliteparts

import (
	"testing"
	"unsafe"

	"modernc.org/libc"
)

// held is a cache of pages of 512 bytes, for tests without SQLite.
type held struct {
	*cache
	tls *libc.TLS
	t   *testing.T
}

func newHeld(t *testing.T, most int, purgeable bool) held {
	h := held{newCache(512, 64, purgeable), libc.NewTLS(), t}
	h.resize(most)
	t.Cleanup(func() { h.free(h.tls); h.tls.Close() })
	return h
}

// made fetches a page in any case.
func (h held) made(key uint32) *page {
	p := h.fetch(h.tls, key, 2)
	if p == nil {
		h.t.Fatalf("page %d is not made", key)
	}
	return p
}

// has fails the test where the pages are not those of these keys.
func (h held) has(keys ...uint32) {
	h.t.Helper()
	for _, key := range keys {
		if h.find(key) == none {
			h.t.Errorf("page %d is not there", key)
		}
	}
	if h.count != len(keys) {
		h.t.Errorf("there are %d pages, not %d", h.count, len(keys))
	}
}

func (h held) word(p *page) *uint64 { return (*uint64)(address(p.content + 504)) } // the last one of the page

// TestTheOldestOfUnusedPagesGoes: a cache that is full makes room with the page that was used longest ago, and never with one in use.
func TestTheOldestOfUnusedPagesGoes(t *testing.T) {
	h := newHeld(t, 10, true)
	if h.fetch(h.tls, 1, 0) != nil {
		t.Error("a page that is not there is found")
	}
	for key := range uint32(10) {
		p := h.made(key)
		*h.word(p) = uint64(key)
		*(*uintptr)(address(p.extra)) = 77
		if key != 3 {
			h.unpin(p, false)
		}
	}
	h.unpin(h.made(0), false) // now 1 is the oldest
	p := h.fetch(h.tls, 20, 1)
	if p == nil {
		t.Fatal("no page is made for one that nobody uses")
	}
	if got := *(*uintptr)(address(p.extra)); got != 0 {
		t.Errorf("SQLite takes a new page for one that it knows: %d", got)
	}
	h.has(0, 2, 3, 4, 5, 6, 7, 8, 9, 20)
	for _, key := range []uint32{0, 2, 4, 9} {
		if got := *h.word(h.made(key)); got != uint64(key) {
			t.Errorf("page %d says %d", key, got)
		}
	}
	h.made(21)
	h.made(22)
	h.has(0, 2, 3, 4, 7, 8, 9, 20, 21, 22) // 5 and 6 were the oldest
}

// TestWhoseCacheIsInUse is told so, that it writes some pages first; and gets one when it asks again.
func TestWhoseCacheIsInUse(t *testing.T) {
	h := newHeld(t, 10, true)
	var list []*page
	for key := range uint32(9) {
		list = append(list, h.made(key))
	}
	if h.fetch(h.tls, 20, 1) != nil {
		t.Error("a page is made where nine of ten are in use")
	}
	for key := range uint32(6) {
		list = append(list, h.made(20+key))
	}
	if h.count != 15 {
		t.Fatalf("there are %d pages", h.count)
	}
	for i, p := range list {
		h.unpin(p, false)
		if want := max(10, 14-i); h.count != want {
			t.Fatalf("there are %d pages after %d are not in use any more, not %d", h.count, i+1, want)
		}
	}
	h.unpin(h.made(25), true)
	h.has(5, 6, 7, 8, 20, 21, 22, 23, 24)
}

// TestPagesOfNoFile are not kept: nobody could write them, and nobody asks for them again.
func TestPagesOfNoFile(t *testing.T) {
	h := newHeld(t, 2, false)
	for key := range uint32(50) {
		h.made(key)
	}
	for key := range uint32(50) {
		h.unpin(h.made(key), false)
	}
	h.has()
}

// TestAPageChangesItsKey as SQLite moves pages: it keeps what it says, and takes the place of another one.
func TestAPageChangesItsKey(t *testing.T) {
	h := newHeld(t, 100, true)
	for key := range uint32(40) { // several in each bucket
		p := h.made(key)
		*h.word(p) = uint64(key)
		h.unpin(p, false)
	}
	p := h.made(7)
	h.rekey(p, 23)
	h.rekey(p, 23) // as it is
	h.rekey(p, 500)
	h.unpin(p, false)
	if h.find(7) != none || h.find(23) != none || h.count != 39 {
		t.Errorf("after it took the key of another page and a new one there are %d pages", h.count)
	}
	if got := *h.word(h.made(500)); got != 7 {
		t.Errorf("the page says %d", got)
	}
	h.truncate(h.tls, 20)
	if h.count != 19 || h.find(500) != none || h.find(19) == none {
		t.Errorf("%d pages are left of 39, of which 19 have keys below 20", h.count)
	}
}

// TestMemory: a cache has no more than it should; what was needed beyond that goes when all is forgotten, and all goes when asked.
func TestMemory(t *testing.T) {
	h := newHeld(t, 100, true)
	for key := range uint32(100) {
		h.unpin(h.made(key), false)
	}
	if len(h.slots) != 100 || h.size > 512+64+unsafe.Sizeof(page{})+15 {
		t.Errorf("a hundred pages take %d slots of %d bytes", len(h.slots), h.size)
	}
	h.truncate(h.tls, 0)
	if len(h.slots) != 100 {
		t.Error("the memory of a cache that begins anew goes")
	}
	for key := range uint32(150) {
		h.made(key)
	}
	h.truncate(h.tls, 0)
	if h.has(); len(h.slots) != 0 || len(h.chunks) != 0 {
		t.Errorf("%d slots are left of more than it should have", len(h.slots))
	}
	p := h.made(1)
	h.unpin(h.made(2), false)
	h.shrink(h.tls)
	h.has(1)
	h.unpin(p, false)
	if h.shrink(h.tls); len(h.chunks) != 0 {
		t.Error("memory is left where nothing is in use")
	}
	for key := range uint32(20) {
		h.unpin(h.made(key), false)
	}
	h.resize(4)
	h.has(16, 17, 18, 19)
}
