package bookings_test

import (
	"slices"
	"testing"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// mostStatements is how many SQL statements a single new booking may run in its write: its id, the booking, its
// suppliers, its event, and one that reads the site's clock and its versions. Concurrent bookings share all but the
// last.
const mostStatements = 5

// TestABookingRunsFewStatements: the channel and the suppliers are not read again, and all suppliers go in at once.
func TestABookingRunsFewStatements(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, money.EUR)
		end := w.Booking(c, 1, "2024-09-14").End
		supplier := func(name string) int64 {
			s, err := w.App.Suppliers.Create(t.Context(), w.Actor, merchant.SupplierFields{Name: &name})
			if err != nil {
				t.Fatal(err)
			}
			return s.ID
		}
		hotel, boat := supplier("Hotel"), supplier("Boat")
		book := func(email string, suppliers ...int64) error {
			_, err := w.App.Bookings.Create(t.Context(), w.Actor, booking.BookingFields{
				ChannelID: &c.ID, Content: new("x"), Firstname: new("Ada"), Surname: new("Byron"), Email: &email,
				End: &end, Total: new(int64(1)), Currency: &c.Currency, Country: new("PT"), Suppliers: &suppliers,
			})
			return err
		}
		for n := range 3 {
			ran := len(dbtest.Statements(w.App.DB.Store, func() {
				if err := book("ada@example.org", hotel, boat); err != nil {
					t.Fatal(err)
				}
			}))
			if n > 0 && ran > mostStatements { // values read for the first time are cached
				t.Errorf("booking %d ran %d statements, at most %d are allowed", n, ran, mostStatements)
			}
		}
		// A list of suppliers is cached, and then one of them is deleted: it is no longer accepted.
		gone := supplier("Gone")
		if err := book("no address", gone); !errs.Is(err, errs.Invalid) {
			t.Fatalf("a booking with a wrong field: %v", err)
		}
		if err := w.App.Suppliers.Delete(t.Context(), w.Actor, gone, 0); err != nil {
			t.Fatal(err)
		}
		if err := book("ada@example.org", gone); !errs.Is(err, errs.Invalid) {
			t.Errorf("a booking with a deleted supplier: %v", err)
		}
	})
}

// TestABookingIsReadByThreeStatements: the check for due items, the booking, and its transactions.
func TestABookingIsReadByThreeStatements(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, money.EUR), 1000, "2024-09-14")
		var want []int64
		for range 3 {
			want = append(want, w.Must(apptest.Report(payment.Purchase, b, 100)).ID)
		}
		var got booking.Booking
		ran := dbtest.Statements(w.App.DB.Store, func() {
			var err error
			if got, err = w.App.Bookings.Get(t.Context(), w.Actor, b.ID); err != nil {
				t.Fatal(err)
			}
		})
		if len(ran) != 3 || !slices.Equal(got.TransactionIDs, want) {
			t.Errorf("%d statements read a booking with the transactions %v, not %v:\n%s", len(ran), got.TransactionIDs, want, ran)
		}
	})
}
