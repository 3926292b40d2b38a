package store_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/terms"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// TestOneOfManyWritesFailsAlone: writes that come while another one is under way share a commit, and one of them that
// fails leaves nothing behind.
func TestOneOfManyWritesFailsAlone(t *testing.T) {
	dbtest.OnBothOpen(t, func(t *testing.T, database *store.DB) {
		failAlone(t, database, database.Write, "long")
		failAlone(t, database, database.WriteShort, "short")
	})
}

func failAlone(
	t *testing.T, database *store.DB, writeAs func(context.Context, func(tx *store.Tx) error) error, kind string,
) {
	const many = 30
	var want []string
	var all, waiting sync.WaitGroup
	begun, others := make(chan struct{}), make(chan struct{})
	write := func(i int, first func()) {
		path := fmt.Sprintf("%s-%02d", kind, i)
		err := writeAs(t.Context(), func(tx *store.Tx) error {
			first()
			if _, err := dbtest.InsertSite(tx, merchant.Site{Path: path, Name: path, Policy: terms.DefaultPolicy("GBP")}); err != nil {
				return err
			}
			if i%3 == 1 {
				return errNotThisOne
			}
			return nil
		})
		if failed := errors.Is(err, errNotThisOne); failed != (i%3 == 1) {
			t.Errorf("write %d answers %v", i, err)
		}
	}
	all.Go(func() {
		write(0, sync.OnceFunc(func() {
			close(begun)
			<-others
		}))
	})
	<-begun
	waiting.Add(many - 1)
	for i := range many {
		if i%3 != 1 {
			want = append(want, fmt.Sprintf("%s-%02d", kind, i))
		}
		if i > 0 {
			all.Go(func() {
				waiting.Done()
				write(i, func() {})
			})
		}
	}
	waiting.Wait()
	close(others)
	all.Wait()
	got := slices.DeleteFunc(sitePaths(t, database), func(path string) bool { return !strings.HasPrefix(path, kind) })
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("stored %v, want %v", got, want)
	}
}

// TestWritersHelpWhereManyWait: on PostgreSQL short writes share one transaction until so many of them wait that another writer
// begins, or until the first one takes too long.
func TestWritersHelpWhereManyWait(t *testing.T) {
	const enough = 32
	db := dbtest.Open(t, dbtest.Engines[1].Database(t), dbtest.AtStart)
	for _, c := range []struct {
		waiting int
		slow    time.Duration
		helped  bool
	}{{enough - 1, time.Hour, false}, {enough, time.Hour, true}, {1, time.Millisecond, true}} {
		db.SetSlowWriter(c.slow)
		var all, waiting sync.WaitGroup
		var ran atomic.Int64
		begun, end := make(chan struct{}), make(chan struct{})
		all.Go(func() {
			if err := db.WriteShort(t.Context(), func(*store.Tx) error { close(begun); <-end; return nil }); err != nil {
				t.Error(err)
			}
		})
		<-begun
		for i := range c.waiting {
			waiting.Go(func() {
				if err := db.WriteShort(t.Context(), func(*store.Tx) error { ran.Add(1); return nil }); err != nil {
					t.Error(err)
				}
			})
			for !c.helped && db.Queued()+int(ran.Load()) <= i {
				runtime.Gosched()
			}
		}
		if c.helped {
			waiting.Wait() // while the first one holds its writer
		} else if n := ran.Load(); n > 0 {
			t.Errorf("%d of %d calls did not wait", n, c.waiting)
		}
		close(end)
		all.Wait()
		waiting.Wait()
	}
}

// TestALongWriteBeginsATransaction: what waits before it is stored first, so that it needs no savepoint; what comes behind it shares its transaction.
func TestALongWriteBeginsATransaction(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	var all sync.WaitGroup
	begun, end := make(chan struct{}), make(chan struct{})
	before := db.Work().Commits
	all.Go(func() {
		err := db.WriteShort(t.Context(), func(tx *store.Tx) error {
			close(begun)
			<-end
			return put("first")(tx)
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-begun
	for i, write := range []func(context.Context, func(*store.Tx) error) error{db.WriteShort, db.Write, db.WriteShort, db.Write} {
		all.Go(func() {
			if err := write(t.Context(), put(strconv.Itoa(i))); err != nil {
				t.Error(err)
			}
		})
		db.AwaitQueued(i + 1)
	}
	close(end)
	all.Wait()
	if n := db.Work().Commits - before; n != 3 {
		t.Errorf("%d transactions, want one until each long write", n)
	}
	for _, name := range []string{"first", "0", "1", "2", "3"} {
		if !stored(t, db, name) {
			t.Errorf("%s is not stored", name)
		}
	}
}
