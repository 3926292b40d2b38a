package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/terms"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// TestOneOfManyWritesFailsAlone: writes that arrive during another one share a commit, and a failed one leaves nothing
// behind.
func TestOneOfManyWritesFailsAlone(t *testing.T) {
	dbtest.OnBothOpen(t, func(t *testing.T, database *store.DB) {
		failAlone(t, database.WriteLong, database, "long")
		failAlone(t, database.Write, database, "short")
	})
}

func failAlone(
	t *testing.T, writeAs func(context.Context, int64, func(tx *store.Tx) error) error, database *store.DB, kind string,
) {
	const many = 30
	var want []string
	var all, waiting sync.WaitGroup
	begun, others := make(chan struct{}), make(chan struct{})
	write := func(i int, first func()) {
		path := fmt.Sprintf("%s-%02d", kind, i)
		err := writeAs(t.Context(), store.Deployment, func(tx *store.Tx) error {
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

// TestALongWriteSharesItsCommitWithNone: earlier writes are stored before it, and later ones after it.
func TestALongWriteSharesItsCommitWithNone(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	var all sync.WaitGroup
	begun, end := make(chan struct{}), make(chan struct{})
	before := db.Work().Commits
	all.Go(func() {
		err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			close(begun)
			<-end
			return put("first")(tx)
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-begun
	for i, write := range []func(context.Context, int64, func(*store.Tx) error) error{db.Write, db.WriteLong, db.Write, db.WriteLong} {
		all.Go(func() {
			if err := write(t.Context(), store.Deployment, put(strconv.Itoa(i))); err != nil {
				t.Error(err)
			}
		})
		db.AwaitQueued(i + 1)
	}
	close(end)
	all.Wait()
	if n := db.Work().Commits - before; n != 4 {
		t.Errorf("%d commits, want one for each long write and one for those before it", n)
	}
	for _, name := range []string{"first", "0", "1", "2", "3"} {
		if !stored(t, db, name) {
			t.Errorf("%s is not stored", name)
		}
	}
}
