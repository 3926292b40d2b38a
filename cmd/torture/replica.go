package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Limits of the scenario.
const (
	replicaRounds = 4               // of each fault of the standby
	replicaTime   = 2 * time.Second // how long clients write and read before and during a fault
	replicaMost   = 2 * time.Second // --replica-max-lag
	replicaLag    = "Holdfast-Replica-Lag"
	// finalAfter is when a report as of a moment can no longer change, plus a second for clock differences.
	finalAfter = 11 * time.Second
)

// scans are reports that read many rows.
var scans = []string{"exposure/details?per_page=100", "exposure/ageing", "exposure?by=channel,supplier", "exposure/movement?from=2026-01-01"}

// replica is the scenario: long reports are read from a standby that is frozen, stopped or falls behind while clients
// write.
func replica(r *run) error {
	p := &pair{}
	defer func() {
		for _, c := range []*cluster{p.primary, p.standby} {
			if c != nil {
				c.remove()
			}
		}
	}()
	var err error
	p.primary, err = r.newCluster("replica-a", "wal_level = replica", "max_wal_senders = 10", "max_connections = 60", "fsync = off")
	if errors.Is(err, errNoPostgres) {
		r.figure("replica", "skipped: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	if p.standby, err = r.clusterIn("replica-b"); err != nil {
		return err
	}
	if err := errors.Join(p.primary.sql("postgres", "CREATE DATABASE failover"), p.attach()); err != nil {
		return err
	}
	f := &followers{book: book{r: r, name: "replica"}, pair: p}
	if f.house, err = r.newHouse("replica", p.primary.url("failover")); err != nil {
		return err
	}
	if err := f.begin(); err != nil { // this program has no standby: its reports are the reference
		return err
	}
	defer func() { f.server.kill() }()
	house := *f.house
	house.settings = []string{"HOLDFAST_REPLICA=" + p.standby.url("failover"), "HOLDFAST_REPLICA_MAX_LAG=" + replicaMost.String()}
	if f.reader, err = house.start("serve"); err != nil {
		return err
	}
	defer f.reader.kill()
	for round := r.first; round < r.first+r.count(replicaRounds); round++ {
		for _, h := range f.hardships() {
			if err := f.round(round, h); err != nil {
				return fmt.Errorf("round %d, %s: %w", round, h.name, err)
			}
		}
	}
	if err := errors.Join(f.compare(), f.whole()); err != nil {
		return err
	}
	slices.Sort(f.lags)
	r.figure("replica: reports from the standby; from the primary instead", "%d; %d", f.there, f.here)
	r.figure("replica: lag, median and worst", "%s, %s", f.lags[len(f.lags)/2], f.lags[len(f.lags)-1])
	r.figure("replica: slowest report during standby faults", "%s", f.slowest.Round(time.Millisecond))
	r.figure("replica: final reports from the standby, identical on the primary", "%d", f.compared)
	r.figure("replica: acknowledged writes, all present exactly once", "%d", f.acknowledged)
	return nil
}

// followers is a book with a program that reads long reports from the standby.
type followers struct {
	book
	pair        *pair
	reader      *server
	there, here int // reports from the standby, and from the database
	lags        []time.Duration
	slowest     time.Duration
	finals      []final // to be compared with the primary
	compared    int
}

// final is a report from the standby that can no longer change.
type final struct {
	path string
	body []byte
}

// standbyHardship is a fault of the standby.
type standbyHardship struct {
	name        string
	state       string // reported by /readyz during the fault
	begin, mend func() error
}

func (f *followers) hardships() []standbyHardship {
	standby := f.pair.standby
	replay := func(what string) func() error {
		return func() error { _, err := standby.value("postgres", "SELECT pg_wal_replay_"+what+"()::text"); return err }
	}
	return []standbyHardship{
		{"frozen", "away", standby.freeze, standby.thaw},
		{"stopped", "away", func() error { return standby.stop("immediate") }, standby.start},
		{"kept from following", "behind", replay("pause"), replay("resume")},
	}
}

// round has clients write and read while the standby is healthy, faulty, and healthy again.
func (f *followers) round(round int, h standbyHardship) error {
	hands, work, stop := f.hands(f.r.random(h.name, round), round*10+len(h.name)%10)
	err := f.well()
	if err == nil {
		err = h.begin()
	}
	if err == nil {
		err = f.inTrouble(h)
	}
	err = errors.Join(err, h.mend())
	if err == nil {
		_, err = f.r.until(patience, "reports come from the standby again", func() bool {
			lag, _, _, err := f.ask(scans[0])
			return err == nil && lag != ""
		})
	}
	close(stop)
	work.Wait()
	if err != nil {
		return err
	}
	return f.check(round, h.name, hands)
}

// well reads reports while the standby follows the primary: as of now, and as of a moment that is final.
func (f *followers) well() error {
	until := time.Now().Add(replicaTime)
	for n := 0; n < len(scans) || time.Now().Before(until); n++ {
		path := scans[n%len(scans)]
		if n%2 == 1 {
			path = with(path, "known_at", time.Now().Add(-finalAfter).UTC().Format("2006-01-02T15:04:05.000000Z"))
		}
		lag, at, answer, err := f.ask(path)
		if err != nil {
			return err
		}
		if lag == "" {
			f.here++
			continue
		}
		f.there++
		behind, err := time.ParseDuration(lag + "s")
		if err != nil || behind > replicaMost+time.Second {
			f.r.fail("replica: %s was read with a lag of %s: %v", path, lag, err)
		}
		f.lags = append(f.lags, behind)
		var shown struct {
			KnownAt time.Time `json:"known_at"`
			Final   bool
		}
		if err := answer.as(&shown); err != nil {
			return err
		}
		if n%2 == 0 && shown.KnownAt.After(at.Add(answer.took)) {
			f.r.fail("replica: %s at %s returned known_at %s", path, at, shown.KnownAt)
		}
		if shown.Final {
			f.finals = append(f.finals, final{path, answer.body})
		}
	}
	return nil
}

// inTrouble reads reports while the standby is unusable: the primary must answer instead, soon, and /readyz must report
// it.
func (f *followers) inTrouble(h standbyHardship) error {
	if _, err := f.r.until(patience, "reports come from the primary", func() bool {
		lag, _, answer, err := f.ask(scans[0])
		f.slowest = max(f.slowest, answer.took)
		return err == nil && lag == ""
	}); err != nil {
		return err
	}
	for until := time.Now().Add(replicaTime); time.Now().Before(until); {
		lag, _, answer, err := f.ask(scans[1])
		if err != nil {
			return err
		}
		f.here++
		f.slowest = max(f.slowest, answer.took)
		if lag != "" {
			f.r.fail("replica: while the standby is %s, a report was read from it with a lag of %s", h.name, lag)
		}
	}
	_, err := f.r.until(patience, "/readyz reports "+h.state, func() bool {
		ready, err := f.reader.caller("").ask(http.MethodGet, "/readyz", nil, nil)
		if err == nil && ready.status != http.StatusOK {
			f.r.fail("replica: while the standby is %s, /readyz is %d", h.name, ready.status)
		}
		return err == nil && strings.Contains(string(ready.body), `"replica":"`+h.state+`"`)
	})
	return err
}

// ask requests a report from the program with the standby.
func (f *followers) ask(path string) (lag string, at time.Time, answer reply, err error) {
	at = time.Now()
	answer, err = f.reader.caller(f.token).ask(http.MethodGet, api+path, nil, nil)
	if err == nil && answer.status != http.StatusOK {
		f.r.fail("replica: %s got %d %s", path, answer.status, lastOf(string(answer.body)))
	}
	return answer.header.Get(replicaLag), at, answer, err
}

// compare requests the final reports again from the program without a standby.
func (f *followers) compare() error {
	c := f.server.caller(f.token)
	for _, one := range f.finals {
		answer, err := c.ask(http.MethodGet, api+one.path, nil, nil)
		if err != nil {
			return err
		}
		if !bytes.Equal(answer.body, one.body) || !json.Valid(one.body) {
			f.r.fail("replica: %s was %s on the standby, but is %s on the primary", one.path, lastOf(string(one.body)), lastOf(string(answer.body)))
		}
		f.compared++
	}
	if f.compared == 0 {
		f.r.fail("replica: no reports were compared")
	}
	return nil
}

// with adds a parameter to a path.
func with(path, name, value string) string {
	if strings.Contains(path, "?") {
		return path + "&" + name + "=" + value
	}
	return path + "?" + name + "=" + value
}
