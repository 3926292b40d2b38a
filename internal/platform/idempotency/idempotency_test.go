package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/leases"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
	"holdfast/internal/testkit/pgtest"
)

// under is the program as the sender of a request with an idempotency key.
func under(key access.IdempotencyKey) access.Actor {
	actor := access.System(1)
	actor.Key = key
	return actor
}

// createUnder creates a supplier under an idempotency key.
func createUnder(ctx context.Context, h *apptest.House, key access.IdempotencyKey, name string) (id int64, replayed bool, err error) {
	return createAs(ctx, h, under(key), name)
}

// createAs creates a supplier as an actor, and expects the right value of Replayed.
func createAs(ctx context.Context, h *apptest.House, actor access.Actor, name string) (id int64, replayed bool, err error) {
	replayed = true
	var seen bool
	actor.Key.Replayed = &seen
	id, err = idempotency.Once(ctx, h.App.DB, actor, func(tx *store.Tx) (int64, idempotency.Outcome, error) {
		replayed = false
		made, err := merchants.InsertSupplier(tx, merchant.Supplier{SiteID: actor.SiteID, Name: name})
		return made.ID, idempotency.Outcome{ID: made.ID}, err
	}, func(_ context.Context, made idempotency.Outcome) (int64, error) { return made.ID, nil })
	if err == nil && seen != replayed {
		err = fmt.Errorf("replayed is %v, and it says %v", replayed, seen)
	}
	return id, replayed, err
}

func TestOneKeyMakesOneThing(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		key := access.IdempotencyKey{Key: "key", Hash: "one"}
		first, replayed, err := createUnder(ctx, h, key, "A")
		if err != nil || replayed {
			t.Fatalf("the first: replayed %v, %v", replayed, err)
		}
		again, replayed, err := createUnder(ctx, h, key, "A")
		if err != nil || !replayed || again != first {
			t.Errorf("the second: %d, replayed %v, %v; want %d", again, replayed, err, first)
		}
		_, _, err = createUnder(ctx, h, access.IdempotencyKey{Key: "key", Hash: "two"}, "B")
		apptest.WantKind(t, err, errs.IdempotencyMismatch, "another request under the same key")
		free, replayed, err := createUnder(ctx, h, access.IdempotencyKey{}, "A")
		if err != nil || replayed || free == first {
			t.Errorf("without a key: %d, replayed %v, %v", free, replayed, err)
		}
		h.Now.Move(30*24*time.Hour - time.Second)
		if more, err := h.Idempotency.Forget(ctx); err != nil || more {
			t.Errorf("forgetting: more %v, %v", more, err)
		}
		if id, replayed, err := createUnder(ctx, h, key, "A"); err != nil || !replayed || id != first {
			t.Errorf("within thirty days: %d, replayed %v, %v; want %d", id, replayed, err, first)
		}
		h.Now.Move(2 * time.Second)
		if more, err := h.Idempotency.Forget(ctx); err != nil || more {
			t.Errorf("forgetting: more %v, %v", more, err)
		}
		later, replayed, err := createUnder(ctx, h, key, "A")
		if err != nil || replayed || later == first {
			t.Errorf("after thirty days: %d, replayed %v, %v", later, replayed, err)
		}
	})
}

// TestManyAtOnceUnderOneKeyMakeOneThing: two users of a site send the same request through two processes.
func TestManyAtOnceUnderOneKeyMakeOneThing(t *testing.T) {
	t.Parallel()
	for _, engine := range dbtest.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			t.Parallel()
			url := engine.Database(t)
			h := apptest.HouseAt(t, url)
			houses := []*apptest.House{h, apptest.Process(t, dbtest.Open(t, url, h.Now.Read), h.Now)}
			var group sync.WaitGroup
			var mu sync.Mutex
			made, seen := map[int64]int{}, map[int64]int{}
			for i := range 20 {
				actor := under(access.IdempotencyKey{Key: "key", Hash: "one"})
				actor.UserID = int64(i % 3)
				group.Go(func() {
					id, replayed, err := createAs(t.Context(), houses[i%2], actor, "A")
					mu.Lock()
					defer mu.Unlock()
					switch {
					case errs.Is(err, errs.IdempotencyInFlight):
					case err != nil:
						t.Error(err)
					case replayed:
						seen[id]++
					default:
						made[id]++
					}
				})
			}
			group.Wait()
			if len(made) != 1 || len(seen) > 1 {
				t.Fatalf("made were %v and read %v, want one thing", made, seen)
			}
			list, err := h.Suppliers.List(t.Context(), access.System(1), merchants.SupplierFilter{}, store.Page{Number: 1, Size: 10, Offset: -1})
			if err != nil || len(list.Items) != 1 || made[list.Items[0].ID] != 1 || len(seen) == 1 && seen[list.Items[0].ID] == 0 {
				t.Errorf("on file is %v, %v", list.Items, err)
			}
		})
	}
}

// TestAKeyBelongsToItsSite: another user of the site repeats a request, or gets a conflict. On another site the key is
// new.
func TestAKeyBelongsToItsSite(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		path, name, currency := "other", "Other", money.Currency("GBP")
		other, err := h.Sites.Create(t.Context(), access.System(0), merchant.SiteFields{Path: &path, Name: &name, Currency: &currency})
		if err != nil {
			t.Fatal(err)
		}
		ada, bob := under(access.IdempotencyKey{Key: "key", Hash: "one"}), under(access.IdempotencyKey{Key: "key", Hash: "one"})
		ada.UserID, bob.UserID = 1, 2
		first, _, err := createAs(t.Context(), h, ada, "A")
		if err != nil {
			t.Fatal(err)
		}
		if id, replayed, err := createAs(t.Context(), h, bob, "A"); err != nil || !replayed || id != first {
			t.Errorf("another user: %d, replayed %v, %v; want %d", id, replayed, err, first)
		}
		bob.Key.Hash = "two"
		_, _, err = createAs(t.Context(), h, bob, "B")
		apptest.WantKind(t, err, errs.IdempotencyMismatch, "another request of another user")
		bob.SiteID = other.ID
		if _, replayed, err := createAs(t.Context(), h, bob, "B"); err != nil || replayed {
			t.Errorf("on another site: replayed %v, %v", replayed, err)
		}
	})
}

// TestForgettingGoesInSteps: one write deletes a bounded number of old keys, and reports that there are more.
func TestForgettingGoesInSteps(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		dbtest.Write(t, h.App.DB.Store, func(tx *store.Tx) error {
			_, err := tx.Exec(`INSERT INTO idempotency_keys (site_id, key, request_hash, object_id, claimed_until, created_at)
				WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= $1)
				SELECT 1, 'key ' || i, '', i, 0, 0 FROM n`, leases.ForgetAtOnce)
			return err
		})
		for _, want := range []bool{true, false} {
			if more, err := h.Idempotency.Forget(t.Context()); err != nil || more != want {
				t.Errorf("more is %v, %v; want %v", more, err, want)
			}
		}
		dbtest.Read(t, h.App.DB.Store, func(tx *store.Tx) error {
			var left int
			if err := tx.QueryRow(`SELECT COUNT(*) FROM idempotency_keys`, nil, &left); err != nil || left != 0 {
				t.Errorf("%d keys are left, %v", left, err)
			}
			return nil
		})
	})
}

func TestAFailedCreateGivesItsKeyBack(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		key := access.IdempotencyKey{Key: "key", Hash: "one"}
		// The caller disconnects in the middle: the key is still released.
		ctx, cancel := context.WithCancel(t.Context())
		broken := errors.New("broken")
		_, err := idempotency.Once(ctx, h.App.DB, under(key), func(*store.Tx) (int64, idempotency.Outcome, error) {
			cancel()
			return 0, idempotency.Outcome{}, broken
		}, nil)
		if !errors.Is(err, broken) {
			t.Errorf("the failure became %v", err)
		}
		_, replayed, err := createUnder(t.Context(), h, key, "A")
		for tries := 0; errs.Is(err, errs.IdempotencyInFlight) && tries < 1000; tries++ { // PostgreSQL may still undo the first one
			_, replayed, err = createUnder(t.Context(), h, key, "A")
		}
		if err != nil || replayed {
			t.Errorf("the next try: replayed %v, %v", replayed, err)
		}
	})
}

// TestAKeyHeldByAnEarlierVersionSaysHowLong: its row has no outcome yet. The answer has the true time that is left, and
// after that the key is free.
func TestAKeyHeldByAnEarlierVersionSaysHowLong(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		key := access.IdempotencyKey{Key: "key", Hash: "one"}
		dbtest.Write(t, h.App.DB.Store, func(tx *store.Tx) error {
			_, err := tx.Exec(`INSERT INTO idempotency_keys (site_id, key, request_hash, claimed_until, created_at)
				VALUES (1, 'key', 'one', $1, 0)`, store.Micros(tx.Now.Add(30*time.Second)))
			return err
		})
		h.Now.Move(10 * time.Second)
		_, _, err := createUnder(ctx, h, key, "A")
		apptest.WantKind(t, err, errs.IdempotencyInFlight, "while the first is answered")
		if f, ok := errors.AsType[*errs.Error](err); !ok || f.RetryAfter != 20*time.Second {
			t.Errorf("it says %+v, and 20 seconds are left", f)
		}
		h.Now.Move(20 * time.Second)
		second, replayed, err := createUnder(ctx, h, key, "B")
		if err != nil || replayed {
			t.Errorf("when its time is over: replayed %v, %v", replayed, err)
		}
		if id, replayed, err := createUnder(ctx, h, key, "C"); err != nil || !replayed || id != second {
			t.Errorf("afterwards: %d, replayed %v, %v; want %d", id, replayed, err, second)
		}
	})
}

// TestAKeyIsFreeWhenItsRequestDies: a program is killed in the middle of a request. The next one with the same key does
// not wait.
func TestAKeyIsFreeWhenItsRequestDies(t *testing.T) {
	t.Parallel()
	key := access.IdempotencyKey{Key: "key", Hash: "one"}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		url := dbtest.SQLite(t)
		h := apptest.HouseAt(t, url)
		crashed := t.TempDir() + "/crashed.db"
		_, err := idempotency.Once(t.Context(), h.App.DB, under(key), func(tx *store.Tx) (int64, idempotency.Outcome, error) {
			made, err := merchants.InsertSupplier(tx, merchant.Supplier{SiteID: 1, Name: "A"})
			if err != nil {
				return 0, idempotency.Outcome{}, err
			}
			// The files on disk are those that a crash would leave.
			path := strings.TrimPrefix(url, "sqlite:")
			for _, ending := range []string{"", "-wal"} {
				whole, err := os.ReadFile(path + ending)
				if err := errors.Join(err, os.WriteFile(crashed+ending, whole, 0o600)); err != nil {
					return 0, idempotency.Outcome{}, err
				}
			}
			return made.ID, idempotency.Outcome{ID: made.ID}, nil
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		after := apptest.Process(t, dbtest.Open(t, "sqlite:"+crashed, h.Now.Read), h.Now)
		if _, replayed, err := createUnder(t.Context(), after, key, "A"); err != nil || replayed {
			t.Errorf("after the crash: replayed %v, %v", replayed, err)
		}
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := dbtest.Engines[1].Database(t)
		h := apptest.HouseAt(t, url)
		p := pgtest.Through(t, url)
		dying := apptest.Process(t, dbtest.Open(t, p.URL, h.Now.Read), h.Now)
		holds, dead, ended := make(chan struct{}), make(chan struct{}), make(chan error)
		runs := 0
		go func() {
			_, err := idempotency.Once(t.Context(), dying.App.DB, under(key), func(tx *store.Tx) (int64, idempotency.Outcome, error) {
				if runs++; runs > 1 {
					return 0, idempotency.Outcome{}, errors.New("the dead do not try again")
				}
				close(holds)
				<-dead
				made, err := merchants.InsertSupplier(tx, merchant.Supplier{SiteID: 1, Name: "A"})
				return made.ID, idempotency.Outcome{ID: made.ID}, err
			}, func(_ context.Context, made idempotency.Outcome) (int64, error) { return made.ID, nil })
			ended <- err
		}()
		<-holds
		_, _, err := createUnder(t.Context(), h, key, "A")
		apptest.WantKind(t, err, errs.IdempotencyInFlight, "while the first lives")
		if f, ok := errors.AsType[*errs.Error](err); !ok || f.RetryAfter != time.Second {
			t.Errorf("it says %+v", f)
		}
		p.Cut() // as the kernel does when a program is killed
		for errs.Is(err, errs.IdempotencyInFlight) {
			_, replayed, again := createUnder(t.Context(), h, key, "A")
			if err = again; err == nil && replayed {
				t.Error("it repeats what the dead one has not made")
			}
		}
		if err != nil {
			t.Error(err)
		}
		close(dead)
		<-ended // its response is never read
		list, err := h.Suppliers.List(t.Context(), access.System(1), merchants.SupplierFilter{}, store.Page{Number: 1, Size: 10, Offset: -1})
		if err != nil || len(list.Items) != 1 {
			t.Errorf("%d suppliers are there, %v", len(list.Items), err)
		}
	})
}

// TestOneThatLostItsKeyIsUndone: another request has finished the key before the first one could.
func TestOneThatLostItsKeyIsUndone(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		key := access.IdempotencyKey{Key: "key", Hash: "one"}
		_, err := idempotency.Once(t.Context(), h.App.DB, under(key), func(tx *store.Tx) (int64, idempotency.Outcome, error) {
			made, err := merchants.InsertSupplier(tx, merchant.Supplier{SiteID: 1, Name: "Lost"})
			if err == nil {
				_, err = tx.Exec(`INSERT INTO idempotency_keys
					(site_id, key, request_hash, object_id, claimed_until, created_at) VALUES (1, 'key', 'one', 77, 0, 0)`)
			}
			return made.ID, idempotency.Outcome{ID: made.ID}, err
		}, nil)
		apptest.WantKind(t, err, errs.IdempotencyInFlight, "the first")
		list, err := h.Suppliers.List(t.Context(), access.System(1), merchants.SupplierFilter{}, store.Page{Number: 1, Size: 10, Offset: -1})
		if err != nil || len(list.Items) != 0 {
			t.Errorf("%d suppliers are left, %v", len(list.Items), err)
		}
	})
}
