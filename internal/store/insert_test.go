package store_test

import (
	"errors"
	"slices"
	"testing"

	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// TestTheListOfTables checks that it has all tables of the schema, each after those that it refers to, and that the
// list of tables with allocated ids is complete.
func TestTheListOfTables(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	order := store.Tables()
	dbtest.Read(t, db, func(tx *store.Tx) error {
		list, err := tx.Catalog().Tables()
		for _, table := range list {
			if !slices.Contains(order, table.Name) {
				t.Errorf("%s is not in the list", table.Name)
			}
			if has := table.Counter == "id"; has != store.Counted(table.Name) {
				t.Errorf("%s has an allocated id: %t, in the list of these: %t", table.Name, has, !has)
			}
		}
		return errors.Join(err, tx.Query(`SELECT m.name, f."table" FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f
			WHERE m.type = 'table'`, nil, func(scan func(dest ...any) error) error {
			var child, parent string
			err := scan(&child, &parent)
			if slices.Index(order, child) < slices.Index(order, parent) {
				t.Errorf("%s comes before %s, to which it refers", child, parent)
			}
			return err
		}))
	})
}

// TestInsertedRowsAreVisible: they are written before any statement, the rows of a table together.
func TestInsertedRowsAreVisible(t *testing.T) {
	onFamilyTables(t, func(t *testing.T, db *store.DB) {
		ran := dbtest.Statements(db, func() {
			dbtest.Write(t, db, func(tx *store.Tx) error {
				for range 3 {
					if _, err := insertParent(tx, 2); err != nil {
						return err
					}
				}
				seen, err := store.Ids(tx, "SELECT parent FROM children")
				if len(seen) != 6 {
					t.Errorf("the write sees %d of its rows, want 6", len(seen))
				}
				tx.Insert("children", "parent", []any{seen[0]})
				return err
			})
		})
		if p, c := inserts(ran, "parents"), inserts(ran, "children"); p != 1 || c != 2 {
			t.Errorf("%d statements insert parents and %d children, want 1 and 2", p, c)
		}
		if parents, children := family(t, db); len(parents) != 3 || len(children) != 7 {
			t.Errorf("stored %v and %v", parents, children)
		}
	})
}

// TestARowThatCannotBeWritten fails its write, even if the write goes on.
func TestARowThatCannotBeWritten(t *testing.T) {
	onFamilyTables(t, func(t *testing.T, db *store.DB) {
		for name, end := range map[string]func(tx *store.Tx) error{
			"at its end": func(*store.Tx) error { return nil },
			"a statement whose error is overlooked": func(tx *store.Tx) error {
				_, _ = tx.Exec("INSERT INTO parents (site_id, name) VALUES (1, 'left')")
				return nil
			},
		} {
			err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
				if _, err := insertParent(tx, 1); err != nil {
					return err
				}
				tx.Insert("children", "parent", []any{1 << 40})
				return end(tx)
			})
			if !errors.Is(err, store.ErrConflict) {
				t.Errorf("%s: %v", name, err)
			}
		}
		dbtest.Write(t, db, func(tx *store.Tx) error {
			taken := tx.Savepoint(func() error { tx.Insert("children", "parent", []any{1 << 40}); return nil })
			if !errors.Is(taken, store.ErrConflict) {
				t.Errorf("a savepoint answers %v", taken)
			}
			return nil
		})
		if err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			tx.Insert("nowhere", "id", []any{1})
			return nil
		}); err == nil {
			t.Error("a row of a table that is not in the list is overlooked")
		}
	})
}

// TestIDsAreDrawnAheadForImportsOnly: elsewhere, people would see gaps. On SQLite there are none.
func TestIDsAreDrawnAheadForImportsOnly(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		draw := func(table string, n int) (ids []int64) {
			dbtest.Write(t, db, func(tx *store.Tx) error {
				ids = nil
				for range n {
					id, err := tx.NextID(table, 1)
					if err != nil {
						return err
					}
					ids = append(ids, id)
				}
				return nil
			})
			return ids
		}
		var policies []int64
		ran := dbtest.Statements(db, func() { policies = draw("policies", 5) })
		if first := policies[0]; !slices.Equal(policies, []int64{first, first + 1, first + 2, first + 3, first + 4}) {
			t.Errorf("ids of policies: %v", policies)
		}
		if db.Engine() == "postgres" {
			if next := draw("policies", 1); next[0] != policies[4]+1 {
				t.Errorf("after %v comes %v", policies, next)
			}
			if len(ran) != 5 {
				t.Errorf("%d statements draw five ids of policies, want 5", len(ran))
			}
		}
		if ran := dbtest.Statements(db, func() { draw("bookings", 100) }); len(ran) > 7 {
			t.Errorf("%d statements draw a hundred ids of bookings", len(ran))
		}
	})
}

// TestIDsOfCounters: those of a site ascend, differ from those of all other sites, and are exact as JSON numbers.
func TestIDsOfCounters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		site, last int64
		n          int
		want       []int64
	}{
		{7, 3, 3, []int64{100_007, 200_007, 300_007}},
		{99_999, 4, 1, []int64{499_999}},
		{1, 90_071_992_546, 1, []int64{9_007_199_254_600_001}},
	} {
		if ids, err := store.IDsOfCounter(c.site, c.last, c.n); err != nil || !slices.Equal(ids, c.want) {
			t.Errorf("site %d, counter %d: %v, want %v, %v", c.site, c.last, ids, c.want, err)
		}
	}
	if ids, err := store.IDsOfCounter(1, 90_071_992_547, 1); err == nil {
		t.Errorf("an id that JSON numbers cannot hold: %v", ids)
	}
}

// TestIDsAreDrawnOnce: no two rows get the same id, in the same commit or not, even after a rollback.
func TestIDsAreDrawnOnce(t *testing.T) {
	onFamilyTables(t, func(t *testing.T, db *store.DB) {
		draw := func(n int) func(tx *store.Tx) error {
			return func(tx *store.Tx) error {
				for range n {
					if _, err := insertParent(tx, 0); err != nil {
						return err
					}
				}
				return nil
			}
		}
		for range 2 {
			errs, _ := atOnce(t, db, draw(1), draw(3), func(tx *store.Tx) error {
				return errors.Join(draw(2)(tx), errNotThisOne)
			}, draw(5))
			if errs[0] != nil || errs[1] != nil || errs[3] != nil || !errors.Is(errs[2], errNotThisOne) {
				t.Fatal(errs)
			}
		}
		dbtest.Write(t, db, func(tx *store.Tx) error {
			taken := tx.Savepoint(func() error { return errors.Join(draw(3)(tx), errNotThisOne) })
			if !errors.Is(taken, errNotThisOne) {
				return taken
			}
			return draw(2)(tx)
		})
		if parents, _ := family(t, db); len(slices.Compact(slices.Clone(parents))) != 20 {
			t.Errorf("20 rows have the ids %v", parents)
		}
	})
}

// TestUpdateRows changes many rows with few statements, each of which sees the earlier rows.
func TestUpdateRows(t *testing.T) {
	onFamilyTables(t, func(t *testing.T, db *store.DB) {
		dbtest.Write(t, db, func(tx *store.Tx) error {
			var rows [][]any
			for range 100 {
				id, err := insertParent(tx, 0)
				if err != nil {
					return err
				}
				rows = append(rows, []any{1, id, "changed"})
			}
			if err := tx.UpdateRows("parents", "BIGINT, BIGINT, TEXT", "name = v.column3", rows); err != nil {
				return err
			}
			var n int
			err := tx.QueryRow("SELECT COUNT(*) FROM parents WHERE name = 'changed'", nil, &n)
			if n != 100 {
				t.Errorf("%d of 100 rows were changed", n)
			}
			return err
		})
	})
}

// collected are changes that a package of a test collects.
type collected struct{ n int }

// Unstored reports whether there are any.
func (c *collected) Unstored() bool { return c.n > 0 }

var inTest = store.NewLocal[collected]()

// TestNoChangeIsForgotten: a write fails if a package has not stored its collected changes.
func TestNoChangeIsForgotten(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		collect := func(tx *store.Tx) error { inTest.Of(tx).n++; return put("collected")(tx) }
		if err := db.Write(t.Context(), store.Deployment, collect); err == nil || stored(t, db, "collected") {
			t.Errorf("a change that was not stored: %v", err)
		}
		dbtest.Write(t, db, func(tx *store.Tx) error {
			if err := tx.Savepoint(func() error { return collect(tx) }); err == nil {
				t.Error("a savepoint ends with a change that was not stored")
			}
			if inTest.Of(tx).n != 0 {
				t.Error("it is there after the savepoint")
			}
			return nil
		})
	})
}
