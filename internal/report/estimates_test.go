package report_test

import (
	"testing"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
)

// TestACorrectionOfCollateralChangesNoPastReport: both times count.
func TestACorrectionOfCollateralChangesNoPastReport(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		until := *apptest.DayPtr(t, "2024-06-30")
		first := addCollateral(t, w, ledger.CollateralFields{To: &until}, "guarantee", "GBP", 50000)
		addCollateral(t, w, ledger.CollateralFields{}, "cash", "EUR", 700)
		known := w.Now()
		w.Advance(time.Minute)
		fixed := addCollateral(t, w, ledger.CollateralFields{RecordID: &first.ID}, "guarantee", "GBP", 40000)
		apptest.Same(t, "now", held(t, w, ledger.Moment{}), []int64{40000, 700})
		apptest.Same(t, "as it was known", held(t, w, ledger.Moment{KnownAt: known}), []int64{50000, 700})
		apptest.Same(t, "in July", held(t, w, ledger.Moment{AsOf: apptest.DayPtr(t, "2024-07-01")}), []int64{40000, 700})
		apptest.Same(t, "in July as it was known", held(t, w, ledger.Moment{AsOf: apptest.DayPtr(t, "2024-07-01"), KnownAt: known}), []int64{700})
		apptest.Same(t, "in May", held(t, w, ledger.Moment{AsOf: apptest.DayPtr(t, "2024-05-31")}), []int64(nil))
		addCollateral(t, w, ledger.CollateralFields{RecordID: &fixed.ID}, "guarantee", "GBP", 0)
		apptest.Same(t, "taken back", held(t, w, ledger.Moment{}), []int64{700})
		all, err := w.App.Collaterals.List(t.Context(), w.Actor, nil, apptest.WholeList)
		if err != nil || len(all.Items) != 4 || all.Items[3].RecordID != first.ID {
			t.Errorf("rows %+v, %v", all.Items, err)
		}
	})
}

// TestModelAndWhatIfOverABook: turnover counts all card payments less refunds, E1 the protected ones; a failure costs
// what the exposure of the same channels says.
func TestModelAndWhatIfOverABook(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.50000"})
		c, other := w.Channel(merchant.ModeProtectionOnly, "GBP"), w.Channel(merchant.ModeProtectionOnly, "EUR")
		b, e := w.Booking(c, 100000, "2024-09-14"), w.Booking(other, 100000, "2024-06-10")
		paid := w.Must(apptest.Report(payment.Purchase, b, 30000))
		w.Must(apptest.Linked(payment.Refund, paid, b, 6000))
		bank := apptest.Report(payment.Purchase, b, 7777)
		bank.Method = payment.BankTransfer
		w.Must(bank)
		w.Must(apptest.Report(payment.Purchase, e, 20000))
		w.SetClock(time.Date(2024, 6, 12, 9, 0, 0, 0, time.UTC))
		bands := estimate.Bands{{Days: 30, SharePPM: 500_000}}
		m, err := w.App.Exposure.Model(t.Context(), w.Actor, report.EstimateQuery{Bands: bands})
		if err != nil {
			t.Fatal(err)
		}
		apptest.Same(t, "model", m.Rows, []estimate.ModelRow{
			{ChannelID: c.ID, Currency: "GBP", Estimate: 12000, E1: 24000, Valued: true, EstimateReport: 12000, E1Report: 24000},
			{ChannelID: other.ID, Currency: "EUR", Estimate: 10000, E1: 0, Valued: true, EstimateReport: 5000},
		})
		// Of June twelve days have passed; the payments were on the third, so ten days take ten twelfths of the month.
		bands[0].Days = 10
		if m, err = w.App.Exposure.Model(t.Context(), w.Actor, report.EstimateQuery{Bands: bands, Channels: []int64{c.ID}}); err != nil {
			t.Fatal(err)
		}
		apptest.Same(t, "ten days", []int64{m.Estimate, m.E1, int64(len(m.Rows))}, []int64{10000, 24000, 1})
		w.Limit(protection.LimitChannel, 0, 20000)
		addCollateral(t, w, ledger.CollateralFields{ChannelID: &c.ID}, "cash", "GBP", 5000)
		day := civil.DayOf(w.Now()) - 2
		x, err := w.App.Exposure.WhatIf(t.Context(), w.Actor, report.EstimateQuery{Moment: ledger.Moment{AsOf: &day}})
		if err != nil {
			t.Fatal(err)
		}
		actual := w.Exposure(report.ExposureQuery{Moment: ledger.Moment{AsOf: &day}})
		apptest.Same(t, "loss", []int64{x.Total.E1, x.Net.Net, x.Net.Held}, []int64{actual.Total.E1, 34000, 0}) // held from today on
		apptest.Same(t, "months", x.Months.Rows, []exposure.WhatIfRow{
			{Key: "2024-06", Figures: exposure.Figures{Allocations: 1, E1: 10000}},
			{Key: "2024-09", Figures: exposure.Figures{Allocations: 1, E1: 24000}},
		})
		x, err = w.App.Exposure.WhatIf(t.Context(), w.Actor, report.EstimateQuery{Channels: []int64{c.ID}})
		if err != nil || len(x.Channels) != 1 {
			t.Fatalf("%+v, %v", x, err)
		}
		got := x.Channels[0]
		apptest.Same(t, "one channel", []int64{got.E1, got.Net.Held, got.Net.Net, got.Use, got.Limit.Amount}, []int64{24000, 5000, 19000, 24000, 20000})
		if _, err := w.App.Exposure.WhatIf(t.Context(), w.Actor, report.EstimateQuery{Channels: []int64{999}}); !errs.Is(err, errs.Invalid) {
			t.Errorf("a channel that is none: %v", err)
		}
	})
}

func addCollateral(t *testing.T, w *apptest.World, in ledger.CollateralFields, kind exposure.CollateralKind, currency money.Currency, amount int64) exposure.Collateral {
	t.Helper()
	in.Kind, in.Currency, in.Amount = &kind, &currency, &amount
	made, err := w.App.Collaterals.Add(t.Context(), w.Actor, in)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// held returns the collateral held at a time, in order of the records.
func held(t *testing.T, w *apptest.World, m ledger.Moment) (amounts []int64) {
	t.Helper()
	list, err := w.App.Collaterals.Held(t.Context(), w.Actor, m, errs.Problems{}, nil, apptest.WholeList)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Items {
		amounts = append(amounts, c.Amount)
	}
	return amounts
}
