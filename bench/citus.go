package main

import (
	"context"
	"errors"
	"time"

	"holdfast/internal/store"
	"holdfast/internal/testkit/pgtest"

	"github.com/jackc/pgx/v5"
)

// distribute turns the empty database of a house into a Citus cluster on the servers that scripts/with-citus has started, and distributes
// the product's tables.
func (b *bench) distribute(ctx context.Context, h *house) error {
	nodes := pgtest.CitusNodes()
	if len(nodes) == 0 {
		return errors.New("-engine citus requires a cluster in HOLDFAST_TEST_CITUS. Start one with scripts/with-citus --durable NODES")
	}
	if err := pgtest.MakeCitus(ctx, h.database, nodes[1:]); err != nil {
		return err
	}
	for _, node := range nodes[1:] {
		conn, err := pgx.Connect(ctx, "postgres://postgres@"+node+"/postgres?sslmode=disable")
		if err != nil {
			return err
		}
		var folder string
		err = conn.QueryRow(ctx, "SELECT current_setting('data_directory')").Scan(&folder)
		if err := errors.Join(err, conn.Close(ctx), h.addServer(folder)); err != nil {
			return err
		}
	}
	db, err := store.Open(ctx, h.database, time.Now)
	if err != nil {
		return err
	}
	if err = db.Migrate(ctx); err == nil {
		_, err = db.Distribute(ctx)
	}
	return errors.Join(err, db.Close())
}
