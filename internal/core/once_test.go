package core_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"holdfast/internal/apptest"
	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// createUnder makes a channel under an idempotency key, as the API does.
func createUnder(ctx context.Context, h *apptest.House, once travel.Once, name string) (id int64, replayed bool, err error) {
	currency := money.Currency("EUR")
	return h.Once.Do(ctx, auth.System(1), once, func() (int64, error) {
		made, err := h.Channels.Create(ctx, auth.System(1), travel.ChannelFields{Once: once, Name: &name, Currency: &currency})
		return made.ID, err
	})
}

func TestOneKeyMakesOneThing(t *testing.T) {
	apptest.OnBothEngines(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		once := travel.Once{Key: "key", Hash: "one"}
		first, replayed, err := createUnder(ctx, h, once, "A")
		if err != nil || replayed {
			t.Fatalf("the first: replayed %v, %v", replayed, err)
		}
		again, replayed, err := createUnder(ctx, h, once, "A")
		if err != nil || !replayed || again != first {
			t.Errorf("the second: %d, replayed %v, %v; want %d", again, replayed, err, first)
		}
		_, _, err = createUnder(ctx, h, travel.Once{Key: "key", Hash: "two"}, "B")
		apptest.WantKind(t, err, fault.IdempotencyMismatch, "another request under the same key")
		free, replayed, err := createUnder(ctx, h, travel.Once{}, "A")
		if err != nil || replayed || free == first {
			t.Errorf("without a key: %d, replayed %v, %v", free, replayed, err)
		}
		h.Now.Move(25 * time.Hour)
		if more, err := h.Once.Forget(ctx); err != nil || more {
			t.Errorf("forgetting: more %v, %v", more, err)
		}
		later, replayed, err := createUnder(ctx, h, once, "A")
		if err != nil || replayed || later == first {
			t.Errorf("after a day: %d, replayed %v, %v", later, replayed, err)
		}
	})
}

func TestManyAtOnceUnderOneKeyMakeOneThing(t *testing.T) {
	apptest.OnBothEngines(t, func(t *testing.T, h *apptest.House) {
		once := travel.Once{Key: "key", Hash: "one"}
		var group sync.WaitGroup
		var mu sync.Mutex
		made := map[int64]int{}
		for range 20 {
			group.Go(func() {
				id, replayed, err := createUnder(t.Context(), h, once, "A")
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
	apptest.OnBothEngines(t, func(t *testing.T, h *apptest.House) {
		once := travel.Once{Key: "key", Hash: "one"}
		// The caller goes away in the middle: the key is given back all the same.
		ctx, cancel := context.WithCancel(t.Context())
		broken := errors.New("broken")
		_, _, err := h.Once.Do(ctx, auth.System(1), once, func() (int64, error) {
			cancel()
			return 0, broken
		})
		if !errors.Is(err, broken) {
			t.Errorf("the failure became %v", err)
		}
		if _, replayed, err := createUnder(t.Context(), h, once, "A"); err != nil || replayed {
			t.Errorf("the next try: replayed %v, %v", replayed, err)
		}
	})
}

func TestAClaimIsTakenOverWhenItRunsOut(t *testing.T) {
	apptest.OnBothEngines(t, func(t *testing.T, h *apptest.House) {
		ctx := t.Context()
		once := travel.Once{Key: "key", Hash: "one"}
		var second int64
		_, _, err := h.Once.Do(ctx, auth.System(1), once, func() (int64, error) {
			_, _, err := createUnder(ctx, h, once, "B")
			apptest.WantKind(t, err, fault.IdempotencyInFlight, "while the first is answered")
			h.Now.Move(30 * time.Second)
			second, _, err = createUnder(ctx, h, once, "B")
			apptest.WantKind(t, err, fault.Internal, "when its claim has run out")
			// The first wakes up and finds that it has lost: nothing of it is stored.
			name, currency := "A", money.Currency("EUR")
			made, err := h.Channels.Create(ctx, auth.System(1), travel.ChannelFields{Once: once, Name: &name, Currency: &currency})
			return made.ID, err
		})
		apptest.WantKind(t, err, fault.IdempotencyInFlight, "the first")
		if id, replayed, err := createUnder(ctx, h, once, "A"); err != nil || !replayed || id != second {
			t.Errorf("afterwards: %d, replayed %v, %v; want %d", id, replayed, err, second)
		}
		list, err := h.Channels.List(ctx, auth.System(1), travel.ChannelFilter{}, travel.Page{Number: 1, Size: 10, Offset: -1, OrderBy: "id", Count: true})
		if err != nil || list.Total != 2 { // the site's first one, and B
			t.Errorf("%d channels, %v, want 2", list.Total, err)
		}
	})
}
