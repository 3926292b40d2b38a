package dbtest_test

import (
	"testing"
	"time"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/terms"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// TestEachTestHasADatabaseOfItsOwn: a new database is empty, and tests do not see each other's writes.
func TestEachTestHasADatabaseOfItsOwn(t *testing.T) {
	for _, engine := range dbtest.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			for round := range 2 {
				db := dbtest.Open(t, engine.Database(t), time.Now)
				if db.Engine() != engine.Name {
					t.Errorf("the engine is %s", db.Engine())
				}
				err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
					if sites, err := sites.Clocks(tx); err != nil || len(sites) > 0 {
						t.Errorf("round %d finds %v, %v", round, sites, err)
					}
					_, err := dbtest.InsertSite(tx, merchant.Site{Path: "a", Name: "A", Policy: terms.DefaultPolicy("GBP")})
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
