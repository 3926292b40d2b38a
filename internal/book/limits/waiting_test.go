package limits_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/limits"
	"holdfast/internal/domain/protection"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// errNotThisOne is an error of the test.
var errNotThisOne = errors.New("not this one")

// TestPendingRowsAreVisible: held-back rows are visible to all queries of the write; rows rolled back with a savepoint
// are neither inserted later nor cached.
func TestPendingRowsAreVisible(t *testing.T) {
	t.Parallel()
	dbtest.OnBothWithBookings(t, func() time.Time { return dbtest.Start }, func(t *testing.T, s *dbtest.BookingSite) {
		var id int64
		s.Write(t, func(tx *store.Tx) error {
			list, err := bookings.Page(tx, s.ID, bookings.BookingFilter{}, store.Page{Number: 1, Size: 1})
			if err != nil || len(list.Items) > 0 {
				return errors.Join(err, errNotThisOne)
			}
			limits.NoteChange(tx, s.ID, limits.ChangePayment, 1, 0)
			taken := tx.Savepoint(func() error {
				limits.NoteChange(tx, s.ID, limits.ChangePayment, 2, 0)
				return errors.Join(ledger.InsertPremium(tx, protection.PremiumLine{SiteID: s.ID}), errNotThisOne)
			})
			if !errors.Is(taken, errNotThisOne) {
				t.Errorf("the savepoint answers %v", taken)
			}
			for range 70 { // more than share a statement
				limits.NoteChange(tx, s.ID, limits.ChangeEvent, 3, 0)
			}
			changes, err := limits.WaitingChanges(tx, s.ID, 1000, 100)
			if len(changes) != 71 || !slices.IsSortedFunc(changes, func(a, b limits.LimitChange) int { return int(a.ID - b.ID) }) ||
				changes[0].TransactionID != 1 || changes[1].TransactionID != 3 {
				t.Errorf("in the write: %d changes, %+v", len(changes), changes[:min(2, len(changes))])
			}
			limits.NoteChange(tx, s.ID, limits.ChangePriced, 0, 4)
			id = changes[0].ID
			return err
		})
		s.Write(t, func(tx *store.Tx) error {
			changes, err := limits.WaitingChanges(tx, s.ID, 1000, 100)
			if len(changes) != 72 || changes[0].ID != id || changes[71].AllocationID != 4 {
				t.Errorf("after the write: %d changes", len(changes))
			}
			return err
		})
	})
}
