package store

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"
)

// Replica is a copy of the database that follows it, a standby of PostgreSQL. Reports are read there.
type Replica struct {
	Copy *DB           // closed with the database
	Most time.Duration // a copy that is further behind is not read; default 10 seconds
	// Behind returns the lag of the replica: it has everything that was stored before.
	Behind func(ctx context.Context) (time.Duration, error)
}

// The timeout of a check of the replica, and how long a failed one is cached, so that an unreachable replica delays nobody.
const (
	lookTime = 2 * time.Second
	awayTime = 5 * time.Second
)

// follower is a Replica with its known state.
type follower struct {
	Replica
	of *DB

	mu    sync.Mutex
	state ReplicaState
}

// ReplicaState is the result of the last check of the replica, and how many reports it has served.
type ReplicaState struct {
	At      time.Time // of the last check; zero: not checked yet
	Behind  time.Duration
	TooFar  bool  // it is further behind than allowed
	Err     error // it is away, or no copy of this database
	Reports int64 // that were read there
	Instead int64 // that the database itself had to answer
}

// errNotOurs: the server is no standby of the database.
var errNotOurs = errors.New("it is not a standby of this database")

// ReadReportsFrom has reports read at url, a streaming standby. It connects when the first one comes, so the copy may be
// away. The error says that one of the two is not PostgreSQL.
func (db *DB) ReadReportsFrom(url string, most time.Duration) error {
	scheme, _, _ := strings.Cut(url, ":")
	if !db.engine.manyWrites || scheme != "postgres" && scheme != "postgresql" {
		return errors.New("a replica must be a PostgreSQL standby, at postgres://…, and the database must be PostgreSQL too")
	}
	if db.cluster != nil {
		return errors.New("a database on a Citus cluster cannot use a replica: its reports are read on the nodes of the sites")
	}
	standby, err := postgresAt(url, db.clock)
	if err != nil {
		return err
	}
	db.Follow(Replica{Copy: standby, Most: most, Behind: func(ctx context.Context) (time.Duration, error) {
		return db.ahead(ctx, standby)
	}})
	return nil
}

// Follow has reports read from a copy. Call it before the first of them.
func (db *DB) Follow(r Replica) {
	r.Most = cmp.Or(r.Most, 10*time.Second)
	r.Copy.BoundReports(db.long.bounds)
	db.replica = &follower{Replica: r, of: db}
}

// Following reports whether there is a replica. Without a database there is none.
func (db *DB) Following() bool { return db != nil && db.replica != nil }

// ahead returns how far the database is ahead of a standby: zero if the standby has everything that the database had
// flushed to disk, otherwise the time since the last commit that the standby has. Both times are by the clock of the
// database server.
func (db *DB) ahead(ctx context.Context, standby *DB) (behind time.Duration, err error) {
	const who = `system_identifier || ' ' || current_database() FROM pg_control_system()`
	var written, own, theirs string
	var now, last int64
	var whole bool
	err = db.own.Short.QueryRowContext(ctx, `SELECT pg_current_wal_flush_lsn()::text,
		(extract(epoch FROM clock_timestamp()) * 1000000)::bigint, `+who).Scan(&written, &now, &own)
	if err != nil {
		return 0, err
	}
	err = standby.own.Short.QueryRowContext(ctx, `SELECT COALESCE(pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= $1::text::pg_lsn, FALSE),
		COALESCE((extract(epoch FROM pg_last_xact_replay_timestamp()) * 1000000)::bigint, 0), `+who, written).Scan(&whole, &last, &theirs)
	switch {
	case err != nil:
		return 0, err
	case own != theirs || last == 0 && !whole:
		return 0, errNotOurs
	case whole:
		return 0, nil
	}
	return max(0, time.Duration(now-last)*time.Microsecond), nil
}

// look measures the lag of the replica, at a time of our clock. ok reports whether it can be read.
func (f *follower) look(ctx context.Context) (at time.Time, behind time.Duration, ok bool) {
	at = f.of.now()
	f.mu.Lock()
	away := f.state.Err != nil && at.Sub(f.state.At) < awayTime
	f.mu.Unlock()
	if away {
		return at, 0, false
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	behind, err := f.Behind(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state.At, f.state.Behind, f.state.Err, f.state.TooFar = at, behind, err, behind > f.Most
	return at, behind, err == nil && behind <= f.Most
}

// read runs fn on the replica. It reports whether the result counts: after any error, the primary is tried. It has what
// the replica does not have yet, and the replica cancels reads that block replication.
func (f *follower) read(ctx context.Context, site int64, fn func(tx *Tx) error) (done bool) {
	at, behind, ok := f.look(ctx)
	if ok {
		known := at.Add(-behind) // everything stored before this time is there, and perhaps more
		err := f.Copy.readOn(ctx, site, longRead, func(tx *Tx) error {
			tx.late = max(0, tx.Now.Sub(known))
			tx.Now, tx.copied = known, true
			err := fn(tx)
			behind = tx.late
			return err
		})
		done = err == nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !done {
		f.state.Instead++
		return false
	}
	f.state.Reports++
	if note, ok := ctx.Value(lagKey{}).(func(time.Duration)); ok {
		note(behind)
	}
	return true
}

// OfCopy reports whether the transaction reads a copy. Its Now is then the instant up to which the copy is complete.
func (tx *Tx) OfCopy() bool { return tx.copied }

// UpToDate records that the copy has everything that the transaction reads, because the caller has compared it with the database. From now
// on it counts as reading the database itself.
func (tx *Tx) UpToDate() {
	tx.Now = tx.Now.Add(tx.late)
	tx.late, tx.copied = 0, false
}

// Replica is the result of the last check of the replica; false without a replica.
func (db *DB) Replica() (state ReplicaState, ok bool) {
	f := db.replica
	if f == nil {
		return state, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state, true
}

// LookAtReplica checks the state of the replica, if there is one.
func (db *DB) LookAtReplica(ctx context.Context) {
	if db.replica != nil {
		db.replica.look(ctx)
	}
}

// String is the state of the replica in a word: following, behind or away; "" before the first check.
func (s ReplicaState) String() string {
	switch {
	case s.At.IsZero():
		return ""
	case s.Err != nil:
		return "away"
	case s.TooFar:
		return "behind"
	}
	return "following"
}

type lagKey struct{}

// NotingLag returns a context in which each report that is read from a copy passes the copy's lag to note.
func NotingLag(ctx context.Context, note func(behind time.Duration)) context.Context {
	return context.WithValue(ctx, lagKey{}, note)
}
