package core_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"holdfast/internal/apptest"
	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/merchants"
	"holdfast/internal/travel"
)

// createUnder makes a supplier under an idempotency key.
func createUnder(ctx context.Context, h *apptest.House, key travel.IdempotencyKey, name string) (id int64, replayed bool, err error) {
	replayed = true
	id, err = core.Create(ctx, h.Core, auth.System(1), key, func(tx *db.Tx) (int64, core.Outcome, error) {
		replayed = false
		made, err := merchants.InsertSupplier(tx, travel.Supplier{SiteID: 1, Name: name})
		return made.ID, core.Outcome{ID: made.ID}, err
	}, func(_ context.Context, made core.Outcome) (int64, error) { return made.ID, nil })
	return id, replayed, err
}

func TestOneKeyMakesOneThing(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		key := travel.IdempotencyKey{Key: "key", Hash: "one"}
		first, replayed, err := createUnder(ctx, h, key, "A")
		if err != nil || replayed {
			t.Fatalf("the first: replayed %v, %v", replayed, err)
		}
		again, replayed, err := createUnder(ctx, h, key, "A")
		if err != nil || !replayed || again != first {
			t.Errorf("the second: %d, replayed %v, %v; want %d", again, replayed, err, first)
		}
		_, _, err = createUnder(ctx, h, travel.IdempotencyKey{Key: "key", Hash: "two"}, "B")
		apptest.WantKind(t, err, fault.IdempotencyMismatch, "another request under the same key")
		free, replayed, err := createUnder(ctx, h, travel.IdempotencyKey{}, "A")
		if err != nil || replayed || free == first {
			t.Errorf("without a key: %d, replayed %v, %v", free, replayed, err)
		}
		h.Now.Move(25 * time.Hour)
		if more, err := h.Idempotency.Forget(ctx); err != nil || more {
			t.Errorf("forgetting: more %v, %v", more, err)
		}
		later, replayed, err := createUnder(ctx, h, key, "A")
		if err != nil || replayed || later == first {
			t.Errorf("after a day: %d, replayed %v, %v", later, replayed, err)
		}
	})
}

func TestManyAtOnceUnderOneKeyMakeOneThing(t *testing.T) {
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		key := travel.IdempotencyKey{Key: "key", Hash: "one"}
		var group sync.WaitGroup
		var mu sync.Mutex
		made := map[int64]int{}
		for range 20 {
			group.Go(func() {
				id, replayed, err := createUnder(t.Context(), h, key, "A")
				mu.Lock()
				defer mu.Unlock()
				switch {
				case fault.Is(err, fault.IdempotencyInFlight):
				case err != nil:
					t.Error(err)
				case !replayed:
					made[id]++
				}
			})
		}
		group.Wait()
		if len(made) != 1 {
			t.Errorf("made were %v, want one thing", made)
		}
	})
}

func TestAFailedCreateGivesItsKeyBack(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		key := travel.IdempotencyKey{Key: "key", Hash: "one"}
		// The caller goes away in the middle: the key is given back all the same.
		ctx, cancel := context.WithCancel(t.Context())
		broken := errors.New("broken")
		_, err := core.Create(ctx, h.Core, auth.System(1), key, func(*db.Tx) (int64, core.Outcome, error) {
			cancel()
			return 0, core.Outcome{}, broken
		}, nil)
		if !errors.Is(err, broken) {
			t.Errorf("the failure became %v", err)
		}
		if _, replayed, err := createUnder(t.Context(), h, key, "A"); err != nil || replayed {
			t.Errorf("the next try: replayed %v, %v", replayed, err)
		}
	})
}

func TestAClaimIsTakenOverWhenItRunsOut(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		key := travel.IdempotencyKey{Key: "key", Hash: "one"}
		// The first request claims its key and goes no further.
		err := h.Core.Store.Write(ctx, func(tx *db.Tx) error {
			_, mine, err := core.ClaimKey(tx, 1, 0, key, tx.Now.Add(30*time.Second))
			if !mine {
				t.Error("the key is not free")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = createUnder(ctx, h, key, "A")
		apptest.WantKind(t, err, fault.IdempotencyInFlight, "while the first is answered")
		h.Now.Move(30 * time.Second)
		second, replayed, err := createUnder(ctx, h, key, "B")
		if err != nil || replayed {
			t.Errorf("when its claim has run out: replayed %v, %v", replayed, err)
		}
		if id, replayed, err := createUnder(ctx, h, key, "C"); err != nil || !replayed || id != second {
			t.Errorf("afterwards: %d, replayed %v, %v; want %d", id, replayed, err, second)
		}
	})
}

// TestOneThatLostItsClaimIsUndone: another request has finished the key before the first one could.
func TestOneThatLostItsClaimIsUndone(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		key := travel.IdempotencyKey{Key: "key", Hash: "one"}
		_, err := core.Create(t.Context(), h.Core, auth.System(1), key, func(tx *db.Tx) (int64, core.Outcome, error) {
			made, err := merchants.InsertSupplier(tx, travel.Supplier{SiteID: 1, Name: "Lost"})
			if err == nil {
				_, err = tx.Exec(`UPDATE idempotency_keys SET object_id = 77`)
			}
			return made.ID, core.Outcome{ID: made.ID}, err
		}, nil)
		apptest.WantKind(t, err, fault.IdempotencyInFlight, "the first")
		list, err := h.Suppliers.List(t.Context(), auth.System(1), travel.SupplierFilter{}, travel.Page{Number: 1, Size: 10, Offset: -1})
		if err != nil || len(list.Items) != 0 {
			t.Errorf("%d suppliers are left, %v", len(list.Items), err)
		}
	})
}
