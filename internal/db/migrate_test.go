package db_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/pgtest"
)

// atVersion runs a test on each engine, over a database whose schema is at an earlier version.
func atVersion(t *testing.T, version int, test func(t *testing.T, store *db.DB)) {
	t.Helper()
	for name, url := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "old.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, err := db.Open(t.Context(), url(t), dbtest.AtStart)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			if err := store.MigrateTo(t.Context(), version); err != nil {
				t.Fatal(err)
			}
			test(t, store)
		})
	}
}

func TestTokensOfThoseWhoLostAccessAreDeleted(t *testing.T) {
	t.Parallel()
	atVersion(t, 1, func(t *testing.T, store *db.DB) {
		dbtest.Write(t, store, func(tx *db.Tx) error {
			texts := []string{`INSERT INTO sites (id, path, name, sandbox, permitted_urls, version, created_at, modified_at)
				VALUES (1, 'demo', 'Demo', FALSE, '[]', 1, 0, 0)`}
			for id, name := range []string{1: "member", 2: "gone", 3: "back", 4: "operator"} {
				if id == 0 {
					continue
				}
				texts = append(texts, fmt.Sprintf(`INSERT INTO users (id, username, email, display_name, password_hash, operator,
						two_factor_secret, two_factor_last_step, refresh_generation, refresh_began_at, password_epoch, created_at, modified_at)
					VALUES (%d, '%s', '', '', '', %t, '', 0, 1, 0, 1, 0, 0)`, id, name, name == "operator"),
					fmt.Sprintf(`INSERT INTO api_tokens (site_id, id, user_id, name, secret_hash, created_at, updated_at)
					VALUES (1, %d, %d, '', '', 50, 50)`, id, id))
			}
			texts = append(texts, `INSERT INTO memberships (site_id, user_id, role, can_sign_off_payout, created_at)
				VALUES (1, 1, 'finance', FALSE, 50), (1, 3, 'finance', FALSE, 51)`)
			for _, text := range texts {
				if _, err := tx.Exec(text); err != nil {
					return err
				}
			}
			return nil
		})
		if err := store.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		var left []int64
		dbtest.Read(t, store, func(tx *db.Tx) error {
			return dbtest.Numbers(tx, `SELECT id FROM api_tokens ORDER BY id`, func(id int64) error {
				left = append(left, id)
				return nil
			})
		})
		if fmt.Sprint(left) != "[1 4]" {
			t.Errorf("left are the tokens %v, want those of the member and of the operator", left)
		}
	})
}

func TestMigratingAgainChangesNothing(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *db.DB) {
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
