package store_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/internal/civil"
	"holdfast/internal/dbtest"
	"holdfast/internal/money"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

var startDay = civil.DayOf(start)

// bookingSite is a site with what bookings refer to: two channels, the second locked, and three suppliers.
type bookingSite struct {
	db                *store.DB
	id                int64
	path              string
	channel, locked   int64
	suppliers         []int64
	uuids             atomic.Int64
	everythingInOrder travel.Page
}

// onBothWithBookings runs a test on a site of each engine; its clock is what now says.
func onBothWithBookings(t *testing.T, now func() time.Time, test func(t *testing.T, s *bookingSite)) {
	t.Helper()
	dbtest.OnBoth(t, func(t *testing.T, url string) { test(t, newBookingSite(t, dbtest.Open(t, url, now), "demo")) })
}

func atStart() time.Time { return start }

func newBookingSite(t *testing.T, db *store.DB, path string) *bookingSite {
	t.Helper()
	s := &bookingSite{db: db, path: path, everythingInOrder: travel.Page{Number: 1, Size: 1000, Offset: -1}}
	s.write(t, func(tx *store.Tx) error {
		site, err := dbtest.InsertSite(tx, travel.Site{Path: path, Name: path, Policy: travel.DefaultPolicy("GBP")})
		if err != nil {
			return err
		}
		s.id = site.ID
		for i, id := range []*int64{&s.channel, &s.locked} {
			c, err := store.InsertChannel(tx, travel.Channel{
				SiteID: s.id, UUID: fmt.Sprintf("%s-channel-%d", path, i), Name: "Hotel", Slug: "hotel", Currency: money.EUR,
				Mode: travel.ModeTest, Locked: i == 1,
			})
			if err != nil {
				return err
			}
			*id = c.ID
		}
		for range 3 {
			supplier, err := store.InsertSupplier(tx, travel.Supplier{SiteID: s.id, Name: "Airline"})
			if err != nil {
				return err
			}
			s.suppliers = append(s.suppliers, supplier.ID)
		}
		return nil
	})
	return s
}

func (s *bookingSite) write(t *testing.T, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := s.db.Write(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// booking is one of 100 in the site's first channel, not stored yet.
func (s *bookingSite) booking(change func(b *travel.Booking)) travel.Booking {
	b := travel.Booking{
		SiteID: s.id, UUID: fmt.Sprintf("%s-%d", s.path, s.uuids.Add(1)), ChannelID: s.channel, Surname: "Doe",
		Email: "ann@example.com", Start: civil.NoDay, End: startDay, Total: 100, Currency: money.EUR, Country: "PT",
		Language: travel.DefaultLanguage,
	}
	if change != nil {
		change(&b)
	}
	return b
}

func (s *bookingSite) insert(t *testing.T, bookings ...travel.Booking) []int64 {
	t.Helper()
	var ids []int64
	s.write(t, func(tx *store.Tx) error {
		ids = nil
		for _, b := range bookings {
			id, err := store.InsertBooking(tx, b)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	return ids
}

func (s *bookingSite) read(t *testing.T, id int64) (b travel.Booking, err error) {
	t.Helper()
	err = s.db.Read(t.Context(), func(tx *store.Tx) error {
		b, err = store.Booking(tx, s.id, id)
		return err
	})
	return b, err
}

func (s *bookingSite) list(t rapid.TB, f travel.BookingFilter, page travel.Page) travel.List[travel.Booking] {
	t.Helper()
	var list travel.List[travel.Booking]
	err := s.db.Read(context.Background(), func(tx *store.Tx) (err error) {
		list, err = store.Bookings(tx, s.id, f, page)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func idsOf(list []travel.Booking) []int64 {
	ids := []int64{}
	for _, b := range list {
		ids = append(ids, b.ID)
	}
	return ids
}

func TestABookingIsReadAsItWasWritten(t *testing.T) {
	onBothWithBookings(t, atStart, func(t *testing.T, s *bookingSite) {
		b := s.booking(func(b *travel.Booking) {
			b.AuthorID, b.Author, b.AuthorName = 7, "ann", "Ann Ó Súilleabháin"
			b.Content, b.Firstname, b.Surname, b.Reference = "line\nline — 🏖", "Zoë", "Đặng-O'Neil", "R'; --"
			b.Start, b.Pax, b.Total, b.Suppliers = startDay-3, 73, 1e15, s.suppliers[1:]
			b.Sums = travel.BookingSums{Net: 1, Held: 2, OpenAuthorised: 3, LockedPayments: 4}
			b.ModalDraft, b.ImportKey = true, "K-1"
		})
		b.ID = s.insert(t, b)[0]
		b.Version, b.CreatedAt, b.ModifiedAt = 1, start, start
		if got, err := s.read(t, b.ID); err != nil || !reflect.DeepEqual(got, b) {
			t.Errorf("%v\n got %+v\nwant %+v", err, got, b)
		}
		var byKey travel.Booking
		s.write(t, func(tx *store.Tx) (err error) {
			byKey, err = store.BookingByImportKey(tx, s.id, s.channel, "K-1")
			return err
		})
		if !reflect.DeepEqual(byKey, b) {
			t.Errorf("by its key: %+v", byKey)
		}
		plain := s.booking(nil)
		plain.ID = s.insert(t, plain)[0]
		plain.Version, plain.CreatedAt, plain.ModifiedAt = 1, start, start
		if got, err := s.read(t, plain.ID); err != nil || !reflect.DeepEqual(got, plain) {
			t.Errorf("%v\n got %+v\nwant %+v", err, got, plain)
		}
	})
}

func TestAChangedBookingIsReadAsItWasChanged(t *testing.T) {
	var hours atomic.Int64
	clock := func() time.Time { return start.Add(time.Duration(hours.Load()) * time.Hour) }
	onBothWithBookings(t, clock, func(t *testing.T, s *bookingSite) {
		hours.Store(0)
		id := s.insert(t, s.booking(func(b *travel.Booking) { b.Start, b.Suppliers = startDay-1, s.suppliers[:2] }))[0]
		hours.Store(1)
		var want travel.Booking
		s.write(t, func(tx *store.Tx) (err error) {
			if want, err = store.LockBooking(tx, s.id, id); err != nil {
				return err
			}
			want.ChannelID, want.Content, want.Firstname, want.Surname, want.Email = s.locked, "c", "f", "s", "e@example.com"
			want.Start, want.End, want.Pax, want.Reference, want.Total = civil.NoDay, startDay+9, 2, "r", 5
			want.Country, want.Language, want.Suppliers = "ES", "esES", s.suppliers[1:]
			return store.UpdateBooking(tx, want)
		})
		want.ChannelLocked, want.TotalChanged, want.ModifiedAt = true, true, clock()
		if got, err := s.read(t, id); err != nil || !reflect.DeepEqual(got, want) || got.Version != 2 {
			t.Errorf("%v\n got %+v\nwant %+v", err, got, want)
		}
		hours.Store(2)
		s.write(t, func(tx *store.Tx) (err error) {
			if want, err = store.LockBooking(tx, s.id, id); err != nil {
				return err
			}
			want.Sums = travel.BookingSums{Net: 5, Held: 6, OpenAuthorised: 7}
			return store.SaveBookingSums(tx, want)
		})
		want.ModifiedAt = clock()
		if got, err := s.read(t, id); err != nil || !reflect.DeepEqual(got, want) || got.Version != 3 {
			t.Errorf("%v\n got %+v\nwant %+v", err, got, want)
		}
	})
}

func TestWhatIsNotThere(t *testing.T) {
	onBothWithBookings(t, atStart, func(t *testing.T, s *bookingSite) {
		other := newBookingSite(t, s.db, "other")
		theirs := other.insert(t, other.booking(nil))[0]
		trashed := s.insert(t, s.booking(func(b *travel.Booking) { b.ImportKey = "K" }))[0]
		s.write(t, func(tx *store.Tx) error { return store.TrashBooking(tx, s.id, trashed) })
		for name, id := range map[string]int64{"another site's": theirs, "in the trash": trashed, "never made": 1 << 40} {
			if _, err := s.read(t, id); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: read: %v", name, err)
			}
			for action, do := range map[string]func(tx *store.Tx) error{
				"lock":   func(tx *store.Tx) error { _, err := store.LockBooking(tx, s.id, id); return err },
				"update": func(tx *store.Tx) error { return store.UpdateBooking(tx, travel.Booking{SiteID: s.id, ID: id}) },
				"trash":  func(tx *store.Tx) error { return store.TrashBooking(tx, s.id, id) },
			} {
				if err := s.db.Write(t.Context(), do); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("%s: %s: %v", name, action, err)
				}
			}
		}
		if list := s.list(t, travel.BookingFilter{}, s.everythingInOrder); len(list.Items) != 0 {
			t.Errorf("listed: %v", idsOf(list.Items))
		}
		// The natural key of what is in the trash is free.
		s.insert(t, s.booking(func(b *travel.Booking) { b.ImportKey = "K" }))
	})
}

func TestTheSchemaKeepsBookingsConsistent(t *testing.T) {
	onBothWithBookings(t, atStart, func(t *testing.T, s *bookingSite) {
		other := newBookingSite(t, s.db, "other")
		s.insert(t, s.booking(func(b *travel.Booking) { b.ImportKey = "K" }))
		for name, change := range map[string]func(b *travel.Booking){
			"a currency that is not the channel's": func(b *travel.Booking) { b.Currency = "GBP" },
			"another site's channel":               func(b *travel.Booking) { b.ChannelID = other.channel },
			"another site's supplier":              func(b *travel.Booking) { b.Suppliers = other.suppliers[:1] },
			"the same natural key":                 func(b *travel.Booking) { b.ImportKey = "K" },
		} {
			err := s.db.Write(t.Context(), func(tx *store.Tx) error {
				_, err := store.InsertBooking(tx, s.booking(change))
				return err
			})
			if !errors.Is(err, store.ErrConflict) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// A booking names the transactions that were attempted against it, each once, the most recent last.
func TestTransactionsOfABooking(t *testing.T) {
	onBothWithBookings(t, atStart, func(t *testing.T, s *bookingSite) {
		ids := s.insert(t, s.booking(nil), s.booking(nil), s.booking(nil))
		var made []int64
		for i, of := range [][]int64{{ids[1], ids[0]}, {ids[1]}, {ids[1], ids[1]}} {
			transaction := travel.Transaction{
				SiteID: s.id, UUID: fmt.Sprintf("transaction-%d", i), ChannelID: s.channel, Type: travel.Purchase,
				Status: travel.StatusComplete, Currency: money.EUR, BaseCurrency: money.EUR, EffectiveAt: start,
			}
			for _, booking := range of {
				transaction.Payments = append(transaction.Payments, travel.Payment{BookingID: booking, Currency: money.EUR, Total: 1})
			}
			s.write(t, func(tx *store.Tx) (err error) {
				stored, err := store.InsertTransaction(tx, transaction)
				made = append(made[:i], stored.ID)
				return err
			})
		}
		s.write(t, func(tx *store.Tx) error {
			found, err := store.TransactionsOfBookings(tx, s.id, ids)
			for i, id := range ids {
				if want := [][]int64{made[:1], made, nil}[i]; !slices.Equal(found[id], want) {
					t.Errorf("booking %d: %v, want %v", i, found[id], want)
				}
			}
			return err
		})
	})
}

// Whatever the order, pages of three hold every booking once, in that order; ties and absent start dates included.
func TestPagesOfThree(t *testing.T) {
	var minutes atomic.Int64
	clock := func() time.Time { return start.Add(time.Duration(minutes.Load()) * time.Minute) }
	onBothWithBookings(t, clock, func(t *testing.T, s *bookingSite) {
		for i := range int64(11) {
			minutes.Store(i * 7 % 4)
			s.insert(t, s.booking(func(b *travel.Booking) {
				b.Total, b.End = i*5%3, startDay+civil.Day(i*3%4)
				if i%3 != 0 {
					b.Start = b.End - civil.Day(i%5)
				}
			}))
		}
		all := s.list(t, travel.BookingFilter{}, s.everythingInOrder).Items
		keys := map[string]func(b travel.Booking) int64{
			"":           func(b travel.Booking) int64 { return b.ID },
			"id":         func(b travel.Booking) int64 { return b.ID },
			"date":       func(b travel.Booking) int64 { return b.CreatedAt.UnixMicro() },
			"created":    func(b travel.Booking) int64 { return b.CreatedAt.UnixMicro() },
			"modified":   func(b travel.Booking) int64 { return b.ModifiedAt.UnixMicro() },
			"date_end":   func(b travel.Booking) int64 { return int64(b.End) },
			"date_start": func(b travel.Booking) int64 { return int64(b.Start) },
			"total":      func(b travel.Booking) int64 { return b.Total },
		}
		for _, attribute := range travel.BookingOrders {
			if keys[attribute] == nil && attribute != "include" {
				t.Errorf("nothing here knows the order by %s", attribute)
			}
		}
		for attribute, key := range keys {
			for _, descending := range []bool{false, true} {
				want := slices.SortedFunc(slices.Values(all), func(a, b travel.Booking) int {
					sign := 1
					if descending {
						sign = -1
					}
					if d := key(a) - key(b); d != 0 {
						return sign * int(d/max(d, -d))
					}
					return sign * int(a.ID-b.ID)
				})
				got := inPagesOfThree(t, s, attribute, descending)
				if !slices.Equal(got, idsOf(want)) {
					t.Errorf("by %q, descending %v: %v, want %v", attribute, descending, got, idsOf(want))
				}
			}
		}
	})
}

func inPagesOfThree(t *testing.T, s *bookingSite, attribute string, descending bool) []int64 {
	t.Helper()
	var got []int64
	for number := 1; ; number++ {
		page := travel.Page{Number: number, Size: 3, Offset: -1, OrderBy: attribute, Descending: descending, Count: number != 2}
		list := s.list(t, travel.BookingFilter{}, page)
		if page.Count && list.Total != 11 || !page.Count && list.Total != -1 {
			t.Errorf("page %d says that there are %d", number, list.Total)
		}
		if len(list.Items) == 0 {
			return got
		}
		got = append(got, idsOf(list.Items)...)
	}
}

func TestBookingsInTheOrderOfTheirNaming(t *testing.T) {
	onBothWithBookings(t, atStart, func(t *testing.T, s *bookingSite) {
		var some []travel.Booking
		for range 12 {
			some = append(some, s.booking(nil))
		}
		ids := s.insert(t, some...)
		named := []int64{ids[11], ids[0], ids[10], ids[1], ids[0]}
		page := travel.Page{Number: 1, Size: 3, Offset: -1, OrderBy: "include", Count: true}
		list := s.list(t, travel.BookingFilter{Include: named}, page)
		if got := idsOf(list.Items); !slices.Equal(got, named[:3]) || list.Total != 4 {
			t.Errorf("%v of %d", got, list.Total)
		}
		page.Offset = 2
		if got := idsOf(s.list(t, travel.BookingFilter{Include: named}, page).Items); !slices.Equal(got, named[2:4]) {
			t.Errorf("from the third on: %v", got)
		}
		page = travel.Page{Number: 1, Size: 3, Offset: -1, OrderBy: "include"}
		if got := idsOf(s.list(t, travel.BookingFilter{}, page).Items); !slices.Equal(got, ids[:3]) {
			t.Errorf("nothing named: %v", got)
		}
	})
}

func TestBookingFilters(t *testing.T) {
	var seconds atomic.Int64
	clock := func() time.Time { return start.Add(time.Duration(seconds.Load()) * time.Second) }
	onBothWithBookings(t, clock, func(t *testing.T, s *bookingSite) {
		made := map[string]int64{}
		for i, b := range []struct {
			name   string
			change func(b *travel.Booking)
		}{
			{"plain", nil},
			{"lower", func(b *travel.Booking) { b.Surname, b.Email, b.Reference = "doe", "ANN@example.com", "r-1" }},
			{"other", func(b *travel.Booking) { b.Surname, b.Email, b.Reference = "Döe", "bob@example.com", "R-1" }},
			{"there", func(b *travel.Booking) { b.ChannelID, b.Country = s.locked, "ES" }},
		} {
			seconds.Store(int64(i))
			made[b.name] = s.insert(t, s.booking(b.change))[0]
		}
		for name, c := range map[string]struct {
			filter travel.BookingFilter
			want   []string
		}{
			"none":           {travel.BookingFilter{}, []string{"plain", "lower", "other", "there"}},
			"surname":        {travel.BookingFilter{Surname: "Doe"}, []string{"plain", "there"}},
			"part of it":     {travel.BookingFilter{Surname: "Do"}, nil},
			"umlaut":         {travel.BookingFilter{Surname: "Döe"}, []string{"other"}},
			"e-mail":         {travel.BookingFilter{Email: "ann@example.com"}, []string{"plain", "there"}},
			"reference":      {travel.BookingFilter{Reference: "R-1"}, []string{"other"}},
			"pattern":        {travel.BookingFilter{Reference: "R-%"}, nil},
			"channel":        {travel.BookingFilter{Channels: []int64{s.locked}}, []string{"there"}},
			"channels":       {travel.BookingFilter{Channels: []int64{s.locked, s.channel}}, []string{"plain", "lower", "other", "there"}},
			"no channel":     {travel.BookingFilter{Channels: []int64{1 << 40}}, nil},
			"country":        {travel.BookingFilter{Countries: []string{"ES", "FR"}}, []string{"there"}},
			"include":        {travel.BookingFilter{Include: []int64{made["other"], made["plain"], 1 << 40}}, []string{"plain", "other"}},
			"exclude":        {travel.BookingFilter{Exclude: []int64{made["other"], made["plain"]}}, []string{"lower", "there"}},
			"before":         {travel.BookingFilter{Before: start.Add(time.Second)}, []string{"plain"}},
			"after":          {travel.BookingFilter{After: start.Add(time.Second)}, []string{"other", "there"}},
			"between":        {travel.BookingFilter{After: start, Before: start.Add(2 * time.Second)}, []string{"lower"}},
			"a microsecond":  {travel.BookingFilter{After: start.Add(-time.Microsecond), Before: start.Add(time.Microsecond)}, []string{"plain"}},
			"status":         {travel.BookingFilter{Statuses: []travel.BookingStatus{travel.BookingUnpaid}}, []string{"plain", "lower", "other"}},
			"all of several": {travel.BookingFilter{Surname: "Doe", Countries: []string{"PT"}}, []string{"plain"}},
		} {
			var want []int64
			for _, name := range c.want {
				want = append(want, made[name])
			}
			if got := idsOf(s.list(t, c.filter, s.everythingInOrder).Items); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v of %v", name, got, want, made)
			}
		}
	})
}

// The end date counts from the start of its day, and both bounds are strict, to the microsecond.
func TestBoundsOnTheEndDate(t *testing.T) {
	onBothWithBookings(t, atStart, func(t *testing.T, s *bookingSite) {
		var some []travel.Booking
		for day := startDay - 3; day <= startDay+3; day++ {
			some = append(some, s.booking(func(b *travel.Booking) { b.End = day }))
		}
		s.insert(t, some...)
		all := s.list(t, travel.BookingFilter{}, s.everythingInOrder).Items
		rapid.Check(t, func(rt *rapid.T) {
			day := startDay + civil.Day(rapid.Int64Range(-4, 4).Draw(rt, "day"))
			offset := rapid.SampledFrom([]time.Duration{-time.Microsecond, 0, time.Microsecond, 13 * time.Hour}).Draw(rt, "offset")
			at := day.Start().Add(offset)
			before := s.list(rt, travel.BookingFilter{DateBefore: &at}, s.everythingInOrder).Items
			after := s.list(rt, travel.BookingFilter{DateAfter: &at}, s.everythingInOrder).Items
			var wantBefore, wantAfter []int64
			for _, b := range all {
				if b.End.Start().Before(at) {
					wantBefore = append(wantBefore, b.ID)
				}
				if b.End.Start().After(at) {
					wantAfter = append(wantAfter, b.ID)
				}
			}
			if !slices.Equal(idsOf(before), wantBefore) || !slices.Equal(idsOf(after), wantAfter) {
				rt.Fatalf("at %s: before %v, after %v; want %v, %v", at, idsOf(before), idsOf(after), wantBefore, wantAfter)
			}
		})
	})
}

// The condition that chooses bookings by status and the function that tells a booking's status never disagree.
func TestFilterByStatusAgreesWithTheStatus(t *testing.T) {
	onBothWithBookings(t, atStart, func(t *testing.T, s *bookingSite) {
		var some []travel.Booking
		sums := []travel.BookingSums{{}, {Net: 1}, {Net: 1, OpenAuthorised: 1}, {OpenAuthorised: 1}, {Net: 2}}
		for n := range int64(2 * 2 * 5 * 2 * 2 * 3) {
			digit := func(base int64) int64 {
				d := n % base
				n /= base
				return d
			}
			some = append(some, s.booking(func(b *travel.Booking) {
				b.ChannelID = []int64{s.channel, s.locked}[digit(2)]
				b.ModalDraft = digit(2) == 1
				b.Sums = sums[digit(5)]
				b.Sums.LockedPayments = digit(2)
				b.Total = 2 * digit(2)
				b.End = startDay + civil.Day(digit(3)-1)
			}))
		}
		s.insert(t, some...)
		all := s.list(t, travel.BookingFilter{}, s.everythingInOrder).Items
		if len(all) != len(some) {
			t.Fatalf("%d of %d", len(all), len(some))
		}
		rapid.Check(t, func(rt *rapid.T) {
			statuses := rapid.SliceOfNDistinct(rapid.SampledFrom(travel.BookingStatuses), 1, -1,
				func(s travel.BookingStatus) travel.BookingStatus { return s }).Draw(rt, "statuses")
			var want []int64
			for _, b := range all {
				if slices.Contains(statuses, b.StatusOn(startDay)) {
					want = append(want, b.ID)
				}
			}
			list := s.list(rt, travel.BookingFilter{Statuses: statuses}, travel.Page{Number: 1, Size: 1000, Offset: -1, Count: true})
			if got := idsOf(list.Items); !slices.Equal(got, want) || list.Total != int64(len(want)) {
				rt.Fatalf("%v: %v (%d)\nwant %v", statuses, got, list.Total, want)
			}
		})
	})
}

// Writers that lock, read, change and write at the same time lose nothing of each other.
func TestParallelUpdatesOfABookingLoseNothing(t *testing.T) {
	onBothWithBookings(t, atStart, func(t *testing.T, s *bookingSite) {
		ids := s.insert(t, s.booking(nil), s.booking(nil))
		const writers, each = 8, 6
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				for n := range each {
					id := ids[n%2]
					err := s.db.Write(t.Context(), func(tx *store.Tx) error {
						b, err := store.LockBooking(tx, s.id, id)
						if err != nil {
							return err
						}
						b.Pax++
						b.Sums.Held += 10
						if err := store.SaveBookingSums(tx, b); err != nil {
							return err
						}
						return store.UpdateBooking(tx, b)
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		for _, id := range ids {
			b, err := s.read(t, id)
			if err != nil || b.Pax != writers*each/2 || b.Sums.Held != 10*writers*each/2 || b.Version != 1+writers*each/2 {
				t.Errorf("%v: %d people, %d held, version %d", err, b.Pax, b.Sums.Held, b.Version)
			}
		}
	})
}
