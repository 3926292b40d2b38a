//go:build citus

package store_test

import (
	"slices"
	"testing"

	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
	"holdfast/internal/testkit/pgtest"
)

// TestDistribute: a new database is distributed over the nodes, a second call changes nothing, and tables added by a migration follow.
func TestDistribute(t *testing.T) {
	t.Parallel()
	nodes := pgtest.CitusNodes()
	address := pgtest.URL(t)
	if err := pgtest.MakeCitus(t.Context(), address, nodes[1:]); err != nil {
		t.Fatal(err)
	}
	db := dbtest.Open(t, address, dbtest.AtStart)
	all := len(store.TablesOfSites) + len(store.TablesOfDeployment) + 1 // schema_migrations
	before, err := db.Layout(t.Context())
	if err != nil || len(before.Left) != all || len(before.Nodes) != len(nodes) {
		t.Fatalf("before: %+v, %v", before, err)
	}
	for range 2 {
		if _, err := db.Distribute(t.Context()); err != nil {
			t.Fatal(err)
		}
		laid, err := db.Layout(t.Context())
		if err != nil || len(laid.Left) != 0 || len(laid.BySite) != len(store.TablesOfSites) || slices.Contains(laid.BySite, "sites") {
			t.Fatalf("after: %+v, %v", laid, err)
		}
	}
	const sites = 12
	for i := range sites {
		dbtest.ASite(t, db, "site-"+string(rune('a'+i)))
	}
	dbtest.Write(t, db, func(tx *store.Tx) error { // as if a migration had just created it
		_, err := tx.Exec(`SELECT undistribute_table('verify_runs')`)
		return err
	})
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	laid, err := db.Layout(t.Context())
	if err != nil || len(laid.Left) != 0 {
		t.Fatalf("after a migration: %+v, %v", laid.Left, err)
	}
	var counted int64
	for _, n := range laid.Nodes {
		counted += n.Sites
		if len(nodes) > 1 && n.Coordinator == (n.Sites > 0) {
			t.Errorf("%d sites are on %s", n.Sites, n.Address)
		}
	}
	if counted != sites {
		t.Errorf("%d sites in total, want %d", counted, sites)
	}
}
