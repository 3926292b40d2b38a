package claims_test

import (
	"testing"

	"holdfast/internal/book/claims"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/claim"
	"holdfast/internal/errs"
	"holdfast/internal/ops/verify"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// plan runs the job until nothing is left, and reads all payouts.
func (f *failed) plan() []claims.Payout {
	f.t.Helper()
	for more := true; more; {
		var err error
		if more, err = f.App.Claims.Plan(f.t.Context()); err != nil {
			f.t.Fatal(err)
		}
	}
	list, err := f.App.Claims.Payouts(f.t.Context(), f.Actor, claims.PayoutFilter{}, store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"})
	if err != nil {
		f.t.Fatal(err)
	}
	return list.Items
}

// approve has claims assessed and approved.
func (f *failed) approve(list ...claims.Claim) {
	f.t.Helper()
	for _, c := range list {
		if _, err := f.App.Claims.Assess(f.t.Context(), f.Actor, c.ID, ""); err != nil {
			f.t.Fatal(err)
		}
		if _, err := f.App.Claims.Approve(f.t.Context(), f.Actor, c.ID, ""); err != nil {
			f.t.Fatal(err)
		}
	}
}

// TestAPayoutIsPaidOnce: what is approved is planned once, signed and paid; a payout that failed is planned anew.
func TestAPayoutIsPaidOnce(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := fail(t, w, 2)
		f.dispute(0, 60_000, 10)
		f.dispute(1, 40_000, 11)
		list := f.make()
		if got := f.plan(); len(got) != 0 {
			t.Fatalf("planned before it was approved: %+v", got)
		}
		f.approve(list...)
		got := f.plan()
		if len(got) != 1 || got[0].Amount != 100_000 || got[0].Number != 1 || got[0].State != claim.PayoutPlanned {
			t.Fatalf("%+v", got)
		}
		if again := f.plan(); len(again) != 1 {
			t.Fatalf("planned twice: %+v", again)
		}
		_, err := w.App.Claims.Paid(t.Context(), w.Actor, got[0].ID, "BANK-1")
		apptest.WantKind(t, err, errs.ActionNotPossible, "paid before it was signed")
		if _, err := w.App.Claims.Failed(t.Context(), w.Actor, got[0].ID, "Account closed"); err != nil {
			t.Fatal(err)
		}
		if got = f.plan(); len(got) != 2 || got[1].Amount != 100_000 || got[1].Number != 2 {
			t.Fatalf("after a failure: %+v", got)
		}
		if _, err := w.App.Claims.Sign(t.Context(), w.Actor, got[1].ID); err != nil {
			t.Fatal(err)
		}
		paid, err := w.App.Claims.Paid(t.Context(), w.Actor, got[1].ID, "BANK-2")
		if err != nil || paid.State != claim.PayoutPaid || paid.BankReference != "BANK-2" {
			t.Fatalf("%+v, %v", paid, err)
		}
		for _, again := range []func() (claims.Payout, error){
			func() (claims.Payout, error) { return w.App.Claims.Paid(t.Context(), w.Actor, paid.ID, "BANK-3") },
			func() (claims.Payout, error) { return w.App.Claims.Failed(t.Context(), w.Actor, paid.ID, "No") },
		} {
			_, err := again()
			apptest.WantKind(t, err, errs.ActionNotPossible, "a payout that is paid")
		}
		for _, c := range f.make() {
			if c.State != claim.StatePaid || c.Paid != c.Covered || c.Overpaid != 0 {
				t.Errorf("%+v", c)
			}
		}
		if got := f.plan(); len(got) != 2 {
			t.Errorf("planned again after it was paid: %+v", got)
		}
	})
}

// TestOverpaidIsSetOff: what was paid of a claim that is rejected later reduces the next payout, and a payout that pays more than is
// covered is not signed.
func TestOverpaidIsSetOff(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := fail(t, w, 2)
		f.dispute(0, 60_000, 10)
		first := f.make()
		f.approve(first...)
		payout := f.plan()[0]
		if _, err := w.App.Claims.Reject(t.Context(), w.Actor, first[0].ID, "Duplicate"); err != nil {
			t.Fatal(err)
		}
		_, err := w.App.Claims.Sign(t.Context(), w.Actor, payout.ID)
		apptest.WantKind(t, err, errs.ActionNotPossible, "sign what is no longer covered")
		if _, err := w.App.Claims.Reopen(t.Context(), w.Actor, first[0].ID, "It is none"); err != nil {
			t.Fatal(err)
		}
		f.approve(first...)
		if _, err := w.App.Claims.Sign(t.Context(), w.Actor, payout.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := w.App.Claims.Paid(t.Context(), w.Actor, payout.ID, "BANK-1"); err != nil {
			t.Fatal(err)
		}
		if c, err := w.App.Claims.Reject(t.Context(), w.Actor, first[0].ID, "Duplicate after all"); err != nil || c.Overpaid != 60_000 {
			t.Fatalf("%+v, %v", c, err)
		}
		f.dispute(1, 90_000, 12)
		f.approve(f.make()[1])
		got := f.plan()
		if len(got) != 2 || got[1].Amount != 30_000 {
			t.Fatalf("%+v", got)
		}
		lines, err := w.App.Claims.PayoutLines(t.Context(), w.Actor, got[1].ID)
		if err != nil || len(lines) != 2 || lines[0].Value != -60_000 || lines[1].Value != 90_000 {
			t.Errorf("%+v, %v", lines, err)
		}
	})
}

// TestTwoPayersAtOnce: jobs of several processes plan a payout once, and of several people who record that it was paid or failed one
// succeeds.
func TestTwoPayersAtOnce(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := fail(t, w, 2)
		f.dispute(0, 60_000, 10)
		f.dispute(1, 40_000, 10)
		f.approve(f.make()...)
		at := func(n int, do func(i int) error) (succeeded int) {
			t.Helper()
			results := make(chan error, n)
			for i := range n {
				go func() { results <- do(i) }()
			}
			for range n {
				if err := <-results; err == nil {
					succeeded++
				} else if !errs.Is(err, errs.ActionNotPossible) {
					t.Error(err)
				}
			}
			return succeeded
		}
		ctx, room := t.Context(), w.App.Claims
		at(4, func(int) error {
			_, err := room.Plan(ctx)
			return err
		})
		got := f.plan()
		if len(got) != 1 || got[0].Value != 100_000 {
			t.Fatalf("%+v", got)
		}
		if n := at(4, func(int) error {
			_, err := room.Sign(ctx, w.Actor, got[0].ID)
			return err
		}); n != 1 {
			t.Errorf("%d people signed", n)
		}
		if n := at(6, func(i int) error {
			if i%2 == 0 {
				_, err := room.Failed(ctx, w.Actor, got[0].ID, "No")
				return err
			}
			_, err := room.Paid(ctx, w.Actor, got[0].ID, "BANK")
			return err
		}); n != 1 {
			t.Errorf("%d people settled it", n)
		}
		var paid int64
		for _, p := range f.plan() {
			if p.State != claim.PayoutFailed {
				paid += p.Value
			}
		}
		if paid != 100_000 {
			t.Errorf("paid or planned are %d", paid)
		}
		report, err := w.App.Verify.Run(ctx, access.System(0), verify.Query{})
		if err != nil || len(report.Findings) > 0 {
			t.Errorf("%v: %+v", err, report.Findings)
		}
	})
}
