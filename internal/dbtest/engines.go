package dbtest

import (
	"testing"
	"time"

	"holdfast/internal/db"
)

// Start is what the clock of the store tests says, to the microsecond that both engines keep.
var Start = time.Date(2026, 3, 2, 10, 20, 30, 123456000, time.UTC)

// OnBothOpen runs one test on each engine, on an empty, migrated database of its own: one suite, so that the engines
// cannot come to differ.
func OnBothOpen(t *testing.T, test func(t *testing.T, db *db.DB)) {
	t.Helper()
	OnBoth(t, func(t *testing.T, url string) { test(t, Open(t, url, AtStart)) })
}
