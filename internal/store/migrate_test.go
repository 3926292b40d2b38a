package store_test

import (
	"errors"
	"strings"
	"testing"

	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

func TestMigratingAgainChangesNothing(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, store *store.DB) {
		if err := store.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if names := migrationsOf(t, store); len(names) != 1 || names[0] != "0001_schema" {
			t.Errorf("it has the migrations %v", names)
		}
	})
}

func migrationsOf(t *testing.T, db *store.DB) (names []string) {
	t.Helper()
	dbtest.Read(t, db, func(tx *store.Tx) (err error) {
		names, err = tx.Catalog().Schema()
		return err
	})
	return names
}

// TestALaterMigrationRunsOnce: it finds the existing rows, and a failed one leaves nothing.
func TestALaterMigrationRunsOnce(t *testing.T) {
	t.Parallel()
	const name = "0002_colours"
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		dbtest.Write(t, db, func(tx *store.Tx) error {
			_, err := tx.Exec(newSite)
			return err
		})
		for _, c := range []struct {
			text   string
			fails  bool
			wanted int
		}{
			{"ALTER TABLE sites ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';\nUPDATE sites SET colours = 'blue';\n", true, 1},
			{"-- A colour.\nALTER TABLE sites ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';\nUPDATE sites SET colour = 'blue' WHERE id = 7;\n", false, 2},
			{"-- A colour.\nALTER TABLE sites ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';\nUPDATE sites SET colour = 'blue' WHERE id = 7;\n", false, 2},
			{"ALTER TABLE sites ADD COLUMN colour TEXT;\n", true, 2}, // another text
		} {
			files, err := store.WithMigration(name, c.text)
			if err != nil {
				t.Fatal(err)
			}
			if err := db.MigrateWith(t.Context(), files); (err != nil) != c.fails {
				t.Errorf("%s: %v", c.text, err)
			}
			if names := migrationsOf(t, db); len(names) != c.wanted {
				t.Errorf("%s: it has the migrations %v", c.text, names)
			}
		}
		dbtest.Read(t, db, func(tx *store.Tx) error {
			var colour string
			if err := tx.QueryRow(`SELECT colour FROM sites WHERE id = 7`, nil, &colour); err != nil || colour != "blue" {
				t.Errorf("the site is %q, %v", colour, err)
			}
			return nil
		})
		if err := db.Migrate(t.Context()); !errors.Is(err, store.ErrOtherSchema) || !strings.Contains(err.Error(), "use a newer holdfast") {
			t.Errorf("a program that does not know the migration says %v", err)
		}
	})
}

// TestASchemaOfAnotherProgramIsRefused: earlier migrations are compared before anything is changed.
func TestASchemaOfAnotherProgramIsRefused(t *testing.T) {
	t.Parallel()
	for change, says := range map[string]string{
		`UPDATE schema_migrations SET name = '0001_invoices'`:        "its migration 1 is 0001_invoices",
		`UPDATE schema_migrations SET digest = 'abc'`:                "differs from",
		`ALTER TABLE schema_migrations RENAME COLUMN name TO dirty`:  "was not created by holdfast",
		`INSERT INTO schema_migrations VALUES (2, '0002_x', '', '')`: "use a newer holdfast",
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
				dbtest.Write(t, db, func(tx *store.Tx) error {
					_, err := tx.Exec(change)
					return err
				})
				if err := db.Migrate(t.Context()); !errors.Is(err, store.ErrOtherSchema) || !strings.Contains(err.Error(), says) {
					t.Errorf("it says %v", err)
				}
			})
		})
	}
}

// TestAGapBetweenMigrationsIsRefused: it indicates a bad merge.
func TestAGapBetweenMigrationsIsRefused(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		files, err := store.WithMigration("0003_later", "CREATE TABLE later (id BIGINT);\n")
		if err != nil {
			t.Fatal(err)
		}
		if err := db.MigrateWith(t.Context(), files); err == nil || !strings.Contains(err.Error(), "0003_later") {
			t.Errorf("it says %v", err)
		}
	})
}
