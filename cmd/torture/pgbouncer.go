package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of the scenario.
const (
	poolerRounds  = 6               // of each way to the database, alternating
	poolerTime    = 5 * time.Second // how long clients write in a round
	poolerServers = 2               // programs that share the pool
	poolSize      = 20              // connections from the pooler to PostgreSQL: fewer than from the programs to the pooler
	poolerMode    = "&default_query_exec_mode=cache_describe"
	poolerWriters = 8 // clients of each program
)

// pgbouncer is the scenario: holdfast connects to PostgreSQL through PgBouncer, which may give each transaction a
// different connection.
func pgbouncer(r *run) error {
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/pgbouncer")
	}
	if err != nil {
		r.figure("PgBouncer", "skipped: %v", err)
		return nil
	}
	version, err := exec.CommandContext(r.ctx, program, "--version").Output()
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(version), "\n")
	r.figure("PgBouncer", "%s, transaction mode, %d connections for %d programs", line, poolSize, poolerServers)
	return r.onPostgres("pgbouncer-postgres", func(pg *cluster) error { return r.pooled(pg, program) })
}

// way is how programs connect to the database: directly, or through the pooler.
type way struct {
	name    string
	url     string
	servers []*server
	rates   []float64 // acknowledged writes per second in each round
}

// pooled writes through both ways alternately, and compares what is stored with what was acknowledged.
func (r *run) pooled(pg *cluster, program string) error {
	if err := pg.sql("postgres", "CREATE DATABASE pooled"); err != nil {
		return err
	}
	port, stop, err := r.startPooler(pg, program)
	if err != nil {
		return err
	}
	defer stop()
	through := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/pooled?sslmode=disable%s", port, poolerMode)
	// The sandbox is created and migrated through the pooler, too.
	b := &book{r: r, name: "PgBouncer"}
	if b.house, err = r.newHouse("pgbouncer", through); err != nil {
		return err
	}
	if err := b.begin(); err != nil {
		return err
	}
	defer func() { b.server.kill() }()
	ways := []*way{{name: "straight", url: pg.url("pooled")}, {name: "through PgBouncer", url: through}}
	for _, w := range ways {
		for range poolerServers {
			house := *b.house
			house.database = w.url
			s, err := house.start("serve")
			if err != nil {
				return err
			}
			defer s.kill()
			w.servers = append(w.servers, s)
		}
	}
	for round := r.first; round < r.first+r.count(poolerRounds); round++ {
		for _, w := range ways {
			if err := b.poolerRound(round, w); err != nil {
				return fmt.Errorf("round %d, %s: %w", round, w.name, err)
			}
		}
	}
	if err := errors.Join(b.reports(), b.whole()); err != nil {
		return err
	}
	for _, w := range ways {
		slices.Sort(w.rates)
		r.figure("PgBouncer: writes per second, "+w.name+", median", "%.0f", w.rates[len(w.rates)/2])
	}
	r.figure("PgBouncer: throughput relative to a direct connection", "%.0f %%", 100*ways[1].rates[len(ways[1].rates)/2]/ways[0].rates[len(ways[0].rates)/2])
	r.figure("PgBouncer: acknowledged writes, all present exactly once", "%d", b.acknowledged)
	return nil
}

// startPooler starts PgBouncer in front of a cluster, as the owner of the cluster, because it refuses to run as root.
func (r *run) startPooler(pg *cluster, program string) (port int, stop func(), err error) {
	if port, err = freePort(); err != nil {
		return 0, nil, err
	}
	config := filepath.Join(pg.dir, "pgbouncer.ini")
	text := fmt.Sprintf(`[databases]
* = host=127.0.0.1 port=%d user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = %d
max_client_conn = 500
`, pg.port, port, poolSize)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return 0, nil, err
	}
	as, err := owner()
	if err != nil {
		return 0, nil, err
	}
	cmd, err := r.daemon(as, filepath.Join(r.dir, "pgbouncer.log"), program, config)
	if err != nil {
		return 0, nil, err
	}
	stop = func() { end(cmd) }
	through := &cluster{r: r, programs: pg.programs, port: port}
	_, err = r.until(patience, "PgBouncer responds", func() bool {
		_, err := through.value("postgres", "SELECT 'yes'")
		return err == nil
	})
	if err != nil {
		stop()
	}
	return port, stop, err
}

// poolerRound has clients write through one way for a while. There is no fault, so every write must succeed.
func (b *book) poolerRound(round int, w *way) error {
	random := b.r.random(w.name, round)
	var hands []*writer
	var work sync.WaitGroup
	stop := make(chan struct{})
	for n, s := range w.servers {
		for i := range poolerWriters {
			hand := newWriter(&book{server: s, token: b.token}, fmt.Sprintf("%s%d-%d-%d-%d", w.name[:1], b.r.seed, round, n, i), random)
			hands = append(hands, hand)
			work.Go(func() { hand.write(stop) })
		}
	}
	began := time.Now()
	err := b.r.pause(poolerTime)
	close(stop)
	work.Wait()
	took := time.Since(began)
	if err != nil {
		return err
	}
	known, open := b.acknowledged, b.open
	if err := b.check(round, w.name, hands); err != nil {
		return err
	}
	if b.open > open {
		b.r.fail("%s, round %d: %d writes got no response, although there was no fault", w.name, round, b.open-open)
	}
	w.rates = append(w.rates, float64(b.acknowledged-known)/took.Seconds())
	return nil
}

// reports requests reports that run as long reads, in a transaction of many statements.
func (b *book) reports() error {
	c := b.server.caller(b.token)
	for range 3 {
		for _, path := range []string{
			"exposure", "exposure/details", "exposure/run-off", "exposure/movement?from=2026-01-01&to=2029-12-31", "bookings?page=1&search=a",
		} {
			answer, err := c.ask(http.MethodGet, api+path, nil, nil)
			if err != nil {
				return err
			}
			if answer.status != http.StatusOK || !json.Valid(answer.body) {
				b.r.fail("PgBouncer: %s got %d %s", path, answer.status, lastOf(string(answer.body)))
			}
		}
	}
	return nil
}
