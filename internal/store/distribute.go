package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"holdfast/internal/store/postgres"
)

// Layout reads how the tables are distributed. The error is postgres.ErrNoCitus if the database is not the coordinator of a cluster.
func (db *DB) Layout(ctx context.Context) (laid postgres.Layout, err error) {
	err = db.inTransaction(ctx, func(sqlTx *sql.Tx) error {
		if laid, err = postgres.LayoutOf(ctx, sqlTx, laidOut); err != nil {
			return err
		}
		return laid.ReadNodes(ctx, sqlTx, laidOut)
	})
	if err == nil && db.cluster != nil {
		db.cluster.Ping(ctx)
		for i := range laid.Nodes {
			laid.Nodes[i].Away = slices.ContainsFunc(db.cluster.Nodes(), func(n *postgres.Node) bool {
				return n.Address == laid.Nodes[i].Address && n.Away()
			})
		}
	}
	return laid, err
}

// Distribute distributes the tables over the Citus nodes: TablesOfSites by site, so that all rows of a site are on one node, and
// TablesOfDeployment to every node. It runs in one transaction, locks the tables, and skips those that are already distributed. It returns
// the layout from before.
func (db *DB) Distribute(ctx context.Context) (before postgres.Layout, err error) {
	err = db.inTransaction(ctx, func(sqlTx *sql.Tx) error {
		if _, err := sqlTx.ExecContext(ctx, db.engine.lockSchema); err != nil { // no migration runs meanwhile
			return err
		}
		if before, err = postgres.LayoutOf(ctx, sqlTx, laidOut); err != nil {
			return err
		}
		if err := before.ReadNodes(ctx, sqlTx, laidOut); err != nil {
			return err
		}
		_, err := postgres.LayOut(ctx, sqlTx, laidOut, before.Left)
		return err
	})
	if err == nil && db.cluster != nil {
		err = db.outward(db.cluster.Look(ctx))
	}
	return before, err
}

// placesTable has one row for each site, on its node.
const placesTable = "site_places"

// laidOut are the tables to distribute over the nodes of a cluster.
var laidOut = postgres.Tables{
	All: tables, OfSites: TablesOfSites, Central: tablesOfCoordinator, Counted: counted, Sites: "sites", Factor: siteFactor,
}

func keepLaidOut(ctx context.Context, sqlTx *sql.Tx) (changed bool, err error) {
	return postgres.KeepLaidOut(ctx, sqlTx, laidOut)
}

func (db *DB) inTransaction(ctx context.Context, fn func(sqlTx *sql.Tx) error) error {
	if db.engine != postgresEngine {
		return fmt.Errorf("%w: it is not PostgreSQL", postgres.ErrNoCitus)
	}
	sqlTx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return db.outward(err)
	}
	defer func() { _ = sqlTx.Rollback() }() // does nothing after a commit
	if err := fn(sqlTx); err != nil {
		return db.outward(err)
	}
	return db.outward(db.commit(ctx, sqlTx))
}
