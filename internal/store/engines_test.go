package store_test

import (
	"testing"
	"time"

	"holdfast/internal/dbtest"
	"holdfast/internal/store"
)

// start is what the clock of the store tests says, to the microsecond that both engines keep.
var start = time.Date(2026, 3, 2, 10, 20, 30, 123456000, time.UTC)

// onBoth runs one test on each engine, on an empty, migrated database of its own: one suite, so that the engines
// cannot come to differ.
func onBoth(t *testing.T, test func(t *testing.T, db *store.DB)) {
	t.Helper()
	dbtest.OnBoth(t, func(t *testing.T, url string) { test(t, dbtest.Open(t, url, atStart)) })
}
