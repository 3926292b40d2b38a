package sites_test

import (
	"strconv"
	"sync"
	"testing"

	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// TestWhatIsKnownBehindAChange: writes that share a transaction use what the first one read of their site, until one of
// them changes it.
func TestWhatIsKnownBehindAChange(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		type named struct{ siteID int64 }
		name := func(tx *store.Tx) (found string, err error) {
			err = tx.QueryRow(`SELECT name FROM sites WHERE id = $1`, []any{w.Site.ID}, &found)
			return found, err
		}
		var all sync.WaitGroup
		for n := range 120 {
			all.Go(func() {
				_, err := idempotency.Once(t.Context(), w.App.DB, w.Actor, func(tx *store.Tx) (string, idempotency.Outcome, error) {
					stored, err := name(tx)
					if err != nil {
						return "", idempotency.Outcome{}, err
					}
					known, err := sites.Known(tx, w.Site.ID, named{w.Site.ID}, func() (string, error) { return name(tx) })
					if known != stored && w.App.DB.Store.Engine() == "sqlite" { // on PostgreSQL others may change it between the two
						t.Errorf("%q is known, and %q is stored", known, stored)
					}
					if err == nil && n%4 == 0 {
						if _, err = tx.Exec(`UPDATE sites SET name = $1 WHERE id = $2`, strconv.Itoa(n), w.Site.ID); err == nil {
							err = sites.Changed(tx, w.Site.ID)
						}
					}
					return known, idempotency.Outcome{}, err
				}, nil)
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
}
