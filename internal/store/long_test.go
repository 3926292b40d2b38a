package store_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/lib/limiter"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// endless is a query that never ends by itself.
const endless = `WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT COUNT(*) FROM c`

// TestLongReadsLeaveRoomForOthers: however many are requested, two run, three wait, the others are rejected with
// Retry-After, and short reads and writes are not affected.
func TestLongReadsLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		db.BoundReports(store.ReportBounds{Bounds: limiter.Bounds{Places: 2, Queue: 3, Wait: time.Hour}})
		const asked = 40
		running, end, done := make(chan struct{}, asked), make(chan struct{}), make(chan error, asked)
		for i := range asked {
			go func() {
				done <- db.Report(t.Context(), store.Deployment, strconv.Itoa(i), func(*store.Tx) error {
					running <- struct{}{}
					<-end
					return nil
				})
			}()
		}
		for range asked - 5 {
			var f *errs.Error
			if err := <-done; !errors.As(err, &f) || f.Kind != errs.Unavailable || f.RetryAfter <= 0 {
				t.Errorf("one too many is answered: %v", err)
			}
		}
		<-running
		<-running
		var others sync.WaitGroup
		for range 10 {
			others.Go(func() {
				err := db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error { return dbtest.Numbers(tx, `SELECT 1`, func(int64) error { return nil }) })
				if err != nil {
					t.Error(err)
				}
				dbtest.Write(t, db, func(*store.Tx) error { return nil })
			})
		}
		others.Wait()
		if len(running) != 0 {
			t.Error("a third one runs")
		}
		close(end)
		for range 5 {
			if err := <-done; err != nil {
				t.Errorf("one that had a place: %v", err)
			}
		}
	})
}

// TestOneCallerDoesNotTakeAllReports: a caller with more than six concurrent reports gets an error, and others still
// find a slot. Ended reports no longer count.
func TestOneCallerDoesNotTakeAllReports(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	const each = 6
	db.BoundReports(store.ReportBounds{Bounds: limiter.Bounds{Places: each + 2, PerCaller: each, Wait: time.Second}})
	long := func(caller string, then func()) error {
		return db.Report(t.Context(), store.Deployment, caller, func(*store.Tx) error {
			then()
			return nil
		})
	}
	running, end, done := make(chan struct{}), make(chan struct{}), make(chan error, each)
	for range each {
		go func() { done <- long("greedy", func() { running <- struct{}{}; <-end }) }()
	}
	for range each {
		<-running
	}
	var f *errs.Error
	if err := long("greedy", func() {}); !errors.As(err, &f) || f.Kind != errs.TooMany || f.RetryAfter <= 0 {
		t.Errorf("one too many of a caller is answered: %v", err)
	}
	for _, other := range []string{"modest", ""} {
		if err := long(other, func() {}); err != nil {
			t.Errorf("caller %q next to the first one: %v", other, err)
		}
	}
	close(end)
	for range each {
		if err := <-done; err != nil {
			t.Errorf("one that had a place: %v", err)
		}
	}
	if err := long("greedy", func() {}); err != nil {
		t.Errorf("what has ended still counts: %v", err)
	}
	if n := db.LongReads(); n != 0 {
		t.Errorf("%d callers are remembered", n)
	}
}

// TestALongReadEnds when its time is over or its caller disconnects, even in the middle of a statement, and releases
// its slot.
func TestALongReadEnds(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		run := func(ctx context.Context, query string) error {
			return db.Report(ctx, store.Deployment, "somebody", func(tx *store.Tx) error {
				return dbtest.Numbers(tx, query, func(int64) error { return nil })
			})
		}
		db.BoundReports(store.ReportBounds{Bounds: limiter.Bounds{Places: 1}, Lifetime: 10 * time.Millisecond})
		if err := run(t.Context(), endless); !errs.Is(err, errs.Unavailable) {
			t.Errorf("its time is over: %v", err)
		}
		db.BoundReports(store.ReportBounds{Bounds: limiter.Bounds{Places: 1, Queue: 1, Wait: time.Millisecond}})
		ctx, leave := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer leave()
		if err := run(ctx, endless); err == nil {
			t.Error("its caller has gone")
		}
		if err := run(t.Context(), `SELECT 1`); err != nil {
			t.Errorf("the next one: %v", err)
		}
		err := db.Report(t.Context(), store.Deployment, "another", func(*store.Tx) error {
			if err := run(t.Context(), `SELECT 1`); !errs.Is(err, errs.Unavailable) {
				t.Errorf("one that has waited long enough: %v", err)
			}
			gone, leave := context.WithCancel(t.Context())
			leave()
			if err := run(gone, `SELECT 1`); !errors.Is(err, context.Canceled) {
				t.Errorf("one whose caller has gone: %v", err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
