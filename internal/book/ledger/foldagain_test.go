package ledger_test

import (
	"errors"
	"slices"
	"testing"

	"holdfast/internal/book/ledger"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// TestAFoldRunsAgain: the write of a fold may run more than once, but adds its deltas once.
func TestAFoldRunsAgain(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		once, again := foldingSite(t, db), otherSite(t, db)
		broken := errors.New("the write begins again")
		for range 2 { // the second fold adds to what the first one has stored
			for _, site := range []int64{once, again} {
				dbtest.Write(t, db, func(tx *store.Tx) error { ledger.InsertDeltas(tx, site, someDeltas(700)); return nil })
				f, err := ledger.GatherFold(t.Context(), db, site, 1_000)
				if err != nil {
					t.Fatal(err)
				}
				dbtest.Write(t, db, func(tx *store.Tx) error {
					if site == again {
						if err := tx.Savepoint(func() error { return errors.Join(f.Store(tx), broken) }); !errors.Is(err, broken) {
							t.Error(err)
						}
					}
					return f.Store(tx)
				})
			}
		}
		first, second := blocksOf(t, db, once), blocksOf(t, db, again)
		if len(first) < 10 || !slices.Equal(first, second) {
			t.Errorf("%d blocks after two folds, %d where each of them ran twice. The first ones: %v and %v",
				len(first), len(second), first[:1], second[:1])
		}
	})
}

// TestOfTwoFoldsOneCounts: both have read the same deltas.
func TestOfTwoFoldsOneCounts(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		site := foldingSite(t, db)
		dbtest.Write(t, db, func(tx *store.Tx) error { ledger.InsertDeltas(tx, site, someDeltas(20)); return nil })
		gather := func(limit int) *ledger.Fold {
			f, err := ledger.GatherFold(t.Context(), db, site, limit)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		whole, part := gather(20), gather(7)
		dbtest.Write(t, db, part.Store)
		before := blocksOf(t, db, site)
		if err := db.Write(t.Context(), store.Deployment, whole.Store); !errors.Is(err, ledger.ErrFolded) {
			t.Errorf("folding what was folded: %v", err)
		}
		if after := blocksOf(t, db, site); !slices.Equal(after, before) {
			t.Errorf("a fold that failed has changed %v to %v", before, after)
		}
		foldSome(t, db, site, 20)
		if after := blocksOf(t, db, site); slices.Equal(after, before) {
			t.Error("what the first fold left was not folded.")
		}
	})
}

// block is a row of exposure_blocks.
type block struct {
	view                string
	block, count, total int64
	days                string
}

// blocksOf reads the blocks of a site, in an order that does not depend on ids.
func blocksOf(t *testing.T, db *store.DB, siteID int64) (list []block) {
	t.Helper()
	err := db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
		return tx.Query(`SELECT b.view, b.block, b.counted, b.amount, b.days FROM exposure_blocks b
				JOIN exposure_cells c ON c.site_id = b.site_id AND c.id = b.cell
			WHERE b.site_id = $1 ORDER BY b.view, b.block, c.first_key, c.second_key, c.currency, c.standing, c.valued_in`,
			[]any{siteID}, func(scan func(dest ...any) error) error {
				var b block
				var days []byte
				err := scan(&b.view, &b.block, &b.count, &b.total, &days)
				b.days = string(days)
				list = append(list, b)
				return err
			})
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
