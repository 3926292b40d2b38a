package store_test

import (
	"errors"
	"testing"

	"holdfast/internal/store"
	"holdfast/internal/store/postgres"
	"holdfast/internal/testkit/dbtest"
	"holdfast/internal/testkit/pgtest"
)

// TestDistributeNeedsACluster: a database that is not a cluster is left unchanged.
func TestDistributeNeedsACluster(t *testing.T) {
	t.Parallel()
	if len(pgtest.CitusNodes()) > 0 {
		t.Skip("skipped on a Citus cluster")
	}
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		if laid, err := db.Distribute(t.Context()); !errors.Is(err, postgres.ErrNoCitus) {
			t.Errorf("%+v, %v", laid, err)
		}
	})
}
