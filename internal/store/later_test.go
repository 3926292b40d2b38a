package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"holdfast/internal/protection"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

// TestParametersInOrder: SQLite is given "?" where that means the same, and nowhere else.
func TestParametersInOrder(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT 1":                      "SELECT 1",
		"VALUES ($1, $2), ($3, $4)":     "VALUES (?, ?), (?, ?)",
		"a = $1 AND b = $1":             "a = $1 AND b = $1",
		"a = $2 AND b = $1":             "a = $2 AND b = $1",
		"$1$2$3$4$5$6$7$8$9$10$11":      "???????????",
		"a = $1 AND b = $22":            "a = $1 AND b = $22",
		"$1, $2, $3 AND (c = $4) LIMIT": "?, ?, ? AND (c = ?) LIMIT",
	} {
		if got := store.Positional(query); got != want {
			t.Errorf("%s becomes %s, want %s", query, got, want)
		}
	}
}

// TestWhatWaitsIsThereForWhoAsks: rows wait for others to be inserted with them, and nobody in the write can tell; what a
// savepoint takes back neither comes later nor is remembered.
func TestWhatWaitsIsThereForWhoAsks(t *testing.T) {
	onBothWithBookings(t, func() time.Time { return start }, func(t *testing.T, s *bookingSite) {
		var id int64
		s.write(t, func(tx *store.Tx) error {
			list, err := store.Bookings(tx, s.id, travel.BookingFilter{}, travel.Page{Number: 1, Size: 1})
			if err != nil || len(list.Items) > 0 {
				return errors.Join(err, errNotThisOne)
			}
			store.NoteChange(tx, s.id, store.ChangePayment, 1, 0)
			taken := tx.Savepoint(func() error {
				store.NoteChange(tx, s.id, store.ChangePayment, 2, 0)
				store.InsertPremium(tx, protection.PremiumLine{SiteID: s.id})
				return errNotThisOne
			})
			if !errors.Is(taken, errNotThisOne) {
				t.Errorf("the savepoint answers %v", taken)
			}
			for range 70 { // more than share a statement
				store.NoteChange(tx, s.id, store.ChangeEvent, 3, 0)
			}
			changes, err := store.WaitingChanges(tx, s.id, 1000, 100)
			if len(changes) != 71 || !slices.IsSortedFunc(changes, func(a, b store.LimitChange) int { return int(a.ID - b.ID) }) ||
				changes[0].TransactionID != 1 || changes[1].TransactionID != 3 {
				t.Errorf("in the write: %d changes, %+v", len(changes), changes[:min(2, len(changes))])
			}
			store.NoteChange(tx, s.id, store.ChangePriced, 0, 4)
			id = changes[0].ID
			return err
		})
		s.write(t, func(tx *store.Tx) error {
			changes, err := store.WaitingChanges(tx, s.id, 1000, 100)
			if len(changes) != 72 || changes[0].ID != id || changes[71].AllocationID != 4 {
				t.Errorf("after the write: %d changes", len(changes))
			}
			return err
		})
	})
}
