package store_test

import (
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/store"
	"holdfast/internal/travel"
)

// TestTotalsFollowEveryWrite: the remembered count is right whatever was added or deleted since, also of rows that are
// too young to be settled.
func TestTotalsFollowEveryWrite(t *testing.T) {
	var seconds atomic.Int64
	now := func() time.Time { return start.Add(time.Duration(seconds.Load()) * time.Second) }
	onBothWithBookings(t, now, func(t *testing.T, s *bookingSite) {
		s.db.SetCountStep(3)
		counted := travel.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id", Count: true}
		want := int64(0)
		for round := range 12 {
			var ids []int64
			for range 1 + round%5 {
				ids = append(ids, s.insert(t, s.booking(func(*travel.Booking) {}))...)
			}
			want += int64(len(ids))
			if round%3 == 2 {
				s.write(t, func(tx *store.Tx) error { return store.TrashBooking(tx, s.id, ids[0]) })
				want--
			}
			for range 2 { // the second request counts from where the first one left off
				if got := s.list(t, travel.BookingFilter{}, counted).Total; got != want {
					t.Fatalf("round %d: total %d, want %d", round, got, want)
				}
			}
			filtered := s.list(t, travel.BookingFilter{Channels: []int64{s.channel}}, counted)
			if filtered.Total != int64(len(filtered.Items)) {
				t.Fatalf("round %d: %d of the channel counted, %d listed", round, filtered.Total, len(filtered.Items))
			}
			seconds.Add(4) // a round is settled three rounds later
		}
	})
}
