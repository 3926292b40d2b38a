package ledger_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/protection"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// TestProtectedAfterAnyHistory: the amount shown to travellers follows from the histories of their bookings.
func TestProtectedAfterAnyHistory(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("history ", seed), func(t *testing.T) {
			t.Parallel()
			apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
				h := apptest.NewHistory(w, seed+100)
				h.NewBooking()
				for range 80 {
					h.Step()
				}
				h.Accepted().WantAtLeast(t, apptest.Steps{Bookings: 2, Purchases: 5, Refunds: 1, Chargebacks: 1, Changes: 1})
				err := w.App.DB.Store.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
					all, err := ledger.HistoriesOfBookings(tx, w.Site.ID, 1, math.MaxInt64)
					if err != nil {
						return err
					}
					const nobody = 1 << 40
					want := map[int64]ledger.Protected{nobody: {Until: civil.NoDay}}
					for _, of := range all {
						want[of.BookingID] = added(want, of)
					}
					got, err := ledger.ProtectedOfEach(tx, w.Site.ID, slices.Collect(maps.Keys(want)))
					if !maps.Equal(got, want) {
						t.Errorf("the bookings have protected\n%v, want\n%v", got, want)
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// added adds an allocation to the protected amount of its booking.
func added(list map[int64]ledger.Protected, of protection.History) ledger.Protected {
	p, known := list[of.BookingID]
	if !known {
		p.Until = civil.NoDay
	}
	left := of.Sum(of.Events).Remaining(of.Paid(), civil.LastDay)
	if !of.Decision.Protected || left == 0 {
		return p
	}
	return ledger.Protected{Amount: p.Amount + left, Until: max(p.Until, of.Terms[len(of.Terms)-1].LastDay)}
}
