package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
	"holdfast/internal/testkit/pgtest"
)

// atVersion runs a test on each engine, over a database whose schema is at an earlier version.
func atVersion(t *testing.T, version int, test func(t *testing.T, store *store.DB)) {
	t.Helper()
	for name, url := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "old.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, err := store.Open(t.Context(), url(t), dbtest.AtStart)
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
	atVersion(t, 1, func(t *testing.T, db *store.DB) {
		dbtest.Write(t, db, func(tx *store.Tx) error {
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
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		var left []int64
		dbtest.Read(t, db, func(tx *store.Tx) error {
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

// TestImportKeysStayUnique where an earlier version has stored some.
func TestImportKeysStayUnique(t *testing.T) {
	t.Parallel()
	atVersion(t, 45, func(t *testing.T, db *store.DB) {
		booking := func(id int64, key string) func(tx *store.Tx) error {
			return func(tx *store.Tx) error {
				_, err := tx.Exec(`INSERT INTO bookings (site_id, id, uuid, channel_id, author_id, author, author_name, content, firstname, surname, email,
					start_day, end_day, pax, reference, total, currencies, country, language, modal_draft, net, held, open_authorised,
					locked_payments, status, deleted, import_key, version, created_at, modified_at)
					VALUES (1, $1, $2, 1, 0, '', '', '', '', '', '', 0, 0, 1, '', 1, 'EUR', '', '', FALSE, 0, 0, 0, 0, 'open', FALSE, NULLIF($3, ''), 1, 0, 0)`,
					id, fmt.Sprint("u", id), key)
				return err
			}
		}
		dbtest.Write(t, db, func(tx *store.Tx) error {
			_, err := tx.Exec(`INSERT INTO sites (id, path, name, sandbox, permitted_urls, version, created_at, modified_at)
				VALUES (1, 'demo', 'Demo', FALSE, '[]', 1, 0, 0)`)
			if err != nil {
				return err
			}
			_, err = tx.Exec(`INSERT INTO channels (site_id, id, uuid, name, name_folded, slug, account_type, account_mode, was_test, protection_type,
				currencies, language, primary_mail, mail_bcc, receipt_label, external_id, status_override, statement_period, locked, secret, version,
				created_at, modified_at, cardholder_present, mail_failures, server_to_server, chargeback_mail, beneficiary_id, settlement_currency,
				payout_minimum, descriptor, processor, tokenizer_id, tokenizer_key_end)
				VALUES (1, 1, '', '', '', '', '', '', FALSE, '', 'EUR', '', '', FALSE, '', '', '', '', FALSE, '', 1, 0, 0, FALSE, FALSE, FALSE, '',
				'', '', 0, '', '', '', '')`)
			return err
		})
		for id, key := range []string{1: "a", 2: "b", 3: "", 4: ""} {
			if id > 0 {
				dbtest.Write(t, db, booking(int64(id), key))
			}
		}
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := db.Write(t.Context(), booking(5, "b")); err == nil {
			t.Error("Two bookings of a channel have the same import key.")
		}
		dbtest.Write(t, db, booking(6, "c"))
		dbtest.Write(t, db, booking(7, ""))
		dbtest.Read(t, db, func(tx *store.Tx) error {
			var n int
			if err := tx.Row(`SELECT COUNT(*) FROM bookings`, nil, &n); err != nil || n != 6 {
				t.Errorf("There are %d bookings, want 6. %v", n, err)
			}
			return nil
		})
	})
}

func TestMigratingAgainChangesNothing(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestASchemaOfAnotherLineIsRefused: what has run in the database is compared before anything is changed.
func TestASchemaOfAnotherLineIsRefused(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ change, says string }{
		"another name":  {`UPDATE schema_migrations SET name = 'invoices' WHERE version = 3`, `step 3 of its schema is "invoices"`},
		"another text":  {`UPDATE schema_migrations SET digest = 'abc' WHERE version = 3`, `had another text`},
		"a gap":         {`DELETE FROM schema_migrations WHERE version = 3`, `step 3 of its schema is missing`},
		"another table": {`UPDATE schema_migrations SET applied_at = '' WHERE version = 3`, `is not one of holdfast`},
		"a newer one": {`INSERT INTO schema_migrations (version, name, applied_at, digest)
			SELECT MAX(version) + 1, 'later', '', '' FROM schema_migrations`, `Use a newer holdfast`},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
				dbtest.Write(t, db, func(tx *store.Tx) error {
					n, err := tx.Exec(c.change)
					if err == nil && n != 1 {
						t.Errorf("changed %d rows", n)
					}
					if err == nil && what == "another table" {
						_, err = tx.Exec(`ALTER TABLE schema_migrations RENAME COLUMN name TO dirty`)
					}
					return err
				})
				if err := db.Migrate(t.Context()); !errors.Is(err, store.ErrOtherSchema) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("it says %v", err)
				}
			})
		})
	}
	t.Run("of an earlier step", func(t *testing.T) {
		t.Parallel()
		atVersion(t, 3, func(t *testing.T, db *store.DB) {
			dbtest.Write(t, db, func(tx *store.Tx) error {
				_, err := tx.Exec(`UPDATE schema_migrations SET name = 'invoices' WHERE version = 3`)
				return err
			})
			if err := db.Migrate(t.Context()); !errors.Is(err, store.ErrOtherSchema) {
				t.Errorf("it says %v", err)
			}
			dbtest.Read(t, db, func(tx *store.Tx) error {
				var steps int
				if err := tx.Row(`SELECT COUNT(*) FROM schema_migrations`, nil, &steps); err != nil || steps != 3 {
					t.Errorf("it has %d steps now, %v", steps, err)
				}
				return nil
			})
		})
	})
}

// TestEachStepIsRemembered by its digest, also the steps that ran before digests were kept.
func TestEachStepIsRemembered(t *testing.T) {
	t.Parallel()
	atVersion(t, 3, func(t *testing.T, db *store.DB) {
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		dbtest.Read(t, db, func(tx *store.Tx) error {
			var without, different int
			err := tx.Row(`SELECT COUNT(*) - COUNT(CASE WHEN length(digest) = 64 THEN 1 END), COUNT(*) - COUNT(DISTINCT digest)
				FROM schema_migrations`, nil, &without, &different)
			if err != nil || without != 0 || different != 0 {
				t.Errorf("%d steps have no digest, %d that of another, %v", without, different, err)
			}
			return nil
		})
	})
}
