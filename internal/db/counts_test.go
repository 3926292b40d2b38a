package db_test

import (
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/bookings"
	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/travel"
)

// TestTotalsFollowEveryWrite: the remembered count is right whatever was added or deleted since, also of rows that are
// too young to be settled.
func TestTotalsFollowEveryWrite(t *testing.T) {
	t.Parallel()
	var seconds atomic.Int64
	now := func() time.Time { return dbtest.Start.Add(time.Duration(seconds.Load()) * time.Second) }
	dbtest.OnBothWithBookings(t, now, func(t *testing.T, s *dbtest.BookingSite) {
		s.DB.SetCountStep(3)
		counted := travel.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id", Count: true}
		want := int64(0)
		for round := range 12 {
			var ids []int64
			for range 1 + round%5 {
				ids = append(ids, s.Insert(t, s.Booking(func(*travel.Booking) {}))...)
			}
			want += int64(len(ids))
			if round%3 == 2 {
				s.Write(t, func(tx *db.Tx) error { return bookings.Trash(tx, s.ID, ids[0]) })
				want--
			}
			for range 2 { // the second request counts from where the first one left off
				if got := s.List(t, travel.BookingFilter{}, counted).Total; got != want {
					t.Fatalf("round %d: total %d, want %d", round, got, want)
				}
			}
			filtered := s.List(t, travel.BookingFilter{Channels: []int64{s.Channel}}, counted)
			if filtered.Total != int64(len(filtered.Items)) {
				t.Fatalf("round %d: %d of the channel counted, %d listed", round, filtered.Total, len(filtered.Items))
			}
			seconds.Add(4) // a round is settled three rounds later
		}
	})
}
