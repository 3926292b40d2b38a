package verify_test

import (
	"context"
	"testing"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/ops/verify"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestRequestedChecks: one at a time; the result is stored; after a crash another process continues.
func TestRequestedChecks(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		v, ctx, boss := w.App.Verify, t.Context(), access.System(0)
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		w.Must(apptest.Report(payment.Purchase, w.Booking(c, 1000, "2024-09-14"), 1000))
		if more, err := v.Work(ctx); more || err != nil {
			t.Fatalf("without being asked: %v %v", more, err)
		}
		_, err := v.Ask(ctx, access.Actor{SiteID: w.Site.ID, UserID: 7, Role: access.MemberAdmin})
		apptest.WantKind(t, err, errs.Forbidden, "asking without the right")
		ask := func() verify.AskedRun {
			t.Helper()
			made, err := v.Ask(ctx, boss)
			if err != nil {
				t.Fatal(err)
			}
			return made
		}
		work := func(ctx context.Context) {
			t.Helper()
			if _, err := v.Work(ctx); err != nil {
				t.Fatal(err)
			}
		}
		is := func(id int64) verify.AskedRun {
			t.Helper()
			found, err := v.RunWith(ctx, boss, id)
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		first := ask()
		_, err = v.Ask(ctx, boss)
		apptest.WantKind(t, err, errs.NotPossible, "asking twice")
		work(ctx)
		if r := is(first.ID); r.State != verify.RunDone || r.Total != 0 || len(r.Result.Lines) < 20 || r.EndedAt.IsZero() {
			t.Errorf("%+v", r)
		}
		dbtest.Write(t, w.App.DB.Store, func(tx *store.Tx) error {
			_, err := tx.Exec(`UPDATE bookings SET total = total + 1`)
			return err
		})
		second := ask()
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := v.Work(gone); err == nil && is(second.ID).State != verify.RunAsked {
			t.Errorf("a program that stops keeps it: %+v", is(second.ID))
		}
		dbtest.Write(t, w.App.DB.Store, func(tx *store.Tx) error { // a crashed one
			_, err := tx.Exec(`UPDATE verify_runs SET state = 'running', tries = 1, beat_at = $2 WHERE id = $1`, second.ID, store.Micros(tx.Now))
			return err
		})
		work(ctx)
		if r := is(second.ID); r.State != verify.Running {
			t.Errorf("two work on the same: %+v", r)
		}
		w.Advance(3 * time.Minute)
		work(ctx)
		r := is(second.ID)
		if r.State != verify.RunDone || r.Total == 0 || len(r.Result.Findings) == 0 || r.Result.Findings[0].Table != "bookings" {
			t.Errorf("%+v", r)
		}
		third := ask()
		if err := v.Stop(ctx, boss, third.ID); err != nil {
			t.Fatal(err)
		}
		work(ctx)
		apptest.WantKind(t, v.Stop(ctx, boss, third.ID), errs.NotPossible, "stopping what is over")
		if list, err := v.Runs(ctx, boss); err != nil || len(list) != 3 || list[0].State != verify.RunStopped {
			t.Errorf("%+v %v", list, err)
		}
	})
}
