package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"holdfast/internal/store/postgres"
)

// Bounds of the connections to the nodes of a cluster.
const (
	idConns         = 2 // to each node, for drawing ids
	nodeConnectTime = time.Second
)

// errAway: the node of a site did not answer lately.
var errAway = errors.New("this node of the cluster does not answer")

// nodes are all servers on which a transaction can run, the one of the URL first.
func (db *DB) nodes() []*postgres.Node {
	if db.cluster == nil {
		return []*postgres.Node{db.own}
	}
	return db.cluster.Nodes()
}

// writesAt returns the node on which a write about a site runs: that of the site, or the coordinator.
func (db *DB) writesAt(site int64) (*postgres.Node, error) {
	if db.cluster == nil {
		return db.own, nil
	}
	on := db.cluster.Coordinator()
	if site != Deployment {
		on = db.cluster.Of(site)
	}
	if on.Away() {
		return nil, fmt.Errorf("%w: %s", errAway, on.Address)
	}
	return on, nil
}

// readsAt is writesAt for a read. Tables of the deployment are on every node, so another node answers if the
// coordinator does not.
func (db *DB) readsAt(site int64) (*postgres.Node, error) {
	if db.cluster == nil || site != Deployment {
		return db.writesAt(site)
	}
	return db.cluster.Answering(), nil
}

// Nodes is how many nodes the database has, and how many of them do not answer.
func (db *DB) Nodes() (all, away int) {
	for _, n := range db.nodes() {
		if all++; n.Away() {
			away++
		}
	}
	return all, away
}

// noteFailure marks a node that refuses connections as away, and reads the placement again: its sites may have moved.
func (db *DB) noteFailure(ctx context.Context, on *postgres.Node, err error) {
	if err == nil || db.cluster == nil || ctx.Err() != nil {
		return
	}
	if postgres.Refused(err) {
		on.SetAway(true)
		db.cluster.LookAgain(ctx)
	}
}

// followCluster connects to all nodes, if the server of the URL is the coordinator of a Citus cluster. Their host and port come from the
// coordinator, and everything else from the URL.
func (db *DB) followCluster(ctx context.Context, address string) (err error) {
	cluster := &postgres.Cluster{
		Table: placesTable,
		Open: func(node string) (*postgres.Node, error) {
			at, err := url.Parse(address)
			if err != nil {
				return nil, fmt.Errorf("invalid database URL: %w", err)
			}
			at.Host = node
			rest := at.Query()
			for _, name := range []string{"host", "port", "target_session_attrs"} {
				rest.Del(name)
			}
			at.RawQuery = rest.Encode()
			on, _, err := postgres.Connect(at.String(), nodeConnectTime, writeLifetime)
			if err != nil {
				return nil, err
			}
			db.long.bound(on.Long)
			on.IDs, err = postgres.ConnectIDs(at.String(), nodeConnectTime, idConns)
			return on, err
		},
	}
	if db.own.IDs, err = postgres.ConnectIDs(address, nodeConnectTime, idConns); err != nil {
		return err
	}
	if ok, err := cluster.Start(ctx, db.own); err != nil || !ok {
		return err
	}
	db.cluster = cluster
	return nil
}
