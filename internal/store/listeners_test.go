package store_test

import (
	"errors"
	"slices"
	"testing"

	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// TestListenersAreNotified: of durable writes on their own site, once for many.
func TestListenersAreNotified(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		own, other := db.Listen(1), db.Listen(2)
		heard := func(l *store.Listener) bool {
			select {
			case <-l.C:
				return true
			default:
				return false
			}
		}
		notify := func(sites ...int64) func(tx *store.Tx) error {
			return func(tx *store.Tx) error {
				for _, site := range sites {
					tx.NotifySite(site)
				}
				return nil
			}
		}
		refused := errors.New("refused")
		err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			tx.NotifySite(1)
			return refused
		})
		if !errors.Is(err, refused) || heard(own) {
			t.Errorf("a write that is not stored is heard, %v", err)
		}
		dbtest.Write(t, db, notify(1, 1))
		dbtest.Write(t, db, notify(1, 3))
		if !heard(own) || heard(own) || heard(other) {
			t.Error("two writes on the site 1 are not heard there once")
		}
		dbtest.Write(t, db, func(tx *store.Tx) error {
			tx.NotifySite(2)
			if heard(other) {
				t.Error("it is heard before it is stored")
			}
			return nil
		})
		if !heard(other) {
			t.Error("a write on the site 2 is not heard")
		}
		if got := db.Listening(); !slices.Equal(got, []int64{1, 2}) {
			t.Errorf("listeners of the sites %v", got)
		}
		own.Close()
		other.Close()
		if got := db.Listening(); len(got) != 0 {
			t.Errorf("after they were closed: %v", got)
		}
	})
}
