package report_test

import (
	"fmt"
	"testing"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
)

// TestAPolicyInAnotherCurrency: priced allocations stay priced in their own currency, are not pending_rate, and every
// locked report in the new currency converts them at spot and says so; from cubes and from rows.
func TestAPolicyInAnotherCurrency(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.80000"})
		pounds, euros := w.Channel(merchant.ModeProtectionOnly, "GBP"), w.Channel(merchant.ModeProtectionOnly, "EUR")
		b, e := w.Booking(pounds, 1_000_000, "2024-09-14"), w.Booking(euros, 1_000_000, "2024-09-14")
		over := w.Booking(pounds, 1_000_000, "2024-06-04")
		old := w.Must(apptest.Report(payment.Purchase, b, 10_001))
		w.Must(apptest.Report(payment.Purchase, e, 20_000)) // GBP 160.00
		w.Must(apptest.Report(payment.Purchase, over, 4000))
		euro := money.Currency("EUR")
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-06-06"), Currency: &euro})
		before := w.Exposure(report.ExposureQuery{Valuation: exposure.Locked})
		w.At("2024-06-06")
		w.Fix("2024-06-05", map[money.Currency]string{"GBP": "0.85000"})
		w.Must(apptest.Report(payment.Purchase, b, 1700)) // EUR 20.00
		w.Must(apptest.Report(payment.Purchase, e, 500))
		w.Advance(time.Second)
		known := w.Now()
		w.Advance(time.Second)
		// GBP 100.01 and 160.00 at 0.85, each channel by itself: EUR 117.66 and 188.24; of E2 GBP 40.00 are EUR 47.06.
		for _, q := range []report.ExposureQuery{{}, {Moment: ledger.Moment{KnownAt: known}}} {
			q.Valuation = exposure.Locked
			r := w.Exposure(q)
			apptest.Same(t, "total", []any{r.Total, r.Gaps, r.PendingRate, r.Rounding.E1}, []any{"{5 33090 4706} {false false}", "[]", 0})
			apptest.Same(t, "converted", r.Converted, "[{GBP {3 26001 4000} {30590 4706} {false false}}]")
			apptest.Same(t, "rows", []any{len(r.Rows), r.Rows[0].E1Report, r.Rows[0].E2Report, r.Rows[1].E1Report}, []any{2, 11766 + 2000, 4706, 18824 + 500})
			run := w.RunOff(q)
			apptest.Same(t, "run-off", []any{run.Points[0].Total, run.PendingRate, run.Converted}, []any{"{33090 4706} []", r.Converted})
			age := w.Ageing(q)
			apptest.Same(t, "ageing", []any{age.Total, age.Gap, age.PendingRate, age.Converted}, []any{33090, false, "[]", "[{GBP {2 26001 0} {30590 0} {false false}}]"})
			apptest.Same(t, "run-off of the day after", w.RunOff(q).Points[1].Total.E1, 33090)
		}
		m := w.Movement("2024-06-04", report.ExposureQuery{Valuation: exposure.Locked}).MovementReport
		// At 0.80 it was EUR 175.01 and 200.00. EUR 47.06 are delivered, and the rate took the rest.
		apptest.Same(t, "movement of E1", []int64{
			m.Total.Opening.E1, m.Total.Of(protection.CauseNew).E1, m.Total.Of(protection.CauseDelivered).E1, m.Total.Revaluation.E1,
			m.Total.Closing.E1,
		}, []int64{37501, 2500, -4706, 33090 - 37501 - 2500 + 4706, 33090})
		apptest.Same(t, "what the movement converts", []any{len(m.Converted), m.Converted[0].Currency, m.Converted[0].Closing, m.PendingRate}, []any{1, "GBP", "{26001 4000}", "[]"})
		apptest.Same(t, "the day before, in pounds", []any{before.Total.E1, before.Converted}, []any{10_001 + 16_000 + 4000, "[]"})
		// The locked rate and the premium stay in pounds; a refund returns pounds, and the statements are two.
		w.Must(apptest.Linked(payment.Refund, old, b, 5001))
		x, err := w.App.Protection.Explain(t.Context(), w.Actor, old.ID, report.ProtectionQuery{})
		if err != nil {
			t.Fatal(err)
		}
		a := x.Allocations[0]
		apptest.Same(t, "the allocation", []any{a.HasValue, a.PolicyCurrency, a.Value, a.Premium.State.Value}, []any{true, "GBP", 10_001, 5000})
		currencies := map[money.Currency]int{}
		for _, l := range w.Lines(protection.PremiumFilter{Channels: []int64{pounds.ID}}) {
			currencies[l.Currency]++
		}
		apptest.Same(t, "premium lines", currencies, "map[EUR:1 GBP:3]")
		w.At("2024-07-02")
		if _, err := w.App.Statements.IssueDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, _, err := w.App.Statements.List(t.Context(), w.Actor, statements.StatementFilter{Channels: []int64{pounds.ID}}, apptest.WholeList)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, s := range list.Items {
			text += fmt.Sprint(s.Currency, " ")
		}
		apptest.Same(t, "statements", len(list.Items), 2)
		if text != "EUR GBP " && text != "GBP EUR " {
			t.Errorf("statements in %s", text)
		}
	})
}

// TestWhatCannotBeConvertedIsNotKnown: without a rate between the two currencies the total is unknown, and no
// allocation is pending.
func TestWhatCannotBeConvertedIsNotKnown(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 1_000_000, "2024-09-14")
		w.Must(apptest.Report(payment.Purchase, b, 10_000))
		euro := money.Currency("EUR")
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-06-03"), Currency: &euro})
		q := report.ExposureQuery{Valuation: exposure.Locked}
		r, run, age := w.Exposure(q), w.RunOff(q), w.Ageing(q)
		m := w.Movement("2024-06-02", q)
		apptest.Same(t, "exposure", []any{r.Gaps, r.PendingRate, r.Converted}, "[{true false} [] [{GBP {1 10000 0} {0 0} {true false}}]]")
		apptest.Same(t, "run-off", []any{run.Points[0].Gaps, run.HalfLife, run.PendingRate, run.Converted}, []any{r.Gaps, "<nil>", "[]", r.Converted})
		apptest.Same(t, "ageing", []any{age.Gap, age.PendingRate, age.Converted}, []any{true, "[]", r.Converted})
		apptest.Same(t, "movement", []any{m.Gaps.Closing, m.Gaps.Revaluation, m.PendingRate, len(m.Converted)}, []any{r.Gaps, r.Gaps, "[]", 1})
	})
}
