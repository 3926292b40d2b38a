package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Rounds of the scenario.
const (
	syncFailovers  = 20
	asyncFailovers = 5
)

// asyncLag is how long an asynchronous standby receives nothing before its primary is lost.
const asyncLag = 300 * time.Millisecond

// pair is a PostgreSQL primary and its standby, which swap roles in each round.
type pair struct {
	primary, standby *cluster
	synchronous      bool
}

// failover is the scenario: the primary's machine is lost, and the standby is promoted.
func failover(r *run) error {
	for _, kind := range []struct {
		name        string
		synchronous bool
		rounds      int
	}{{"synchronous", true, r.count(syncFailovers)}, {"asynchronous", false, r.count(asyncFailovers)}} {
		err := failoverOf(r, kind.name, kind.synchronous, kind.rounds)
		if errors.Is(err, errNoPostgres) {
			r.figure("fail-over", "skipped: %v", err)
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s standby: %w", kind.name, err)
		}
	}
	return nil
}

func failoverOf(r *run, name string, synchronous bool, rounds int) error {
	p := &pair{synchronous: synchronous}
	defer func() {
		for _, c := range []*cluster{p.primary, p.standby} {
			if c != nil {
				c.remove()
			}
		}
	}()
	var err error
	p.primary, err = r.newCluster(name+"-a", "wal_level = replica", "max_wal_senders = 10", "max_connections = 60", "fsync = off")
	if err != nil {
		return err
	}
	if p.standby, err = r.clusterIn(name + "-b"); err != nil {
		return err
	}
	if err := errors.Join(p.primary.sql("postgres", "CREATE DATABASE failover"), p.attach()); err != nil {
		return err
	}
	b := &book{r: r, name: name}
	if b.house, err = r.newHouse(name, severalHosts("failover", p.primary.port, p.standby.port)); err != nil {
		return err
	}
	if err := b.begin(); err != nil {
		return err
	}
	defer func() { b.server.kill() }()
	lost, worst := 0, time.Duration(0)
	for round := r.first; round < r.first+rounds; round++ {
		missing, refused, err := b.failedOver(p, round)
		if err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		lost, worst = lost+missing, max(worst, refused)
	}
	if synchronous {
		if err := b.standbyAway(p); err != nil {
			return err
		}
		if err := b.whole(); err != nil {
			return err
		}
	} else {
		b.verify()
	}
	b.failoverFigures(rounds, lost, worst)
	return nil
}

// failoverFigures adds the rows of the table for one kind of standby.
func (b *book) failoverFigures(rounds, lost int, worst time.Duration) {
	r := b.r
	slices.Sort(b.recoveries)
	r.figure(b.name+" standby: fail-overs", "%d", rounds)
	r.figure(b.name+" standby: acknowledged writes; of these, lost", "%d; %d", b.acknowledged, lost)
	r.figure(b.name+" standby: interrupted writes; of these, committed", "%d; %d", b.open, b.found)
	r.figure(b.name+" standby: slowest 503 without a primary", "%s", worst.Round(time.Millisecond))
	r.figure(b.name+" standby: /readyz reported not ready at the latest after", "%s", b.saidNo.Round(time.Millisecond))
	r.figure(b.name+" standby: first write after the promotion, median and worst", "%s, %s",
		b.recoveries[len(b.recoveries)/2].Round(time.Millisecond), b.recoveries[len(b.recoveries)-1].Round(time.Millisecond))
}

// severalHosts is a URL with several servers, of which the one that accepts writes is used.
func severalHosts(database string, ports ...int) string {
	var hosts []string
	for _, port := range ports {
		hosts = append(hosts, fmt.Sprintf("127.0.0.1:%d", port))
	}
	return "postgres://postgres@" + strings.Join(hosts, ",") + "/" + database + "?sslmode=disable&target_session_attrs=read-write"
}

// attach creates the standby as a copy of the primary, and waits until it follows the primary.
func (p *pair) attach() error {
	if err := os.RemoveAll(p.standby.data()); err != nil {
		return err
	}
	err := p.standby.do("pg_basebackup", "--pgdata", p.standby.data(), "--write-recovery-conf", "--checkpoint", "fast", "--wal-method", "stream",
		"--no-sync", "--dbname", fmt.Sprintf("host=127.0.0.1 port=%d user=postgres application_name=standby", p.primary.port))
	if err != nil {
		return err
	}
	want := "async"
	if p.synchronous {
		want = "sync"
		// Not on the standby: after its promotion it would wait for another standby before it acknowledges anything.
		if err := p.standby.set("synchronous_standby_names = ''"); err != nil {
			return err
		}
		if err := p.primary.set("synchronous_standby_names = 'standby'"); err != nil {
			return err
		}
	}
	if err := errors.Join(p.standby.start(), p.primary.do("pg_ctl", "--pgdata", p.primary.data(), "reload")); err != nil {
		return err
	}
	_, err = p.primary.r.until(patience, "the standby follows", func() bool {
		state, err := p.primary.value("postgres", "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'")
		return err == nil && state == want
	})
	return err
}

// value runs a query that returns one text.
func (c *cluster) value(database, query string) (text string, err error) {
	ctx, cancel := context.WithTimeout(c.r.ctx, 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url(database))
	if err != nil {
		return "", err
	}
	err = conn.QueryRow(ctx, query).Scan(&text)
	return text, errors.Join(err, conn.Close(ctx))
}

// lose kills all processes of the server at the same time, as when its machine is lost.
func (c *cluster) lose() error {
	first, err := c.first()
	if err != nil {
		return err
	}
	// The postmaster is stopped before the others are listed, because it could start another one in the meantime, which
	// would survive.
	if err := syscall.Kill(first, syscall.SIGSTOP); err != nil {
		return err
	}
	for _, id := range processes(first) {
		if err := syscall.Kill(id, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}

// failedOver is one round: clients write, the primary is lost at a random moment, and its standby takes over. It returns
// how many acknowledged writes are lost, and how long the slowest rejection took in the meantime.
func (b *book) failedOver(p *pair, round int) (lost int, slowest time.Duration, err error) {
	random := b.r.random(b.name, round)
	moment := time.Duration(random.IntN(600_000)) * time.Microsecond
	hands, work, stop := b.hands(random, round)
	err = b.r.pause(moment)
	if err == nil && !p.synchronous {
		err = p.lag()
	}
	err = errors.Join(err, p.primary.lose())
	gone := time.Now()
	close(stop)
	work.Wait()
	if err != nil {
		return 0, 0, err
	}
	slowest = b.withoutPrimary(round, random, gone)
	if err := p.standby.do("pg_ctl", "--pgdata", p.standby.data(), "--wait", "promote"); err != nil {
		return 0, 0, err
	}
	if err := b.writesAgain(round); err != nil {
		return 0, 0, err
	}
	if p.synchronous {
		err = b.check(round, fmt.Sprintf("the primary after %s", moment.Round(time.Millisecond)), hands)
	} else {
		lost, err = b.count(round, hands)
	}
	p.primary, p.standby = p.standby, p.primary
	return lost, slowest, errors.Join(err, p.attach())
}

// hands starts the writers of a round.
func (b *book) hands(random *rand.Rand, round int) (hands []*writer, work *sync.WaitGroup, stop chan struct{}) {
	work, stop = &sync.WaitGroup{}, make(chan struct{})
	for i := range writers {
		w := &writer{
			caller: b.server.caller(b.token), name: fmt.Sprintf("%s%d-%d-%d", b.name[:1], b.r.seed, round, i),
			random: rand.New(rand.NewPCG(random.Uint64(), random.Uint64())),
		}
		hands = append(hands, w)
		work.Go(func() { w.write(stop) })
	}
	return hands, work, stop
}

// lag stops replication to the standby while the primary keeps writing for a while.
func (p *pair) lag() error {
	text, err := p.primary.value("postgres", "SELECT pid::text FROM pg_stat_replication")
	if err != nil {
		return err
	}
	var sender int
	if _, err := fmt.Sscan(text, &sender); err != nil {
		return err
	}
	if err := syscall.Kill(sender, syscall.SIGSTOP); err != nil {
		return err
	}
	return p.primary.r.pause(asyncLag)
}

// Limits without a primary: a request may wait for the duration of a write, and /readyz for one second. /readyz caches
// its result for a second, so it may report ready that long. The rest is slack for a busy machine.
const (
	refusedWithin  = 8 * time.Second
	notReadyWithin = 3 * time.Second
	readyUntil     = 3 * time.Second
)

// withoutPrimary checks the server while no database accepts writes: it must reject writes with status 503, and soon
// report that it is not ready, consistently from then on. It returns how long the slowest rejection took.
func (b *book) withoutPrimary(round int, random *rand.Rand, gone time.Time) (slowest time.Duration) {
	until := time.Now().Add(time.Duration(random.IntN(1500)) * time.Millisecond)
	for saidNo := false; !saidNo || time.Now().Before(until); {
		ready, err := b.server.caller("").ask(http.MethodGet, "/readyz", nil, nil)
		no := err == nil && ready.status == http.StatusServiceUnavailable
		early := err == nil && ready.status == http.StatusOK && !saidNo && time.Since(gone) < readyUntil
		if !no && !early || ready.took > notReadyWithin {
			b.r.fail("%s, round %d: %s after the primary, /readyz is %d after %s: %v", b.name, round,
				time.Since(gone).Round(time.Millisecond), ready.status, ready.took, err)
			return slowest
		}
		if no && !saidNo {
			saidNo, b.saidNo = true, max(b.saidNo, time.Since(gone))
		}
		w := &writer{caller: b.server.caller(b.token), name: "refused", random: random}
		booking := w.next()
		answer, err := w.caller.ask(http.MethodPost, api+booking.path, nil, booking.body)
		if err != nil || answer.status != http.StatusServiceUnavailable || answer.header.Get("Retry-After") == "" || answer.took > refusedWithin {
			b.r.fail("%s, round %d: without a primary, a write got %d %s after %s: %v", b.name, round,
				answer.status, lastOf(string(answer.body)), answer.took, err)
		}
		slowest = max(slowest, answer.took)
	}
	return slowest
}

// standbyAway checks the server while the synchronous standby does not respond: the primary then acknowledges nothing,
// and neither does holdfast. A write that was waiting is found by its key, exactly once.
func (b *book) standbyAway(p *pair) error {
	if err := p.standby.freeze(); err != nil {
		return err
	}
	w := &writer{caller: b.server.caller(b.token), name: fmt.Sprintf("s%d-away", b.r.seed), random: rand.New(rand.NewPCG(1, 1))}
	booking := w.next()
	answer, err := w.caller.ask(http.MethodPost, api+booking.path, map[string]string{"Idempotency-Key": booking.key}, booking.body)
	if err != nil || answer.status != http.StatusServiceUnavailable || answer.took > refusedWithin {
		b.r.fail("%s: while the standby was unavailable, a write got %d %s after %s: %v", b.name, answer.status,
			lastOf(string(answer.body)), answer.took, err)
	}
	b.r.figure(b.name+" standby unavailable: a write gets 503 after", "%s", answer.took.Round(time.Millisecond))
	if err := p.standby.thaw(); err != nil {
		return err
	}
	id, err := booking.again(b.r, w.caller)
	if err != nil {
		return err
	}
	b.acknowledged++
	there, err := booking.stored(w.caller)
	if err != nil || len(there) != 1 || there[0] != id {
		b.r.fail("%s: the write that waited for the standby is %d, but found %v: %v", b.name, id, there, err)
	}
	return nil
}

// writesAgain waits until a write is acknowledged again, and then checks that the server reports ready.
func (b *book) writesAgain(round int) error {
	w := &writer{
		caller: b.server.caller(b.token), name: fmt.Sprintf("%s%d-%d-again", b.name[:1], b.r.seed, round), random: rand.New(rand.NewPCG(1, 1)),
	}
	booking := w.next()
	began := time.Now()
	if _, err := booking.again(b.r, w.caller); err != nil {
		return err
	}
	b.recoveries = append(b.recoveries, time.Since(began))
	b.acknowledged++
	_, err := b.server.ready(notReadyWithin)
	return err
}

// count looks up the writes of a round, of which the last ones may be lost.
func (b *book) count(round int, hands []*writer) (lost int, err error) {
	c := b.server.caller(b.token)
	for _, w := range hands {
		for _, asked := range w.asked {
			there, err := asked.stored(c)
			switch {
			case err != nil:
				return lost, err
			case asked.refused != "":
				b.r.fail("%s, round %d: %s was rejected: %s", b.name, round, asked.reference, asked.refused)
			case asked.id == 0:
				b.open, b.found = b.open+1, b.found+len(there)
			case len(there) > 1 || len(there) == 1 && there[0] != asked.id:
				b.r.fail("%s, round %d: %s was acknowledged as %d, but found %v", b.name, round, asked.reference, asked.id, there)
			default:
				b.acknowledged, lost = b.acknowledged+1, lost+1-len(there)
			}
		}
	}
	b.r.say("%s, round %d: %d acknowledged writes lost; writes resumed after %s", b.name, round, lost,
		b.recoveries[len(b.recoveries)-1].Round(time.Millisecond))
	return lost, nil
}
