package exposure_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// TestAPageSaysThatItComesFromTheStandby: with its lag; without a standby there is no such note.
func TestAPageSaysThatItComesFromTheStandby(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	const behind = "Read from the standby, 2.500 seconds behind."
	if a := b.reader.Must(b.At("/exposure/ageing")); strings.Contains(a.Body, "standby") {
		t.Error("without a standby, the page speaks of one")
	}
	b.App.DB.Store.Follow(store.Replica{Copy: dbtest.Open(t, b.URL, b.Now), Behind: func(context.Context) (time.Duration, error) {
		return 2500 * time.Millisecond, nil
	}})
	b.reader.Must(b.At("/exposure/ageing")+"?countries=PT", behind) // nothing is kept of countries
}
