package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
	"holdfast/internal/testkit/pgtest"
)

// put writes one row, as an example of any change.
func put(name string) func(tx *store.Tx) error {
	return func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO jobs (name, due_at, leased_until, attempts, last_error) VALUES ($1, 0, 0, 0, '')`, name)
		return err
	}
}

// stored reports whether the row is there.
func stored(t *testing.T, db *store.DB, name string) (there bool) {
	t.Helper()
	dbtest.Read(t, db, func(tx *store.Tx) error {
		return tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM jobs WHERE name = $1)`, []any{name}, &there)
	})
	return there
}

// wantOutage fails unless the error is a fault after which a client may retry.
func wantOutage(t *testing.T, err error, reason, what string) {
	t.Helper()
	f, ok := errors.AsType[*errs.Error](err)
	if !ok || f.Kind != errs.Unavailable || f.Reason != reason || f.RetryAfter <= 0 {
		t.Errorf("%s: answered %v, want an outage with the reason %q", what, err, reason)
	}
}

// throughProxy opens a PostgreSQL database behind a proxy, and directly.
func throughProxy(t *testing.T) (p *pgtest.Proxy, store, direct *store.DB, url string) {
	t.Helper()
	url = dbtest.Engines[1].Database(t)
	p = pgtest.Through(t, url)
	return p, dbtest.Open(t, p.URL, dbtest.AtStart), dbtest.Open(t, url, dbtest.AtStart), url
}

// TestLostConnectionsAreReplaced: after a restart of the server all connections are useless. Their transactions stored
// nothing, so they run again unnoticed.
func TestLostConnectionsAreReplaced(t *testing.T) {
	t.Parallel()
	p, db, direct, _ := throughProxy(t)
	dbtest.Write(t, db, put("before"))
	p.Cut()
	dbtest.Write(t, db, put("after"))
	p.Cut()
	if !stored(t, db, "after") {
		t.Error("a read on a lost connection does not see what is there")
	}
	runs := 0
	dbtest.Write(t, db, func(tx *store.Tx) error {
		if err := put("in between")(tx); err != nil {
			return err
		}
		if runs++; runs == 1 {
			p.Cut()
		}
		return put("in between, too")(tx)
	})
	if runs != 2 || !stored(t, direct, "in between") || !stored(t, direct, "in between, too") {
		t.Errorf("it ran %d times", runs)
	}
	p.Cut()
	if err := db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error { return tx.QueryRow("SELECT 1", nil, new(int64)) }); err != nil {
		t.Errorf("a read on a lost connection: %v", err)
	}
	wantOutage(t, db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
		p.Cut()
		return tx.Query(`SELECT 1`, nil, func(func(dest ...any) error) error { return nil })
	}), "", "a read whose connection is lost on the way")
	p.Refuse()
	p.Cut()
	wantOutage(t, db.Write(t.Context(), store.Deployment, put("nowhere")), "", "a write without a server")
	wantOutage(t, db.Read(t.Context(), store.Deployment, func(*store.Tx) error { return nil }), "", "a read without a server")
}

// TestALostNode: while a statement runs nothing is stored, and during a commit the outcome is unknown. Citus has one code for both.
func TestALostNode(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.Engines[1].Database(t), dbtest.AtStart)
	dbtest.Write(t, db, func(tx *store.Tx) error {
		for _, statement := range []string{
			`CREATE TABLE lost (id BIGINT)`,
			`CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				RAISE EXCEPTION 'failure on connection marked as essential: db1:5432' USING ERRCODE = 'XX000'; END $$`,
			`CREATE TRIGGER at_once BEFORE INSERT ON lost FOR EACH ROW WHEN (NEW.id = 1) EXECUTE FUNCTION lose()`,
			`CREATE CONSTRAINT TRIGGER at_the_end AFTER INSERT ON lost DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION lose()`,
		} {
			if _, err := tx.Exec(statement); err != nil {
				return err
			}
		}
		return nil
	})
	for id, reason := range map[int64]string{1: "", 2: store.OutcomeUnknown} {
		runs := 0
		err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			runs++
			_, err := tx.Exec(`INSERT INTO lost VALUES ($1)`, id)
			return err
		})
		wantOutage(t, err, reason, fmt.Sprint("row ", id))
		if runs != 1 {
			t.Errorf("row %d: it ran %d times", id, runs)
		}
	}
}

// TestACommitWithoutAResponseIsUnknown: whether it succeeded or not, the error is the same, and it does not run again.
func TestACommitWithoutAResponseIsUnknown(t *testing.T) {
	t.Parallel()
	p, db, direct, _ := throughProxy(t)
	for name, fate := range map[string]pgtest.Commit{"done": pgtest.Unanswered, "not done": pgtest.Lost} {
		runs := 0
		p.NextCommit(fate)
		err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			runs++
			return put(name)(tx)
		})
		wantOutage(t, err, store.OutcomeUnknown, name)
		if there := stored(t, direct, name); runs != 1 || there != (fate == pgtest.Unanswered) {
			t.Errorf("%s: it ran %d times, and is stored: %t", name, runs, there)
		}
		dbtest.Write(t, db, put(name+", the next"))
	}
}

// TestAServerThatTakesNoWrites: after a failover, the program is connected to the former primary.
func TestAServerThatTakesNoWrites(t *testing.T) {
	t.Parallel()
	p, db, direct, url := throughProxy(t)
	name := url[strings.LastIndexByte(url, '/')+1:]
	name, _, _ = strings.Cut(name, "?")
	set := func(to string) {
		dbtest.Write(t, direct, func(tx *store.Tx) error {
			if _, err := tx.Exec("SET TRANSACTION READ WRITE"); err != nil {
				return err
			}
			_, err := tx.Exec("ALTER DATABASE " + name + " SET default_transaction_read_only = " + to)
			return err
		})
	}
	set("on")
	p.Cut()
	wantOutage(t, db.Write(t.Context(), store.Deployment, put("refused")), "", "a write")
	wantOutage(t, db.Ready(t.Context(), put("tried")), "", "readiness")
	if stored(t, db, "refused") {
		t.Error("it is stored")
	}
	set("off")
	p.Cut() // like a failover to connections that still go to the old server
	dbtest.Write(t, db, put("taken"))
}

// TestAFrozenServerIsNotWaitedFor: after a timeout the caller gets an error, and the next one a working connection.
func TestAFrozenServerIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	p, db, _, _ := throughProxy(t)
	dbtest.Write(t, db, put("before"))
	p.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	wantOutage(t, db.Write(ctx, store.Deployment, put("frozen")), "", "a write")
	wantOutage(t, db.Read(ctx, store.Deployment, func(*store.Tx) error { return nil }), "", "a read")
	wantOutage(t, db.Ready(ctx, put("tried")), "", "readiness")
	p.Thaw()
	dbtest.Write(t, db, put("after"))
}

// TestAnIdleTransactionEnds: the locks of a program whose machine is lost are released within the lifetime of a write.
func TestAnIdleTransactionEnds(t *testing.T) {
	t.Parallel()
	url := dbtest.Engines[1].Database(t)
	db := dbtest.Open(t, url, dbtest.AtStart)
	var timeout string
	dbtest.Read(t, db, func(tx *store.Tx) error {
		return tx.QueryRow("SHOW idle_in_transaction_session_timeout", nil, &timeout)
	})
	if timeout != "5s" {
		t.Errorf("an idle transaction lives %s", timeout)
	}
	p := pgtest.Through(t, with(url, "idle_in_transaction_session_timeout=100ms"))
	gone := dbtest.Open(t, p.URL, dbtest.AtStart)
	holds, done := make(chan struct{}), make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		done <- gone.Write(ctx, store.Deployment, func(tx *store.Tx) error {
			if err := put("one")(tx); err != nil {
				return err
			}
			p.Freeze()
			p.Refuse() // no message leaves the machine, not even a cancellation
			close(holds)
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	<-holds
	dbtest.Write(t, db, put("one")) // waits for the other's row
	cancel()
	if err := <-done; err == nil {
		t.Error("the writer whose machine is lost got an acknowledgement")
	}
}

// TestBehindAPoolerWritesSetTheirTimeouts: behind a pooler each transaction may use another connection, so settings of
// a session are lost.
func TestBehindAPoolerWritesSetTheirTimeouts(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, with(dbtest.Engines[1].Database(t), "default_query_exec_mode=cache_describe"), dbtest.AtStart)
	bound := func(tx *store.Tx) (timeout string, err error) {
		err = tx.QueryRow("SHOW idle_in_transaction_session_timeout", nil, &timeout)
		return timeout, err
	}
	dbtest.Write(t, db, func(tx *store.Tx) error {
		timeout, err := bound(tx)
		if timeout != "5s" {
			t.Errorf("an idle write lives %s, %v", timeout, err)
		}
		return err
	})
	dbtest.Read(t, db, func(tx *store.Tx) error {
		if timeout, err := bound(tx); err != nil || timeout != "0" {
			t.Errorf("a setting of %s stays on the connection, %v", timeout, err)
		}
		return nil
	})
	// PostgreSQL's errors if a pooler has mixed up connections.
	err := db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
		_, err := tx.Exec("EXECUTE prepared_elsewhere")
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "default_query_exec_mode") {
		t.Errorf("a statement that another connection knows: %v", err)
	}
}

// with adds a parameter to an address.
func with(url, parameter string) string {
	if strings.Contains(url, "?") {
		return url + "&" + parameter
	}
	return url + "?" + parameter
}

// TestAFullDiskRefusesWrites: writes and readiness report it, and once there is space everything continues.
func TestAFullDiskRefusesWrites(t *testing.T) {
	t.Parallel()
	now := dbtest.Start
	db := dbtest.Open(t, dbtest.SQLite(t), func() time.Time { return now })
	large := func(tx *store.Tx) error { return put(strings.Repeat("large", 20_000))(tx) }
	if err := db.LimitPages(t.Context(), 1); err != nil { // as many as there are
		t.Fatal(err)
	}
	for range 3 {
		wantOutage(t, db.Write(t.Context(), store.Deployment, large), "", "a write")
	}
	tiny := func(tx *store.Tx) error {
		_, err := tx.Exec(`UPDATE jobs SET attempts = attempts`)
		return err
	}
	wantOutage(t, db.Ready(t.Context(), tiny), "", "readiness, where a tiny write finds room")
	wantOutage(t, db.Ready(t.Context(), large), "", "readiness, where it finds none")
	if err := db.LimitPages(t.Context(), 1<<30); err != nil {
		t.Fatal(err)
	}
	dbtest.Write(t, db, large)
	now = now.Add(5 * time.Second)
	if err := db.Ready(t.Context(), tiny); err != nil {
		t.Errorf("with room it says %v", err)
	}
}

// TestAFailedCommitEndsWrites: pages that the disk did not store may be lost without another error, so nothing more is
// acknowledged until a restart, even if the disk works again. Reads continue.
func TestAFailedCommitEndsWrites(t *testing.T) {
	url := dbtest.SQLite(t)
	db := dbtest.Open(t, url, dbtest.AtStart)
	dbtest.Write(t, db, put("before"))
	dbtest.FailWrites(t, func() {
		large := put(strings.Repeat("large", 40_000))
		wantOutage(t, db.Write(t.Context(), store.Deployment, large), store.OutcomeUnknown, "the write that the disk did not store")
	})
	for what, write := range map[string]func(context.Context, func(*store.Tx) error) error{
		"the next write": func(ctx context.Context, fn func(*store.Tx) error) error { return db.Write(ctx, store.Deployment, fn) },
		"the next long write": func(ctx context.Context, fn func(*store.Tx) error) error {
			return db.WriteLong(ctx, store.Deployment, fn)
		},
		"readiness": db.Ready,
	} {
		err := write(t.Context(), func(*store.Tx) error {
			t.Errorf("%s runs", what)
			return nil
		})
		wantOutage(t, err, "", what)
		if err == nil || !strings.Contains(err.Error(), "until the service is restarted") {
			t.Errorf("%s does not say that a restart is needed: %v", what, err)
		}
	}
	if !stored(t, db, "before") {
		t.Error("a read does not see what is there")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = dbtest.Open(t, url, dbtest.AtStart)
	dbtest.Write(t, db, put("after"))
	if !stored(t, db, "before") {
		t.Error("a restart loses what was acknowledged")
	}
}

// TestNothingIsAcknowledgedIntoADeletedFile: a deleted file lives on for processes that have it open, and ends with
// them.
func TestNothingIsAcknowledgedIntoADeletedFile(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(path string) error{
		"deleted":            os.Remove,
		"moved":              func(path string) error { return os.Rename(path, path+".old") },
		"without its log":    func(path string) error { return os.Remove(path + "-wal") },
		"replaced by a copy": replaceByCopy,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := dbtest.SQLite(t)
			path := strings.TrimPrefix(url, "sqlite:")
			db := dbtest.Open(t, url, dbtest.AtStart)
			dbtest.Write(t, db, put("kept"))
			err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
				if err := put("lost")(tx); err != nil {
					return err
				}
				return lose(path)
			})
			wantOutage(t, err, store.OutcomeUnknown, "the write under way")
			wantOutage(t, db.Write(t.Context(), store.Deployment, put("late")), "", "the next write")
			wantOutage(t, db.Read(t.Context(), store.Deployment, func(*store.Tx) error { return nil }), "", "a read")
			wantOutage(t, db.Ready(t.Context(), put("tried")), "", "readiness")
		})
	}
}

// TestReadsSoonNoticeADeletedFile: reads share a check of the files for a millisecond at most. Once a write has
// noticed, reads fail too.
func TestReadsSoonNoticeADeletedFile(t *testing.T) {
	t.Parallel()
	for name, writes := range map[string]bool{"after a millisecond": false, "after a write": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := dbtest.SQLite(t)
			now := dbtest.Start
			db := dbtest.Open(t, url, func() time.Time { return now })
			reads := map[string]func() error{
				"a read": func() error { return db.Read(t.Context(), store.Deployment, func(*store.Tx) error { return nil }) },
			}
			dbtest.Read(t, db, func(*store.Tx) error { return nil })
			if err := os.Remove(strings.TrimPrefix(url, "sqlite:")); err != nil {
				t.Fatal(err)
			}
			now = now.Add(time.Millisecond - time.Microsecond)
			for what, read := range reads {
				if err := read(); err != nil {
					t.Errorf("%s looks again within a millisecond: %v", what, err)
				}
			}
			if writes {
				wantOutage(t, db.Write(t.Context(), store.Deployment, put("late")), "", "a write")
			} else {
				now = now.Add(time.Microsecond)
			}
			for what, read := range reads {
				wantOutage(t, read(), "", what)
			}
		})
	}
}

func replaceByCopy(path string) error {
	whole, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(path+".new", whole, 0o600), os.Rename(path+".new", path))
}

// TestARefusalFallsWithTheCommit: a rejection because of another write of the same commit does not count if that commit
// fails.
func TestARefusalFallsWithTheCommit(t *testing.T) {
	t.Parallel()
	url := dbtest.SQLite(t)
	db := dbtest.Open(t, url, dbtest.AtStart)
	var all sync.WaitGroup
	begun, handed := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			close(begun)
			<-handed
			return errors.Join(put("one")(tx), os.Remove(strings.TrimPrefix(url, "sqlite:")))
		})
		wantOutage(t, err, store.OutcomeUnknown, "the first")
	})
	<-begun
	all.Go(func() {
		err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			var name string
			if err := tx.QueryRow(`SELECT name FROM jobs WHERE name = 'one'`, nil, &name); err != nil {
				return err
			}
			return errors.New("there is " + name)
		})
		wantOutage(t, err, store.OutcomeUnknown, "the one that it refuses")
	})
	db.AwaitQueued(1)
	close(handed)
	all.Wait()
}

// TestACallerThatGivesUpReturnsAtOnce: a blocked writer does not block callers that give up.
func TestACallerThatGivesUpReturnsAtOnce(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	var all sync.WaitGroup
	begun, end := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		dbtest.Write(t, db, func(*store.Tx) error {
			close(begun)
			<-end
			return nil
		})
	})
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	var ran atomic.Bool
	wantOutage(t, db.Write(ctx, store.Deployment, func(*store.Tx) error {
		ran.Store(true)
		return nil
	}), "", "a write that waits")
	close(end)
	all.Wait()
	dbtest.Write(t, db, put("next"))
	if ran.Load() {
		t.Error("what was given up ran")
	}
}

// TestNoEmptyDatabaseAfterADeletedOne: a program that restarts after its file was deleted creates no new one, unless
// requested.
func TestNoEmptyDatabaseAfterADeletedOne(t *testing.T) {
	t.Parallel()
	url := dbtest.SQLite(t)
	path := strings.TrimPrefix(url, "sqlite:")
	open := func(how func(context.Context, string, func() time.Time) (*store.DB, error)) error {
		store, err := how(t.Context(), url, dbtest.AtStart)
		if err != nil {
			return err
		}
		return errors.Join(store.Migrate(t.Context()), store.Close())
	}
	if err := open(store.Open); err != nil {
		t.Fatal(err)
	}
	if err := store.BeginAnew(url); err != nil {
		t.Fatal(err)
	}
	for what, lose := range map[string]func() error{
		"deleted": func() error { return os.Remove(path) },
		"emptied": func() error { return os.Truncate(path, 0) },
	} {
		if err := open(store.Open); err != nil {
			t.Fatalf("before it is %s: %v", what, err)
		}
		if err := lose(); err != nil {
			t.Fatal(err)
		}
		if err := open(store.Open); !errors.Is(err, store.ErrGone) {
			t.Errorf("%s: opening says %v", what, err)
		}
		if err := open(store.OpenExisting); !errors.Is(err, store.ErrGone) {
			t.Errorf("%s: opening what exists says %v", what, err)
		}
		if err := store.BeginAnew(url); err != nil {
			t.Fatal(err)
		}
		if err := open(store.OpenExisting); !errors.Is(err, store.ErrNoDatabase) {
			t.Errorf("%s: asked to start afresh, opening an existing file returns %v", what, err)
		}
	}
}
