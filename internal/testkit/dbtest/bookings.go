package dbtest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/store"

	"pgregory.net/rapid"
)

// StartDay is the day of Start.
var StartDay = civil.DayOf(Start)

// BookingSite is a site with everything that bookings refer to: two channels, the second one locked, and three suppliers.
type BookingSite struct {
	DB                *store.DB
	ID                int64
	path              string
	Channel, Locked   int64
	Suppliers         []int64
	uuids             atomic.Int64
	EverythingInOrder store.Page
}

// OnBothWithBookings runs a test with a BookingSite on each engine. now is its clock.
func OnBothWithBookings(t *testing.T, now func() time.Time, test func(t *testing.T, s *BookingSite)) {
	t.Helper()
	OnBoth(t, func(t *testing.T, url string) { test(t, NewBookingSite(t, Open(t, url, now), "demo")) })
}

// NewBookingSite creates a site with this path, with channels and suppliers.
func NewBookingSite(t *testing.T, db *store.DB, path string) *BookingSite {
	t.Helper()
	s := &BookingSite{DB: db, path: path, EverythingInOrder: store.Page{Number: 1, Size: 1000, Offset: -1}}
	s.Write(t, func(tx *store.Tx) error {
		site, err := InsertSite(tx, merchant.Site{Path: path, Name: path, Policy: terms.DefaultPolicy("GBP")})
		if err != nil {
			return err
		}
		s.ID = site.ID
		for i, id := range []*int64{&s.Channel, &s.Locked} {
			c, err := merchants.InsertChannel(tx, merchant.Channel{
				SiteID: s.ID, UUID: fmt.Sprintf("%s-channel-%d", path, i), Name: "Hotel", Slug: "hotel", Currency: money.EUR,
				Mode: merchant.ModeTest, Locked: i == 1,
			})
			if err != nil {
				return err
			}
			*id = c.ID
		}
		for range 3 {
			supplier, err := merchants.InsertSupplier(tx, merchant.Supplier{SiteID: s.ID, Name: "Airline"})
			if err != nil {
				return err
			}
			s.Suppliers = append(s.Suppliers, supplier.ID)
		}
		return nil
	})
	return s
}

// Write runs fn in a write that must succeed.
func (s *BookingSite) Write(t *testing.T, fn func(tx *store.Tx) error) {
	t.Helper()
	Write(t, s.DB, fn)
}

// Booking is a booking with a total of 100 in the site's first channel, not stored yet.
func (s *BookingSite) Booking(change func(b *booking.Booking)) booking.Booking {
	b := booking.Booking{
		SiteID: s.ID, UUID: fmt.Sprintf("%s-%d", s.path, s.uuids.Add(1)), ChannelID: s.Channel, Surname: "Doe",
		Email: "ann@example.com", Start: civil.NoDay, End: StartDay, Total: 100, Currency: money.EUR, Country: "PT",
		Language: check.DefaultLanguage, ChannelProtection: "none",
	}
	if change != nil {
		change(&b)
	}
	return b
}

// Insert stores bookings and returns their ids.
func (s *BookingSite) Insert(t *testing.T, list ...booking.Booking) []int64 {
	t.Helper()
	var ids []int64
	s.Write(t, func(tx *store.Tx) error {
		ids = nil
		for _, b := range list {
			id, err := bookings.Insert(tx, b)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	return ids
}

// Read reads one stored booking.
func (s *BookingSite) Read(t *testing.T, id int64) (b booking.Booking, err error) {
	t.Helper()
	err = s.DB.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
		b, err = bookings.Alone(tx, s.ID, id)
		return err
	})
	return b, err
}

// List reads a page of the site's bookings.
func (s *BookingSite) List(t rapid.TB, f bookings.BookingFilter, page store.Page) store.List[booking.Booking] {
	t.Helper()
	var list store.List[booking.Booking]
	err := s.DB.Read(context.Background(), store.Deployment, func(tx *store.Tx) (err error) {
		list, err = bookings.Page(tx, s.ID, f, page)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
