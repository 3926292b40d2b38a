package sqlitecache

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite asks for each page that it caches as one piece of memory: the page and what it notes of it, a little more than 4 KiB. The
// driver's allocator gives pieces of powers of two, so that each took 8 KiB. Here pieces of this length lie side by side; all others
// come from the driver's allocator, as before. SQLite wants to know how long a piece is, so a word in front of each tells it.
const (
	pageLeast  = 4 << 10 // shorter ones are no pages
	pageBytes  = 4<<10 + 312
	wordBytes  = 8
	slotBytes  = pageBytes + wordBytes
	chunkBytes = 256<<10 - 64                       // the driver's allocator rounds this up to 256 KiB
	chunkEnd   = chunkBytes / slotBytes * slotBytes // what is behind the last slot stays unused
)

// pageMark stands in front of a piece that is a slot. In front of others their length stands.
const pageMark = ^uintptr(0)

// pages are the slots of all connections.
var pages struct {
	mu         sync.Mutex
	free       uintptr // the first of those that were given back; each begins with the address of the next one
	fresh, end uintptr // those of the newest chunk that nobody had yet
	used       int     // how many SQLite has
}

// installed is the error of handing the functions below to SQLite, which takes them before its first connection alone.
var installed = install()

func install() error {
	tls := libc.NewTLS()
	defer tls.Close()
	methods := libc.Xcalloc(tls, 1, types.Size_t(unsafe.Sizeof(sqlite3.Tsqlite3_mem_methods{})))
	list := libc.Xcalloc(tls, 1, wordBytes)
	if methods == 0 || list == 0 {
		return errors.New("there is no memory for SQLite")
	}
	defer libc.Xfree(tls, methods)
	defer libc.Xfree(tls, list)
	m := *(**sqlite3.Tsqlite3_mem_methods)(unsafe.Pointer(&methods))
	m.FxMalloc, m.FxFree, m.FxRealloc = function(take), function(giveBack), function(resize)
	m.FxSize, m.FxRoundup = function(length), function(roundUp)
	m.FxInit, m.FxShutdown = function(begin), function(end)
	if code := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MALLOC, libc.VaList(list, methods)); code != sqlite3.SQLITE_OK {
		return fmt.Errorf("SQLite does not take functions for its memory: code %d", code)
	}
	return nil
}

// function is a function as the translated C code calls it, as the driver makes them for itself: a pointer to the word behind the value.
func function[T any](f T) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f T }{f})) }

// word is the word at an address outside of Go's memory.
func word(at uintptr) *uintptr { return *(**uintptr)(unsafe.Pointer(&at)) }

func begin(*libc.TLS, uintptr) int32 { return sqlite3.SQLITE_OK }

func end(*libc.TLS, uintptr) {}

func roundUp(_ *libc.TLS, n int32) int32 { return (n + 7) &^ 7 }

// take gives a piece of n bytes, or 0 where there is no memory.
func take(tls *libc.TLS, n int32) uintptr {
	if n > pageLeast && n <= pageBytes {
		return takeSlot(tls)
	}
	at := libc.Xmalloc(tls, types.Size_t(n)+wordBytes)
	if at == 0 {
		return 0
	}
	*word(at) = uintptr(n)
	return at + wordBytes
}

func takeSlot(tls *libc.TLS) uintptr {
	pages.mu.Lock()
	defer pages.mu.Unlock()
	at := pages.free
	switch {
	case at != 0:
		pages.free = *word(at)
	case pages.fresh == pages.end:
		chunk := libc.Xmalloc(tls, chunkBytes)
		if chunk == 0 {
			return 0
		}
		pages.fresh, pages.end = chunk, chunk+chunkEnd
		fallthrough
	default:
		at = pages.fresh + wordBytes
		*word(pages.fresh) = pageMark
		pages.fresh += slotBytes
	}
	pages.used++
	return at
}

// giveBack takes a piece back. Slots stay in their chunk, for the next page: the caches of all connections together are bounded.
func giveBack(tls *libc.TLS, at uintptr) {
	if at == 0 {
		return
	}
	if *word(at - wordBytes) != pageMark {
		libc.Xfree(tls, at-wordBytes)
		return
	}
	pages.mu.Lock()
	defer pages.mu.Unlock()
	*word(at) = pages.free
	pages.free = at
	pages.used--
}

// resize moves what is in a piece to one of another length. Only a piece that is no slot and becomes none may stay where it is.
func resize(tls *libc.TLS, at uintptr, n int32) uintptr {
	if *word(at - wordBytes) != pageMark {
		moved := libc.Xrealloc(tls, at-wordBytes, types.Size_t(n)+wordBytes)
		if moved == 0 {
			return 0
		}
		*word(moved) = uintptr(n)
		return moved + wordBytes
	}
	if n > pageLeast && n <= pageBytes {
		return at
	}
	moved := take(tls, n)
	if moved == 0 {
		return 0
	}
	libc.Xmemcpy(tls, moved, at, types.Size_t(min(n, pageBytes)))
	giveBack(tls, at)
	return moved
}

// length is how many bytes a piece has.
func length(_ *libc.TLS, at uintptr) int32 {
	if at == 0 {
		return 0
	}
	n := *word(at - wordBytes)
	if n == pageMark {
		return pageBytes
	}
	return int32(n)
}
