package store_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/dbtest"
	"holdfast/internal/protection"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

// someDeltas are changes of as many buckets, one a day from day 0 on, each of 100 and at risk for ten days.
func someDeltas(n int) []protection.Delta {
	list := make([]protection.Delta, n)
	for i := range list {
		day := civil.Day(i)
		list[i] = protection.Delta{Day: day, Count: 1, Amount: 100, Bucket: protection.Bucket{
			ChannelID: int64(i % 2), Currency: "EUR", Standing: protection.Covered, Start: day + 5, End: day + 7, LastDay: day + 9,
		}}
	}
	return list
}

func foldingSite(t *testing.T, db *store.DB) (id int64) {
	t.Helper()
	write(t, db, func(tx *store.Tx) error {
		site, err := dbtest.InsertSite(tx, travel.Site{Path: "buckets", Name: "Buckets", Policy: travel.DefaultPolicy("GBP")})
		id = site.ID
		return err
	})
	return id
}

// TestFoldsWait: a few deltas wait for a minute by the real clock, wherever that of the site is; many do not.
func TestFoldsWait(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		site := foldingSite(t, db)
		due := func(at store.SiteClock) (sites []int64) {
			t.Helper()
			err := store.ReadBy(t.Context(), db, at, func(tx *store.Tx) (err error) {
				sites, err = store.SitesToFold(tx)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return sites
		}
		add := func(n int, age time.Duration) {
			t.Helper()
			write(t, db, func(tx *store.Tx) error {
				if err := store.InsertDeltas(tx, site, someDeltas(n)); err != nil {
					return err
				}
				_, err := tx.Exec(`UPDATE exposure_deltas SET noted_at = noted_at - $1`, age.Microseconds())
				return err
			})
		}
		add(4_999, 59*time.Second)
		if sites := due(store.SiteClock{Ahead: time.Hour}); len(sites) > 0 {
			t.Errorf("folded before a minute was over, with the clock of a site an hour ahead: %v", sites)
		}
		add(1, 0)
		if sites := due(store.SiteClock{}); !slices.Equal(sites, []int64{site}) {
			t.Errorf("5000 deltas: %v", sites)
		}
		write(t, db, func(tx *store.Tx) error { _, err := store.FoldExposure(tx, site, 4_999); return err })
		if sites := due(store.SiteClock{}); len(sites) > 0 {
			t.Errorf("one delta that is new: %v", sites)
		}
		write(t, db, func(tx *store.Tx) error {
			_, err := tx.Exec(`UPDATE exposure_deltas SET noted_at = noted_at - $1`, time.Minute.Microseconds())
			return err
		})
		if sites := due(store.SiteClock{}); !slices.Equal(sites, []int64{site}) {
			t.Errorf("one delta of a minute ago: %v", sites)
		}
	})
}

// TestSmallFoldsShareAPack: however small the folds are, packs are not; and what is in them is what was folded.
func TestSmallFoldsShareAPack(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		site, other := foldingSite(t, db), int64(0)
		write(t, db, func(tx *store.Tx) error {
			made, err := dbtest.InsertSite(tx, travel.Site{Path: "other", Name: "Other", Policy: travel.DefaultPolicy("GBP")})
			other = made.ID
			return err
		})
		for _, id := range []int64{site, other} {
			write(t, db, func(tx *store.Tx) error { return store.InsertDeltas(tx, id, someDeltas(1_100)) })
		}
		for _, limit := range []int{3, 2, 900, 94, 1, 2_000} {
			write(t, db, func(tx *store.Tx) error { _, err := store.FoldExposure(tx, site, limit); return err })
			write(t, db, func(tx *store.Tx) error { _, err := store.FoldExposure(tx, other, 1); return err })
		}
		var sizes []int64
		on := map[int64]protection.Tally{}
		all := 0
		err := db.Read(t.Context(), func(tx *store.Tx) (err error) {
			if sizes, err = packs(tx, site); err != nil {
				return err
			}
			for _, channels := range [][]int64{nil, {1}} {
				err = store.BucketsOn(tx, site, 1_006, channels, func(d protection.Delta) {
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
		want := map[int64]protection.Tally{
			0: {Count: 10, Amount: 1000, End: 800, Start: 500}, 1: {Count: 5, Amount: 500, End: 400, Start: 200},
		}
		if on[0] != want[0] || on[1] != want[1] || all != 15 {
			t.Errorf("%+v of %d, want %+v", on, all, want)
		}
	})
}

// packs answers how many deltas each pack of the buckets has.
func packs(tx *store.Tx, siteID int64) (counts []int64, err error) {
	err = dbtest.Numbers(tx, `SELECT counted FROM exposure_buckets WHERE site_id = $1 ORDER BY id`, func(n int64) error {
		counts = append(counts, n)
		return nil
	}, siteID)
	return counts, err
}
