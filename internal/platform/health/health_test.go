package health_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/platform/health"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
	"holdfast/internal/testkit/pgtest"
)

// healthOver is the health of a process over a database.
func healthOver(t *testing.T, url string, clock func() time.Time) *health.Health {
	t.Helper()
	return &health.Health{DB: sites.NewDB(dbtest.Open(t, url, clock), clock)}
}

// TestReadyTriesOneWriteForAll: many requests cost one write, whose result is valid for a second.
func TestReadyTriesOneWriteForAll(t *testing.T) {
	t.Parallel()
	dbtest.OnBoth(t, func(t *testing.T, url string) {
		now := dbtest.Start
		c := healthOver(t, url, func() time.Time { return now })
		tries := func() int {
			return len(dbtest.Statements(c.Store, func() {
				var all sync.WaitGroup
				for range 20 {
					all.Go(func() {
						if err := c.Ready(t.Context()); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
			}))
		}
		if n := tries(); n != 1 {
			t.Errorf("twenty who ask at once cost %d statements", n)
		}
		if n := tries(); n != 0 {
			t.Errorf("within a second they cost %d statements more", n)
		}
		now = now.Add(time.Second)
		if n := tries(); n != 1 {
			t.Errorf("a second later they cost %d statements", n)
		}
	})
}

// TestReadyAnswersWithinASecond: a database that does not respond is not ready, and no second try starts while one
// hangs.
func TestReadyAnswersWithinASecond(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		c := healthOver(t, dbtest.SQLite(t), dbtest.AtStart)
		var all sync.WaitGroup
		begun, end := make(chan struct{}), make(chan struct{})
		all.Go(func() {
			dbtest.Write(t, c.Store, func(*store.Tx) error {
				close(begun)
				<-end
				return nil
			})
		})
		<-begun
		apptest.WantKind(t, c.Ready(t.Context()), errs.Unavailable, "while the writer is held up")
		close(end)
		all.Wait()
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		p := pgtest.Through(t, dbtest.Engines[1].Database(t))
		now := dbtest.Start
		c := healthOver(t, p.URL, func() time.Time { return now })
		if err := c.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Minute)
		p.Freeze()
		apptest.WantKind(t, c.Ready(t.Context()), errs.Unavailable, "while the server is frozen")
		p.Thaw()
	})
}

// TestReadyOnlyWithAPlaceToWrite: with a read-only file reads continue, but the program is not ready.
func TestReadyOnlyWithAPlaceToWrite(t *testing.T) {
	t.Parallel()
	url := dbtest.Engines[1].Database(t)
	c := healthOver(t, url, dbtest.AtStart)
	name, _, _ := strings.Cut(url[strings.LastIndexByte(url, '/')+1:], "?")
	dbtest.Write(t, c.Store, func(tx *store.Tx) error {
		_, err := tx.Exec("ALTER DATABASE " + name + " SET default_transaction_read_only = on")
		return err
	})
	fresh := healthOver(t, url, dbtest.AtStart)
	apptest.WantKind(t, fresh.Ready(t.Context()), errs.Unavailable, "on a server that takes no writes")
}
