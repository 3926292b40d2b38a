package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// followed is a database with a lagging replica: its rows differ from those of the database.
type followed struct {
	*store.DB
	now    time.Time
	behind time.Duration
	away   error
	looks  int
}

func newFollowed(t *testing.T, engine dbtest.Engine) *followed {
	f := &followed{now: dbtest.Start}
	clock := func() time.Time { return f.now }
	f.DB = dbtest.Open(t, engine.Database(t), clock)
	standby := dbtest.Open(t, engine.Database(t), clock)
	dbtest.Write(t, f.DB, put("primary"))
	dbtest.Write(t, standby, put("copy"))
	f.Follow(store.Replica{Copy: standby, Behind: func(context.Context) (time.Duration, error) {
		f.looks++
		return f.behind, f.away
	}})
	return f
}

// report returns which of the two databases a report reads, and its time.
func (f *followed) report(t *testing.T) (read string, at time.Time, lag time.Duration) {
	t.Helper()
	noted := false
	note := func(behind time.Duration) { lag, noted = behind, true }
	err := f.Report(store.NotingLag(t.Context(), note), store.Deployment, "somebody", func(tx *store.Tx) error {
		at = tx.Now
		return tx.QueryRow(`SELECT name FROM jobs WHERE name IN ('primary', 'copy')`, nil, &read)
	})
	if err != nil {
		t.Fatal(err)
	}
	if noted != (read == "copy") {
		t.Errorf("of a report from the %s, the lag is noted: %t", read, noted)
	}
	return read, at, lag
}

func TestReportsReadTheCopy(t *testing.T) {
	t.Parallel()
	for _, engine := range dbtest.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			t.Parallel()
			f := newFollowed(t, engine)
			f.behind = 1250 * time.Millisecond
			if read, at, lag := f.report(t); read != "copy" || at != f.now.Add(-f.behind) || lag != f.behind {
				t.Errorf("a report reads the %s as of %s, %s behind", read, at, lag)
			}
			// Short reads, the program's own reads and writes use the primary.
			for name, read := range map[string]func(fn func(tx *store.Tx) error) error{
				"a short read":             func(fn func(tx *store.Tx) error) error { return f.Read(t.Context(), store.Deployment, fn) },
				"a report for the program": func(fn func(tx *store.Tx) error) error { return f.Report(t.Context(), store.Deployment, "", fn) },
				"a write":                  func(fn func(tx *store.Tx) error) error { return f.Write(t.Context(), store.Deployment, fn) },
			} {
				var from string
				err := read(func(tx *store.Tx) error {
					if tx.OfCopy() || tx.Now != f.now {
						t.Errorf("%s reads a replica as of %s", name, tx.Now)
					}
					return tx.QueryRow(`SELECT name FROM jobs WHERE name IN ('primary', 'copy')`, nil, &from)
				})
				if err != nil || from != "primary" {
					t.Errorf("%s reads the %s: %v", name, from, err)
				}
			}
		})
	}
}

func TestACopyThatIsNoGoodIsNotRead(t *testing.T) {
	t.Parallel()
	f := newFollowed(t, dbtest.Engines[0])
	wants := func(when, state string, reports, instead int64, looks int) {
		t.Helper()
		read, at, _ := f.report(t)
		if is, _ := f.Replica(); is.String() != state || is.Reports != reports || is.Instead != instead || f.looks != looks {
			t.Errorf("%s: %q, %d and %d reports, %d looks", when, is, is.Reports, is.Instead, f.looks)
		}
		if want := map[bool]string{true: "copy", false: "primary"}[state == "following"]; read != want {
			t.Errorf("%s: the %s is read", when, read)
		}
		if state != "following" && at != f.now {
			t.Errorf("%s: as of %s", when, at)
		}
	}
	if is, ok := f.Replica(); !ok || is.String() != "" {
		t.Errorf("before anybody looked, it is %q", is)
	}
	f.behind = 10 * time.Second
	wants("as far behind as allowed", "following", 1, 0, 1)
	f.behind++
	wants("too far behind", "behind", 1, 1, 2)
	f.away = errors.New("no connection")
	wants("away", "away", 1, 2, 3)
	f.behind, f.away = 0, nil
	wants("away a moment ago", "away", 1, 3, 3)
	f.now = f.now.Add(5 * time.Second)
	wants("back", "following", 2, 3, 4)
	// A report that the replica cannot answer is made by the primary.
	err := f.Report(t.Context(), store.Deployment, "somebody", func(tx *store.Tx) error {
		if tx.OfCopy() {
			return errors.New("what the report is about is not there yet")
		}
		return nil
	})
	if is, _ := f.Replica(); err != nil || is.Instead != 4 {
		t.Errorf("a report that fails on the copy: %v, %d", err, is.Instead)
	}
}

func TestOnlyAStandbyIsFollowed(t *testing.T) {
	t.Parallel()
	sqlite := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	for _, url := range []string{"postgres://127.0.0.1:1/none", "sqlite:other.db"} {
		if err := sqlite.ReadReportsFrom(url, time.Second); err == nil {
			t.Errorf("SQLite follows %s", url)
		}
	}
	url := dbtest.Engines[1].Database(t)
	store := dbtest.Open(t, url, dbtest.AtStart)
	if err := store.ReadReportsFrom("sqlite:other.db", time.Second); err == nil {
		t.Error("PostgreSQL follows SQLite")
	}
	for name, other := range map[string]string{
		"the same server, which is no standby": url, "another database": dbtest.Engines[1].Database(t),
		"nobody": "postgres://127.0.0.1:1/none?connect_timeout=1",
	} {
		if err := store.ReadReportsFrom(other, time.Second); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		store.LookAtReplica(t.Context())
		if is, _ := store.Replica(); is.String() != "away" || is.Err == nil {
			t.Errorf("%s: %s, %v", name, is, is.Err)
		}
		if err := store.CloseReplica(); err != nil {
			t.Error(err)
		}
	}
}
