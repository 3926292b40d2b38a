package db_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/fault"
	"holdfast/internal/lane"
)

// endless is a query that never ends by itself.
const endless = `WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT COUNT(*) FROM c`

// TestLongReadsLeaveRoomForOthers: whatever is asked for, two run, three wait, the others are told to come back, and whoever
// reads or writes a few rows notices nothing.
func TestLongReadsLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, store *db.DB) {
		store.SetLane(lane.Bounds{Readers: 2, Waiting: 3, Patience: time.Hour})
		const asked = 40
		running, end, done := make(chan struct{}, asked), make(chan struct{}), make(chan error, asked)
		for i := range asked {
			go func() {
				done <- store.Report(t.Context(), db.Deployment, strconv.Itoa(i), func(*db.Tx) error {
					running <- struct{}{}
					<-end
					return nil
				})
			}()
		}
		for range asked - 5 {
			var f *fault.Error
			if err := <-done; !errors.As(err, &f) || f.Kind != fault.Unavailable || f.RetryAfter <= 0 {
				t.Errorf("one too many is answered: %v", err)
			}
		}
		<-running
		<-running
		var others sync.WaitGroup
		for range 10 {
			others.Go(func() {
				err := store.Read(t.Context(), db.Deployment, func(tx *db.Tx) error { return dbtest.Numbers(tx, `SELECT 1`, func(int64) error { return nil }) })
				if err != nil {
					t.Error(err)
				}
				dbtest.Write(t, store, func(*db.Tx) error { return nil })
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

// TestOneCallerDoesNotFillTheLane: whoever asks for more than six at once is told so, and others still find a place. What has
// ended counts no more.
func TestOneCallerDoesNotFillTheLane(t *testing.T) {
	t.Parallel()
	store := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	const each = 6
	store.SetLane(lane.Bounds{Readers: each + 2})
	long := func(caller string, then func()) error {
		return store.Report(t.Context(), db.Deployment, caller, func(*db.Tx) error {
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
	var f *fault.Error
	if err := long("greedy", func() {}); !errors.As(err, &f) || f.Kind != fault.TooMany || f.RetryAfter <= 0 {
		t.Errorf("one too many of a caller is answered: %v", err)
	}
	for _, other := range []string{"modest", ""} {
		if err := long(other, func() {}); err != nil {
			t.Errorf("caller %q beside the first one: %v", other, err)
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
	if n := store.CallersInLane(); n != 0 {
		t.Errorf("%d callers are remembered", n)
	}
}

// TestALongReadEnds when its time is over or its caller has gone, even in the middle of a statement, and gives its place back.
func TestALongReadEnds(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, store *db.DB) {
		run := func(ctx context.Context, query string) error {
			return store.Report(ctx, db.Deployment, "somebody", func(tx *db.Tx) error {
				return dbtest.Numbers(tx, query, func(int64) error { return nil })
			})
		}
		store.SetLane(lane.Bounds{Readers: 1, Lifetime: 10 * time.Millisecond})
		if err := run(t.Context(), endless); !fault.Is(err, fault.Unavailable) {
			t.Errorf("its time is over: %v", err)
		}
		store.SetLane(lane.Bounds{Readers: 1})
		ctx, leave := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer leave()
		if err := run(ctx, endless); err == nil {
			t.Error("its caller has gone")
		}
		if err := run(t.Context(), `SELECT 1`); err != nil {
			t.Errorf("the next one: %v", err)
		}
		err := store.Report(t.Context(), db.Deployment, "another", func(*db.Tx) error {
			store.SetPatience(time.Nanosecond)
			if err := run(t.Context(), `SELECT 1`); !fault.Is(err, fault.Unavailable) {
				t.Errorf("one that has waited long enough: %v", err)
			}
			gone, leave := context.WithCancel(t.Context())
			leave()
			store.SetPatience(time.Hour)
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
