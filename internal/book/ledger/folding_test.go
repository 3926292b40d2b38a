package ledger_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/terms"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// someDeltas are changes of as many buckets, one a day from day 0 on, each of 100 and at risk for ten days.
func someDeltas(n int) []exposure.Delta {
	list := make([]exposure.Delta, n)
	for i := range list {
		day := civil.Day(i)
		list[i] = exposure.Delta{Day: day, Count: 1, Amount: 100, Bucket: exposure.Bucket{
			ChannelID: int64(i % 2), Currency: "EUR", Category: exposure.Covered, Start: day + 5, End: day + 7, LastDay: day + 9,
		}}
	}
	return list
}

func foldingSite(t *testing.T, db *store.DB) (id int64) {
	t.Helper()
	dbtest.Write(t, db, func(tx *store.Tx) error {
		site, err := dbtest.InsertSite(tx, merchant.Site{Path: "buckets", Name: "Buckets", Policy: terms.DefaultPolicy("GBP")})
		id = site.ID
		return err
	})
	return id
}

// TestFoldsWait: a few deltas wait for a minute by the real clock, whatever the site's clock; many do not.
func TestFoldsWait(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site := foldingSite(t, db)
		due := func(at sites.Clock) (list []int64) {
			t.Helper()
			err := sites.ReadBy(t.Context(), db, at, func(tx *store.Tx) (err error) {
				list, err = ledger.SitesToFold(tx)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		add := func(n int, age time.Duration) {
			t.Helper()
			dbtest.Write(t, db, func(tx *store.Tx) error {
				ledger.InsertDeltas(tx, site, someDeltas(n))
				_, err := tx.Exec(`UPDATE exposure_deltas SET noted_at = noted_at - $1`, age.Microseconds())
				return err
			})
		}
		add(4_999, 59*time.Second)
		if sites := due(sites.Clock{Ahead: time.Hour}); len(sites) > 0 {
			t.Errorf("folded before a minute was over, with the clock of a site an hour ahead: %v", sites)
		}
		add(1, 0)
		if sites := due(sites.Clock{}); !slices.Equal(sites, []int64{site}) {
			t.Errorf("5000 deltas: %v", sites)
		}
		foldSome(t, db, site, 4_999)
		if sites := due(sites.Clock{}); len(sites) > 0 {
			t.Errorf("one delta that is new: %v", sites)
		}
		dbtest.Write(t, db, func(tx *store.Tx) error {
			_, err := tx.Exec(`UPDATE exposure_deltas SET noted_at = noted_at - $1`, time.Minute.Microseconds())
			return err
		})
		if sites := due(sites.Clock{}); !slices.Equal(sites, []int64{site}) {
			t.Errorf("one delta of a minute ago: %v", sites)
		}
	})
}

// TestSmallFoldsShareAPack: however small the folds, packs are not, and contain exactly the folded deltas.
func TestSmallFoldsShareAPack(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site, other := foldingSite(t, db), otherSite(t, db)
		for _, id := range []int64{site, other} {
			dbtest.Write(t, db, func(tx *store.Tx) error { ledger.InsertDeltas(tx, id, someDeltas(1_100)); return nil })
		}
		for _, limit := range []int{3, 2, 900, 94, 1, 2_000} {
			foldSome(t, db, site, limit)
			foldSome(t, db, other, 1)
		}
		var sizes []int64
		on := map[int64]exposure.Tally{}
		all := 0
		err := db.Read(t.Context(), store.Deployment, func(tx *store.Tx) (err error) {
			if sizes, err = packSizes(tx, site); err != nil {
				return err
			}
			for _, channels := range [][]int64{nil, {1}} {
				err = ledger.BucketsOn(tx, ledger.Reading{SiteID: site, Day: 1_006, Channels: channels}, func(d exposure.Delta) {
					sum := on[int64(len(channels))]
					sum.Add(d.On(1_006))
					on[int64(len(channels))] = sum
					all++
				})
			}
			return err
		})
		if err != nil || !slices.Equal(sizes, []int64{1_000, 100}) {
			t.Errorf("packs %v, %v", sizes, err)
		}
		// Of the day are those that began on the days 997 to 1006; of these, 999 to 1006 are not over.
		want := map[int64]exposure.Tally{
			0: {Count: 10, Amount: 1000, End: 800, Start: 500}, 1: {Count: 5, Amount: 500, End: 400, Start: 200},
		}
		if on[0] != want[0] || on[1] != want[1] || all != 15 {
			t.Errorf("%+v of %d, want %+v", on, all, want)
		}
	})
}

// otherSite creates another site.
func otherSite(t *testing.T, db *store.DB) (id int64) {
	t.Helper()
	dbtest.Write(t, db, func(tx *store.Tx) error {
		made, err := dbtest.InsertSite(tx, merchant.Site{Path: "other", Name: "Other", Policy: terms.DefaultPolicy("GBP")})
		id = made.ID
		return err
	})
	return id
}

func foldSome(t *testing.T, store *store.DB, siteID int64, limit int) {
	t.Helper()
	if _, err := (&ledger.Buckets{DB: sites.NewDB(store, time.Now)}).FoldSite(t.Context(), siteID, limit); err != nil {
		t.Fatal(err)
	}
}

// packSizes returns the number of deltas in each pack of the buckets.
func packSizes(tx *store.Tx, siteID int64) (counts []int64, err error) {
	err = dbtest.Numbers(tx, `SELECT counted FROM exposure_buckets WHERE site_id = $1 ORDER BY id`, func(n int64) error {
		counts = append(counts, n)
		return nil
	}, siteID)
	return counts, err
}
