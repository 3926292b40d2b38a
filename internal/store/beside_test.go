package store_test

import (
	"errors"
	"strings"
	"testing"

	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// Toys of children are sums: they are written at the end.
var (
	drawnToys   = store.NewLocal[[][]any]()
	drawnAtLast = store.NewSumDeferral(flushDrawnToys, "drawn_toys")
)

func flushDrawnToys(tx *store.Tx) error {
	rows := drawnToys.Of(tx)
	list := *rows
	*rows = nil
	return tx.InsertRows("drawn_toys", "child", list)
}

// besideDraws are writes that have a family with a toy written beside them, twenty times, and then end as they say.
func besideDraws(end func(tx *store.Tx, child int64) error) func(tx *store.Tx) error {
	return func(tx *store.Tx) error {
		for n := range 20 {
			id, err := drawParent(tx, n)
			if err != nil {
				return err
			}
			drawChild(tx, id)
			rows := drawnToys.Of(tx)
			*rows = append(*rows, []any{id})
			tx.Defer(drawnAtLast)
			if err := store.FlushBeside(tx); err != nil {
				return err
			}
			if n == 19 {
				return end(tx, id)
			}
		}
		return nil
	}
}

func drawnCounts(t *testing.T, db *store.DB) (counts [3]int64) {
	t.Helper()
	dbtest.Read(t, db, func(tx *store.Tx) error {
		return tx.Row(`SELECT (SELECT COUNT(*) FROM drawn_parents), (SELECT COUNT(*) FROM drawn_children),
			(SELECT COUNT(*) FROM drawn_toys)`, nil, &counts[0], &counts[1], &counts[2])
	})
	return counts
}

// TestRowsAreWrittenBeside: rows that are written beside a write are those that it would have written at its end, its statements see
// them, and sums wait for the end. Whatever ends the write ends all of it.
func TestRowsAreWrittenBeside(t *testing.T) {
	onDrawnTables(t, func(t *testing.T, db *store.DB) {
		again := func(tx *store.Tx, child int64) error { // breaks a rule
			drawChild(tx, child)
			return store.FlushBeside(tx)
		}
		for _, c := range []struct {
			name string
			end  func(tx *store.Tx, child int64) error
			want string // of the error
		}{
			{"an error of the write", func(*store.Tx, int64) error { return errNotThisOne }, errNotThisOne.Error()},
			{"a panic of the write", func(*store.Tx, int64) error { panic("went wrong") }, "went wrong"},
			{"a broken rule", again, store.ErrConflict.Error()},
			{"a broken rule, and a statement", func(tx *store.Tx, child int64) error {
				if err := again(tx, child); err != nil {
					return err
				}
				err := tx.Row("SELECT 1", nil, new(int64))
				if err == nil {
					t.Error("a statement after a broken rule has no error")
				}
				return err
			}, store.ErrConflict.Error()},
		} {
			err := db.Write(t.Context(), besideDraws(c.end))
			if err == nil || !strings.Contains(err.Error(), c.want) && !errors.Is(err, store.ErrConflict) {
				t.Errorf("%s: %v", c.name, err)
			}
			if counts := drawnCounts(t, db); counts != [3]int64{} {
				t.Errorf("%s: %v rows are left", c.name, counts)
			}
		}
		dbtest.Write(t, db, besideDraws(func(tx *store.Tx, _ int64) error {
			var children int64
			if err := tx.Row("SELECT COUNT(*) FROM drawn_children", nil, &children); err != nil || children != 20 {
				t.Errorf("the write sees %d of 20 rows, %v", children, err)
			}
			if len(*drawnToys.Of(tx)) != 20 {
				t.Errorf("%d of 20 sums wait for the end", len(*drawnToys.Of(tx)))
			}
			return nil
		}))
		if counts := drawnCounts(t, db); counts != [3]int64{20, 20, 20} {
			t.Errorf("%v rows are stored, not 20 of each", counts)
		}
		// Nothing comes behind the last rows, so that the end of the write waits for them.
		if err := db.Write(t.Context(), func(tx *store.Tx) error {
			drawChild(tx, 1<<40)
			return store.FlushBeside(tx)
		}); !errors.Is(err, store.ErrConflict) {
			t.Errorf("the last rows break a rule, and the write ends with %v", err)
		}
	})
}

// slyRows look at what was written before them while they are written.
var slyRows = store.NewParentDeferral(func(tx *store.Tx) error {
	var parents int64
	err := tx.Row("SELECT COUNT(*) FROM drawn_parents", nil, &parents)
	if err == nil && parents != 1 {
		err = errNotThisOne
	}
	return err
}, "drawn_sly")

// TestAFlushBesideMayReadWhatCameBefore: a flush that runs a statement of its own sees the rows of those before it.
func TestAFlushBesideMayReadWhatCameBefore(t *testing.T) {
	onDrawnTables(t, func(t *testing.T, db *store.DB) {
		dbtest.Write(t, db, func(tx *store.Tx) error {
			if _, err := drawParent(tx, 0); err != nil {
				return err
			}
			tx.Defer(slyRows)
			return store.FlushBeside(tx)
		})
	})
}
