package merchants_test

import (
	"errors"
	"slices"
	"testing"

	"holdfast/internal/bookings"
	"holdfast/internal/civil"
	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/merchants"
	"holdfast/internal/travel"
)

func TestASupplierIsReadAsItWasStored(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, store *db.DB) {
		site, other := siteOf(t, store, "demo"), siteOf(t, store, "other")
		made := insertSupplier(t, store, travel.Supplier{
			SiteID: site, Name: "Łódź Air ✈", URL: "https://air.example/?a=b", Category: "airline", Country: "PL",
		})
		made.Version++
		dbtest.Write(t, store, func(tx *db.Tx) error {
			locked, err := merchants.LockSupplier(tx, site, made.ID)
			if locked != made {
				t.Errorf("locked %+v, stored %+v", locked, made)
			}
			return err
		})
		made.Name, made.URL, made.Category, made.Country = "Łódź", "", "rail", ""
		dbtest.Write(t, store, func(tx *db.Tx) error {
			if err := merchants.UpdateSupplier(tx, made); err != nil {
				return err
			}
			found, err := merchants.Supplier(tx, site, made.ID)
			if found != made {
				t.Errorf("read %+v, changed to %+v", found, made)
			}
			return err
		})
		theirs := made
		theirs.SiteID = other
		for name, fn := range map[string]func(tx *db.Tx) error{
			"Supplier":       func(tx *db.Tx) error { _, err := merchants.Supplier(tx, other, made.ID); return err },
			"LockSupplier":   func(tx *db.Tx) error { _, err := merchants.LockSupplier(tx, other, made.ID); return err },
			"UpdateSupplier": func(tx *db.Tx) error { return merchants.UpdateSupplier(tx, theirs) },
			"DeleteSupplier": func(tx *db.Tx) error { return merchants.DeleteSupplier(tx, other, made.ID) },
		} {
			if err := store.Write(t.Context(), fn); !errors.Is(err, db.ErrNotFound) {
				t.Errorf("%s of another site: %v, want ErrNotFound", name, err)
			}
		}
	})
}

func TestSuppliersAreChosenAndSorted(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		f    travel.SupplierFilter
		by   string
		want []int64
	}{
		{"all", travel.SupplierFilter{}, "id", []int64{1, 2, 3, 4}},
		{"include", travel.SupplierFilter{Include: []int64{4, 1}}, "id", []int64{1, 4}},
		{"in the order of include", travel.SupplierFilter{Include: []int64{4, 1}}, "include", []int64{4, 1}},
		{"exclude", travel.SupplierFilter{Exclude: []int64{4, 1}}, "id", []int64{2, 3}},
		{"name without letter case", travel.SupplierFilter{Name: "ÉTOILE"}, "id", []int64{2}},
		{"name with a star", travel.SupplierFilter{Name: "n*air"}, "id", []int64{1}},
		{"url without letter case", travel.SupplierFilter{URL: "HOTEL.example"}, "id", []int64{2, 3}},
		{"url with signs", travel.SupplierFilter{URL: "?a_b=%41"}, "id", []int64{3}},
		{"country", travel.SupplierFilter{Countries: []string{"FR"}}, "id", []int64{2, 3}},
		{"countries", travel.SupplierFilter{Countries: []string{"FR", "GB"}}, "id", []int64{1, 2, 3}},
		{"category", travel.SupplierFilter{Categories: []string{"hotel"}}, "id", []int64{2, 3}},
		{"categories", travel.SupplierFilter{Categories: []string{"airline", "rail"}}, "id", []int64{1, 4}},
		{"by name", travel.SupplierFilter{}, "name", []int64{3, 1, 4, 2}},
		{"by url", travel.SupplierFilter{}, "url", []int64{4, 1, 3, 2}},
		{"by category", travel.SupplierFilter{}, "category", []int64{1, 2, 3, 4}},
		{"by country", travel.SupplierFilter{}, "country", []int64{4, 2, 3, 1}},
	}
	dbtest.OnBothOpen(t, func(t *testing.T, store *db.DB) {
		site := siteOf(t, store, "demo")
		for _, s := range []travel.Supplier{
			{Name: "Northern Air", URL: "https://air.example", Category: "airline", Country: "GB"},
			{Name: "Étoile", URL: "https://www.hotel.example", Category: "hotel", Country: "FR"},
			{Name: "central", URL: "https://hotel.example/?a_b=%41", Category: "hotel", Country: "FR"},
			{Name: "Rails", Category: "rail"},
		} {
			s.SiteID = site
			insertSupplier(t, store, s)
		}
		for _, c := range cases {
			page := firstPage
			page.OrderBy = c.by
			var ids []int64
			dbtest.Write(t, store, func(tx *db.Tx) error {
				list, err := merchants.SuppliersPage(tx, site, c.f, page)
				ids = nil
				for _, s := range list.Items {
					ids = append(ids, s.ID)
				}
				if list.Total != int64(len(c.want)) {
					t.Errorf("%s: %d counted, want %d", c.name, list.Total, len(c.want))
				}
				return err
			})
			if !slices.Equal(ids, c.want) {
				t.Errorf("%s: %v, want %v", c.name, ids, c.want)
			}
		}
	})
}

func TestUnknownSuppliers(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, store *db.DB) {
		site, other := siteOf(t, store, "demo"), siteOf(t, store, "other")
		mine := insertSupplier(t, store, travel.Supplier{SiteID: site, Name: "Mine"})
		theirs := insertSupplier(t, store, travel.Supplier{SiteID: other, Name: "Theirs"})
		dbtest.Write(t, store, func(tx *db.Tx) error {
			unknown, err := merchants.UnknownSuppliers(tx, site, []int64{99, mine.ID, theirs.ID, 99})
			if !slices.Equal(unknown, []int64{theirs.ID, 99}) {
				t.Errorf("unknown: %v, want %v", unknown, []int64{theirs.ID, 99})
			}
			if err != nil {
				return err
			}
			unknown, err = merchants.UnknownSuppliers(tx, site, nil)
			if len(unknown) != 0 {
				t.Errorf("of none, %v are unknown", unknown)
			}
			return err
		})
	})
}

func TestASupplierInUseStays(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, store *db.DB) {
		site := siteOf(t, store, "demo")
		free := insertSupplier(t, store, travel.Supplier{SiteID: site, Name: "Free"})
		ofChannel := insertSupplier(t, store, travel.Supplier{SiteID: site, Name: "Of a channel"})
		ofBooking := insertSupplier(t, store, travel.Supplier{SiteID: site, Name: "Of a booking"})
		c := newChannel(site, "Channel", "channel")
		c.Suppliers = []int64{ofChannel.ID}
		c = insertChannel(t, store, c)
		dbtest.Write(t, store, func(tx *db.Tx) error {
			_, err := bookings.Insert(tx, travel.Booking{
				SiteID: site, UUID: "booking", ChannelID: c.ID, Currency: "EUR", Total: 100, Start: civil.NoDay, End: 20_000,
				Suppliers: []int64{ofBooking.ID},
			})
			return err
		})
		for _, s := range []travel.Supplier{free, ofChannel, ofBooking} {
			want := s != free
			err := store.Write(t.Context(), func(tx *db.Tx) error { return merchants.DeleteSupplier(tx, site, s.ID) })
			if errors.Is(err, db.ErrConflict) != want || !want && err != nil {
				t.Errorf("deleting %s: %v", s.Name, err)
			}
		}
	})
}
