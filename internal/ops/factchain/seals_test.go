package factchain_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/ops/factchain"
	"holdfast/internal/ops/verify"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

func seal(t *testing.T, w *apptest.World) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = w.App.Seals.Seal(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func sealsOf(t *testing.T, w *apptest.World, table string) (list []factchain.Seal) {
	t.Helper()
	dbtest.Read(t, w.App.DB.Store, func(tx *store.Tx) error {
		all, err := factchain.After(tx, w.Site.ID, 0, 1000)
		for _, s := range all {
			if s.Table == table {
				list = append(list, s)
			}
		}
		return err
	})
	return list
}

func wantClean(t *testing.T, w *apptest.World) {
	t.Helper()
	report, err := w.App.Verify.Run(t.Context(), access.System(0), verify.Query{Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("%+v", f)
	}
}

// TestARowIsSealedOnceNoLowerIDCanCome: rows wait until every write that had begun when their ids were seen has ended.
func TestARowIsSealedOnceNoLowerIDCanCome(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 10_000, "2024-09-14")
		w.Must(apptest.Report(payment.Purchase, b, 1_000))
		seal(t, w)
		w.Must(apptest.Report(payment.Purchase, b, 2_000))
		w.Advance(9 * time.Second)
		if seal(t, w); len(sealsOf(t, w, "payments")) != 0 {
			t.Error("a row was sealed before ten seconds had passed")
		}
		w.Advance(time.Second)
		seal(t, w)
		list := sealsOf(t, w, "payments")
		if len(list) != 1 || list[0].Rows != 1 {
			t.Fatalf("seals %+v: only the first payment was seen ten seconds ago", list)
		}
		seal(t, w)
		w.Advance(10 * time.Second)
		if seal(t, w); len(sealsOf(t, w, "payments")) != 2 {
			t.Error("the second payment is not sealed")
		}
		wantClean(t, w)
		w.Advance(time.Hour)
		before := len(sealsOf(t, w, "payments"))
		if seal(t, w); len(sealsOf(t, w, "payments")) != before {
			t.Error("nothing was written, and something was sealed")
		}
	})
}

// TestManyProcessesSealAtOnce: each row is in one seal, and the chain has one order.
func TestManyProcessesSealAtOnce(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 100_000, "2024-09-14")
		for range 3 {
			for range 4 {
				w.Must(apptest.Report(payment.Purchase, b, 1_000))
			}
			for range 2 { // they see, and then they seal
				var all sync.WaitGroup
				for range 4 {
					all.Go(func() {
						_, err := w.App.Seals.Seal(context.WithoutCancel(t.Context()))
						if err != nil && !errs.Is(err, errs.Unavailable) && !errors.Is(err, store.ErrConflict) {
							t.Error(err)
						}
					})
				}
				all.Wait()
				w.Advance(11 * time.Second)
			}
		}
		seal(t, w)
		var rows int64
		for _, s := range sealsOf(t, w, "payments") {
			rows += s.Rows
		}
		if rows != 12 {
			t.Errorf("%d payments are sealed, of 12", rows)
		}
		wantClean(t, w)
	})
}
