package dbtest_test

import (
	"testing"
	"time"

	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/travel"
)

// TestEachTestHasADatabaseOfItsOwn: what one test writes, no other finds; nothing is in it at first.
func TestEachTestHasADatabaseOfItsOwn(t *testing.T) {
	for _, engine := range dbtest.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			for round := range 2 {
				store := dbtest.Open(t, engine.Database(t), time.Now)
				if store.Engine() != engine.Name {
					t.Errorf("it is %s", store.Engine())
				}
				err := store.Write(t.Context(), func(tx *db.Tx) error {
					if sites, err := core.SiteClocks(tx); err != nil || len(sites) > 0 {
						t.Errorf("round %d finds %v, %v", round, sites, err)
					}
					_, err := dbtest.InsertSite(tx, travel.Site{Path: "a", Name: "A", Policy: travel.DefaultPolicy("GBP")})
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
