package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/jobs"
	"holdfast/internal/platform/leases"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// clock is a clock that a test moves.
type clock struct{ micros atomic.Int64 }

func (c *clock) now() time.Time { return time.UnixMicro(c.micros.Load()) }

func (c *clock) add(d time.Duration) { c.micros.Add(d.Microseconds()) }

func (c *clock) set(t time.Time) { c.micros.Store(t.UnixMicro()) }

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func work(db *store.DB, c *clock) *leases.Work {
	return &leases.Work{DB: sites.NewDB(db, c.now)}
}

func onBoth(t *testing.T, test func(t *testing.T, w *leases.Work, c *clock)) {
	t.Helper()
	dbtest.OnBoth(t, func(t *testing.T, url string) {
		c := &clock{}
		c.set(time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC))
		test(t, work(dbtest.Open(t, url, c.now), c), c)
	})
}

func TestOneOfManyRunsAJob(t *testing.T) {
	onBoth(t, func(t *testing.T, w *leases.Work, c *clock) {
		var runs atomic.Int64
		job := jobs.Job{Name: "count", Every: time.Minute, Run: func(context.Context) (bool, error) {
			runs.Add(1)
			return false, nil
		}}
		for round := int64(1); round <= 3; round++ {
			var ready sync.WaitGroup
			for range 8 {
				ready.Go(func() { jobs.NewRunner(w, discard(), []jobs.Job{job}).RunDue(t.Context()) })
			}
			ready.Wait()
			if runs.Load() != round {
				t.Fatalf("after round %d it ran %d times", round, runs.Load())
			}
			c.add(time.Minute)
		}
	})
}

func TestAFailedJobBacksOffAndComesBack(t *testing.T) {
	onBoth(t, func(t *testing.T, w *leases.Work, c *clock) {
		fail, runs := true, 0
		r := jobs.NewRunner(w, discard(), []jobs.Job{{Name: "flaky", Every: time.Hour, Run: func(context.Context) (bool, error) {
			runs++
			if fail {
				return true, errors.New("out of reach")
			}
			return runs < 4, nil // some work is left after the third run
		}}})
		r.RunDue(t.Context())
		r.RunDue(t.Context()) // not due yet
		if runs != 1 {
			t.Fatalf("ran %d times without a pause", runs)
		}
		c.add(5 * time.Second)
		r.RunDue(t.Context())
		c.add(5 * time.Second) // the second pause is longer
		r.RunDue(t.Context())
		if runs != 2 {
			t.Fatalf("ran %d times, want 2", runs)
		}
		fail = false
		c.add(5 * time.Second)
		r.RunDue(t.Context())
		if runs != 4 {
			t.Fatalf("ran %d times, want 4: until nothing was left", runs)
		}
	})
}

// TestAJobComesBackSoonAfterAnOutage: a node of the database that was away for an hour.
func TestAJobComesBackSoonAfterAnOutage(t *testing.T) {
	onBoth(t, func(t *testing.T, w *leases.Work, c *clock) {
		away, tried, runs := true, 0, 0
		r := jobs.NewRunner(w, discard(), []jobs.Job{{Name: "flaky", Every: time.Second, Run: func(context.Context) (bool, error) {
			if tried++; away {
				return false, &errs.Error{Kind: errs.Unavailable, Message: "The database cannot be reached at the moment."}
			}
			runs++
			return false, nil
		}}})
		for range 360 {
			r.RunDue(t.Context())
			c.add(10 * time.Second)
		}
		away = false
		r.RunDue(t.Context())
		if runs != 1 || tried < 300 {
			t.Errorf("tried %d times in an hour, and %d after it", tried, runs)
		}
	})
}

// TestAFailedRunIsFailedWhateverItsText: an empty text, one that is cut in the middle of a character, and one that is not text.
func TestAFailedRunIsFailedWhateverItsText(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "long": strings.Repeat("a", 499) + "é", "binary": "a\xff\x00b",
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *leases.Work, c *clock) {
				failing := jobs.Job{Name: "failing", Every: time.Second, Run: func(context.Context) (bool, error) { return false, errors.New(text) }}
				r := jobs.NewRunner(w, discard(), []jobs.Job{failing})
				for range 3 {
					r.RunDue(t.Context())
					c.add(time.Hour)
				}
				list, err := w.States(t.Context(), access.System(0))
				if err != nil || len(list) != 1 || list[0].Attempts != 3 || !list[0].LastRunAt.IsZero() || list[0].LeasedUntil.After(c.now()) {
					t.Fatalf("%+v, %v", list, err)
				}
			})
		})
	}
}

func TestAJobWhoseProcessDiedIsTakenOver(t *testing.T) {
	onBoth(t, func(t *testing.T, w *leases.Work, c *clock) {
		dead, ok, err := w.Claim(t.Context(), "orphan", time.Minute)
		if err != nil || !ok {
			t.Fatalf("claim: %v, %v", ok, err)
		}
		if _, ok, _ := w.Claim(t.Context(), "orphan", time.Minute); ok {
			t.Fatal("a leased job was leased again")
		}
		c.add(time.Minute)
		heir, ok, err := w.Claim(t.Context(), "orphan", time.Minute)
		if err != nil || !ok {
			t.Fatalf("not taken over: %v, %v", ok, err)
		}
		// The dead process returns: it no longer has the lease, and its end changes nothing.
		if err := w.Finish(t.Context(), dead, 0, nil); err != nil {
			t.Fatal(err)
		}
		if _, ok, _ := w.Claim(t.Context(), "orphan", time.Minute); ok {
			t.Fatal("the lease of the heir was given back by another")
		}
		if err := w.Finish(t.Context(), heir, 0, nil); err != nil {
			t.Fatal(err)
		}
		if _, ok, _ := w.Claim(t.Context(), "orphan", time.Minute); !ok {
			t.Fatal("not due after its end")
		}
	})
}

func TestAPanicIsAFailedRun(t *testing.T) {
	onBoth(t, func(t *testing.T, w *leases.Work, c *clock) {
		r := jobs.NewRunner(w, discard(), []jobs.Job{{Name: "panic", Every: time.Hour, Run: func(context.Context) (bool, error) {
			panic("at the disco")
		}}})
		if ran := r.RunDue(t.Context()); ran != 1 {
			t.Fatalf("ran %d", ran)
		}
		c.add(5 * time.Second)
		lease, ok, err := w.Claim(t.Context(), "panic", time.Minute)
		if err != nil || !ok || lease.Attempts() != 1 {
			t.Fatalf("claim after a panic: %v, %v, %d attempts", ok, err, lease.Attempts())
		}
	})
}

func TestAJobThatWaitsForOthersBlocksNoOther(t *testing.T) {
	onBoth(t, func(t *testing.T, w *leases.Work, c *clock) {
		ctx, stop := context.WithCancel(t.Context())
		var ran atomic.Int64
		all := make(chan struct{})
		// Each of them runs until all have started.
		meet := func(context.Context) (bool, error) {
			if ran.Add(1) == 4 {
				close(all)
			}
			<-all
			return false, nil
		}
		r := jobs.NewRunner(w, discard(), []jobs.Job{
			{Name: "talks", Every: time.Hour, Talks: true, Run: meet},
			{Name: "talks, too", Every: time.Hour, Talks: true, Run: meet},
			{Name: "quick", Every: time.Second, Run: meet},
			{Name: "slow", Every: time.Hour, Run: meet},
		})
		var running sync.WaitGroup
		running.Go(func() { r.Run(ctx) })
		<-all
		stop()
		running.Wait()
	})
}

// TestAFailingDatabaseFillsNoLog: all jobs fail at each check, and the log has one line per ten seconds, with the
// number of failures.
func TestAFailingDatabaseFillsNoLog(t *testing.T) {
	c := &clock{}
	c.set(time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC))
	store := dbtest.Open(t, dbtest.SQLite(t), c.now)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	nothing := func(context.Context) (bool, error) { return false, nil }
	var log bytes.Buffer
	r := jobs.NewRunner(work(store, c), slog.New(slog.NewTextHandler(&log, nil)),
		[]jobs.Job{{Name: "one", Run: nothing}, {Name: "two", Run: nothing}, {Name: "three", Run: nothing}})
	for range 21 {
		r.RunDue(t.Context())
		c.add(time.Second)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	for i, want := range []string{"failures=1", "failures=30", "failures=30"} {
		if len(lines) != 3 || !strings.HasSuffix(lines[i], want) {
			t.Fatalf("the log says\n%s\nwant three lines, of which number %d ends in %s", log.String(), i+1, want)
		}
	}
}
