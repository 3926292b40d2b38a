package claims_test

import (
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/testkit/apptest"
)

// TestTheYearOfAccount sets the losses of two failed merchants against premium and aggregate limit. A third merchant only paid premium.
func TestTheYearOfAccount(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		limit, development := int64(100_000), int64(0)
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-06-03"), Cover: terms.CoverFields{AggregateLimit: &limit, DevelopmentPPM: &development}})
		sound := w.Channel(merchant.ModeProtectionOnly, "GBP")
		w.Must(apptest.Report(payment.Purchase, w.Booking(sound, 50_000, "2024-09-14"), 50_000))
		first := fail(t, w, 1)
		first.dispute(0, 80_000, 1)
		second := fail(t, w, 1)
		second.dispute(0, 40_000, 1)
		second.make()
		premium := map[int64]int64{}
		for _, l := range w.Lines(protection.PremiumFilter{}) {
			premium[l.ChannelID] += l.Amount
		}
		r, err := w.App.Claims.YearOfAccount(t.Context(), w.Actor, 0, errs.Problems{})
		if err != nil || r.Year != 2024 || len(r.Accounts) != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
		a := r.Accounts[0]
		// 800.00 and 400.00 are payable: of the limit of 1,000.00 they get two thirds and one third.
		one, two := first.insolvency.ChannelID, second.insolvency.ChannelID
		want := map[int64]claim.Account{
			one: {Premium: premium[one], Payable: 80_000, Covered: 66_667}, two: {Premium: premium[two], Payable: 40_000, Covered: 33_333},
			sound.ID: {Premium: premium[sound.ID]},
		}
		apptest.Same(t, "limit", []any{a.Limit, a.Covered, a.Remaining(), a.Payable}, []any{limit, limit, 0, 120_000})
		if len(a.Merchants) != 3 || a.Merchants[0].ChannelID != one || a.Premium != premium[one]+premium[two]+premium[sound.ID] || premium[sound.ID] == 0 {
			t.Errorf("%+v, premium %v", a, premium)
		}
		for _, m := range a.Merchants {
			if m.Account != want[m.ChannelID] || m.Merchant == "" || (len(m.Insolvencies) == 1) != (m.ChannelID != sound.ID) {
				t.Errorf("%+v, want %+v", m, want[m.ChannelID])
			}
		}
		if other, err := w.App.Claims.YearOfAccount(t.Context(), w.Actor, 2023, errs.Problems{}); err != nil || len(other.Accounts) != 0 {
			t.Errorf("the year before: %+v, %v", other, err)
		}
		_, err = w.App.Claims.YearOfAccount(t.Context(), w.Actor, 24, errs.Problems{})
		apptest.WantKind(t, err, errs.Invalid, "a year out of range")
		reader := w.Actor
		reader.Role, reader.UserID = access.ReadOnly, 99
		_, err = w.App.Claims.YearOfAccount(t.Context(), reader, 0, errs.Problems{})
		apptest.WantKind(t, err, errs.Forbidden, "a reader")
	})
}
