package apptest

import (
	"time"
)

// Review lets the job judge what exists by the limits that are new.
func (w *World) Review() {
	w.t.Helper()
	w.Advance(10 * time.Second)
	w.SettlePieces()
}

func (w *World) Over(id int64) int64 {
	w.t.Helper()
	return w.ReadTransaction(id).OverLimit
}
