package bookings_test

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"

	"pgregory.net/rapid"
)

func idsOf(list []booking.Booking) []int64 {
	ids := []int64{}
	for _, b := range list {
		ids = append(ids, b.ID)
	}
	return ids
}

func TestABookingIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	dbtest.OnBothWithBookings(t, dbtest.AtStart, func(t *testing.T, s *dbtest.BookingSite) {
		b := s.Booking(func(b *booking.Booking) {
			b.AuthorID, b.Author, b.AuthorName = 7, "ann", "Ann Ó Súilleabháin"
			b.Content, b.Firstname, b.Surname, b.Reference = "line\nline — 🏖", "Zoë", "Đặng-O'Neil", "R'; --"
			b.Start, b.Pax, b.Total, b.Suppliers = dbtest.StartDay-3, 73, 1e15, s.Suppliers[1:]
			b.Sums = booking.BookingSums{Net: 1, Held: 2, OpenAuthorised: 3, LockedPayments: 4}
			b.ModalDraft, b.ImportKey, b.OwnProtection = true, "K-1", "insurance"
		})
		b.ID = s.Insert(t, b)[0]
		b.Version, b.CreatedAt, b.ModifiedAt = 1, dbtest.Start, dbtest.Start
		if got, err := s.Read(t, b.ID); err != nil || !reflect.DeepEqual(got, b) {
			t.Errorf("%v\n got %+v\nwant %+v", err, got, b)
		}
		var byKey booking.Booking
		s.Write(t, func(tx *store.Tx) (err error) {
			byKey, err = bookings.ByImportKey(tx, s.ID, s.Channel, "K-1")
			return err
		})
		if !reflect.DeepEqual(byKey, b) {
			t.Errorf("by its key: %+v", byKey)
		}
		plain := s.Booking(nil)
		plain.ID = s.Insert(t, plain)[0]
		plain.Version, plain.CreatedAt, plain.ModifiedAt = 1, dbtest.Start, dbtest.Start
		if got, err := s.Read(t, plain.ID); err != nil || !reflect.DeepEqual(got, plain) {
			t.Errorf("%v\n got %+v\nwant %+v", err, got, plain)
		}
	})
}

func TestAChangedBookingIsReadAsItWasChanged(t *testing.T) {
	t.Parallel()
	var hours atomic.Int64
	clock := func() time.Time { return dbtest.Start.Add(time.Duration(hours.Load()) * time.Hour) }
	dbtest.OnBothWithBookings(t, clock, func(t *testing.T, s *dbtest.BookingSite) {
		hours.Store(0)
		id := s.Insert(t, s.Booking(func(b *booking.Booking) { b.Start, b.Suppliers = dbtest.StartDay-1, s.Suppliers[:2] }))[0]
		hours.Store(1)
		var want booking.Booking
		s.Write(t, func(tx *store.Tx) (err error) {
			if want, err = bookings.Lock(tx, s.ID, id); err != nil {
				return err
			}
			want.ChannelID, want.Content, want.Firstname, want.Surname, want.Email = s.Locked, "c", "f", "s", "e@example.com"
			want.Start, want.End, want.Pax, want.Reference, want.Total = civil.NoDay, dbtest.StartDay+9, 2, "r", 5
			want.Country, want.Language, want.Suppliers, want.OwnProtection = "ES", "esES", s.Suppliers[1:], "scheme"
			return bookings.Update(tx, want)
		})
		want.ChannelLocked, want.TotalChanged, want.ModifiedAt = true, true, clock()
		if got, err := s.Read(t, id); err != nil || !reflect.DeepEqual(got, want) || got.Version != 2 {
			t.Errorf("%v\n got %+v\nwant %+v", err, got, want)
		}
		hours.Store(2)
		s.Write(t, func(tx *store.Tx) (err error) {
			if want, err = bookings.Lock(tx, s.ID, id); err != nil {
				return err
			}
			want.Sums = booking.BookingSums{Net: 5, Held: 6, OpenAuthorised: 7}
			return errors.Join(bookings.SetSums(tx, want), bookings.SaveChanges(tx))
		})
		want.ModifiedAt = clock()
		if got, err := s.Read(t, id); err != nil || !reflect.DeepEqual(got, want) || got.Version != 3 {
			t.Errorf("%v\n got %+v\nwant %+v", err, got, want)
		}
	})
}

func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	dbtest.OnBothWithBookings(t, dbtest.AtStart, func(t *testing.T, s *dbtest.BookingSite) {
		other := dbtest.NewBookingSite(t, s.DB, "other")
		theirs := other.Insert(t, other.Booking(nil))[0]
		trashed := s.Insert(t, s.Booking(func(b *booking.Booking) { b.ImportKey = "K" }))[0]
		s.Write(t, func(tx *store.Tx) error { return bookings.Trash(tx, s.ID, trashed) })
		for name, id := range map[string]int64{"another site's": theirs, "in the trash": trashed, "never made": 1 << 40} {
			if _, err := s.Read(t, id); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: read: %v", name, err)
			}
			for action, do := range map[string]func(tx *store.Tx) error{
				"lock":   func(tx *store.Tx) error { _, err := bookings.Lock(tx, s.ID, id); return err },
				"update": func(tx *store.Tx) error { return bookings.Update(tx, booking.Booking{SiteID: s.ID, ID: id}) },
				"trash":  func(tx *store.Tx) error { return bookings.Trash(tx, s.ID, id) },
			} {
				if err := s.DB.Write(t.Context(), store.Deployment, do); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("%s: %s: %v", name, action, err)
				}
			}
		}
		if list := s.List(t, bookings.BookingFilter{}, s.EverythingInOrder); len(list.Items) != 0 {
			t.Errorf("listed: %v", idsOf(list.Items))
		}
		// The natural key of a booking in the trash is free.
		s.Insert(t, s.Booking(func(b *booking.Booking) { b.ImportKey = "K" }))
	})
}

func TestTheSchemaKeepsBookingsConsistent(t *testing.T) {
	t.Parallel()
	dbtest.OnBothWithBookings(t, dbtest.AtStart, func(t *testing.T, s *dbtest.BookingSite) {
		other := dbtest.NewBookingSite(t, s.DB, "other")
		s.Insert(t, s.Booking(func(b *booking.Booking) { b.ImportKey = "K" }))
		for _, c := range []struct {
			name   string
			change func(b *booking.Booking)
		}{
			{"a currency that is not the channel's", func(b *booking.Booking) { b.Currency = "GBP" }},
			{"another site's channel", func(b *booking.Booking) { b.ChannelID = other.Channel }},
			{"another site's supplier", func(b *booking.Booking) { b.Suppliers = other.Suppliers[:1] }},
			{"the same natural key", func(b *booking.Booking) { b.ImportKey = "K" }},
		} {
			err := s.DB.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
				_, err := bookings.Insert(tx, s.Booking(c.change))
				return err
			})
			if !errors.Is(err, store.ErrConflict) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

// A booking names the transactions that were attempted against it, each once, the most recent last.
func TestTransactionsOfABooking(t *testing.T) {
	t.Parallel()
	dbtest.OnBothWithBookings(t, dbtest.AtStart, func(t *testing.T, s *dbtest.BookingSite) {
		ids := s.Insert(t, s.Booking(nil), s.Booking(nil), s.Booking(nil))
		var made []int64
		for i, of := range [][]int64{{ids[1], ids[0]}, {ids[1]}, {ids[1], ids[1]}} {
			transaction := payment.Transaction{
				SiteID: s.ID, UUID: fmt.Sprintf("transaction-%d", i), ChannelID: s.Channel, Type: payment.Purchase,
				Status: payment.StatusComplete, Currency: money.EUR, BaseCurrency: money.EUR, EffectiveAt: dbtest.Start,
			}
			for _, booking := range of {
				transaction.Payments = append(transaction.Payments, payment.Payment{BookingID: booking, Currency: money.EUR, Total: 1})
			}
			s.Write(t, func(tx *store.Tx) (err error) {
				stored, err := payments.InsertTransaction(tx, transaction)
				made = append(made[:i], stored.ID)
				return err
			})
		}
		s.Write(t, func(tx *store.Tx) error {
			found, err := payments.TransactionsOfBookings(tx, s.ID, ids)
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
	t.Parallel()
	var minutes atomic.Int64
	clock := func() time.Time { return dbtest.Start.Add(time.Duration(minutes.Load()) * time.Minute) }
	dbtest.OnBothWithBookings(t, clock, func(t *testing.T, s *dbtest.BookingSite) {
		for i := range int64(11) {
			minutes.Store(i * 7 % 4)
			s.Insert(t, s.Booking(func(b *booking.Booking) {
				b.Total, b.End = i*5%3, dbtest.StartDay+civil.Day(i*3%4)
				if i%3 != 0 {
					b.Start = b.End - civil.Day(i%5)
				}
			}))
		}
		all := s.List(t, bookings.BookingFilter{}, s.EverythingInOrder).Items
		number := func(of func(b booking.Booking) int64) func(a, b booking.Booking) int {
			return func(a, b booking.Booking) int { return cmp.Compare(of(a), of(b)) }
		}
		text := func(of func(b booking.Booking) string) func(a, b booking.Booking) int {
			return func(a, b booking.Booking) int { return cmp.Compare(of(a), of(b)) }
		}
		orders := map[string]func(a, b booking.Booking) int{
			"":           number(func(b booking.Booking) int64 { return b.ID }),
			"id":         number(func(b booking.Booking) int64 { return b.ID }),
			"date":       number(func(b booking.Booking) int64 { return b.CreatedAt.UnixMicro() }),
			"created":    number(func(b booking.Booking) int64 { return b.CreatedAt.UnixMicro() }),
			"modified":   number(func(b booking.Booking) int64 { return b.ModifiedOn(dbtest.StartDay).UnixMicro() }),
			"date_end":   number(func(b booking.Booking) int64 { return int64(b.End) }),
			"date_start": number(func(b booking.Booking) int64 { return int64(b.Start) }),
			"total":      number(func(b booking.Booking) int64 { return b.Total }),
			"surname":    text(func(b booking.Booking) string { return b.Surname }),
			"email":      text(func(b booking.Booking) string { return b.Email }),
			"reference":  text(func(b booking.Booking) string { return b.Reference }),
			"status":     text(func(b booking.Booking) string { return string(b.StatusOn(dbtest.StartDay)) }),
		}
		for _, attribute := range bookings.BookingOrders {
			if orders[attribute] == nil {
				t.Errorf("nothing here knows the order by %s", attribute)
			}
		}
		for attribute, order := range orders {
			for _, descending := range []bool{false, true} {
				want := slices.SortedFunc(slices.Values(all), func(a, b booking.Booking) int {
					sign := 1
					if descending {
						sign = -1
					}
					return sign * cmp.Or(order(a, b), cmp.Compare(a.ID, b.ID))
				})
				got := inPagesOfThree(t, s, attribute, descending)
				if !slices.Equal(got, idsOf(want)) {
					t.Errorf("by %q, descending %v: %v, want %v", attribute, descending, got, idsOf(want))
				}
				if got := followed(t, s, attribute, descending); !slices.Equal(got, idsOf(want)) {
					t.Errorf("followed by %q, descending %v: %v, want %v", attribute, descending, got, idsOf(want))
				}
			}
		}
	})
}

func inPagesOfThree(t *testing.T, s *dbtest.BookingSite, attribute string, descending bool) []int64 {
	t.Helper()
	var got []int64
	for number := 1; ; number++ {
		page := store.Page{Number: number, Size: 3, Offset: -1, OrderBy: attribute, Descending: descending, Count: number != 2}
		list := s.List(t, bookings.BookingFilter{}, page)
		if page.Count && list.Total != 11 || !page.Count && list.Total != -1 {
			t.Errorf("page %d says that there are %d", number, list.Total)
		}
		if len(list.Items) == 0 {
			return got
		}
		got = append(got, idsOf(list.Items)...)
	}
}

// followed reads pages of three, each after the last row of the one before.
func followed(t *testing.T, s *dbtest.BookingSite, attribute string, descending bool) []int64 {
	t.Helper()
	var got []int64
	page := store.Page{Number: 1, Size: 3, Offset: -1, OrderBy: attribute, Descending: descending, Count: true}
	for {
		list := s.List(t, bookings.BookingFilter{}, page)
		if list.Total != 11 {
			t.Errorf("after %v: the list says that there are %d", page.After, list.Total)
		}
		got = append(got, idsOf(list.Items)...)
		if page.After = list.Last; page.After == nil {
			return got
		}
	}
}

func TestBookingsInTheOrderOfTheirNaming(t *testing.T) {
	t.Parallel()
	dbtest.OnBothWithBookings(t, dbtest.AtStart, func(t *testing.T, s *dbtest.BookingSite) {
		var some []booking.Booking
		for range 12 {
			some = append(some, s.Booking(nil))
		}
		ids := s.Insert(t, some...)
		named := []int64{ids[11], ids[0], ids[10], ids[1], ids[0]}
		page := store.Page{Number: 1, Size: 3, Offset: -1, OrderBy: "include", Count: true, Include: named}
		list := s.List(t, bookings.BookingFilter{}, page)
		if got := idsOf(list.Items); !slices.Equal(got, named[:3]) || list.Total != 4 {
			t.Errorf("%v of %d", got, list.Total)
		}
		page.Offset = 2
		if got := idsOf(s.List(t, bookings.BookingFilter{}, page).Items); !slices.Equal(got, named[2:4]) {
			t.Errorf("from the third on: %v", got)
		}
		page = store.Page{Number: 1, Size: 3, Offset: -1, OrderBy: "include"}
		if got := idsOf(s.List(t, bookings.BookingFilter{}, page).Items); !slices.Equal(got, ids[:3]) {
			t.Errorf("nothing named: %v", got)
		}
	})
}

func TestBookingFilters(t *testing.T) {
	t.Parallel()
	var seconds atomic.Int64
	// Each event happens half a second after a full second.
	clock := func() time.Time {
		return dbtest.Start.Add(time.Duration(seconds.Load())*time.Second + time.Second/2)
	}
	at := func(second int) time.Time { return dbtest.Start.Add(time.Duration(second) * time.Second) }
	dbtest.OnBothWithBookings(t, clock, func(t *testing.T, s *dbtest.BookingSite) {
		made := map[string]int64{}
		for i, b := range []struct {
			name   string
			change func(b *booking.Booking)
		}{
			{"plain", nil},
			{"lower", func(b *booking.Booking) { b.Surname, b.Email, b.Reference = "doe", "ANN@example.com", "r-1" }},
			{"other", func(b *booking.Booking) { b.Surname, b.Email, b.Reference = "Döe", "bob@example.com", "R-1" }},
			{"there", func(b *booking.Booking) { b.ChannelID, b.Country = s.Locked, "ES" }},
		} {
			seconds.Store(int64(i))
			made[b.name] = s.Insert(t, s.Booking(b.change))[0]
		}
		for name, c := range map[string]struct {
			filter bookings.BookingFilter
			want   []string
		}{
			"none":           {bookings.BookingFilter{}, []string{"plain", "lower", "other", "there"}},
			"surname":        {bookings.BookingFilter{Surname: "Doe"}, []string{"plain", "there"}},
			"part of it":     {bookings.BookingFilter{Surname: "Do"}, nil},
			"umlaut":         {bookings.BookingFilter{Surname: "Döe"}, []string{"other"}},
			"e-mail":         {bookings.BookingFilter{Email: "ann@example.com"}, []string{"plain", "there"}},
			"reference":      {bookings.BookingFilter{Reference: "R-1"}, []string{"other"}},
			"pattern":        {bookings.BookingFilter{Reference: "R-%"}, nil},
			"channel":        {bookings.BookingFilter{Channels: []int64{s.Locked}}, []string{"there"}},
			"channels":       {bookings.BookingFilter{Channels: []int64{s.Locked, s.Channel}}, []string{"plain", "lower", "other", "there"}},
			"no channel":     {bookings.BookingFilter{Channels: []int64{1 << 40}}, nil},
			"country":        {bookings.BookingFilter{Countries: []string{"ES", "FR"}}, []string{"there"}},
			"before":         {bookings.BookingFilter{Created: civil.Span{Before: at(1)}}, []string{"plain"}},
			"after":          {bookings.BookingFilter{Created: civil.Span{After: at(1)}}, []string{"other", "there"}},
			"between":        {bookings.BookingFilter{Created: civil.Span{After: at(0), Before: at(2)}}, []string{"lower"}},
			"in a second":    {bookings.BookingFilter{Created: civil.Span{After: at(0).Add(time.Millisecond), Before: at(2).Add(time.Millisecond)}}, []string{"lower"}},
			"status":         {bookings.BookingFilter{Statuses: []booking.BookingStatus{booking.BookingUnpaid}}, []string{"plain", "lower", "other"}},
			"found by part":  {bookings.BookingFilter{Find: "oE"}, []string{"plain", "lower", "there"}},
			"by reference":   {bookings.BookingFilter{Find: " r-1 "}, []string{"lower", "other"}},
			"by umlaut":      {bookings.BookingFilter{Find: "Dö"}, []string{"other"}},
			"by number":      {bookings.BookingFilter{Find: strconv.FormatInt(made["other"], 10)}, []string{"other"}},
			"by trust id":    {bookings.BookingFilter{Find: fmt.Sprintf("%d-%d", s.ID, made["plain"])}, []string{"plain"}},
			"no wildcard":    {bookings.BookingFilter{Find: "D%e"}, nil},
			"all of several": {bookings.BookingFilter{Surname: "Doe", Countries: []string{"PT"}}, []string{"plain"}},
		} {
			var want []int64
			for _, name := range c.want {
				want = append(want, made[name])
			}
			if got := idsOf(s.List(t, c.filter, s.EverythingInOrder).Items); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v of %v", name, got, want, made)
			}
		}
		for name, c := range map[string]struct {
			page store.Page
			want []string
		}{
			"include":  {store.Page{Include: []int64{made["other"], made["plain"], 1 << 40}}, []string{"plain", "other"}},
			"exclude":  {store.Page{Exclude: []int64{made["other"], made["plain"]}}, []string{"lower", "there"}},
			"modified": {store.Page{Modified: civil.Span{After: at(0), Before: at(3)}}, []string{"lower", "other"}},
		} {
			page, want := s.EverythingInOrder, []int64(nil)
			page.Include, page.Exclude, page.Modified = c.page.Include, c.page.Exclude, c.page.Modified
			for _, name := range c.want {
				want = append(want, made[name])
			}
			if got := idsOf(s.List(t, bookings.BookingFilter{}, page).Items); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v of %v", name, got, want, made)
			}
		}
	})
}

// A booking has the flag if more than its total was paid, not if exactly the total was paid.
func TestTheFilterByFlags(t *testing.T) {
	t.Parallel()
	dbtest.OnBothWithBookings(t, dbtest.AtStart, func(t *testing.T, s *dbtest.BookingSite) {
		ids := s.Insert(t, s.Booking(nil), s.Booking(nil), s.Booking(nil))
		s.Write(t, func(tx *store.Tx) error {
			for i, over := range []int64{-1, 0, 1} {
				b, err := bookings.Lock(tx, s.ID, ids[i])
				b.Sums = booking.BookingSums{Net: b.Total + over}
				if err := errors.Join(err, bookings.SetSums(tx, b)); err != nil {
					return err
				}
			}
			return bookings.SaveChanges(tx)
		})
		flagged := bookings.BookingFilter{Flags: []string{booking.FlagAboveTotal}}
		list := s.List(t, flagged, s.EverythingInOrder).Items
		if got := idsOf(list); !slices.Equal(got, ids[2:]) || !slices.Equal(list[0].Flags(), flagged.Flags) {
			t.Errorf("%v, want %v with the flag", got, ids[2:])
		}
	})
}

// The end date counts from the start of its day, and both bounds are strict, to the microsecond.
func TestBoundsOnTheEndDate(t *testing.T) {
	t.Parallel()
	dbtest.OnBothWithBookings(t, dbtest.AtStart, func(t *testing.T, s *dbtest.BookingSite) {
		var some []booking.Booking
		for day := dbtest.StartDay - 3; day <= dbtest.StartDay+3; day++ {
			some = append(some, s.Booking(func(b *booking.Booking) { b.End = day }))
		}
		s.Insert(t, some...)
		all := s.List(t, bookings.BookingFilter{}, s.EverythingInOrder).Items
		rapid.Check(t, func(rt *rapid.T) {
			day := dbtest.StartDay + civil.Day(rapid.Int64Range(-4, 4).Draw(rt, "day"))
			offset := rapid.SampledFrom([]time.Duration{-time.Microsecond, 0, time.Microsecond, 13 * time.Hour}).Draw(rt, "offset")
			at := day.Start().Add(offset)
			before := s.List(rt, bookings.BookingFilter{DateBefore: &at}, s.EverythingInOrder).Items
			after := s.List(rt, bookings.BookingFilter{DateAfter: &at}, s.EverythingInOrder).Items
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

// The conditions that select bookings by status and modification always agree with the functions that compute both.
func TestFiltersAgreeWithStatusAndChange(t *testing.T) {
	t.Parallel()
	now := atomic.Pointer[time.Time]{}
	clock := func() time.Time { return *now.Load() }
	start, made := dbtest.Start, dbtest.Start.Add(-30*time.Hour) // after the second of three end dates
	now.Store(&made)
	dbtest.OnBothWithBookings(t, clock, func(t *testing.T, s *dbtest.BookingSite) {
		now.Store(&made)
		var some []booking.Booking
		sums := []booking.BookingSums{{}, {Net: 1}, {Net: 1, OpenAuthorised: 1}, {OpenAuthorised: 1}, {Net: 2}}
		for n := range int64(2 * 2 * 5 * 2 * 2 * 3) {
			digit := func(base int64) int64 {
				d := n % base
				n /= base
				return d
			}
			some = append(some, s.Booking(func(b *booking.Booking) {
				b.ChannelID = []int64{s.Channel, s.Locked}[digit(2)]
				b.ModalDraft = digit(2) == 1
				b.Sums = sums[digit(5)]
				b.Sums.LockedPayments = digit(2)
				b.Total = 2 * digit(2)
				b.End = dbtest.StartDay + civil.Day(digit(3)-1)
			}))
		}
		s.Insert(t, some...)
		now.Store(&start)
		all := s.List(t, bookings.BookingFilter{}, s.EverythingInOrder).Items
		if len(all) != len(some) {
			t.Fatalf("%d of %d", len(all), len(some))
		}
		rapid.Check(t, func(rt *rapid.T) {
			statuses := rapid.SliceOfNDistinct(rapid.SampledFrom(booking.BookingStatuses), 1, -1,
				func(s booking.BookingStatus) booking.BookingStatus { return s }).Draw(rt, "statuses")
			var want []int64
			for _, b := range all {
				if slices.Contains(statuses, b.StatusOn(dbtest.StartDay)) {
					want = append(want, b.ID)
				}
			}
			list := s.List(rt, bookings.BookingFilter{Statuses: statuses}, store.Page{Number: 1, Size: 1000, Offset: -1, Count: true})
			if got := idsOf(list.Items); !slices.Equal(got, want) || list.Total != int64(len(want)) {
				rt.Fatalf("%v: %v (%d)\nwant %v", statuses, got, list.Total, want)
			}
			checkModified(rt, s, all)
		})
	})
}

// checkModified compares the list of bookings modified in some period with each booking's own time.
func checkModified(t *rapid.T, s *dbtest.BookingSite, all []booking.Booking) {
	moments := []time.Time{{}, dbtest.StartDay.Start(), (dbtest.StartDay - 1).Start(), dbtest.Start.Add(-30 * time.Hour)}
	moment := rapid.Custom(func(t *rapid.T) time.Time {
		at := rapid.SampledFrom(moments).Draw(t, "moment")
		if at.IsZero() {
			return at
		}
		return at.Add(rapid.SampledFrom([]time.Duration{-time.Hour, -1, 0, 1, time.Second, time.Hour}).Draw(t, "offset"))
	})
	span := civil.Span{After: moment.Draw(t, "after"), Before: moment.Draw(t, "before")}
	in := func(b booking.Booking) bool {
		at := b.ModifiedOn(dbtest.StartDay).Unix()
		return (span.After.IsZero() || at > span.After.Unix()) && (span.Before.IsZero() || at < span.Before.Unix())
	}
	want := idsOf(slices.DeleteFunc(slices.Clone(all), func(b booking.Booking) bool { return !in(b) }))
	inOrder := s.EverythingInOrder
	inOrder.Modified = span
	list := s.List(t, bookings.BookingFilter{}, inOrder).Items
	if got := idsOf(list); !slices.Equal(got, want) {
		t.Fatalf("%v: %v\nwant %v", span, got, want)
	}
	byChange := inOrder
	byChange.OrderBy = "modified"
	sorted := s.List(t, bookings.BookingFilter{}, byChange).Items
	if len(sorted) != len(want) || !slices.IsSortedFunc(sorted, func(a, b booking.Booking) int {
		return cmp.Or(a.ModifiedOn(dbtest.StartDay).Compare(b.ModifiedOn(dbtest.StartDay)), cmp.Compare(a.ID, b.ID))
	}) {
		t.Fatalf("%v by change: %v", span, idsOf(sorted))
	}
}

// Concurrent writers that lock, read, change and write lose no updates.
func TestParallelUpdatesOfABookingLoseNothing(t *testing.T) {
	dbtest.OnBothWithBookings(t, dbtest.AtStart, func(t *testing.T, s *dbtest.BookingSite) {
		ids := s.Insert(t, s.Booking(nil), s.Booking(nil))
		const writers, each = 8, 6
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				for n := range each {
					id := ids[n%2]
					err := s.DB.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
						b, err := bookings.Lock(tx, s.ID, id)
						if err != nil {
							return err
						}
						b.Pax++
						b.Sums.Held += 10
						return errors.Join(bookings.SetSums(tx, b), bookings.SaveChanges(tx), bookings.Update(tx, b))
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		for _, id := range ids {
			b, err := s.Read(t, id)
			if err != nil || b.Pax != writers*each/2 || b.Sums.Held != 10*writers*each/2 || b.Version != 1+writers*each/2 {
				t.Errorf("%v: %d people, %d held, version %d", err, b.Pax, b.Sums.Held, b.Version)
			}
		}
	})
}
