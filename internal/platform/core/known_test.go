package core_test

import (
	"strconv"
	"sync"
	"testing"

	"holdfast/internal/platform/core"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// TestWhatIsKnownBehindAChange: writes that share a transaction go by what the first one read of their site, until one of them changes it.
func TestWhatIsKnownBehindAChange(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		type named struct{ siteID int64 }
		name := func(tx *store.Tx) (found string, err error) {
			err = tx.Row(`SELECT name FROM sites WHERE id = $1`, []any{w.Site.ID}, &found)
			return found, err
		}
		var all sync.WaitGroup
		for n := range 120 {
			all.Go(func() {
				_, err := core.Once(t.Context(), w.Core, w.Actor, func(tx *store.Tx) (string, core.Outcome, error) {
					stored, err := name(tx)
					if err != nil {
						return "", core.Outcome{}, err
					}
					known, err := core.Known(tx, w.Site.ID, named{w.Site.ID}, func() (string, error) { return name(tx) })
					if known != stored && w.Core.Store.Engine() == "sqlite" { // on PostgreSQL others may change it between the two
						t.Errorf("%q is known, and %q is stored", known, stored)
					}
					if err == nil && n%4 == 0 {
						if _, err = tx.Exec(`UPDATE sites SET name = $1 WHERE id = $2`, strconv.Itoa(n), w.Site.ID); err == nil {
							err = core.Changed(tx, w.Site.ID)
						}
					}
					return known, core.Outcome{}, err
				}, nil)
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
}
