package db_test

import (
	"context"
	"testing"
	"time"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
)

// TestAReadThatIsCutLeavesNothingOpen: a read whose caller goes ends within its statement, and the next ones on the same connection see
// what was written since.
func TestAReadThatIsCutLeavesNothingOpen(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, store *db.DB) {
		for n := int64(1); n <= 5; n++ {
			ctx, cancel := context.WithCancel(t.Context())
			err := store.Read(ctx, func(tx *db.Tx) error {
				var sum int64
				if err := tx.Row(`SELECT COUNT(*) FROM site_versions`, nil, &sum); err != nil {
					return err
				}
				time.AfterFunc(5*time.Millisecond, cancel)
				return tx.Row(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT SUM(i) FROM n`, nil, &sum)
			})
			cancel()
			if err == nil || ctx.Err() == nil {
				t.Fatalf("the read went on to its end: %v", err)
			}
			write := func(tx *db.Tx) error {
				_, err := tx.Exec(`INSERT INTO site_versions (site_id, version) VALUES ($1, $1)`, 1_000_000+n)
				return err
			}
			if err := store.Write(t.Context(), write); err != nil {
				t.Fatal(err)
			}
			for range 8 { // each connection has its turn
				var rows int64
				err := store.Read(t.Context(), func(tx *db.Tx) error {
					return tx.Row(`SELECT COUNT(*) FROM site_versions WHERE site_id > 1000000`, nil, &rows)
				})
				if err != nil || rows != n {
					t.Fatalf("after %d writes, a read sees %d: %v", n, rows, err)
				}
			}
		}
	})
}
