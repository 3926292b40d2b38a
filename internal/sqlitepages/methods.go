// Package sqlitepages keeps the pages of SQLite's files in memory, in place of SQLite's own cache. That one, as it is built into the
// driver, is shared by all connections: each page that one of them looks at takes the same lock, and each page takes 8 KiB of memory
// for 4. Here each connection has a cache of its own, without a lock. It owns nothing. Begin reading at Use.
package sqlitepages

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Use has SQLite use these caches, from its first database on. After that it is refused: SQLite keeps what it began with. What the first
// call came to, all later ones say, too.
func Use() error { return use() }

var use = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	// Outside the memory that Go manages, which may move what lies on a stack.
	memory := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_pcache_methods2{})+unsafe.Sizeof(uintptr(0))))
	if memory == 0 {
		return errors.New("there is no memory for the methods of a page cache")
	}
	defer libc.Xfree(tls, memory)
	*(*sqlite3.Tsqlite3_pcache_methods2)(address(memory)) = sqlite3.Tsqlite3_pcache_methods2{
		FiVersion: 1, FxInit: pointer(xInit), FxShutdown: pointer(xShutdown), FxCreate: pointer(xCreate), FxCachesize: pointer(xCachesize),
		FxPagecount: pointer(xPagecount), FxFetch: pointer(xFetch), FxUnpin: pointer(xUnpin), FxRekey: pointer(xRekey),
		FxTruncate: pointer(xTruncate), FxDestroy: pointer(xDestroy), FxShrink: pointer(xShrink),
	}
	arguments := memory + unsafe.Sizeof(sqlite3.Tsqlite3_pcache_methods2{})
	if rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_PCACHE2, libc.VaList(arguments, memory)); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("SQLite does not take another page cache any more: %s", libc.GoString(sqlite3.Xsqlite3_errstr(tls, rc)))
	}
	return nil // SQLite has copied the methods
})

// pointer is a function that is declared, as SQLite calls it.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f F }{f})) }

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

func xInit(*libc.TLS, uintptr) int32 { return sqlite3.SQLITE_OK }

func xShutdown(*libc.TLS, uintptr) {}

func xCreate(_ *libc.TLS, page, extra, purgeable int32) uintptr {
	return add(newCache(uintptr(page), uintptr(extra), purgeable != 0))
}

func xCachesize(_ *libc.TLS, place uintptr, pages int32) { at(place).resize(int(pages)) }

func xPagecount(_ *libc.TLS, place uintptr) int32 { return int32(at(place).count) }

func xFetch(tls *libc.TLS, place uintptr, key uint32, create int32) *page {
	return at(place).fetch(tls, key, create)
}

func xUnpin(_ *libc.TLS, place uintptr, p *page, discard int32) { at(place).unpin(p, discard != 0) }

func xRekey(_ *libc.TLS, place uintptr, p *page, _, key uint32) { at(place).rekey(p, key) }

func xTruncate(tls *libc.TLS, place uintptr, limit uint32) { at(place).truncate(tls, limit) }

func xDestroy(tls *libc.TLS, place uintptr) {
	at(place).free(tls)
	change(func(list []*cache) []*cache {
		list[place] = nil
		return list
	})
}

func xShrink(tls *libc.TLS, place uintptr) { at(place).shrink(tls) }
