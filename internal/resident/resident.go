// Package resident keeps the memory of a server small where that costs little, and lets it grow where that saves time. It owns
// nothing. Begin reading at KeepRoom and ForgetStart.
package resident

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// KeepRoom has the heap collected when it has grown by percent, but not before it has grown by least bytes. A small heap under load is full
// of garbage every few milliseconds, and each collection takes time from all who wait. When nothing was collected for a time, which is quiet, what
// is free goes back to the system. It holds for the rest of the process.
func KeepRoom(percent int, least uint64, quiet time.Duration) {
	r := &room{percent: percent, least: least, quiet: quiet, live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	r.set()
	r.calm = time.AfterFunc(quiet, debug.FreeOSMemory) // which collects, so that set and follow come again
	r.follow()
}

type room struct {
	percent int
	least   uint64
	quiet   time.Duration
	calm    *time.Timer

	mu   sync.Mutex
	live []metrics.Sample
	now  int
}

// follow calls set after each collection: what nothing refers to is cleaned up then.
func (r *room) follow() {
	runtime.AddCleanup(new([16]byte), func(r *room) {
		r.set()
		r.calm.Reset(r.quiet)
		r.follow()
	}, r)
}

// set tells Go what holds for a heap of the present size. That stops the program for a moment, so small changes are left out.
func (r *room) set() {
	r.mu.Lock()
	defer r.mu.Unlock()
	metrics.Read(r.live)
	next := percentFor(r.live[0].Value.Uint64(), r.percent, r.least)
	if apart := next - r.now; apart*apart*100 > r.now*r.now {
		debug.SetGCPercent(next)
		r.now = next
	}
}

// percentFor is by how much a heap of some bytes may grow.
func percentFor(live uint64, percent int, least uint64) int {
	const most = 1000 // of an almost empty heap
	if live == 0 {
		return most
	}
	return max(percent, int(min(most, 100*least/live)))
}
