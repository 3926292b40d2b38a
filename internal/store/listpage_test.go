package store_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/book/bookings"
	"holdfast/internal/domain/booking"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// TestAPageThatEndsTheListIsNotCounted: the rows of a filter are only counted by a separate statement if the page does
// not show their number.
func TestAPageThatEndsTheListIsNotCounted(t *testing.T) {
	t.Parallel()
	dbtest.OnBothWithBookings(t, dbtest.AtStart, func(t *testing.T, s *dbtest.BookingSite) {
		for range 5 {
			s.Insert(t, s.Booking(nil))
		}
		for _, c := range []struct {
			page          store.Page
			items, counts int
		}{
			{store.Page{Number: 1, Size: 6, Offset: -1}, 5, 0},
			{store.Page{Number: 1, Size: 5, Offset: -1}, 5, 0},
			{store.Page{Number: 1, Size: 4, Offset: -1}, 4, 1},
			{store.Page{Number: 2, Size: 4, Offset: -1}, 1, 0},
			{store.Page{Number: 2, Size: 5, Offset: -1}, 0, 1},
			{store.Page{Number: 1, Size: 4, Offset: 3}, 2, 0},
			{store.Page{Number: 1, Size: 4, Offset: 9}, 0, 1},
		} {
			c.page.OrderBy, c.page.Count = "total", true
			var list store.List[booking.Booking]
			ran := dbtest.Statements(s.DB, func() { list = s.List(t, bookings.BookingFilter{Channels: []int64{s.Channel}}, c.page) })
			counted := slices.DeleteFunc(ran, func(ran dbtest.Statement) bool {
				return !strings.HasPrefix(ran.Query, "SELECT COUNT(*) FROM")
			})
			past := c.page.Offset < 0 && c.items == 0
			if list.Total != 5 || len(list.Items) != c.items || list.PastEnd != past || len(counted) != c.counts {
				t.Errorf("%+v: total %d, %d items, past the end %t, counted by %v", c.page, list.Total, len(list.Items), list.PastEnd, counted)
			}
		}
	})
}

// TestPagesAreParts: every page of all bookings, in both directions, is its part of the whole list, with the right
// total, also with another site and a trash.
func TestPagesAreParts(t *testing.T) {
	t.Parallel()
	dbtest.OnBothWithBookings(t, dbtest.AtStart, func(t *testing.T, s *dbtest.BookingSite) {
		random := rand.New(rand.NewPCG(1, 2))
		other := dbtest.NewBookingSite(t, s.DB, "other")
		var live []int64
		for range 4 {
			for range 9 {
				if random.IntN(3) == 0 {
					other.Insert(t, other.Booking(nil))
				}
				live = append(live, s.Insert(t, s.Booking(nil))...)
			}
			for range random.IntN(6) {
				at := random.IntN(len(live))
				s.Write(t, func(tx *store.Tx) error { return bookings.Trash(tx, s.ID, live[at]) })
				live = slices.Delete(live, at, at+1)
			}
			for skip := range len(live) + 4 {
				for _, descending := range []bool{false, true} {
					want := slices.Clone(live)
					if descending {
						slices.Reverse(want)
					}
					want = want[min(skip, len(want)):]
					list := s.List(t, bookings.BookingFilter{},
						store.Page{Number: 1, Size: 2, Offset: skip, OrderBy: "id", Descending: descending, Count: skip%2 == 0})
					var got []int64
					for _, b := range list.Items {
						got = append(got, b.ID)
					}
					if !slices.Equal(got, want[:min(2, len(want))]) || list.More != (len(want) > 2) {
						t.Fatalf("after %d of %v (descending %t): %v, more %t", skip, live, descending, got, list.More)
					}
					if skip%2 == 0 && list.Total != int64(len(live)) {
						t.Fatalf("total %d, want %d", list.Total, len(live))
					}
				}
			}
		}
	})
}
