package claims_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/claims"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/testkit/apptest"
)

// bordereau makes the claims bordereau of a month, with its CSV.
func (f *failed) bordereau(month string) (claims.Bordereau, string) {
	f.t.Helper()
	b, err := f.App.Claims.Bordereau(f.t.Context(), f.Actor, claims.BordereauQuery{Month: month})
	if err != nil {
		f.t.Fatal(err)
	}
	var out bytes.Buffer
	if err := b.WriteCSV(&out); err != nil {
		f.t.Fatal(err)
	}
	return b, out.String()
}

// TestTheClaimsBordereau holds the worked months of R13: a claim that falls, is paid, and falls again.
func TestTheClaimsBordereau(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		deductible, coinsurance, reference, year := int64(10_000), int64(100_000), "B0001TRAVEL", int64(2024)
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-06-03"), Cover: terms.CoverFields{Deductible: &deductible, CoinsurancePPM: &coinsurance}})
		if _, err := w.App.Contracts.Set(t.Context(), w.Actor, terms.ContractFields{
			From: apptest.DayPtr(t, "2024-06-03"), Reference: &reference, Year: &year,
		}); err != nil {
			t.Fatal(err)
		}
		f := fail(t, w, 1)
		f.dispute(0, 85_000, 10)
		f.make()
		credit := func(amount int64) {
			in := apptest.Linked(payment.ChargebackReversal, f.payments[0], f.bookings[0], amount)
			f.Must(in)
			f.make()
		}
		w.At("2024-07-10")
		july, early := f.bordereau("2024-06")
		credit(34_000)
		w.At("2024-08-10")
		f.approve(f.make()...)
		f.plan()
		payout := f.plan()[0]
		if _, err := w.App.Claims.Sign(t.Context(), w.Actor, payout.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := w.App.Claims.Paid(t.Context(), w.Actor, payout.ID, "BANK-1"); err != nil {
			t.Fatal(err)
		}
		w.At("2024-09-10")
		credit(17_000)
		w.At("2024-10-02")
		if _, late := f.bordereau("2024-06"); late != early || !july.Final {
			t.Errorf("June in October:\n%s\nin July:\n%s", late, early)
		}
		before := claim.Reported{}
		for _, m := range []struct {
			month  string
			want   claim.Reported
			status string
		}{
			{"2024-06", claim.Reported{Reserve: 67_500}, "Open"},
			{"2024-07", claim.Reported{Reserve: 36_900}, "Open"},
			{"2024-08", claim.Reported{Paid: 36_900}, "Closed"},
			{"2024-09", claim.Reported{Previously: 36_900, Reserve: -15_300}, "Open"},
		} {
			b, text := f.bordereau(m.month)
			if len(b.Rows) != 1 || b.Rows[0].Reported != m.want || b.Rows[0].Status() != m.status || !b.Final {
				t.Errorf("%s: %+v", m.month, b.Rows)
			}
			if b.Rows[0].Previously != before.Previously+before.Paid {
				t.Errorf("%s: previously paid %d, after %+v", m.month, b.Rows[0].Previously, before)
			}
			before = b.Rows[0].Reported
			totals, err := b.Totals()
			if err != nil || len(totals) != 1 || totals[0].Contract != reference || totals[0].Year != year || totals[0].Reported != m.want {
				t.Errorf("%s: totals %+v, %v", m.month, totals, err)
			}
			if !strings.Contains(text, ",B0001TRAVEL,2024,1-") || strings.Count(text, "\n") != 2 {
				t.Errorf("%s:\n%s", m.month, text)
			}
		}
		if b, _ := f.bordereau("2024-05"); len(b.Rows) != 0 {
			t.Errorf("before the failure: %+v", b.Rows)
		}
		later := "B0002TRAVEL"
		if _, err := w.App.Contracts.Set(t.Context(), w.Actor, terms.ContractFields{From: apptest.DayPtr(t, "2024-10-01"), Reference: &later}); err != nil {
			t.Fatal(err)
		}
		for contract, rows := range map[string]int{reference: 1, later: 0} {
			b, err := w.App.Claims.Bordereau(t.Context(), w.Actor, claims.BordereauQuery{Month: "2024-09", Contract: contract})
			if err != nil || len(b.Rows) != rows {
				t.Errorf("of contract %s: %+v, %v", contract, b.Rows, err)
			}
		}
		_, err := w.App.Claims.Bordereau(t.Context(), w.Actor, claims.BordereauQuery{Month: "2024-09", Contract: "Another"})
		apptest.WantKind(t, err, errs.Invalid, "an unknown contract")
	})
}

// TestAPresentedMonthIsClosed: it is presented once, when it is over, and later changes are in later months.
func TestAPresentedMonthIsClosed(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := fail(t, w, 2)
		f.dispute(0, 60_000, 10)
		f.make()
		room, ctx := w.App.Claims, t.Context()
		_, err := room.Present(ctx, w.Actor, claims.BordereauQuery{Month: "2024-06"})
		apptest.WantKind(t, err, errs.Invalid, "a month that is not over")
		w.At("2024-07-01")
		made, err := room.Present(ctx, w.Actor, claims.BordereauQuery{Month: "2024-06"})
		if err != nil || made.Rows != 1 || len(made.SHA256) != 64 || made.Period().Name() != "2024-06" {
			t.Fatalf("%+v, %v", made, err)
		}
		_, err = room.Present(ctx, w.Actor, claims.BordereauQuery{Month: "2024-06"})
		apptest.WantKind(t, err, errs.ActionNotPossible, "presented twice")
		w.Advance(time.Hour)
		if _, err := room.Reject(ctx, w.Actor, f.make()[0].ID, "A duplicate"); err != nil {
			t.Fatal(err)
		}
		f.dispute(1, 10_000, 40)
		f.make()
		if b, _ := f.bordereau("2024-06"); b.Presented == nil || b.Presented.By != w.Actor.Username || len(b.Rows) != 1 || b.Rows[0].Reserve != 60_000 {
			t.Errorf("presented: %+v", b)
		}
		b, _ := f.bordereau("2024-07")
		if len(b.Rows) != 2 || !b.Rows[0].Denied() || b.Rows[0].Status() != "Closed" || b.Rows[0].Claimed != 60_000 || b.Rows[0].Incurred() != 0 || b.Rows[1].Reserve != 10_000 || b.Final {
			t.Errorf("the month after: %+v", b)
		}
		for _, month := range []string{"", "2024", "2024-13"} {
			if _, err := room.Bordereau(ctx, w.Actor, claims.BordereauQuery{Month: month}); err == nil {
				t.Errorf("month %q", month)
			}
		}
		finance := w.Actor
		finance.Role, finance.UserID = access.Finance, 99
		_, err = room.Present(ctx, finance, claims.BordereauQuery{Month: "2024-05"})
		apptest.WantKind(t, err, errs.Forbidden, "finance presents")
	})
}

// TestClaimsEndWithTheirInsolvency: in the bordereau, a claim that is not payable is open until the insolvency is closed, and the claims of
// a withdrawn insolvency are withdrawn with it. The months before stay as they were.
func TestClaimsEndWithTheirInsolvency(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		room, ctx := w.App.Claims, t.Context()
		for status, end := range map[string]func(id int64) error{
			"Closed": func(id int64) error {
				if _, err := w.App.Insolvencies.CloseClaims(ctx, w.Actor, id, ""); err != nil {
					return err
				}
				_, err := room.CloseInsolvency(ctx, w.Actor, id, "")
				return err
			},
			"Withdrawn": func(id int64) error {
				_, err := room.WithdrawInsolvency(ctx, w.Actor, id, "A mistake")
				return err
			},
		} {
			f := fail(t, w, 1)
			f.dispute(0, 60_000, 10)
			f.Must(apptest.Linked(payment.ChargebackReversal, f.payments[0], f.bookings[0], 60_000))
			f.make()
			of := func(month string) (rows []claims.BordereauRow) {
				b, _ := f.bordereau(month)
				for _, r := range b.Rows {
					if r.InsolvencyID == f.insolvency.ID {
						rows = append(rows, r)
					}
				}
				return rows
			}
			month := w.Now()
			this, next := month.Format("2006-01"), month.AddDate(0, 1, 0).Format("2006-01")
			before := of(this)
			w.SetClock(month.AddDate(0, 1, 0))
			if err := end(f.insolvency.ID); err != nil {
				t.Fatal(err)
			}
			after := of(next)
			if len(before) == 0 || len(after) != len(before) {
				t.Fatalf("%d claims, then %d", len(before), len(after))
			}
			for i, r := range after {
				if before[i].Status() != "Open" || r.Status() != status || r.Closed != civil.DayOf(w.Now()) || r.Incurred() != 0 {
					t.Errorf("%s: %+v, before %+v", status, r, before[i])
				}
			}
			if again := of(this); !slices.Equal(again, before) {
				t.Errorf("%s: %+v, before %+v", status, again, before)
			}
		}
	})
}
