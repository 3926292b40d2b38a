package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// TestAReadThatIsCutLeavesNothingOpen: a cancelled read ends within its statement, and the next ones on the same
// connection see later writes.
func TestAReadThatIsCutLeavesNothingOpen(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		for n := int64(1); n <= 5; n++ {
			ctx, cancel := context.WithCancel(t.Context())
			err := db.Read(ctx, store.Deployment, func(tx *store.Tx) error {
				var sum int64
				if err := tx.QueryRow(`SELECT COUNT(*) FROM site_versions`, nil, &sum); err != nil {
					return err
				}
				time.AfterFunc(5*time.Millisecond, cancel)
				return tx.QueryRow(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT SUM(i) FROM n`, nil, &sum)
			})
			cancel()
			if err == nil || ctx.Err() == nil {
				t.Fatalf("the read went on to its end: %v", err)
			}
			write := func(tx *store.Tx) error {
				_, err := tx.Exec(`INSERT INTO site_versions (site_id, version) VALUES ($1, $1)`, 1_000_000+n)
				return err
			}
			if err := db.Write(t.Context(), store.Deployment, write); err != nil {
				t.Fatal(err)
			}
			for range 8 { // each connection has its turn
				var rows int64
				err := db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
					return tx.QueryRow(`SELECT COUNT(*) FROM site_versions WHERE site_id > 1000000`, nil, &rows)
				})
				if err != nil || rows != n {
					t.Fatalf("after %d writes, a read sees %d: %v", n, rows, err)
				}
			}
		}
	})
}

// TestAShortReadDoesNotWaitForEver: if all connections are taken, it fails after its timeout. It does not start if its
// caller has given up.
func TestAShortReadDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	var inside, all sync.WaitGroup
	release := make(chan struct{})
	for range db.Computing() {
		inside.Add(1)
		all.Go(func() {
			err := db.Read(t.Context(), store.Deployment, func(*store.Tx) error {
				inside.Done()
				<-release
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	inside.Wait()
	never := func(*store.Tx) error { return errors.New("it runs") }
	refused := make(chan error, 1)
	go func() { refused <- db.Read(t.Context(), store.Deployment, never) }()
	select {
	case err := <-refused:
		if errs.KindOf(err) != errs.Unavailable {
			t.Errorf("a read without a connection: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("a read without a connection still waits")
	}
	close(release)
	all.Wait()
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := db.Read(gone, store.Deployment, never); !errors.Is(err, context.Canceled) {
		t.Errorf("a read whose caller has gone: %v", err)
	}
}
