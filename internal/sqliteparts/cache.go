package sqliteparts

import (
	"unsafe"

	"modernc.org/libc"
)

// page is what SQLite sees of a page (sqlite3_pcache_page), and by which we know it again. It lies between the two parts that it
// points to, outside the memory that Go manages.
type page struct {
	content, extra uintptr
	slot           int32
}

// none is no slot.
const none = -1

// slot is a page with its place in the lists of its cache.
type slot struct {
	page   *page
	key    uint32 // number of the page in its file
	next   int32  // slot of the same bucket, or of those without a page
	newer  int32  // of those that nobody uses, in the order in which they were last used
	older  int32
	pinned bool // SQLite uses it, or it is not yet written
}

// cache has the pages of one connection. Those that nobody uses are kept until there are too many.
type cache struct {
	content, size  uintptr // bytes of a page, and with all that belongs to it
	purgeable      bool    // it is of a file: what nobody uses can be read again
	most           int     // how many pages it should have
	count          int     // how many it has
	unused         int     // how many of these nobody uses
	buckets        []int32 // by key: the first slot of each
	slots          []slot
	empty          int32 // first slot without a page
	newest, oldest int32 // of those that nobody uses
	chunks         []uintptr
}

// chunkBytes is how much memory is asked for at once: as much as libc gives for one mapping of its own.
const chunkBytes = 128<<10 - 64

// firstSlots are how many slots a cache begins with: many have a page or two, of what a statement sorts.
const firstSlots = 3

func newCache(content, extra uintptr, purgeable bool) *cache {
	size := (content + unsafe.Sizeof(page{}) + extra + 15) &^ 15
	c := &cache{content: content, size: size, purgeable: purgeable, most: 1, empty: none, newest: none, oldest: none}
	c.buckets = emptyBuckets(16)
	return c
}

func emptyBuckets(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = none
	}
	return list
}

// bucket is where the list of the slots of a key begins.
func (c *cache) bucket(key uint32) *int32 { return &c.buckets[key&uint32(len(c.buckets)-1)] }

// find is the slot of a key.
func (c *cache) find(key uint32) int32 {
	i := *c.bucket(key)
	for i != none && c.slots[i].key != key {
		i = c.slots[i].next
	}
	return i
}

// fetch pins the page of a key. If it is not there, create says what to do: 0 nothing; 1 make it, if that needs no page that is in
// use; 2 make it in any case. It gives nil where there is none.
func (c *cache) fetch(tls *libc.TLS, key uint32, create int32) *page {
	if i := c.find(key); i != none {
		c.pin(i)
		return c.slots[i].page
	}
	// With so many pages in use it is better that SQLite writes some of them first. It then asks with 2.
	if create == 0 || create == 1 && c.purgeable && 10*(c.count-c.unused) >= 9*c.most {
		return nil
	}
	i := c.oldest
	switch {
	case c.purgeable && c.count >= c.most && i != none:
		c.drop(i)
	case c.empty == none && !c.grow(tls):
		return nil
	}
	i = c.empty
	c.empty = c.slots[i].next
	c.slots[i].key, c.slots[i].pinned = key, true
	if c.count++; c.count > len(c.buckets) {
		c.spread()
	}
	c.file(i)
	p := c.slots[i].page
	*(*uintptr)(address(p.extra)) = 0 // so SQLite knows that it is new
	return p
}

// file puts a slot into the bucket of its key.
func (c *cache) file(i int32) {
	b := c.bucket(c.slots[i].key)
	c.slots[i].next, *b = *b, i
}

// unfile takes a slot out of its bucket.
func (c *cache) unfile(i int32) {
	at := c.bucket(c.slots[i].key)
	for *at != i {
		at = &c.slots[*at].next
	}
	*at = c.slots[i].next
}

// spread doubles the buckets.
func (c *cache) spread() {
	old := c.buckets
	c.buckets = emptyBuckets(2 * len(old))
	for _, i := range old {
		for i != none {
			next := c.slots[i].next
			c.file(i)
			i = next
		}
	}
}

// grow makes slots, each time as many as there are, up to what the cache should have. It reports whether there was memory.
func (c *cache) grow(tls *libc.TLS) bool {
	n := min(max(firstSlots, len(c.slots)), int(chunkBytes/c.size))
	if lack := c.most - len(c.slots); lack > 0 {
		n = min(n, lack)
	}
	chunk := libc.Xmalloc(tls, libc.Tsize_t(uintptr(n)*c.size))
	if chunk == 0 {
		return false
	}
	c.chunks = append(c.chunks, chunk)
	for n := range uintptr(n) {
		content := chunk + n*c.size
		p := (*page)(address(content + c.content))
		*p = page{content, content + c.content + unsafe.Sizeof(page{}), int32(len(c.slots))}
		c.slots = append(c.slots, slot{page: p, next: c.empty, pinned: true})
		c.empty = p.slot
	}
	return true
}

// pin takes a slot out of those that nobody uses.
func (c *cache) pin(i int32) {
	s := &c.slots[i]
	if s.pinned {
		return
	}
	s.pinned = true
	c.unused--
	if s.newer == none {
		c.newest = s.older
	} else {
		c.slots[s.newer].older = s.older
	}
	if s.older == none {
		c.oldest = s.newer
	} else {
		c.slots[s.older].newer = s.newer
	}
}

// drop forgets the page of a slot.
func (c *cache) drop(i int32) {
	c.pin(i)
	c.unfile(i)
	c.count--
	c.slots[i].next, c.empty = c.empty, i
}

// unpin: SQLite is done with a page, for now or for ever.
func (c *cache) unpin(p *page, discard bool) {
	i := p.slot
	if discard || !c.purgeable || c.count > c.most {
		c.drop(i)
		return
	}
	s := &c.slots[i]
	s.pinned, s.newer, s.older = false, none, c.newest
	if c.newest == none {
		c.oldest = i
	} else {
		c.slots[c.newest].newer = i
	}
	c.newest = i
	c.unused++
}

// rekey gives a page another key. The page that had it before goes; nobody uses that one.
func (c *cache) rekey(p *page, key uint32) {
	if i := c.find(key); i != none && i != p.slot {
		c.drop(i)
	}
	c.unfile(p.slot)
	c.slots[p.slot].key = key
	c.file(p.slot)
}

// truncate forgets all pages from a key on, also those that are in use.
func (c *cache) truncate(tls *libc.TLS, limit uint32) {
	for b := range c.buckets {
		for i := c.buckets[b]; i != none; {
			next := c.slots[i].next
			if c.slots[i].key >= limit {
				c.drop(i)
			}
			i = next
		}
	}
	if c.count == 0 && len(c.slots) > c.most { // more were in use than it should have
		c.free(tls)
	}
}

// resize says how many pages it should have.
func (c *cache) resize(most int) {
	c.most = max(1, most)
	for c.purgeable && c.count > c.most && c.oldest != none {
		c.drop(c.oldest)
	}
}

// shrink gives back what it can.
func (c *cache) shrink(tls *libc.TLS) {
	for c.oldest != none {
		c.drop(c.oldest)
	}
	if c.count == 0 {
		c.free(tls)
	}
}

// free gives all memory back, and with it all pages.
func (c *cache) free(tls *libc.TLS) {
	for _, chunk := range c.chunks {
		libc.Xfree(tls, chunk)
	}
	c.chunks, c.slots, c.empty = nil, nil, none
}
