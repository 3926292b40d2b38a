package db_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"holdfast/internal/catalog"
	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/pgtest"
)

// TestAnOlderBookIsBuiltAndMigrated: its rows go into the schema of its time, and come out of that of today.
func TestAnOlderBookIsBuiltAndMigrated(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "old.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := url(t)
			content := db.Content{
				Schema: []string{"0001_schema"},
				Load: func(tx *db.Tx) error {
					_, err := tx.Exec(`INSERT INTO sites (id, path, name, sandbox, permitted_urls, version, created_at, modified_at)
						VALUES (7, 'demo', 'Demo', FALSE, '[]', 1, 0, 0)`)
					return err
				},
				Finish: func(*db.Tx) error { return errors.New("not yet") },
			}
			if err := db.Build(t.Context(), address, dbtest.AtStart, content); err == nil || err.Error() != "not yet" {
				t.Fatalf("a failing end: %v", err)
			}
			content.Finish = func(tx *db.Tx) error {
				var issuer string // a column of a later migration
				return tx.Row(`SELECT issuer FROM sites WHERE id = 7`, nil, &issuer)
			}
			if err := db.Build(t.Context(), address, dbtest.AtStart, content); err != nil {
				t.Fatal(err)
			}
			if err := db.Build(t.Context(), address, dbtest.AtStart, content); !errors.Is(err, db.ErrNotEmpty) {
				t.Errorf("built a second time: %v", err)
			}
			dbtest.Read(t, dbtest.Open(t, address, dbtest.AtStart), func(tx *db.Tx) error {
				ids, err := db.Ids(tx, `SELECT id FROM sites`)
				if !slices.Equal(ids, []int64{7}) {
					t.Errorf("the sites are %v", ids)
				}
				return err
			})
		})
	}
}

// TestBothEnginesDescribeTheSameTables: a backup of one fits the other.
func TestBothEnginesDescribeTheSameTables(t *testing.T) {
	t.Parallel()
	var first []catalog.Table
	dbtest.OnBothOpen(t, func(t *testing.T, store *db.DB) {
		dbtest.Read(t, store, func(tx *db.Tx) error {
			tables, err := tx.Tables()
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
