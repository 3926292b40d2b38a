package lists_test

import (
	"slices"
	"strings"
	"testing"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/lane"
	"holdfast/internal/lists"
	"holdfast/internal/travel"
)

// TestAListHoldsAnyText: the signs with which the rows of a page are joined may stand in a text. Then the page has the same rows.
func TestAListHoldsAnyText(t *testing.T) {
	t.Parallel()
	dbtest.OnBothWithBookings(t, dbtest.AtStart, func(t *testing.T, s *dbtest.BookingSite) {
		page := travel.Page{Number: 1, Size: 4, Offset: -1, OrderBy: "id", Count: true}
		for _, text := range []string{"plain", "a\x1fb", "a\x1eb", ",", "\x1e\x1f\x1e"} {
			s.Insert(t, s.Booking(func(b *travel.Booking) { b.Content = text }))
			list := s.List(t, travel.BookingFilter{Channels: []int64{s.Channel}}, page)
			for i, listed := range list.Items {
				alone, err := s.Read(t, listed.ID)
				if err != nil {
					t.Fatal(err)
				}
				if alone.Content != listed.Content || alone.UUID != listed.UUID || alone.Version != listed.Version {
					t.Errorf("place %d: listed as %+v, alone it is %+v", i, listed, alone)
				}
			}
			if !list.More && list.Total != int64(len(list.Items)) {
				t.Errorf("%d listed, %d counted", len(list.Items), list.Total)
			}
			page.Descending = !page.Descending
		}
	})
}

// TestAPageThatEndsTheListIsNotCounted: the rows of a filter are counted by a statement of their own only where the page does not
// show how many there are.
func TestAPageThatEndsTheListIsNotCounted(t *testing.T) {
	t.Parallel()
	dbtest.OnBothWithBookings(t, dbtest.AtStart, func(t *testing.T, s *dbtest.BookingSite) {
		for range 5 {
			s.Insert(t, s.Booking(nil))
		}
		for _, c := range []struct {
			page          travel.Page
			items, counts int
		}{
			{travel.Page{Number: 1, Size: 6, Offset: -1}, 5, 0},
			{travel.Page{Number: 1, Size: 5, Offset: -1}, 5, 0},
			{travel.Page{Number: 1, Size: 4, Offset: -1}, 4, 1},
			{travel.Page{Number: 2, Size: 4, Offset: -1}, 1, 0},
			{travel.Page{Number: 2, Size: 5, Offset: -1}, 0, 1},
			{travel.Page{Number: 1, Size: 4, Offset: 3}, 2, 0},
			{travel.Page{Number: 1, Size: 4, Offset: 9}, 0, 1},
		} {
			c.page.OrderBy, c.page.Count = "total", true
			var list travel.List[travel.Booking]
			ran := dbtest.Statements(s.DB, func() { list = s.List(t, travel.BookingFilter{Channels: []int64{s.Channel}}, c.page) })
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

// TestDeepPagesAreLong: the database goes through all rows before them.
func TestDeepPagesAreLong(t *testing.T) {
	t.Parallel()
	store := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	store.SetLane(lane.Bounds{Readers: 1, Waiting: -1})
	for _, c := range []struct {
		page travel.Page
		long bool
	}{{travel.Page{Number: 1, Size: 100, Offset: -1}, false}, {travel.Page{Number: 101, Size: 100, Offset: -1}, true}, {travel.Page{Offset: 10_000}, true}} {
		ran := 0
		err := store.Read(t.Context(), func(tx *db.Tx) error {
			ran++
			return lists.Deep(tx, c.page)
		})
		if err != nil || (ran == 2) != c.long {
			t.Errorf("%+v: ran %d times, %v", c.page, ran, err)
		}
	}
}
