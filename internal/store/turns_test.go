package store_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// TestALongJobGivesWayToAnotherProcess: a job only waits while another process writes to the file.
func TestALongJobGivesWayToAnotherProcess(t *testing.T) {
	t.Parallel()
	url := dbtest.SQLite(t)
	server, importer := dbtest.Open(t, url, dbtest.AtStart), dbtest.Open(t, url, dbtest.AtStart)
	if err := importer.GiveWay(t.Context()); err != nil || importer.Others() {
		t.Fatalf("nobody writes: %v", err)
	}
	var all sync.WaitGroup
	begun, end := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		dbtest.Write(t, server, func(*store.Tx) error {
			close(begun)
			<-end
			return nil
		})
	})
	<-begun
	if !importer.Others() {
		t.Error("it does not see that the other process writes")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := importer.GiveWay(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that gives up gets %v", err)
	}
	close(end)
	all.Wait()
	// A write is acknowledged shortly before its process releases the lock.
	for soon := time.Now().Add(10 * time.Second); importer.Others(); runtime.Gosched() {
		if time.Now().After(soon) {
			t.Fatal("it still waits for a write that is answered")
		}
	}
	if err := importer.GiveWay(t.Context()); err != nil {
		t.Error(err)
	}
}
