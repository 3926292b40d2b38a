package store_test

import (
	"errors"
	"testing"

	"holdfast/internal/store/postgres"
	"holdfast/internal/testkit/dbtest"
	"holdfast/internal/testkit/pgtest"
)

// TestDistributeNeedsACluster: a database that is not a cluster is left unchanged.
func TestDistributeNeedsACluster(t *testing.T) {
	t.Parallel()
	for _, engine := range []dbtest.Engine{{Name: "sqlite", Database: dbtest.SQLite}, {Name: "postgres", Database: pgtest.URL}} {
		t.Run(engine.Name, func(t *testing.T) {
			db := dbtest.Open(t, engine.Database(t), dbtest.AtStart)
			if laid, err := db.Distribute(t.Context()); !errors.Is(err, postgres.ErrNoCitus) {
				t.Errorf("%+v, %v", laid, err)
			}
		})
	}
}
