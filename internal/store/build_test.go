package store_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"holdfast/internal/store"
	"holdfast/internal/store/catalog"
	"holdfast/internal/store/sqltext"
	"holdfast/internal/testkit/dbtest"
	"holdfast/internal/testkit/pgtest"
)

const newSite = `INSERT INTO sites (id, path, name, sandbox, permitted_urls, version, created_at, modified_at)
	VALUES (7, 'demo', 'Demo', FALSE, '[]', 1, 0, 0)`

// TestAnOlderBookIsBuiltAndMigrated: its rows are loaded into the earlier schema and read from the current one.
func TestAnOlderBookIsBuiltAndMigrated(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "old.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := url(t)
			content := store.Content{
				Schema: []string{"0001_schema"},
				Load: func(tx *store.Tx) error {
					_, err := tx.Exec(newSite)
					return err
				},
				Finish: func(*store.Tx) error { return errors.New("not yet") },
			}
			if err := store.Build(t.Context(), address, dbtest.AtStart, content); err == nil || err.Error() != "not yet" {
				t.Fatalf("a failing end: %v", err)
			}
			content.Finish = func(tx *store.Tx) error {
				var colour string
				return tx.QueryRow(`SELECT colour FROM sites WHERE id = 7`, nil, &colour)
			}
			later, err := store.WithMigration("0002_colours", "ALTER TABLE sites ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';\n")
			if err != nil {
				t.Fatal(err)
			}
			if err := store.BuildWith(t.Context(), address, dbtest.AtStart, content, later); err != nil {
				t.Fatal(err)
			}
			if err := store.Build(t.Context(), address, dbtest.AtStart, content); !errors.Is(err, store.ErrNotEmpty) {
				t.Errorf("built a second time: %v", err)
			}
			db, err := store.OpenExisting(t.Context(), address, dbtest.AtStart)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			dbtest.Read(t, db, func(tx *store.Tx) error {
				ids, err := store.Ids(tx, `SELECT id FROM sites`)
				if !slices.Equal(ids, []int64{7}) {
					t.Errorf("the sites are %v", ids)
				}
				return err
			})
		})
	}
}

// TestBothEnginesDescribeTheSameTables: a backup of one can be restored on the other.
func TestBothEnginesDescribeTheSameTables(t *testing.T) {
	t.Parallel()
	var first []catalog.Table
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		dbtest.Read(t, db, func(tx *store.Tx) error {
			tables, err := tx.Catalog().Tables()
			if err != nil {
				return err
			}
			slices.SortFunc(tables, func(a, b catalog.Table) int {
				if a.Name < b.Name {
					return -1
				}
				return 1
			})
			if first == nil {
				first = tables
			}
			for i, table := range tables {
				if want := first[i]; table.Name != want.Name || !slices.Equal(table.Columns, want.Columns) ||
					!slices.Equal(table.Key, want.Key) || table.Counter != want.Counter {
					t.Errorf("%+v, and on the other engine %+v", table, want)
				}
			}
			if len(tables) < 50 {
				t.Errorf("only %d tables", len(tables))
			}
			return nil
		})
	})
}

// TestListsHaveFewTexts: a list of values finds its rows, and lists of many lengths share few statements, because each
// statement is parsed once.
func TestListsHaveFewTexts(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		texts := map[string]bool{}
		dbtest.Read(t, db, func(tx *store.Tx) error {
			for n := 1; n <= 64; n++ {
				wanted := make([]int64, n)
				for i := range wanted {
					wanted[i] = int64(2 * i)
				}
				for _, of := range []struct {
					add  func(w *sqltext.Where, column string, values []int64)
					want int64
				}{{sqltext.In[int64], int64(n)}, {sqltext.NotIn[int64], int64(200 - n)}} {
					w := sqltext.Where{Args: []any{200}}
					of.add(&w, "n - 1", wanted)
					var got int64
					err := tx.QueryRow(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $1)
						SELECT COUNT(*) FROM numbers WHERE `+w.Text.String(), w.Args, &got)
					if err != nil {
						return err
					}
					if texts[w.Text.String()] = true; got != of.want {
						t.Errorf("%d of %d values: found %d", of.want, n, got)
					}
				}
			}
			return nil
		})
		if len(texts) != 2*7 {
			t.Errorf("lists of up to 64 values have %d texts, want 7 with IN and 7 with NOT IN", len(texts))
		}
	})
}
