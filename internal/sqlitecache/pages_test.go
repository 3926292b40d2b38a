package sqlitecache

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/sqlite"
)

// TestACachedPageTakesOneSlot: the cache of a connection is as large in memory as it is told to be, and the next connection gets its
// slots.
func TestACachedPageTakesOneSlot(t *testing.T) {
	const kept = 300
	path := filepath.Join(t.TempDir(), "holdfast.db")
	before := slotsInUse()
	cached := fillCache(t, path, kept)
	// SQLite says itself how much its cache takes: all of it is in slots. One page more may be in use for a moment.
	if cached.slots < before+kept || cached.slots > before+kept+1 || (cached.slots-before)*pageBytes < cached.bytes {
		t.Errorf("a cache of %d pages takes %d slots of %d bytes; SQLite says %d bytes", kept, cached.slots-before, pageBytes, cached.bytes)
	}
	if left := slotsInUse(); left != before {
		t.Errorf("%d slots are in use after the connection, and %d before", left, before)
	}
	fresh := pages.fresh
	if fillCache(t, path, kept); pages.fresh != fresh {
		t.Error("the next connection gets new memory, though the one before gave its own back")
	}
}

type inCache struct{ slots, bytes int }

// fillCache reads more pages through a connection than its cache keeps, and ends the connection.
func fillCache(t *testing.T, path string, kept int) (in inCache) {
	connector, err := New(fmt.Sprintf("file:%s?_pragma=cache_size(%d)", path, kept))
	if err != nil {
		t.Fatal(err)
	}
	opened, err := connector.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn := opened.(*cachingConn)
	for _, statement := range []string{
		"CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, text BLOB)",
		"INSERT INTO rows (text) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT zeroblob(3000) FROM n",
		"UPDATE rows SET text = zeroblob(2999)",
	} {
		if _, err := conn.ExecContext(t.Context(), statement, nil); err != nil {
			t.Fatal(err)
		}
	}
	in.bytes, _, err = conn.sqliteConn.(sqlite.DBStatus).Status(sqlite.DBStatusCacheUsed, false)
	in.slots = slotsInUse()
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
	return in
}

func slotsInUse() int {
	pages.mu.Lock()
	defer pages.mu.Unlock()
	return pages.used
}

// TestPiecesKeepWhatIsInThem: pieces of all lengths lie beside each other, grow and shrink, taken by several at once.
func TestPiecesKeepWhatIsInThem(t *testing.T) {
	lengths := []int32{1, 8, 100, pageLeast, pageLeast + 1, pageBytes - 1, pageBytes, pageBytes + 1, 100_000}
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			tls := libc.NewTLS()
			defer tls.Close()
			mark := byte(worker + 1)
			for round := range 40 {
				held := map[uintptr]int32{}
				for i, n := range lengths {
					at := take(tls, n)
					fill(at, n, mark)
					if got := length(tls, at); got < n {
						t.Errorf("a piece of %d bytes says that it has %d", n, got)
					}
					to := lengths[(i+round)%len(lengths)]
					if at = resize(tls, at, to); !holds(at, min(n, to), mark) {
						t.Errorf("%d bytes are not what they were after a change to %d", n, to)
					}
					fill(at, to, mark)
					held[at] = to
				}
				for at, n := range held {
					if !holds(at, n, mark) {
						t.Errorf("a piece of %d bytes was changed by others", n)
					}
					giveBack(tls, at)
				}
			}
		})
	}
	all.Wait()
}

func piece(at uintptr, n int32) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(word(at))), n) }

func fill(at uintptr, n int32, with byte) {
	for i := range piece(at, n) {
		piece(at, n)[i] = with
	}
}

func holds(at uintptr, n int32, mark byte) bool {
	return bytes.Count(piece(at, n), []byte{mark}) == int(n)
}
