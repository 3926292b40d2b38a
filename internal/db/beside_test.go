package db_test

import (
	"errors"
	"strings"
	"testing"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
)

// Toys of children are sums: they are written at the end.
var (
	drawnToys   = db.NewLocal[[][]any]()
	drawnAtLast = db.NewSumDeferral(flushDrawnToys, "drawn_toys")
)

func flushDrawnToys(tx *db.Tx) error {
	rows := drawnToys.Of(tx)
	list := *rows
	*rows = nil
	return tx.InsertRows("drawn_toys", "child", list)
}

// besideDraws are writes that have a family with a toy written beside them, twenty times, and then end as they say.
func besideDraws(end func(tx *db.Tx, child int64) error) func(tx *db.Tx) error {
	return func(tx *db.Tx) error {
		for n := range 20 {
			id, err := drawParent(tx, n)
			if err != nil {
				return err
			}
			drawChild(tx, id)
			rows := drawnToys.Of(tx)
			*rows = append(*rows, []any{id})
			tx.Defer(drawnAtLast)
			if err := db.FlushBeside(tx); err != nil {
				return err
			}
			if n == 19 {
				return end(tx, id)
			}
		}
		return nil
	}
}

func drawnCounts(t *testing.T, store *db.DB) (counts [3]int64) {
	t.Helper()
	dbtest.Read(t, store, func(tx *db.Tx) error {
		return tx.Row(`SELECT (SELECT COUNT(*) FROM drawn_parents), (SELECT COUNT(*) FROM drawn_children),
			(SELECT COUNT(*) FROM drawn_toys)`, nil, &counts[0], &counts[1], &counts[2])
	})
	return counts
}

// TestRowsAreWrittenBeside: rows that are written beside a write are those that it would have written at its end, its statements see
// them, and sums wait for the end. Whatever ends the write ends all of it.
func TestRowsAreWrittenBeside(t *testing.T) {
	onDrawnTables(t, func(t *testing.T, store *db.DB) {
		again := func(tx *db.Tx, child int64) error { // breaks a rule
			drawChild(tx, child)
			return db.FlushBeside(tx)
		}
		for _, c := range []struct {
			name string
			end  func(tx *db.Tx, child int64) error
			want string // of the error
		}{
			{"an error of the write", func(*db.Tx, int64) error { return errNotThisOne }, errNotThisOne.Error()},
			{"a panic of the write", func(*db.Tx, int64) error { panic("went wrong") }, "went wrong"},
			{"a broken rule", again, db.ErrConflict.Error()},
			{"a broken rule, and a statement", func(tx *db.Tx, child int64) error {
				if err := again(tx, child); err != nil {
					return err
				}
				err := tx.Row("SELECT 1", nil, new(int64))
				if err == nil {
					t.Error("a statement after a broken rule has no error")
				}
				return err
			}, db.ErrConflict.Error()},
		} {
			err := store.Write(t.Context(), besideDraws(c.end))
			if err == nil || !strings.Contains(err.Error(), c.want) && !errors.Is(err, db.ErrConflict) {
				t.Errorf("%s: %v", c.name, err)
			}
			if counts := drawnCounts(t, store); counts != [3]int64{} {
				t.Errorf("%s: %v rows are left", c.name, counts)
			}
		}
		dbtest.Write(t, store, besideDraws(func(tx *db.Tx, _ int64) error {
			var children int64
			if err := tx.Row("SELECT COUNT(*) FROM drawn_children", nil, &children); err != nil || children != 20 {
				t.Errorf("the write sees %d of 20 rows, %v", children, err)
			}
			if len(*drawnToys.Of(tx)) != 20 {
				t.Errorf("%d of 20 sums wait for the end", len(*drawnToys.Of(tx)))
			}
			return nil
		}))
		if counts := drawnCounts(t, store); counts != [3]int64{20, 20, 20} {
			t.Errorf("%v rows are stored, not 20 of each", counts)
		}
		// Nothing comes behind the last rows, so that the end of the write waits for them.
		if err := store.Write(t.Context(), func(tx *db.Tx) error {
			drawChild(tx, 1<<40)
			return db.FlushBeside(tx)
		}); !errors.Is(err, db.ErrConflict) {
			t.Errorf("the last rows break a rule, and the write ends with %v", err)
		}
	})
}

// slyRows look at what was written before them while they are written.
var slyRows = db.NewParentDeferral(func(tx *db.Tx) error {
	var parents int64
	err := tx.Row("SELECT COUNT(*) FROM drawn_parents", nil, &parents)
	if err == nil && parents != 1 {
		err = errNotThisOne
	}
	return err
}, "drawn_sly")

// TestAFlushBesideMayReadWhatCameBefore: a flush that runs a statement of its own sees the rows of those before it.
func TestAFlushBesideMayReadWhatCameBefore(t *testing.T) {
	onDrawnTables(t, func(t *testing.T, store *db.DB) {
		dbtest.Write(t, store, func(tx *db.Tx) error {
			if _, err := drawParent(tx, 0); err != nil {
				return err
			}
			tx.Defer(slyRows)
			return db.FlushBeside(tx)
		})
	})
}
