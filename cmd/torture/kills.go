package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Rounds of the scenario, and the contents of each.
const (
	sqliteKills   = 200
	postgresKills = 100
	writers       = 4
	importEvery   = 10 // rounds from one with an import to the next
	importedRows  = 300
)

// book is a sandbox that is killed repeatedly.
type book struct {
	r      *run
	name   string // of the engine or the fault
	house  *house
	server *server
	pg     *cluster // nil on SQLite
	token  string
	// What the writers requested in all rounds. After the last one, nothing else may be in the book.
	acknowledged, open, found int
	imported                  int
	uploads                   []*upload // files uploaded over HTTP in all rounds
	recoveries                []time.Duration
	saidNo                    time.Duration  // the longest that /readyz reported ready after a loss
	taken                     map[string]any // what a fault has taken away
}

// killsOnSQLite is the scenario kills.
func killsOnSQLite(r *run) error { return killsOn(r, "SQLite", nil, r.count(sqliteKills)) }

// killsOnPostgres is the scenario kills-postgres.
func killsOnPostgres(r *run) error {
	return r.onPostgres("postgres", func(pg *cluster) error { return killsOn(r, "PostgreSQL", pg, r.count(postgresKills)) })
}

// onPostgres runs a scenario on a new cluster. If PostgreSQL is not installed, the scenario is reported as skipped.
func (r *run) onPostgres(name string, part func(pg *cluster) error) error {
	pg, err := r.newCluster(name, "fsync = off", "max_connections = 50")
	if errors.Is(err, errNoPostgres) {
		r.figure("PostgreSQL", "skipped: %v", err)
		return nil
	}
	if pg != nil {
		defer pg.remove()
	}
	if err != nil {
		return err
	}
	return part(pg)
}

func killsOn(r *run, engine string, pg *cluster, rounds int) error {
	b := &book{r: r, name: engine, pg: pg}
	database := ""
	if pg != nil {
		if err := pg.sql("postgres", "CREATE DATABASE kills"); err != nil {
			return err
		}
		database = pg.url("kills")
	}
	var err error
	if b.house, err = r.newHouse(strings.ToLower(engine), database); err != nil {
		return err
	}
	if err := b.begin(); err != nil {
		return err
	}
	defer func() { b.server.kill() }()
	for round := r.first; round < r.first+rounds; round++ {
		if err := b.killed(round); err != nil {
			return fmt.Errorf("%s, round %d: %w", engine, round, err)
		}
	}
	if err := b.whole(); err != nil {
		return err
	}
	slices.Sort(b.recoveries)
	r.figure(engine+": kills", "%d", rounds)
	r.figure(engine+": acknowledged writes, all present exactly once", "%d", b.acknowledged)
	r.figure(engine+": interrupted writes; of these, committed", "%d; %d", b.open, b.found)
	r.figure(engine+": rows of imports killed and restarted", "%d", b.imported)
	r.figure(engine+": files uploaded over HTTP to a killed server, each row imported exactly once", "%d", len(b.uploads))
	r.figure(engine+": ready again after a kill, median and worst", "%s, %s",
		b.recoveries[len(b.recoveries)/2].Round(time.Millisecond), b.recoveries[len(b.recoveries)-1].Round(time.Millisecond))
	return nil
}

var tokenLine = regexp.MustCompile(`API token +(\S+)`)

// begin creates the sandbox and serves it.
func (b *book) begin() error {
	made, err := b.house.start("demo", "--empty")
	if err != nil {
		return err
	}
	if at := tokenLine.FindStringSubmatch(made.said); at != nil {
		b.token = at[1]
	}
	if err := made.interrupt(); err != nil {
		return err
	}
	b.server, err = b.house.start("serve")
	return err
}

// killed is one round: clients write, something is killed at a random moment and restarted, and every acknowledged write
// is looked up.
func (b *book) killed(round int) error {
	random := b.r.random(b.name, round)
	moment := time.Duration(random.IntN(400_000)) * time.Microsecond
	victim := "the program"
	if b.pg != nil {
		victim = []string{"the program", "PostgreSQL", "PostgreSQL (immediate)"}[random.IntN(3)]
	}
	stop := make(chan struct{})
	var work sync.WaitGroup
	var hands []*writer
	for i := range writers {
		w := newWriter(b, fmt.Sprintf("%s%d-%d-%d", b.name[:1], b.r.seed, round, i), random)
		hands = append(hands, w)
		work.Go(func() { w.write(stop) })
	}
	var file *importFile
	if round%importEvery == 0 {
		file = &importFile{book: b, name: fmt.Sprintf("import-%d-%d.csv", b.r.seed, round)}
		if err := file.begin(random); err != nil {
			return err
		}
	}
	if round%importEvery == importEvery/2 {
		if err := b.upload(round, b.r.random(b.name+" upload", round)); err != nil {
			return err
		}
	}
	if err := b.r.pause(moment); err != nil {
		return err
	}
	err := b.kill(victim, random)
	close(stop)
	work.Wait()
	if err != nil {
		return err
	}
	if file != nil {
		if err := file.again(); err != nil {
			return err
		}
	}
	return b.check(round, fmt.Sprintf("%s after %s; ready again after %s", victim, moment.Round(time.Millisecond),
		b.recoveries[len(b.recoveries)-1].Round(time.Millisecond)), hands)
}

// kill kills the victim, restarts it, and waits until the server is ready.
func (b *book) kill(victim string, random *rand.Rand) (err error) {
	began := time.Now()
	switch victim {
	case "PostgreSQL":
		err = b.pg.kill()
	case "PostgreSQL (immediate)":
		err = b.pg.stop("immediate")
	default:
		b.server.kill()
		b.server, err = b.house.start("serve")
	}
	if err == nil && victim != "the program" {
		// The server runs without its database for a while.
		if err = b.r.pause(time.Duration(random.IntN(300)) * time.Millisecond); err == nil {
			began = time.Now()
			err = b.pg.start()
		}
	}
	if err != nil {
		return err
	}
	if _, err := b.server.ready(patience); err != nil {
		return err
	}
	b.recoveries = append(b.recoveries, time.Since(began))
	return nil
}

// check looks up all writes of a round, and repeats those whose outcome is unknown.
func (b *book) check(round int, what string, hands []*writer) error {
	known, open, found, refused := 0, 0, 0, 0
	for _, w := range hands {
		c := b.server.caller(cmp.Or(w.place.token, b.token))
		for _, asked := range w.asked {
			before, err := asked.stored(c)
			if err != nil {
				return err
			}
			switch {
			case asked.id != 0:
				known++
				if len(before) != 1 || before[0] != asked.id {
					b.r.fail("%s, round %d: %s was acknowledged as %d, but found %v", b.name, round, asked.reference, asked.id, before)
				}
				continue
			case asked.refused != "":
				if refused++; refused <= 3 { // the others are most likely the same
					b.r.fail("%s, round %d: %s was rejected: %s", b.name, round, asked.reference, asked.refused)
				}
			}
			open++
			found += len(before)
			id, err := asked.again(b.r, c)
			if err != nil {
				b.r.fail("%s, round %d: %s, retried: %v", b.name, round, asked.reference, err)
				continue
			}
			after, err := asked.stored(c)
			if err != nil {
				return err
			}
			if len(after) != 1 || after[0] != id || len(before) > 1 || len(before) == 1 && before[0] != id {
				b.r.fail("%s, round %d: %s was interrupted: found %v before the retry, then %v, and the response is %d",
					b.name, round, asked.reference, before, after, id)
			}
		}
		if err := w.sums(c); err != nil {
			b.r.fail("%s, round %d: %v", b.name, round, err)
		}
	}
	if refused > 3 {
		b.r.fail("%s, round %d: %d writes were rejected", b.name, round, refused)
	}
	b.acknowledged, b.open, b.found = b.acknowledged+known, b.open+open, b.found+found
	b.r.say("%s, round %d: %s; %d acknowledged, %d interrupted, of which %d were committed", b.name, round, what, known, open, found)
	return nil
}

// whole checks the whole book after the last round: it contains nothing that was not requested, and the program's own
// checks pass.
func (b *book) whole() error {
	c := b.server.caller(b.token)
	for _, u := range b.uploads {
		if err := u.finish(c); err != nil {
			return err
		}
	}
	total := 0
	for _, kind := range []string{"bookings", "transactions"} {
		a, err := c.ask(http.MethodGet, api+kind+"?per_page=1", nil, nil)
		if err != nil {
			return err
		}
		n := 0
		if _, err := fmt.Sscan(a.header.Get("X-WP-Total"), &n); err != nil {
			return fmt.Errorf("GET %s: %d %s: %w", kind, a.status, lastOf(string(a.body)), err)
		}
		total += n
	}
	if want := b.acknowledged + b.open + 2*b.imported; total != want {
		b.r.fail("%s: found %d bookings and transactions, but %d were requested", b.name, total, want)
	}
	b.verify()
	return nil
}

// verify runs `holdfast verify` on the book.
func (b *book) verify() {
	if said, err := b.house.must("verify"); err != nil {
		b.r.fail("%s: %v\n%s", b.name, err, lastOf(said))
	}
}
