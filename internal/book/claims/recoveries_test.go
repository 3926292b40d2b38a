package claims_test

import (
	"testing"

	"holdfast/internal/book/claims"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/testkit/apptest"
)

// TestRecoveriesAreShared: a recovery reimburses the insurer up to what is covered; cancelled, it no longer counts.
func TestRecoveriesAreShared(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := fail(t, w, 1)
		f.dispute(0, 60_000, 10)
		f.make()
		kind, pounds, amount := claims.RecoveryKind("dividend"), money.Currency("GBP"), int64(70_000)
		in := claims.NewRecovery{InsolvencyID: &f.insolvency.ID, Kind: &kind, Currency: &pounds, Amount: &amount, Reference: "First dividend"}
		made, err := w.App.Claims.Recover(t.Context(), w.Actor, in)
		if err != nil || made.Value != 70_000 {
			t.Fatalf("%+v, %v", made, err)
		}
		r, err := w.App.Claims.Report(t.Context(), w.Actor, f.insolvency.ID)
		if all := r.Recovered; err != nil || all.Total != 70_000 || all.Shares[terms.BearerInsurer] != 60_000 || all.Surplus != 10_000 {
			t.Errorf("%+v, %v", r.Recovered, err)
		}
		if _, err := w.App.Claims.Cancel(t.Context(), w.Actor, made.ID, "Wrong estate"); err != nil {
			t.Fatal(err)
		}
		_, err = w.App.Claims.Cancel(t.Context(), w.Actor, made.ID, "Again")
		apptest.WantKind(t, err, errs.ActionNotPossible, "cancel twice")
		if r, err := w.App.Claims.Report(t.Context(), w.Actor, f.insolvency.ID); err != nil || r.Recovered.Total != 0 || r.Recovered.Surplus != 0 {
			t.Errorf("after it was cancelled: %+v, %v", r.Recovered, err)
		}
		_, err = w.App.Claims.Recover(t.Context(), w.Actor, claims.NewRecovery{})
		apptest.WantKind(t, err, errs.Missing, "without fields")
	})
}
