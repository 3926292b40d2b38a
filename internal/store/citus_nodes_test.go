//go:build citus

package store_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/store/postgres"
	"holdfast/internal/testkit/dbtest"
	"holdfast/internal/testkit/pgtest"

	"github.com/jackc/pgx/v5"
)

// threeNodes returns the addresses of a cluster with two workers, coordinator first. Without one, it skips the test.
func threeNodes(t *testing.T) []string {
	t.Helper()
	nodes := pgtest.CitusNodes()
	if len(nodes) < 3 {
		t.Skip("needs a cluster with two workers: scripts/with-citus 2")
	}
	return nodes
}

// overNodes opens a database whose tables are distributed over all nodes, and a connection to its coordinator.
func overNodes(t *testing.T) (db *store.DB, coordinator *pgx.Conn) {
	t.Helper()
	nodes := threeNodes(t)
	address := pgtest.URL(t)
	if err := pgtest.MakeCitus(t.Context(), address, nodes[1:]); err != nil {
		t.Fatal(err)
	}
	db = dbtest.Open(t, address, dbtest.AtStart)
	if _, err := db.Distribute(t.Context()); err != nil {
		t.Fatal(err)
	}
	coordinator, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = coordinator.Close(context.Background()) })
	return db, coordinator
}

func siteAt(t *testing.T, db *store.DB, path string) int64 {
	t.Helper()
	site, _ := dbtest.ASite(t, db, path)
	return site.ID
}

// portOf is the port of the server on which transactions about a site run.
func portOf(t *testing.T, db *store.DB, site int64) (port int) {
	t.Helper()
	query := func(tx *store.Tx) error { return tx.QueryRow(`SELECT inet_server_port()`, nil, &port) }
	if err := db.Read(t.Context(), site, query); err != nil {
		t.Fatal(err)
	}
	read := port
	if err := db.Write(t.Context(), site, query); err != nil || port != read {
		t.Fatalf("reads run at %d, writes at %d: %v", read, port, err)
	}
	if err := db.Report(t.Context(), site, "me", query); err != nil || port != read {
		t.Fatalf("reads run at %d, reports at %d: %v", read, port, err)
	}
	return port
}

// move moves a site, with all others of its shard, to the node at a port.
func move(t *testing.T, coordinator *pgx.Conn, site int64, port int) {
	t.Helper()
	_, err := coordinator.Exec(t.Context(), `SELECT citus_move_shard_placement(s, n.nodename, n.nodeport, '127.0.0.1', $2::int, 'block_writes')
		FROM (SELECT get_shard_id_for_distribution_column('site_places', $1::bigint) AS s) q
		JOIN pg_dist_placement p ON p.shardid = q.s JOIN pg_dist_node n ON n.groupid = p.groupid WHERE n.nodeport <> $2::int`, site, port)
	if err != nil {
		t.Fatal(err)
	}
}

func ports(t *testing.T) (list []int) {
	t.Helper()
	for _, node := range pgtest.CitusNodes() {
		_, text, err := net.SplitHostPort(node)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}

// TestTransactionsRunOnTheNodeOfTheirSite: and those of the deployment on the coordinator. After a move, a site is used through its former
// node until the process reads the placement again.
func TestTransactionsRunOnTheNodeOfTheirSite(t *testing.T) {
	t.Parallel()
	db, coordinator := overNodes(t)
	at := ports(t)
	if port := portOf(t, db, store.Deployment); port != at[0] {
		t.Errorf("the deployment is at %d, and the coordinator at %d", port, at[0])
	}
	found, sites := map[int]int64{}, map[int]int{}
	for i := range 12 {
		site := siteAt(t, db, "site-"+string(rune('a'+i)))
		var want int
		err := coordinator.QueryRow(t.Context(), `SELECT n.nodeport FROM pg_dist_placement p JOIN pg_dist_node n ON n.groupid = p.groupid
			WHERE p.shardid = get_shard_id_for_distribution_column('site_places', $1::bigint)`, site).Scan(&want)
		if err != nil {
			t.Fatal(err)
		}
		if port := portOf(t, db, site); port != want {
			t.Errorf("site %d is at %d, and used at %d", site, want, port)
		}
		found[want] = site
		sites[want]++
	}
	if sites[at[1]] != 6 || sites[at[2]] != 6 {
		t.Fatalf("the numbers of sites by node are %v", sites)
	}
	site := found[at[1]]
	name := func(text string) error {
		return db.Write(t.Context(), site, func(tx *store.Tx) error {
			tx.Insert("site_names", "site_id, until, name", []any{site, int64(len(text)), text})
			return nil
		})
	}
	if err := name("before"); err != nil {
		t.Fatal(err)
	}
	move(t, coordinator, site, at[2])
	if err := name("afterwards"); err != nil { // the former node forwards it
		t.Fatal(err)
	}
	if port := portOf(t, db, site); port != at[1] {
		t.Errorf("used at %d before the placement was read again", port)
	}
	if err := db.LookAtCluster(t.Context()); err != nil {
		t.Fatal(err)
	}
	if port := portOf(t, db, site); port != at[2] {
		t.Errorf("used at %d after it has moved to %d", port, at[2])
	}
	var names int
	err := db.Read(t.Context(), site, func(tx *store.Tx) error {
		return tx.QueryRow(`SELECT COUNT(*) FROM site_names WHERE site_id = $1`, []any{site}, &names)
	})
	if err != nil || names != 2 {
		t.Errorf("%d names, %v", names, err)
	}
}

// TestIDsOverAMove: the ids of a site ascend while it moves from node to node and writers draw them, are unique over sites, and are exact in
// JSON.
func TestIDsOverAMove(t *testing.T) {
	t.Parallel()
	db, coordinator := overNodes(t)
	at := ports(t)
	sites := []int64{siteAt(t, db, "one"), siteAt(t, db, "two"), siteAt(t, db, "three")}
	insert := func(site int64) (id int64, err error) {
		err = db.Write(t.Context(), site, func(tx *store.Tx) error {
			if id, err = tx.NextID("suppliers", site); err != nil {
				return err
			}
			tx.Insert("suppliers", "site_id, id, name, name_folded, url, category, country, version, created_at, modified_at",
				[]any{site, id, "", "", "", "", "", 1, 0, 0})
			tx.Insert("events", "site_id, type, object_id, at, recorded_at, details", []any{site, "", id, 0, 0, ""}) // its id is drawn later
			return nil
		})
		return id, err
	}
	var stop atomic.Bool
	var mu sync.Mutex
	owner := map[int64]int64{}
	var all sync.WaitGroup
	for _, site := range sites {
		all.Go(func() {
			last := int64(0)
			for n := 0; !stop.Load() || n < 50; n++ {
				id, err := insert(site)
				if e, ok := errors.AsType[*errs.Error](err); ok && e.Kind == errs.Unavailable && e.Reason == "" { // a move blocks writes for longer than one lasts
					continue
				}
				if err != nil {
					t.Errorf("site %d: %v", site, err)
					return
				}
				if id <= last || id >= 1<<53 || id%100_000 != site {
					t.Errorf("site %d: id %d after %d", site, id, last)
				}
				last = id
				mu.Lock()
				if other, used := owner[id]; used {
					t.Errorf("id %d in sites %d and %d", id, other, site)
				}
				owner[id] = site
				mu.Unlock()
			}
		})
	}
	for _, to := range []int{at[2], at[1], at[2]} {
		move(t, coordinator, sites[0], to)
		if err := db.LookAtCluster(t.Context()); err != nil {
			t.Error(err)
		}
	}
	stop.Store(true)
	all.Wait()
	stored := 0
	for _, site := range sites {
		err := db.Read(t.Context(), site, func(tx *store.Tx) error {
			return tx.Query(`SELECT e.id, e.object_id FROM events e JOIN suppliers s ON s.site_id = $1 AND s.id = e.object_id
				WHERE e.site_id = $1 ORDER BY e.id`, []any{site}, func(scan func(dest ...any) error) error {
				var event, supplier int64
				err := scan(&event, &supplier)
				if stored++; event <= supplier {
					t.Errorf("event %d of supplier %d", event, supplier)
				}
				return err
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if stored != len(owner) {
		t.Errorf("%d of %d writes are stored", stored, len(owner))
	}
}

// TestIDsWithoutCounters: the sequences are gone, so a process that does not know of the counters gets an error.
func TestIDsWithoutCounters(t *testing.T) {
	t.Parallel()
	_, coordinator := overNodes(t)
	for _, statement := range []string{
		`INSERT INTO suppliers (site_id, name, name_folded, url, category, country, version, created_at, modified_at)
			VALUES (1, '', '', '', '', '', 1, 0, 0)`,
		`SELECT nextval('suppliers_id_seq')`,
	} {
		if _, err := coordinator.Exec(t.Context(), statement); err == nil {
			t.Errorf("%s succeeds", statement)
		}
	}
}

// TestHashOfASite compares it with the hash by which Citus finds shards. TestHash has some values of both.
func TestHashOfASite(t *testing.T) {
	t.Parallel()
	address := pgtest.URL(t)
	if err := pgtest.MakeCitus(t.Context(), address, nil); err != nil {
		t.Fatal(err)
	}
	db := dbtest.Open(t, address, dbtest.AtStart)
	for _, site := range []int64{0, 1, 2, 99_999, 1 << 40, -1, -7, 1<<63 - 1} {
		var want int32
		err := db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
			return tx.QueryRow(`SELECT worker_hash($1::bigint)`, []any{site}, &want)
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := postgres.Hash(site); got != want {
			t.Errorf("site %d: %d, want %d", site, got, want)
		}
	}
}

// TestAWorkerIsNoDatabase: the URL of a worker is refused.
func TestAWorkerIsNoDatabase(t *testing.T) {
	t.Parallel()
	_, coordinator := overNodes(t)
	config := coordinator.Config()
	worker := "postgres://" + config.User + "@" + pgtest.CitusNodes()[1] + "/" + config.Database + "?sslmode=disable"
	db, err := store.Open(t.Context(), worker, dbtest.AtStart)
	if err == nil {
		t.Fatal(errors.Join(errors.New("it is opened"), db.Close()))
	}
}

// proxied opens a database like overNodes, with a proxy before each node: coordinator first.
func proxied(t *testing.T) (db *store.DB, proxies []*pgtest.Proxy) {
	t.Helper()
	nodes := threeNodes(t)
	address := pgtest.URL(t)
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		server := *at
		server.Host = node
		proxies = append(proxies, pgtest.Through(t, server.String()))
	}
	hosts := make([]string, len(proxies))
	for i, p := range proxies {
		through, err := url.Parse(p.URL)
		if err != nil {
			t.Fatal(err)
		}
		hosts[i] = through.Host
	}
	if err := pgtest.MakeCitus(t.Context(), proxies[0].URL, hosts[1:]); err != nil {
		t.Fatal(err)
	}
	db = dbtest.Open(t, proxies[0].URL, dbtest.AtStart)
	if _, err := db.Distribute(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db, proxies
}

// sitesByPort creates sites until each worker has one, and returns one of each, by the port of its server.
func sitesByPort(t *testing.T, db *store.DB) map[int]int64 {
	t.Helper()
	found := map[int]int64{}
	for i := 0; len(found) < 2; i++ {
		site := siteAt(t, db, "site-"+strconv.Itoa(i))
		found[portOf(t, db, site)] = site
	}
	return found
}

// nameSite is a small write of a site, with an id from its counter.
func nameSite(t *testing.T, db *store.DB, site int64) error {
	t.Helper()
	return db.Write(t.Context(), site, func(tx *store.Tx) error {
		id, err := tx.NextID("suppliers", site)
		if err != nil {
			return err
		}
		tx.Insert("site_names", "site_id, until, name", []any{site, id, ""})
		return nil
	})
}

func job(ctx context.Context, db *store.DB) error {
	return db.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO jobs (name, due_at, leased_until, attempts, last_error) VALUES ('a', 0, 0, 0, '')
			ON CONFLICT (name) DO UPDATE SET attempts = jobs.attempts + 1`)
		return err
	})
}

func ready(ctx context.Context, db *store.DB) error {
	return db.Ready(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO write_tries (name, tried_at, filler) VALUES ('ready', 0, '') ON CONFLICT (name) DO UPDATE SET tried_at = 1`)
		return err
	})
}

// TestAWorkerIsAway: requests to its sites are refused with a Retry-After. Nothing else is affected: other sites, jobs, and readiness.
func TestAWorkerIsAway(t *testing.T) {
	t.Parallel()
	db, proxies := proxied(t)
	at, sites := ports(t), sitesByPort(t, db)
	proxies[1].Refuse()
	proxies[1].Cut()
	for range 3 {
		err := nameSite(t, db, sites[at[1]])
		if e, ok := errors.AsType[*errs.Error](err); !ok || e.Kind != errs.Unavailable || e.RetryAfter == 0 || e.Reason != "" {
			t.Errorf("a write at a site that is away: %v", err)
		}
		err = db.Read(t.Context(), sites[at[1]], func(tx *store.Tx) error { return nil })
		if !errs.Is(err, errs.Unavailable) {
			t.Errorf("a read at a site that is away: %v", err)
		}
	}
	for range 3 {
		if err := errors.Join(nameSite(t, db, sites[at[2]]), job(t.Context(), db), ready(t.Context(), db)); err != nil {
			t.Errorf("elsewhere: %v", err)
		}
	}
	if all, away := db.Nodes(); all != 3 || away != 1 {
		t.Errorf("%d of %d nodes are away", away, all)
	}
	laid, err := db.Layout(t.Context())
	if err != nil || laid.Nodes[0].Away || !laid.Nodes[1].Away || laid.Nodes[2].Away || laid.Nodes[1].Sites == 0 {
		t.Errorf("the layout: %+v, %v", laid.Nodes, err)
	}
}

// TestTheCoordinatorIsAway: sites on other nodes are read and written. Tables of the deployment are read on another node, and cannot be
// written.
func TestTheCoordinatorIsAway(t *testing.T) {
	t.Parallel()
	db, proxies := proxied(t)
	at, sites := ports(t), sitesByPort(t, db)
	proxies[0].Refuse()
	proxies[0].Cut()
	for range 3 {
		if err := job(t.Context(), db); !errs.Is(err, errs.Unavailable) {
			t.Errorf("a write of the deployment: %v", err)
		}
		if err := errors.Join(nameSite(t, db, sites[at[1]]), nameSite(t, db, sites[at[2]]), ready(t.Context(), db)); err != nil {
			t.Errorf("a write of a site: %v", err)
		}
		var found int
		err := db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
			return tx.QueryRow(`SELECT COUNT(*) FROM sites JOIN users ON users.username = 'user-of-' || sites.path`, nil, &found)
		})
		if err != nil || found < 2 {
			t.Errorf("%d sites are read, %v", found, err)
		}
	}
	for _, p := range proxies[1:] {
		p.Refuse()
		p.Cut()
	}
	if err := nameSite(t, db, sites[at[1]]); !errs.Is(err, errs.Unavailable) {
		t.Errorf("without any node: %v", err)
	}
	db.PingCluster(t.Context())
	if err := ready(t.Context(), db); !errs.Is(err, errs.Unavailable) {
		t.Errorf("ready without any node: %v", err)
	}
}

// TestRebalanceUnderLoad: a node is added, sites move to it while they are read and written, and nothing is lost. The commands are those of
// docs/scale.md.
func TestRebalanceUnderLoad(t *testing.T) {
	t.Parallel()
	nodes, at := threeNodes(t), ports(t)
	address := pgtest.URL(t)
	if err := pgtest.MakeCitus(t.Context(), address, nodes[1:2]); err != nil {
		t.Fatal(err)
	}
	db := dbtest.Open(t, address, dbtest.AtStart)
	if _, err := db.Distribute(t.Context()); err != nil {
		t.Fatal(err)
	}
	var sites []int64
	for i := range 12 {
		sites = append(sites, siteAt(t, db, "site-"+strconv.Itoa(i)))
	}
	var stop atomic.Bool
	var all sync.WaitGroup
	written := make([]int, len(sites))
	for i, site := range sites[:4] {
		all.Go(func() {
			for !stop.Load() {
				err := nameSite(t, db, site)
				if e, ok := errors.AsType[*errs.Error](err); ok && e.Kind == errs.Unavailable && e.Reason == "" { // nothing is stored
					continue
				}
				if err != nil {
					t.Errorf("site %d: %v", site, err)
					return
				}
				written[i]++
			}
		})
	}
	func() {
		defer stop.Store(true)
		if err := pgtest.AddNode(t.Context(), address, nodes[2]); err != nil {
			t.Error(err)
			return
		}
		coordinator, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = coordinator.Close(context.Background()) }()
		for _, statement := range []string{"SELECT citus_rebalance_start()", "SELECT citus_rebalance_wait()"} {
			if _, err := coordinator.Exec(t.Context(), statement); err != nil {
				t.Errorf("%s: %v", statement, err)
			}
		}
	}()
	all.Wait()
	if err := db.LookAtCluster(t.Context()); err != nil {
		t.Fatal(err)
	}
	moved := 0
	for i, site := range sites {
		if portOf(t, db, site) == at[2] {
			moved++
		}
		var stored int
		err := db.Read(t.Context(), site, func(tx *store.Tx) error {
			return tx.QueryRow(`SELECT COUNT(*) FROM site_names WHERE site_id = $1`, []any{site}, &stored)
		})
		if err != nil || stored != written[i] {
			t.Errorf("site %d: %d writes are stored of %d, %v", site, stored, written[i], err)
		}
	}
	if moved == 0 || moved == len(sites) {
		t.Errorf("%d of %d sites are on the new node", moved, len(sites))
	}
}
