package lists_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/bookings"
	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/fault"
	"holdfast/internal/lane"
	"holdfast/internal/lists"
	"holdfast/internal/travel"
)

// TestTotalsFollowEveryWrite: the remembered count is right whatever was added or deleted since, also of rows that are
// too young to be settled.
func TestTotalsFollowEveryWrite(t *testing.T) {
	t.Parallel()
	var seconds atomic.Int64
	now := func() time.Time { return dbtest.Start.Add(time.Duration(seconds.Load()) * time.Second) }
	dbtest.OnBothWithBookings(t, now, func(t *testing.T, s *dbtest.BookingSite) {
		lists.SetMarkStep(t, s.DB, 3)
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

// TestPagesBeginWhereTheyDid: every page of all bookings, up and down, is the part of the whole list that it was before
// there were marks; with a site between, a trash, and rows that are too young to be settled.
func TestPagesBeginWhereTheyDid(t *testing.T) {
	t.Parallel()
	var seconds atomic.Int64
	now := func() time.Time { return dbtest.Start.Add(time.Duration(seconds.Load()) * time.Second) }
	dbtest.OnBothWithBookings(t, now, func(t *testing.T, s *dbtest.BookingSite) {
		lists.SetMarkStep(t, s.DB, 3)
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
				s.Write(t, func(tx *db.Tx) error { return bookings.Trash(tx, s.ID, live[at]) })
				live = slices.Delete(live, at, at+1)
			}
			for skip := range len(live) + 4 {
				for _, descending := range []bool{false, true} {
					want := slices.Clone(live)
					if descending {
						slices.Reverse(want)
					}
					want = want[min(skip, len(want)):]
					list := s.List(t, travel.BookingFilter{},
						travel.Page{Number: 1, Size: 2, Offset: skip, OrderBy: "id", Descending: descending, Count: skip%2 == 0})
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
			seconds.Add(8)
		}
	})
}

// TestAMarkWaitsForOpenTransactions: a row that is stored late, behind others with higher ids, is counted and listed. On SQLite there is
// one writer, so none can come late.
func TestAMarkWaitsForOpenTransactions(t *testing.T) {
	t.Parallel()
	s := dbtest.NewBookingSite(t, dbtest.Open(t, dbtest.Engines[1].Database(t), dbtest.AtStart), "demo")
	lists.SetMarkStep(t, s.DB, 3)
	drawn, end, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		var once sync.Once
		late := s.Booking(nil)
		ended <- s.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := bookings.Insert(tx, late)
			once.Do(func() { close(drawn) })
			<-end
			return err
		})
	}()
	<-drawn
	for range 7 {
		s.Insert(t, s.Booking(nil))
	}
	all := travel.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id", Count: true}
	if got := s.List(t, travel.BookingFilter{}, all).Total; got != 7 {
		t.Errorf("total %d before the late one", got)
	}
	close(end)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := s.List(t, travel.BookingFilter{}, all); got.Total != 8 || len(got.Items) != 8 {
		t.Errorf("total %d with the late one, %d listed", got.Total, len(got.Items))
	}
	all.Offset = 6
	if got := s.List(t, travel.BookingFilter{}, all); len(got.Items) != 2 {
		t.Errorf("%d after six", len(got.Items))
	}
}

// TestAWriteSetsNoMarks: rows that a write has listed and then taken back are in no total.
func TestAWriteSetsNoMarks(t *testing.T) {
	t.Parallel()
	dbtest.OnBothWithBookings(t, dbtest.AtStart, func(t *testing.T, s *dbtest.BookingSite) {
		lists.SetMarkStep(t, s.DB, 3)
		all := travel.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id", Count: true}
		back := errors.New("taken back")
		first := s.Booking(nil)
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
			for i := range 7 {
				b := first
				b.UUID += strconv.Itoa(i)
				if _, err := bookings.Insert(tx, b); err != nil {
					return err
				}
			}
			list, err := bookings.Page(tx, s.ID, travel.BookingFilter{}, all)
			if err != nil || list.Total != 7 {
				t.Errorf("total %d in the write: %v", list.Total, err)
			}
			return back
		})
		if !errors.Is(err, back) {
			t.Fatal(err)
		}
		other := dbtest.NewBookingSite(t, s.DB, "other") // its bookings have ids that were taken back
		other.Insert(t, other.Booking(nil), other.Booking(nil))
		for range 7 {
			s.Insert(t, s.Booking(nil))
		}
		if got := s.List(t, travel.BookingFilter{}, all); got.Total != 7 || len(got.Items) != 7 {
			t.Errorf("total %d, %d listed", got.Total, len(got.Items))
		}
	})
}

// TestADeepPagePassesOverFewRows: a page of a list of all rows asks as much deep in the list as at its beginning, and the
// database passes over fewer rows than lie between two marks.
func TestADeepPagePassesOverFewRows(t *testing.T) {
	t.Parallel()
	var seconds atomic.Int64
	now := func() time.Time { return dbtest.Start.Add(time.Duration(seconds.Load()) * time.Second) }
	dbtest.OnBothWithBookings(t, now, func(t *testing.T, s *dbtest.BookingSite) {
		const step = 5
		lists.SetMarkStep(t, s.DB, step)
		for range 8 {
			ids := s.Insert(t, s.Booking(nil), s.Booking(nil), s.Booking(nil), s.Booking(nil), s.Booking(nil))
			s.Write(t, func(tx *db.Tx) error { return bookings.Trash(tx, s.ID, ids[0]) })
		}
		seconds.Add(60)
		page := func(skip int, descending bool) []dbtest.Statement {
			return dbtest.Statements(s.DB, func() {
				s.List(t, travel.BookingFilter{},
					travel.Page{Number: 1, Size: 2, Offset: skip, OrderBy: "id", Descending: descending, Count: true})
			})
		}
		page(0, false) // sets the marks
		first := len(page(0, false))
		for _, descending := range []bool{false, true} {
			deep := page(23, descending)
			if len(deep) > first+3 { // which count the trash up to a mark
				t.Errorf("%d statements for a deep page, %d for the first", len(deep), first)
			}
			last := deep[len(deep)-1]
			if skipped := last.Args[len(last.Args)-1]; skipped.(int64) >= step {
				t.Errorf("descending %t: passes over %d rows", descending, skipped)
			}
		}
	})
}

// TestToCountManyRowsIsALongRead: the total of a filter is exact, and counted in the lane of long reads where it is large.
func TestToCountManyRowsIsALongRead(t *testing.T) {
	t.Parallel()
	dbtest.OnBothWithBookings(t, dbtest.AtStart, func(t *testing.T, s *dbtest.BookingSite) {
		lists.SetMarkStep(t, s.DB, 1) // so that fifty rows are many
		var list []travel.Booking
		for range 51 {
			list = append(list, s.Booking(nil))
		}
		s.Insert(t, list[:50]...)
		page := travel.Page{Number: 1, Size: 1, Offset: -1, OrderBy: "id", Count: true}
		channel := travel.BookingFilter{Channels: []int64{s.Channel}}
		s.DB.SetLane(lane.Bounds{Waiting: -1, Each: -1})
		counted := func() (total int64, err error) {
			err = s.DB.ReadFor(t.Context(), "somebody", func(tx *db.Tx) error {
				found, err := bookings.Page(tx, s.ID, channel, page)
				total = found.Total
				return err
			})
			return total, err
		}
		if total, err := counted(); total != 50 || err != nil {
			t.Errorf("of fifty: %d, %v", total, err)
		}
		s.Insert(t, list[50])
		if _, err := counted(); !fault.Is(err, fault.TooMany) {
			t.Errorf("of more, where nobody may read long: %v", err)
		}
		s.DB.SetLane(lane.Bounds{})
		if total, err := counted(); total != 51 || err != nil {
			t.Errorf("of more: %d, %v", total, err)
		}
		page.Count = false
		s.DB.SetLane(lane.Bounds{Waiting: -1, Each: -1})
		if total, err := counted(); total != -1 || err != nil {
			t.Errorf("without a total: %d, %v", total, err)
		}
	})
}
