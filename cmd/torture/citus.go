package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"holdfast/internal/testkit/pgtest"

	"github.com/jackc/pgx/v5"
)

// Times of a round of the scenario.
const (
	citusBefore = 2 * time.Second // clients write before the fault
	citusDuring = 3 * time.Second // the fault lasts
	citusAfter  = 2 * time.Second // clients write after it
)

// overNodes is a book whose sites are on the servers of a Citus cluster.
type overNodes struct {
	*book
	servers []*cluster // the coordinator first
	home    *cluster   // the server with the site demo
	demo    place
	other   place     // a site on another server
	standby *cluster  // the server that replaced one
	locked  *pgx.Conn // holds a lock
	slowest time.Duration
}

// citus is the scenario: servers of a cluster fail, one at a time, while clients write to sites on two of them.
func citus(r *run) error {
	if len(pgtest.CitusNodes()) < 3 {
		r.figure("Citus", "skipped: there is no cluster with two workers in %s. scripts/with-citus starts one", pgtest.CitusVariable)
		return nil
	}
	o, err := r.newOverNodes()
	if err != nil {
		return err
	}
	defer func() {
		o.server.kill()
		if o.standby != nil {
			o.standby.remove()
		}
	}()
	faults := o.faults()
	rounds := r.count(len(faults))
	for round := r.first; round < r.first+rounds; round++ {
		if err := o.round(round, faults[(round-1)%len(faults)]); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	o.verify()
	r.figure("Citus: faults", "%d", rounds)
	r.figure("Citus: acknowledged writes, all present exactly once", "%d", o.acknowledged)
	r.figure("Citus: interrupted writes; of these, committed", "%d; %d", o.open, o.found)
	r.figure("Citus: slowest 503 for a site whose server is away", "%s", o.slowest.Round(time.Millisecond))
	return nil
}

// newOverNodes creates the book on a new database of the cluster that scripts/with-citus has started.
func (r *run) newOverNodes() (*overNodes, error) {
	nodes := pgtest.CitusNodes()
	o := &overNodes{book: &book{r: r, name: "Citus"}}
	for _, address := range nodes {
		c, err := r.runningCluster(address)
		if err != nil {
			return nil, err
		}
		o.servers = append(o.servers, c)
	}
	database := fmt.Sprintf("torture_%d", time.Now().UnixNano())
	if err := o.servers[0].sql("postgres", "CREATE DATABASE "+database+" TEMPLATE template0"); err != nil {
		return nil, err
	}
	if err := pgtest.MakeCitus(r.ctx, o.servers[0].url(database), nodes[1:]); err != nil {
		return nil, err
	}
	var err error
	if o.house, err = r.newHouse("citus", o.servers[0].url(database)); err != nil {
		return nil, err
	}
	if _, err := o.house.must("migrate", "--distribute"); err != nil {
		return nil, err
	}
	if err := o.begin(); err != nil {
		return nil, err
	}
	if o.home, err = o.serverOf("demo"); err != nil {
		return nil, err
	}
	if o.demo, err = o.placeAt("demo", o.token); err != nil {
		return nil, err
	}
	return o, o.findOther()
}

// runningCluster describes a server that is already running.
func (r *run) runningCluster(address string) (*cluster, error) {
	c := &cluster{r: r}
	_, port, _ := strings.Cut(address, ":")
	var err error
	if c.port, err = strconv.Atoi(port); err != nil {
		return nil, err
	}
	if c.pgdata, err = c.value("postgres", "SELECT current_setting('data_directory')"); err != nil {
		return nil, err
	}
	c.dir = filepath.Dir(c.pgdata)
	first, err := c.first()
	if err != nil {
		return nil, err
	}
	server, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", first))
	if err != nil {
		return nil, err
	}
	c.programs = filepath.Dir(server)
	// scripts/with-citus starts servers that may lose acknowledged writes when they are killed.
	return c, errors.Join(c.set("synchronous_commit = on"), c.do("pg_ctl", "--pgdata", c.data(), "reload"))
}

func (o *overNodes) database() string {
	return o.house.database[strings.LastIndex(o.house.database, "/")+1 : strings.Index(o.house.database, "?")]
}

// serverOf returns the server of a site.
func (o *overNodes) serverOf(path string) (*cluster, error) {
	port, err := o.servers[0].value(o.database(), `SELECT n.nodeport::text FROM sites s
		JOIN pg_dist_placement p ON p.shardid = get_shard_id_for_distribution_column('site_places', s.id)
		JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary' WHERE s.path = '`+path+`'`)
	at := slices.IndexFunc(o.servers, func(c *cluster) bool { return strconv.Itoa(c.port) == port })
	if err != nil || at < 0 {
		return nil, fmt.Errorf("no server has the site %s: %w", path, err)
	}
	return o.servers[at], nil
}

var anyToken = regexp.MustCompile(`\d+\|\S+`)

// findOther creates sites until one is on another server than demo, and gives it a merchant and a token.
func (o *overNodes) findOther() error {
	cmd, err := o.house.command(o.r.ctx, "user", "create", "torturer", "--email", "t@example.org", "--role", "operator")
	if err != nil {
		return err
	}
	cmd.Stdin = strings.NewReader("a long password of the scenario\na long password of the scenario\n")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("user create: %w: %s", err, lastOf(string(said)))
	}
	for n := range 32 {
		path := fmt.Sprintf("other-%d", n)
		if _, err := o.house.must("site", "create", path, "--name", path, "--currency", "EUR", "--sandbox"); err != nil {
			return err
		}
		if at, err := o.serverOf(path); err != nil || at == o.home {
			if err != nil {
				return err
			}
			continue
		}
		if _, err := o.house.must("merchant", "create", "Shop", "--currency", "EUR", "--mode", "protection-only", "--site", path); err != nil {
			return err
		}
		said, err := o.house.must("token", "create", "torture", "--user", "torturer", "--site", path)
		if err != nil {
			return err
		}
		o.other, err = o.placeAt(path, anyToken.FindString(said))
		return err
	}
	return errors.New("all sites are on one server")
}

// placeAt finds the merchant of a site that logs payments in EUR.
func (o *overNodes) placeAt(path, token string) (place, error) {
	at := place{api: "/" + path + "/rest/svc/v2/", token: token}
	answer, err := o.server.caller(token).ask(http.MethodGet, at.api+"channels?per_page=100", nil, nil)
	if err != nil {
		return at, err
	}
	var list []struct {
		ID         int64
		Mode       string `json:"account_mode"`
		Currencies string
	}
	if err := answer.as(&list); err != nil {
		return at, err
	}
	for _, c := range list {
		if c.Mode == "protection-only" && c.Currencies == "EUR" {
			at.channel = c.ID
			return at, nil
		}
	}
	return at, fmt.Errorf("the site %s has no merchant in EUR", path)
}

// nodeFault is one fault of the cluster or the program.
type nodeFault struct {
	name        string
	lasts       bool // until mend
	away        bool // meanwhile the site demo cannot be used
	begin, mend func() error
}

func (o *overNodes) faults() []nodeFault {
	nothing := func() error { return nil }
	return []nodeFault{
		{"the worker of a site is killed", true, true, func() error { return o.home.kill() }, func() error { return o.home.start() }},
		{"the program is killed", false, false, func() (err error) {
			o.server.kill()
			o.server, err = o.house.start("serve")
			return err
		}, nothing},
		{"sites move to another worker", false, false, o.swap, o.swapBack},
		{"the coordinator is killed", true, false, func() error { return o.servers[0].kill() }, func() error { return o.servers[0].start() }},
		{"a lock is held on the bookings of a site", true, false, o.lock, o.unlock},
		{"a worker is replaced by its standby", true, true, o.lose, o.replace},
	}
}

// lock locks the bookings of all sites in the shard of demo.
func (o *overNodes) lock() error {
	table, err := o.servers[0].value(o.database(),
		`SELECT 'bookings_' || get_shard_id_for_distribution_column('bookings', id)::text FROM sites WHERE path = 'demo'`)
	if err != nil {
		return err
	}
	if o.locked, err = pgx.Connect(o.r.ctx, o.home.url(o.database())); err != nil {
		return err
	}
	_, err = o.locked.Exec(o.r.ctx, "SET citus.enable_manual_changes_to_shards = on; BEGIN; LOCK TABLE "+table+" IN ACCESS EXCLUSIVE MODE")
	return err
}

func (o *overNodes) unlock() error { return o.locked.Close(o.r.ctx) }

// lose gives the worker of the site demo a synchronous standby and kills the worker, as when its machine is lost.
func (o *overNodes) lose() (err error) {
	if o.standby, err = o.r.clusterIn("citus-standby"); err != nil {
		return err
	}
	o.standby.programs = o.home.programs
	both := &pair{primary: o.home, standby: o.standby, synchronous: true}
	return errors.Join(both.attach(), o.home.lose())
}

// replace promotes the standby, and sets its address in the cluster.
func (o *overNodes) replace() error {
	if err := o.standby.do("pg_ctl", "--pgdata", o.standby.data(), "--wait", "promote"); err != nil {
		return err
	}
	o.servers[slices.Index(o.servers, o.home)] = o.standby
	lost := o.home
	o.home = o.standby
	return o.servers[0].sql(o.database(), fmt.Sprintf(`SELECT citus_update_node(nodeid, '127.0.0.1', %d) FROM pg_dist_node
		WHERE nodename = '127.0.0.1' AND nodeport = %d`, o.standby.port, lost.port))
}

// swap moves the site demo, and all sites in its shard, to the other worker.
func (o *overNodes) swap() error {
	to := o.servers[1]
	if to == o.home {
		to = o.servers[2]
	}
	err := o.move("demo", o.home, to)
	if err == nil {
		o.home = to
	}
	return err
}

// swapBack moves the other site to the worker that demo has left, so that both are on different servers again.
func (o *overNodes) swapBack() error {
	to := o.servers[1]
	if to == o.home {
		to = o.servers[2]
	}
	return o.move(strings.Split(o.other.api, "/")[1], o.home, to)
}

func (o *overNodes) move(path string, from, to *cluster) error {
	ctx, cancel := context.WithTimeout(o.r.ctx, 10*patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, o.servers[0].url(o.database()))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, fmt.Sprintf(`SELECT citus_move_shard_placement(get_shard_id_for_distribution_column('site_places', id),
		'127.0.0.1', %d, '127.0.0.1', %d, 'force_logical') FROM sites WHERE path = '%s'`, from.port, to.port, path))
	return errors.Join(err, conn.Close(ctx))
}

// round has clients write to both sites before, during and after a fault, and looks up all writes.
func (o *overNodes) round(round int, f nodeFault) error {
	random := o.r.random(f.name, round)
	var work sync.WaitGroup
	var hands []*writer
	stop := make(chan struct{})
	for i := range writers {
		w := newWriter(o.book, fmt.Sprintf("C%d-%d-%d", o.r.seed, round, i), random)
		w.goesOn, w.place = true, o.demo
		if i%2 == 1 {
			w.place = o.other
			w.caller = o.server.caller(o.other.token)
		}
		hands = append(hands, w)
		work.Go(func() { w.write(stop) })
	}
	err := o.r.pause(citusBefore)
	began := time.Now()
	if err == nil {
		err = f.begin()
	}
	if err == nil && f.lasts {
		o.refuses(round, f)
		err = o.r.pause(citusDuring)
	}
	ended := time.Now()
	if mended := f.mend(); err == nil {
		err = mended
	}
	if err == nil {
		_, err = o.server.ready(patience)
	}
	if err == nil {
		err = o.r.pause(citusAfter)
	}
	close(stop)
	work.Wait()
	if err != nil {
		return err
	}
	o.r.figure(fmt.Sprintf("Citus, %s: a site on another server", f.name), "before %s; during %s", o.tally(hands, time.Time{}, began), o.tally(hands, began, ended))
	if err := o.check(round, f.name, hands); err != nil {
		return err
	}
	return o.settled(f.name)
}

// refuses checks that writes to the site demo get 503 with Retry-After, within a second if its server is away. Until then, processes of the
// server that have not noticed its end may still store them.
func (o *overNodes) refuses(round int, f nodeFault) {
	w := newWriter(o.book, fmt.Sprintf("C%d-%d-refused", o.r.seed, round), o.r.random("refused", round))
	w.place = o.demo
	for began := time.Now(); ; {
		booking := w.next()
		answer, err := w.caller.ask(http.MethodPost, o.demo.api+booking.path, nil, booking.body)
		late := time.Since(began) > time.Second
		switch {
		case err == nil && answer.status == http.StatusServiceUnavailable && answer.header.Get("Retry-After") != "":
			if f.away {
				o.slowest = max(o.slowest, answer.took)
			}
			return
		case err == nil && answer.status == http.StatusCreated && !late:
			continue
		case err == nil && answer.status == http.StatusCreated && !f.away:
			return
		}
		o.r.fail("Citus, round %d: while %s, a write got %d %s after %s: %v", round, f.name, answer.status, lastOf(string(answer.body)), answer.took, err)
		return
	}
}

// tally summarizes the writes to the other site that began in an interval.
func (o *overNodes) tally(hands []*writer, from, to time.Time) string {
	var took []time.Duration
	failed := 0
	for _, w := range hands {
		for _, asked := range w.asked {
			switch {
			case w.place != o.other || asked.began.Before(from) || !asked.began.Before(to):
			case asked.id == 0:
				failed++
			default:
				took = append(took, asked.took)
			}
		}
	}
	if len(took) == 0 {
		return fmt.Sprintf("no writes, %d failed", failed)
	}
	return fmt.Sprintf("%d writes, %d failed, %s", len(took), failed, times(took))
}

// settled waits until no server has a prepared transaction left over.
func (o *overNodes) settled(name string) error {
	for _, c := range o.servers {
		if _, err := o.r.until(3*patience, "no prepared transaction is left after "+name, func() bool {
			n, err := c.value("postgres", "SELECT COUNT(*)::text FROM pg_prepared_xacts")
			return err == nil && n == "0"
		}); err != nil {
			return err
		}
	}
	return nil
}
