package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Node is one server of a cluster, with the connections of this process to it. A single server, without Citus, is a Node too.
type Node struct {
	Address     string // host:port, as the cluster knows it; "" for the server of the database URL
	Coordinator bool
	Short       *sql.DB // for reads and writes of requests
	Long        *sql.DB // for reads over many rows
	IDs         *sql.DB // for drawing ids; nil without a cluster

	Renewed atomic.Int64 // when its idle connections were closed last, in nanoseconds of the clock
	away    atomic.Bool  // it did not answer lately
	group   int64        // as Citus numbers it; 0 is the coordinator
}

// Away reports whether the node did not answer when it was asked last, less than two seconds ago.
func (n *Node) Away() bool { return n.away.Load() }

// SetAway records whether the node answers. If it does not, its sites are refused until it does.
func (n *Node) SetAway(away bool) { n.away.Store(away) }

// Close closes the connections to the node.
func (n *Node) Close() error {
	err := errors.Join(n.Short.Close(), n.Long.Close())
	if n.IDs != nil {
		err = errors.Join(err, n.IDs.Close())
	}
	return err
}

// Intervals of a cluster's background work.
const (
	pingEvery = time.Second // also how long a ping may take
	lookEvery = 10          // seconds: how long requests to a site that has moved go to its former node, which forwards them
)

// Cluster knows the nodes of a Citus cluster, and the node of each site. Every node can run every statement, so an outdated placement
// only costs time.
type Cluster struct {
	// Table is a table that is distributed by site.
	Table string
	// Open makes the connections to a node, without connecting.
	Open func(address string) (*Node, error)

	coordinator *Node
	stop        context.CancelFunc
	done        chan struct{}

	mu     sync.Mutex  // held during a look
	looked atomic.Bool // since the last tick, after a node has failed
	state  atomic.Pointer[placement]
	gone   []*Node // removed nodes, on which something may still be running
}

// placement is the result of a look.
type placement struct {
	nodes    []*Node // coordinator first
	shards   []shard // in ascending order; none before the tables are distributed
	counters bool    // see Counters
}

// shard is a range of hashes of sites, and the node on which these sites are.
type shard struct {
	least, most int32
	on          *Node
}

// Start reads the cluster and follows it until Close. Without the extension, it returns false. coordinator is the server of the database
// URL; any other node is an error.
func (c *Cluster) Start(ctx context.Context, coordinator *Node) (ok bool, err error) {
	var installed bool
	if err := coordinator.Short.QueryRowContext(ctx, hasCitus).Scan(&installed); err != nil || !installed {
		return false, err
	}
	var group int64
	if err := coordinator.Short.QueryRowContext(ctx, `SELECT groupid FROM pg_dist_local_group`).Scan(&group); err != nil {
		return false, err
	}
	if group != 0 {
		return false, errors.New("this server is a worker of a Citus cluster: use the URL of the coordinator")
	}
	coordinator.Coordinator = true
	c.coordinator = coordinator
	c.state.Store(&placement{nodes: []*Node{coordinator}})
	if err := c.Look(ctx); err != nil {
		return false, err
	}
	ctx, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	c.done = make(chan struct{})
	go c.follow(ctx)
	return true, nil
}

// Close ends the background work and closes the connections to all nodes but the coordinator.
func (c *Cluster) Close() (err error) {
	c.stop()
	<-c.done
	for _, n := range append(c.gone, c.Nodes()...) {
		if !n.Coordinator {
			err = errors.Join(err, n.Close())
		}
	}
	return err
}

// Nodes are the nodes, coordinator first.
func (c *Cluster) Nodes() []*Node { return c.state.Load().nodes }

// Counters reports whether ids come from counters of the sites.
func (c *Cluster) Counters() bool { return c.state.Load().counters }

// Coordinator is the node of the database URL.
func (c *Cluster) Coordinator() *Node { return c.coordinator }

// Of returns the node of a site: the coordinator before the tables are distributed.
func (c *Cluster) Of(site int64) *Node {
	list := c.state.Load().shards
	i, found := slices.BinarySearchFunc(list, Hash(site), func(s shard, h int32) int {
		switch {
		case h < s.least:
			return 1
		case h > s.most:
			return -1
		}
		return 0
	})
	if !found {
		return c.coordinator
	}
	return list[i].on
}

// Holding are the nodes that hold sites.
func (c *Cluster) Holding() (list []*Node) {
	for _, s := range c.state.Load().shards {
		if !slices.Contains(list, s.on) {
			list = append(list, s.on)
		}
	}
	return list
}

// Answering returns the coordinator, or another node if the coordinator does not answer: each has the tables of the deployment.
func (c *Cluster) Answering() *Node {
	nodes := c.Nodes()
	if i := slices.IndexFunc(nodes, func(n *Node) bool { return !n.Away() }); i >= 0 {
		return nodes[i]
	}
	return nodes[0]
}

// LookAgain is Look after a node has failed, at most once a second.
func (c *Cluster) LookAgain(ctx context.Context) {
	if c.looked.CompareAndSwap(false, true) {
		_ = c.Look(ctx) // after an error, the known placement stays
	}
}

// Look reads the nodes and the placement of the sites from a node that answers.
func (c *Cluster) Look(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 2*pingEvery)
	defer cancel()
	found, err := c.read(ctx)
	if err != nil {
		return fmt.Errorf("reading the nodes of the cluster: %w", err)
	}
	for _, n := range c.Nodes() {
		if !slices.Contains(found.nodes, n) {
			c.gone = append(c.gone, n)
		}
	}
	c.state.Store(found)
	return nil
}

func (c *Cluster) read(ctx context.Context) (found *placement, err error) {
	sqlTx, err := c.Answering().IDs.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = sqlTx.Rollback() }()
	found = &placement{nodes: []*Node{c.coordinator}}
	known := c.Nodes()
	byGroup := map[int64]*Node{0: c.coordinator}
	err = each(ctx, sqlTx, `SELECT groupid, nodename || ':' || nodeport FROM pg_dist_node
		WHERE isactive AND noderole = 'primary' AND groupid <> 0 ORDER BY groupid`, func(scan func(dest ...any) error) error {
		var group int64
		var address string
		if err := scan(&group, &address); err != nil {
			return err
		}
		i := slices.IndexFunc(known, func(n *Node) bool { return n.group == group && n.Address == address })
		var n *Node
		if i >= 0 {
			n = known[i]
		} else if n, err = c.Open(address); err != nil {
			return err
		}
		n.Address, n.group = address, group
		byGroup[group], found.nodes = n, append(found.nodes, n)
		return nil
	})
	if err == nil {
		err = each(ctx, sqlTx, `SELECT s.shardminvalue::int, s.shardmaxvalue::int, p.groupid FROM pg_dist_shard s
			JOIN pg_dist_placement p ON p.shardid = s.shardid AND p.shardstate = 1
			WHERE s.logicalrelid = to_regclass('`+c.Table+`') ORDER BY 1`, func(scan func(dest ...any) error) error {
			var s shard
			var group int64
			err := scan(&s.least, &s.most, &group)
			if s.on = byGroup[group]; s.on == nil {
				s.on = c.coordinator // which forwards the statement
			}
			found.shards = append(found.shards, s)
			return err
		})
	}
	if err == nil {
		err = sqlTx.QueryRowContext(ctx, hasCounters).Scan(&found.counters)
	}
	if err != nil { // new nodes have no connections yet that would have to be closed
		return nil, err
	}
	return found, nil
}

// follow pings the nodes, and looks at intervals, or each time while a node does not answer.
func (c *Cluster) follow(ctx context.Context) {
	defer close(c.done)
	ticks := time.NewTicker(pingEvery)
	defer ticks.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		c.Ping(ctx)
		c.looked.Store(false)
		if n%lookEvery == 0 || slices.ContainsFunc(c.Nodes(), (*Node).Away) { // its standby may replace it
			_ = c.Look(ctx) // after an error, the known placement stays
		}
	}
}

// Ping asks each node whether it answers.
func (c *Cluster) Ping(ctx context.Context) {
	var all sync.WaitGroup
	for _, n := range c.Nodes() {
		all.Go(func() {
			within, cancel := context.WithTimeout(ctx, pingEvery)
			defer cancel()
			_, err := n.IDs.ExecContext(within, "SELECT 1")
			if ctx.Err() == nil {
				n.SetAway(err != nil)
			}
		})
	}
	all.Wait()
}

// Hash is the function by which Citus distributes whole numbers: PostgreSQL's hashint8.
func Hash(n int64) int32 {
	low, high := uint32(n), uint32(n>>32)
	if n < 0 {
		high = ^high
	}
	const start = 0x9e3779b9 + 4 + 3923095
	rotate := func(x uint32, k int) uint32 { return x<<k | x>>(32-k) }
	a, b, c := start+(low^high), uint32(start), uint32(start)
	c = (c ^ b) - rotate(b, 14)
	a = (a ^ c) - rotate(c, 11)
	b = (b ^ a) - rotate(a, 25)
	c = (c ^ b) - rotate(b, 16)
	a = (a ^ c) - rotate(c, 4)
	b = (b ^ a) - rotate(a, 14)
	c = (c ^ b) - rotate(b, 24)
	return int32(c)
}
