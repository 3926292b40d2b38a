package dbtest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/bookings"
	"holdfast/internal/civil"
	"holdfast/internal/db"
	"holdfast/internal/merchants"
	"holdfast/internal/money"
	"holdfast/internal/travel"

	"pgregory.net/rapid"
)

// StartDay is the day of Start.
var StartDay = civil.DayOf(Start)

// BookingSite is a site with what bookings refer to: two channels, the second locked, and three suppliers.
type BookingSite struct {
	DB                *db.DB
	ID                int64
	path              string
	Channel, Locked   int64
	Suppliers         []int64
	uuids             atomic.Int64
	EverythingInOrder travel.Page
}

// OnBothWithBookings runs a test on a site of each engine; its clock is what now says.
func OnBothWithBookings(t *testing.T, now func() time.Time, test func(t *testing.T, s *BookingSite)) {
	t.Helper()
	OnBoth(t, func(t *testing.T, url string) { test(t, NewBookingSite(t, Open(t, url, now), "demo")) })
}

// NewBookingSite makes a site with that path, with channels and suppliers.
func NewBookingSite(t *testing.T, store *db.DB, path string) *BookingSite {
	t.Helper()
	s := &BookingSite{DB: store, path: path, EverythingInOrder: travel.Page{Number: 1, Size: 1000, Offset: -1}}
	s.Write(t, func(tx *db.Tx) error {
		site, err := InsertSite(tx, travel.Site{Path: path, Name: path, Policy: travel.DefaultPolicy("GBP")})
		if err != nil {
			return err
		}
		s.ID = site.ID
		for i, id := range []*int64{&s.Channel, &s.Locked} {
			c, err := merchants.InsertChannel(tx, travel.Channel{
				SiteID: s.ID, UUID: fmt.Sprintf("%s-channel-%d", path, i), Name: "Hotel", Slug: "hotel", Currency: money.EUR,
				Mode: travel.ModeTest, Locked: i == 1,
			})
			if err != nil {
				return err
			}
			*id = c.ID
		}
		for range 3 {
			supplier, err := merchants.InsertSupplier(tx, travel.Supplier{SiteID: s.ID, Name: "Airline"})
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
func (s *BookingSite) Write(t *testing.T, fn func(tx *db.Tx) error) {
	t.Helper()
	Write(t, s.DB, fn)
}

// Booking is one of 100 in the site's first channel, not stored yet.
func (s *BookingSite) Booking(change func(b *travel.Booking)) travel.Booking {
	b := travel.Booking{
		SiteID: s.ID, UUID: fmt.Sprintf("%s-%d", s.path, s.uuids.Add(1)), ChannelID: s.Channel, Surname: "Doe",
		Email: "ann@example.com", Start: civil.NoDay, End: StartDay, Total: 100, Currency: money.EUR, Country: "PT",
		Language: travel.DefaultLanguage, ChannelProtection: "none",
	}
	if change != nil {
		change(&b)
	}
	return b
}

// Insert stores bookings, and gives their ids.
func (s *BookingSite) Insert(t *testing.T, list ...travel.Booking) []int64 {
	t.Helper()
	var ids []int64
	s.Write(t, func(tx *db.Tx) error {
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

// Read reads one booking as it is stored.
func (s *BookingSite) Read(t *testing.T, id int64) (b travel.Booking, err error) {
	t.Helper()
	err = s.DB.Read(t.Context(), db.Deployment, func(tx *db.Tx) error {
		b, err = bookings.Alone(tx, s.ID, id)
		return err
	})
	return b, err
}

// List reads a page of the bookings of the site.
func (s *BookingSite) List(t rapid.TB, f travel.BookingFilter, page travel.Page) travel.List[travel.Booking] {
	t.Helper()
	var list travel.List[travel.Booking]
	err := s.DB.Read(context.Background(), db.Deployment, func(tx *db.Tx) (err error) {
		list, err = bookings.Page(tx, s.ID, f, page)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
