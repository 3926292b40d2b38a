package imports

import (
	"testing"
	"time"
)

// TestAnImportGivesWayAtOnce: the writes of an import grow without other writers. As soon as another write waits, the
// next one takes 40 ms, judging by the last one.
func TestAnImportGivesWayAtOnce(t *testing.T) {
	t.Parallel()
	const perRow = 500 * time.Microsecond
	rows := firstRows
	for range 20 {
		rows = pace(rows, rows, time.Duration(rows)*perRow, false)
	}
	if alone := time.Duration(rows) * perRow; alone < alonePieceTime/2 || alone > alonePieceTime*3/2 {
		t.Errorf("alone, a write of %d rows takes %s", rows, alone)
	}
	rows = pace(rows, rows, time.Duration(rows)*perRow, true)
	if alongside := time.Duration(rows) * perRow; alongside > pieceTime*3/2 {
		t.Errorf("with other writers, the next write of %d rows takes %s", rows, alongside)
	}
	if got := pace(fewestRows, fewestRows, time.Minute, true); got != fewestRows {
		t.Errorf("a very slow machine takes %d rows", got)
	}
	if got := pace(100, 300, time.Second, false); got != 100 {
		t.Errorf("a group of 300 rows that took long leaves %d rows for the next write", got)
	}
	if got := pace(mostRows, mostRows, 0, false); got != mostRows {
		t.Errorf("a very fast machine takes %d rows", got)
	}
}
