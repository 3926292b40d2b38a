package claims_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"holdfast/internal/book/claims"
	"holdfast/internal/book/disputes"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"

	"golang.org/x/sync/errgroup"
)

// earnest makes the site no sandbox any more: each step needs the people that the rules ask for.
func (f *failed) earnest() {
	f.t.Helper()
	dbtest.Write(f.t, f.App.DB.Store, func(tx *store.Tx) error {
		if err := sites.Changed(tx, f.Site.ID); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE sites SET sandbox = FALSE WHERE id = $1`, f.Site.ID)
		return err
	})
}

// person is an operator of the site.
func (f *failed) person(id int64) access.Actor {
	actor := f.Actor
	actor.UserID, actor.Username = id, string(rune('a'+id))
	return actor
}

// TestTheAssessorNeverApproves: outside a sandbox another person does, and above two_signatures two do.
func TestTheAssessorNeverApproves(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		limit := int64(50_000)
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-06-03"), Cover: terms.CoverFields{TwoSignatures: &limit}})
		f := fail(t, w, 2)
		f.dispute(0, 60_000, 10)
		f.dispute(1, 40_000, 11)
		list := f.make()
		f.earnest()
		room, ctx := w.App.Claims, t.Context()
		one, two, three := f.person(101), f.person(102), f.person(103)
		_, err := room.Assess(ctx, access.System(f.Site.ID), list[0].ID, "")
		apptest.WantKind(t, err, errs.ActionNotPossible, "assessed by nobody")
		for _, c := range list {
			if _, err := room.Assess(ctx, one, c.ID, ""); err != nil {
				t.Fatal(err)
			}
			_, err := room.Approve(ctx, one, c.ID, "")
			apptest.WantKind(t, err, errs.SamePerson, "approved by the assessor")
		}
		if c, err := room.Approve(ctx, two, list[1].ID, ""); err != nil || c.State != claim.StateApproved {
			t.Errorf("up to two_signatures: %+v, %v", c, err)
		}
		if c, err := room.Approve(ctx, two, list[0].ID, ""); err != nil || c.State != claim.StateAssessed || len(c.ApprovedBy) != 1 {
			t.Errorf("above two_signatures: %+v, %v", c, err)
		}
		_, err = room.Approve(ctx, two, list[0].ID, "")
		apptest.WantKind(t, err, errs.SamePerson, "approved twice")
		if c, err := room.Approve(ctx, three, list[0].ID, ""); err != nil || c.State != claim.StateApproved {
			t.Errorf("a second person: %+v, %v", c, err)
		}
	})
}

// TestSeveralPeopleReviewAtOnce: above two_signatures a claim is approved by two people, neither of whom assessed it last.
func TestSeveralPeopleReviewAtOnce(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		limit := int64(50_000)
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-06-03"), Cover: terms.CoverFields{TwoSignatures: &limit}})
		f := fail(t, w, 1)
		f.dispute(0, 60_000, 10)
		id := f.make()[0].ID
		f.earnest()
		people := []access.Actor{f.person(101), f.person(102), f.person(103), f.person(104)}
		var running errgroup.Group
		for _, one := range people {
			for _, do := range []func(context.Context, access.Actor, int64, string) (claims.Claim, error){w.App.Claims.Assess, w.App.Claims.Approve} {
				running.Go(func() error {
					_, err := do(t.Context(), one, id, "")
					if errs.Is(err, errs.ActionNotPossible) || errs.Is(err, errs.SamePerson) {
						return nil // another was first
					}
					return err
				})
			}
		}
		if err := running.Wait(); err != nil {
			t.Fatal(err)
		}
		for _, one := range people { // decides what is still open
			_, err := w.App.Claims.Approve(t.Context(), one, id, "")
			if err != nil && !errs.Is(err, errs.ActionNotPossible) && !errs.Is(err, errs.SamePerson) {
				t.Fatal(err)
			}
		}
		c, err := w.App.Claims.Get(t.Context(), w.Actor, id)
		if err != nil || c.State != claim.StateApproved || len(c.ApprovedBy) != 2 || c.ApprovedBy[0] == c.ApprovedBy[1] ||
			slices.Contains(c.ApprovedBy, c.AssessedBy) {
			t.Errorf("%+v, %v", c, err)
		}
	})
}

// TestWithdrawnUntilTheFirstApproval, and closed when everything approved is paid.
func TestWithdrawnUntilTheFirstApproval(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := fail(t, w, 1)
		f.dispute(0, 60_000, 10)
		list := f.make()
		f.approve(list...)
		room, ctx, id := w.App.Claims, t.Context(), f.insolvency.ID
		if _, err := room.Reopen(ctx, w.Actor, list[0].ID, "To be sure"); err != nil {
			t.Fatal(err)
		}
		_, err := room.WithdrawInsolvency(ctx, w.Actor, id, "A mistake")
		apptest.WantKind(t, err, errs.ActionNotPossible, "withdrawn after an approval")
		f.approve(list...)
		_, err = room.CloseInsolvency(ctx, w.Actor, id, "")
		apptest.WantKind(t, err, errs.ActionNotPossible, "closed with open claims")
		if _, err := w.App.Insolvencies.CloseClaims(ctx, w.Actor, id, ""); err != nil {
			t.Fatal(err)
		}
		_, err = room.CloseInsolvency(ctx, w.Actor, id, "")
		apptest.WantKind(t, err, errs.ActionNotPossible, "closed while a payout is due")
		payout := f.plan()[0]
		_, err = room.CloseInsolvency(ctx, w.Actor, id, "")
		apptest.WantKind(t, err, errs.ActionNotPossible, "closed with a planned payout")
		if _, err := room.Sign(ctx, w.Actor, payout.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := room.Paid(ctx, w.Actor, payout.ID, "BANK-1"); err != nil {
			t.Fatal(err)
		}
		closed, err := room.CloseInsolvency(ctx, w.Actor, id, "")
		if err != nil || closed.State != insolvencies.Closed {
			t.Fatalf("%+v, %v", closed, err)
		}
		_, err = room.Reopen(ctx, w.Actor, list[0].ID, "Too late")
		apptest.WantKind(t, err, errs.ActionNotPossible, "a claim of a closed insolvency")
	})
}

// TestClosedWithUndecidedClaims: closing only needs every payout settled. Undecided claims are never paid then.
func TestClosedWithUndecidedClaims(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := fail(t, w, 2)
		f.dispute(0, 60_000, 10)
		f.dispute(1, 40_000, 10)
		list := f.make()
		room, ctx, id := w.App.Claims, t.Context(), f.insolvency.ID
		f.approve(list[0])
		if _, err := w.App.Insolvencies.CloseClaims(ctx, w.Actor, id, ""); err != nil {
			t.Fatal(err)
		}
		payout := f.plan()[0]
		if _, err := room.Sign(ctx, w.Actor, payout.ID); err != nil {
			t.Fatal(err)
		}
		_, err := room.CloseInsolvency(ctx, w.Actor, id, "")
		apptest.WantKind(t, err, errs.ActionNotPossible, "closed with a signed payout")
		if _, err := room.Paid(ctx, w.Actor, payout.ID, "BANK-1"); err != nil {
			t.Fatal(err)
		}
		closed, err := room.CloseInsolvency(ctx, w.Actor, id, "")
		if err != nil || closed.State != insolvencies.Closed {
			t.Fatalf("closed with an open claim: %+v, %v", closed, err)
		}
		_, err = room.Assess(ctx, w.Actor, list[1].ID, "")
		apptest.WantKind(t, err, errs.ActionNotPossible, "a claim of a closed insolvency")
		if got := f.plan(); len(got) != 1 {
			t.Errorf("planned after closing: %+v", got)
		}
	})
}

// TestAWithdrawnInsolvencyPaysNothing: its claims can no longer be decided.
func TestAWithdrawnInsolvencyPaysNothing(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := fail(t, w, 1)
		f.dispute(0, 60_000, 10)
		list := f.make()
		if _, err := w.App.Claims.WithdrawInsolvency(t.Context(), w.Actor, f.insolvency.ID, "A mistake"); err != nil {
			t.Fatal(err)
		}
		_, err := w.App.Claims.Assess(t.Context(), w.Actor, list[0].ID, "")
		apptest.WantKind(t, err, errs.ActionNotPossible, "a claim of a withdrawn insolvency")
		if c := f.make()[0]; c.Covered != 0 {
			t.Errorf("%+v", c)
		}
	})
}

// TestPayoutsFollowTheSettings of the channel: currency, minimum and beneficiary.
func TestPayoutsFollowTheSettings(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85000", "USD": "1.10000"})
		f := fail(t, w, 2)
		dbtest.Write(t, w.App.DB.Store, func(tx *store.Tx) error {
			_, err := tx.Exec(`UPDATE channels SET settlement_currency = 'USD', payout_minimum = 90000, beneficiary_id = 'B-7' WHERE site_id = $1`, w.Site.ID)
			return err
		})
		f.dispute(0, 60_000, 1)
		f.approve(f.make()...)
		if got := f.plan(); len(got) != 0 {
			t.Fatalf("GBP 600.00 are USD 776.47, below the minimum: %+v", got)
		}
		f.dispute(1, 40_000, 1)
		f.approve(f.make()[1])
		got := f.plan()
		if len(got) != 1 || got[0].Quote.To != "USD" || got[0].Amount != 129_412 || got[0].Value != 100_000 || got[0].Beneficiary != "B-7" {
			t.Fatalf("%+v", got)
		}
		printed, err := w.App.Claims.Document(t.Context(), w.Actor, got[0].ID, 1)
		if err != nil || len(printed.Claims) != 1 || printed.More != 1 || printed.Merchant == "" || printed.From.Name == "" {
			t.Errorf("%+v, %v", printed, err)
		}
	})
}

// TestADisputeOfAnotherPayment: a claim whose dispute a person unmatches is worth nothing.
func TestADisputeOfAnotherPayment(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := fail(t, w, 1)
		f.dispute(0, 60_000, 10)
		f.approve(f.make()...)
		cases, err := w.App.Disputes.List(t.Context(), w.Actor, disputes.Filter{}, store.Page{Number: 1, Size: 10, Offset: -1, OrderBy: store.OrderID})
		if err != nil || len(cases.Items) != 1 {
			t.Fatalf("%+v, %v", cases.Items, err)
		}
		if _, err := w.App.Disputes.Unmatch(t.Context(), w.Actor, cases.Items[0].ID, "Another trip"); err != nil {
			t.Fatal(err)
		}
		if c := f.make()[0]; c.Payable != 0 || c.Loss != 0 || c.Covered != 0 || c.Represent != 0 {
			t.Errorf("%+v", c)
		}
	})
}

// TestTheReportOfAnInsolvency adds up what was exposed, claimed, paid and may still come.
func TestTheReportOfAnInsolvency(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		deductible, coinsurance, development := int64(10_000), int64(100_000), int64(500_000)
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-06-03"), Cover: terms.CoverFields{
			Deductible: &deductible, CoinsurancePPM: &coinsurance, DevelopmentPPM: &development,
		}})
		f := fail(t, w, 3)
		f.dispute(0, 60_000, 10)
		f.make()
		kind, pounds, amount := claims.RecoveryKind("bond"), money.Currency("GBP"), int64(15_000)
		if _, err := w.App.Claims.Recover(t.Context(), w.Actor, claims.NewRecovery{
			InsolvencyID: &f.insolvency.ID, Kind: &kind, Currency: &pounds, Amount: &amount}); err != nil {
			t.Fatal(err)
		}
		r, err := w.App.Claims.Report(t.Context(), w.Actor, f.insolvency.ID)
		if err != nil {
			t.Fatal(err)
		}
		// Exposed 3 · 1,000.00; payable 600.00; covered (600 − 100) · 90 % = 450.00. Open are 400 + 1,000 + 1,000 = 2,400.00, of which half
		// is expected: (600 + 1,200 − 100) · 90 % = 1,530.00, so that the reserve is 1,080.00.
		apptest.Same(t, "figures", []any{r.Exposed, r.Payable, r.Covered, r.Paid, r.Reserve, r.Incurred(), r.Pending, r.Claims[claim.StateOpen]},
			[]any{300_000, 60_000, 45_000, 0, 108_000, 153_000, 0, 1})
		apptest.Same(t, "recovered", []any{r.Recovered.Total, r.Recovered.Shares[terms.BearerDeductible], r.Recovered.Shares[terms.BearerInsurer]},
			[]any{15_000, 10_000, 5_000})
		b, day := r.Breakdown, civil.DayOf(f.insolvency.TriggerAt)+10
		want := claims.Sum{Claims: 1, Disputed: 60_000, Payable: 60_000, Covered: 45_000}
		apptest.Same(t, "by day, scheme and reason", []any{b.Total, b.Days[0], b.Schemes[0].Sum, b.Reasons[0]},
			[]any{want, claims.DaySum{Day: day, Sum: want}, want, claims.ReasonSum{Sum: want}})
		first, end := b.RunOff[0], b.RunOff[len(b.RunOff)-1]
		apptest.Same(t, "run-off", []any{first.Payable, first.Open, b.RunOff[10].Payable, b.RunOff[10].Open, end.Payable, end.Open},
			[]any{0, 300_000, 60_000, 240_000, 60_000, 0})
		_, err = w.App.Claims.Report(t.Context(), w.Actor, f.insolvency.ID+9)
		apptest.WantKind(t, err, errs.SettingNotFound, "an unknown insolvency")
	})
}

// TestWhoMayHandleClaims: each right is one of its own.
func TestWhoMayHandleClaims(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := fail(t, w, 1)
		f.dispute(0, 60_000, 10)
		id := f.make()[0].ID
		room, ctx := w.App.Claims, t.Context()
		as := func(role access.Role) access.Actor {
			actor := f.Actor
			actor.Role, actor.UserID = role, 99
			return actor
		}
		_, err := room.Get(ctx, as(access.ReadOnly), id)
		apptest.WantKind(t, err, errs.Forbidden, "a reader reads")
		if _, err := room.Get(ctx, as(access.Finance), id); err != nil {
			t.Error(err)
		}
		_, err = room.Assess(ctx, as(access.Finance), id, "")
		apptest.WantKind(t, err, errs.Forbidden, "finance assesses")
		if _, err := room.Assess(ctx, as(access.MemberAdmin), id, ""); err != nil {
			t.Error(err)
		}
		_, err = room.Approve(ctx, as(access.MemberAdmin), id, "")
		apptest.WantKind(t, err, errs.Forbidden, "a member approves")
		f.approve(f.make()...)
		payout := f.plan()[0]
		_, err = room.Payout(ctx, as(access.ReadOnly), payout.ID)
		apptest.WantKind(t, err, errs.Forbidden, "a reader reads a payout")
		_, err = room.Sign(ctx, as(access.MemberAdmin), payout.ID)
		apptest.WantKind(t, err, errs.Forbidden, "a member signs")
		_, err = room.Recover(ctx, as(access.Finance), claims.NewRecovery{})
		apptest.WantKind(t, err, errs.Forbidden, "finance records a recovery")
	})
}

// TestALargePayoutIsSplit: each has a bounded number of claims.
func TestALargePayoutIsSplit(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.App.Claims.MostLines = 2
		f := fail(t, w, 3)
		for i := range int64(3) {
			f.dispute(int(i), 10_000*(i+1), 10)
		}
		f.approve(f.make()...)
		got := f.plan()
		if len(got) != 2 || got[0].Value+got[1].Value != 60_000 || got[0].Value != 30_000 {
			t.Fatalf("%+v", got)
		}
		lines, err := w.App.Claims.PayoutLines(t.Context(), w.Actor, got[1].ID)
		if err != nil || len(lines) != 1 {
			t.Errorf("%+v, %v", lines, err)
		}
	})
}

// TestWhatWasOverBeforeTheFailure: a dispute that gave all its money back makes no claim, one that did not is to be represented.
func TestWhatWasOverBeforeTheFailure(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := &failed{World: w, t: t}
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		for range 2 {
			b := w.Booking(c, 100_000, "2024-09-14")
			f.bookings = append(f.bookings, b)
			f.payments = append(f.payments, w.Must(apptest.Report(payment.Purchase, b, 100_000)))
		}
		w.Advance(24 * time.Hour)
		for i := range 2 {
			w.Must(apptest.Linked(payment.Chargeback, f.payments[i], f.bookings[i], 40_000))
		}
		w.Must(apptest.Linked(payment.ChargebackReversal, f.payments[0], f.bookings[0], 40_000))
		w.Advance(24 * time.Hour)
		f.open(c)
		list := f.make()
		if len(list) != 1 || list[0].TransactionID != f.payments[1].ID || list[0].Reason != claim.BeforeTrigger || list[0].Represent != 40_000 {
			t.Errorf("%+v", list)
		}
	})
}

// TestTheReportConverts lines whose rate was locked in the currency of an older policy, and lines whose rate arrives after the snapshot.
func TestTheReportConverts(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.80000"})
		f := &failed{World: w, t: t}
		pounds, dollars := w.Channel(merchant.ModeProtectionOnly, "GBP"), w.Channel(merchant.ModeProtectionOnly, "USD")
		for _, c := range []merchant.Channel{pounds, dollars} {
			b := w.Booking(c, 100_000, "2024-09-14")
			f.bookings = append(f.bookings, b)
			f.payments = append(f.payments, w.Must(apptest.Report(payment.Purchase, b, 100_000)))
		}
		euro := money.Currency("EUR")
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-06-04"), Currency: &euro})
		w.At("2024-06-05")
		report := func() claims.Report {
			r, err := w.App.Claims.Report(t.Context(), w.Actor, f.insolvency.ID)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		f.open(pounds) // GBP 1,000.00 at 0.80000 are EUR 1,250.00
		if r := report(); r.Currency != "EUR" || r.Exposed != 125_000 || r.Reserve != 125_000 || r.Pending != 0 {
			t.Errorf("locked in GBP: %s %d, reserve %d, pending %d", r.Currency, r.Exposed, r.Reserve, r.Pending)
		}
		f.open(dollars)
		if r := report(); r.Exposed != 0 || r.Reserve != 0 || r.Pending != 1 {
			t.Errorf("without a rate: %d, reserve %d, pending %d", r.Exposed, r.Reserve, r.Pending)
		}
		w.Fix("2024-05-31", map[money.Currency]string{"USD": "1.25000"})
		w.Advance(time.Minute)
		if _, err := w.App.Rates.PricePending(t.Context()); err != nil {
			t.Fatal(err)
		}
		// USD 1,000.00 are GBP 640.00, in which its rate is locked, and EUR 800.00.
		if r := report(); r.Exposed != 80_000 || r.Reserve != 80_000 || r.Pending != 0 {
			t.Errorf("with a rate: %d, reserve %d, pending %d", r.Exposed, r.Reserve, r.Pending)
		}
	})
}

// TestTheJobKeepsAReview: a person approves a claim while the job computes it anew.
func TestTheJobKeepsAReview(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := fail(t, w, 1)
		f.dispute(0, 60_000, 10)
		id := f.make()[0].ID
		f.Must(apptest.Linked(payment.ChargebackReversal, f.payments[0], f.bookings[0], 10_000))
		f.Advance(time.Minute)
		made := make(chan error, 1)
		dbtest.Write(t, w.App.DB.Store, func(tx *store.Tx) error {
			if err := sites.Lock(tx, f.Site.ID); err != nil { // as each action does
				return err
			}
			_, err := tx.Exec(`UPDATE claims SET assessed = 60000, assessed_by = 'Ada', state = 'assessed' WHERE site_id = $1 AND id = $2`, f.Site.ID, id)
			go func() {
				_, err := w.App.Claims.Make(t.Context())
				made <- err
			}()
			select {
			case <-made:
				t.Error("the job did not wait")
			case <-time.After(300 * time.Millisecond):
			}
			return err
		})
		if err := <-made; err != nil {
			t.Fatal(err)
		}
		if c, err := w.App.Claims.Get(t.Context(), w.Actor, id); err != nil || c.State != claim.StateAssessed || c.AssessedByName != "Ada" || c.Payable != 50_000 {
			t.Errorf("%s by %q, payable %d, %v", c.State, c.AssessedByName, c.Payable, err)
		}
	})
}
