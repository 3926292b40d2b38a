package resident

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// TestPercentFor: a small heap may grow by a number of bytes, and a large one by its part.
func TestPercentFor(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{0: 1000, 1 << 10: 1000, 4 << 20: 400, 8 << 20: 200, 16 << 20: 100, 32 << 20: 75, 1 << 40: 75} {
		if got := percentFor(live, 75, 16<<20); got != want {
			t.Errorf("a heap of %d bytes may grow by %d %%, not %d", live, got, want)
		}
	}
}

var held []byte

// TestKeepRoomFollowsTheHeap: while a lot is in use, the heap may only grow by its part.
func TestKeepRoomFollowsTheHeap(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	KeepRoom(75, 16<<20, time.Hour)
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	percent := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	if small := percent(); small <= 75 {
		t.Fatalf("a small heap may grow by %d %%", small)
	}
	held = make([]byte, 200<<20)
	defer func() { held = nil }()
	for n := 0; percent() != 75; n++ { // what follows a collection runs beside it
		if n > 10_000 {
			t.Fatalf("a heap of %d MB may grow by %d %%", len(held)>>20, percent())
		}
		runtime.GC()
	}
}

// TestAQuietProgramIsCollected: also when nobody makes garbage any more.
func TestAQuietProgramIsCollected(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	sample := []metrics.Sample{{Name: "/gc/cycles/forced:gc-cycles"}}
	forced := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before, end := forced(), time.Now().Add(20*time.Second)
	KeepRoom(75, 16<<20, time.Millisecond)
	for forced() < before+3 { // again and again
		if time.Now().After(end) {
			t.Fatalf("collected %d times", forced()-before)
		}
		runtime.Gosched()
	}
}
