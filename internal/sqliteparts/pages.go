package sqliteparts

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

func (s settings) usePages() error {
	methods := (*sqlite3.Tsqlite3_pcache_methods2)(address(s.methods()))
	if err := s.set(sqlite3.SQLITE_CONFIG_GETPCACHE2, s.methods()); err != nil {
		return err
	}
	builtIn.init = methods.FxInit
	*methods = sqlite3.Tsqlite3_pcache_methods2{
		FiVersion: 1, FxInit: pointer(pageInit), FxShutdown: pointer(pageShutdown), FxCreate: pointer(pageCreate), FxCachesize: pointer(pageCacheSize),
		FxPagecount: pointer(pageCount), FxFetch: pointer(pageFetch), FxUnpin: pointer(pageUnpin), FxRekey: pointer(pageRekey),
		FxTruncate: pointer(pageTruncate), FxDestroy: pointer(pageDestroy), FxShrink: pointer(pageShrink),
	}
	return s.set(sqlite3.SQLITE_CONFIG_PCACHE2, s.methods())
}

// caches are all that are open. SQLite knows each by its place; nobody has place 0. Who adds or removes one makes a new list.
var caches struct {
	sync.Mutex
	list atomic.Pointer[[]*cache]
}

// add puts a cache into a free place.
func add(c *cache) (place uintptr) {
	change(func(list []*cache) []*cache {
		if len(list) == 0 {
			list = append(list, nil)
		}
		if i := slices.Index(list[1:], nil); i >= 0 {
			place, list[1+i] = uintptr(1+i), c
			return list
		}
		place = uintptr(len(list))
		return append(list, c)
	})
	return place
}

// change makes a new list of a copy of the old one.
func change(to func([]*cache) []*cache) {
	caches.Lock()
	defer caches.Unlock()
	var list []*cache
	if old := caches.list.Load(); old != nil {
		list = slices.Clone(*old)
	}
	list = to(list)
	caches.list.Store(&list)
}

func at(place uintptr) *cache { return (*caches.list.Load())[place] }

// The methods of sqlite3_pcache_methods2 (https://sqlite.org/c3ref/pcache_methods2.html). SQLite never calls two of them for one cache
// at the same time.

// builtIn is SQLite's own cache.
var builtIn struct{ init uintptr }

// pageInit has the built-in cache make its locks. SQLite counts memory for other things under one of them.
func pageInit(tls *libc.TLS, argument uintptr) int32 {
	return (*(*func(*libc.TLS, uintptr) int32)(unsafe.Pointer(&builtIn)))(tls, argument)
}

func pageShutdown(*libc.TLS, uintptr) {}

func pageCreate(_ *libc.TLS, page, extra, purgeable int32) uintptr {
	return add(newCache(uintptr(page), uintptr(extra), purgeable != 0))
}

func pageCacheSize(_ *libc.TLS, place uintptr, pages int32) { at(place).resize(int(pages)) }

func pageCount(_ *libc.TLS, place uintptr) int32 { return int32(at(place).count) }

func pageFetch(tls *libc.TLS, place uintptr, key uint32, create int32) *page {
	return at(place).fetch(tls, key, create)
}

func pageUnpin(_ *libc.TLS, place uintptr, p *page, discard int32) { at(place).unpin(p, discard != 0) }

func pageRekey(_ *libc.TLS, place uintptr, p *page, _, key uint32) { at(place).rekey(p, key) }

func pageTruncate(tls *libc.TLS, place uintptr, limit uint32) { at(place).truncate(tls, limit) }

func pageDestroy(tls *libc.TLS, place uintptr) {
	at(place).free(tls)
	change(func(list []*cache) []*cache {
		list[place] = nil
		return list
	})
}

func pageShrink(tls *libc.TLS, place uintptr) { at(place).shrink(tls) }
