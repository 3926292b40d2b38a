package merchants_test

import (
	"errors"
	"slices"
	"testing"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

func TestASupplierIsReadAsItWasStored(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site, other := siteOf(t, db, "demo"), siteOf(t, db, "other")
		made := insertSupplier(t, db, merchant.Supplier{
			SiteID: site, Name: "Łódź Air ✈", URL: "https://air.example/?a=b", Category: "airline", Country: "PL",
		})
		made.Version++
		dbtest.Write(t, db, func(tx *store.Tx) error {
			locked, err := merchants.LockSupplier(tx, site, made.ID)
			if locked != made {
				t.Errorf("locked %+v, stored %+v", locked, made)
			}
			return err
		})
		made.Name, made.URL, made.Category, made.Country = "Łódź", "", "rail", ""
		dbtest.Write(t, db, func(tx *store.Tx) error {
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
		for name, fn := range map[string]func(tx *store.Tx) error{
			"Supplier":       func(tx *store.Tx) error { _, err := merchants.Supplier(tx, other, made.ID); return err },
			"LockSupplier":   func(tx *store.Tx) error { _, err := merchants.LockSupplier(tx, other, made.ID); return err },
			"UpdateSupplier": func(tx *store.Tx) error { return merchants.UpdateSupplier(tx, theirs) },
			"DeleteSupplier": func(tx *store.Tx) error { return merchants.DeleteSupplier(tx, other, made.ID) },
		} {
			if err := db.Write(t.Context(), store.Deployment, fn); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s of another site: %v, want ErrNotFound", name, err)
			}
		}
	})
}

func TestSuppliersAreChosenAndSorted(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		f    merchants.SupplierFilter
		by   string
		want []int64
	}{
		{"all", merchants.SupplierFilter{}, "id", []int64{1, 2, 3, 4}},
		{"search by url", merchants.SupplierFilter{Search: "AIR.example"}, "id", []int64{1}},
		{"search by name", merchants.SupplierFilter{Search: "éto"}, "id", []int64{2}},
		{"name without letter case", merchants.SupplierFilter{Name: "ÉTOILE"}, "id", []int64{2}},
		{"name with a star", merchants.SupplierFilter{Name: "n*air"}, "id", []int64{1}},
		{"url without letter case", merchants.SupplierFilter{URL: "HOTEL.example"}, "id", []int64{2, 3}},
		{"url with signs", merchants.SupplierFilter{URL: "?a_b=%41"}, "id", []int64{3}},
		{"country", merchants.SupplierFilter{Countries: []string{"FR"}}, "id", []int64{2, 3}},
		{"countries", merchants.SupplierFilter{Countries: []string{"FR", "GB"}}, "id", []int64{1, 2, 3}},
		{"category", merchants.SupplierFilter{Categories: []string{"hotel"}}, "id", []int64{2, 3}},
		{"categories", merchants.SupplierFilter{Categories: []string{"airline", "rail"}}, "id", []int64{1, 4}},
		{"by name", merchants.SupplierFilter{}, "name", []int64{3, 1, 4, 2}},
		{"by url", merchants.SupplierFilter{}, "url", []int64{4, 1, 3, 2}},
		{"by category", merchants.SupplierFilter{}, "category", []int64{1, 2, 3, 4}},
		{"by country", merchants.SupplierFilter{}, "country", []int64{4, 2, 3, 1}},
	}
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site := siteOf(t, db, "demo")
		for _, s := range []merchant.Supplier{
			{Name: "Northern Air", URL: "https://air.example", Category: "airline", Country: "GB"},
			{Name: "Étoile", URL: "https://www.hotel.example", Category: "hotel", Country: "FR"},
			{Name: "central", URL: "https://hotel.example/?a_b=%41", Category: "hotel", Country: "FR"},
			{Name: "Rails", Category: "rail"},
		} {
			s.SiteID = site
			insertSupplier(t, db, s)
		}
		for _, c := range cases {
			page := firstPage
			page.OrderBy = c.by
			var ids []int64
			dbtest.Write(t, db, func(tx *store.Tx) error {
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
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site, other := siteOf(t, db, "demo"), siteOf(t, db, "other")
		mine := insertSupplier(t, db, merchant.Supplier{SiteID: site, Name: "Mine"})
		theirs := insertSupplier(t, db, merchant.Supplier{SiteID: other, Name: "Theirs"})
		dbtest.Write(t, db, func(tx *store.Tx) error {
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
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site := siteOf(t, db, "demo")
		free := insertSupplier(t, db, merchant.Supplier{SiteID: site, Name: "Free"})
		ofChannel := insertSupplier(t, db, merchant.Supplier{SiteID: site, Name: "Of a channel"})
		ofBooking := insertSupplier(t, db, merchant.Supplier{SiteID: site, Name: "Of a booking"})
		c := newChannel(site, "Channel", "channel")
		c.Suppliers = []int64{ofChannel.ID}
		c = insertChannel(t, db, c)
		dbtest.Write(t, db, func(tx *store.Tx) error {
			_, err := bookings.Insert(tx, booking.Booking{
				SiteID: site, UUID: "booking", ChannelID: c.ID, Currency: "EUR", Total: 100, Start: civil.NoDay, End: 20_000,
				Suppliers: []int64{ofBooking.ID},
			})
			return err
		})
		for _, s := range []merchant.Supplier{free, ofChannel, ofBooking} {
			want := s != free
			err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error { return merchants.DeleteSupplier(tx, site, s.ID) })
			if errors.Is(err, store.ErrConflict) != want || !want && err != nil {
				t.Errorf("deleting %s: %v", s.Name, err)
			}
		}
	})
}
