package store_test

import (
	"testing"

	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// TestStatisticsAreRefreshedWhenTheyAreOld: counting a large database takes seconds, and a second count would give the
// same result.
func TestStatisticsAreRefreshedWhenTheyAreOld(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		add := func(rows int) {
			dbtest.Write(t, db, func(tx *store.Tx) error {
				_, err := tx.Exec(`INSERT INTO counted (id) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST($1 AS BIGINT))
					SELECT i FROM n`, rows)
				return err
			})
		}
		dbtest.Write(t, db, func(tx *store.Tx) error {
			_, err := tx.Exec(`CREATE TABLE counted (id BIGINT)`)
			return err
		})
		for _, step := range []struct{ more, has, known int64 }{
			{100, 80, 100},  // never counted before
			{100, 100, 100}, // known to be as large
			{1, 101, 201},   // larger than was known
		} {
			add(int(step.more))
			if err := db.RefreshStatistics(t.Context(), "counted", int(step.has)); err != nil {
				t.Fatal(err)
			}
			if db.Engine() != "postgres" {
				continue
			}
			var known int64
			dbtest.Read(t, db, func(tx *store.Tx) error {
				return tx.QueryRow(`SELECT CAST(reltuples AS BIGINT) FROM pg_class WHERE oid = to_regclass('counted')`, nil, &known)
			})
			if known != step.known {
				t.Errorf("with %d rows for certain, PostgreSQL knows of %d rows, not of %d", step.has, known, step.known)
			}
		}
	})
}
