package app_test

import (
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

func (w *world) collateral(in app.CollateralFields, kind protection.CollateralKind, currency money.Currency, amount int64) protection.Collateral {
	w.t.Helper()
	in.Kind, in.Currency, in.Amount = &kind, &currency, &amount
	made, err := w.app.Collaterals.Add(w.t.Context(), w.actor, in)
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

// held is what is held at a moment, as amounts in order of the records.
func (w *world) held(m app.Moment) (amounts []int64) {
	w.t.Helper()
	list, err := w.app.Collaterals.Held(w.t.Context(), w.actor, m, fault.Problems{}, nil, wholeList)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range list.Items {
		amounts = append(amounts, c.Amount)
	}
	return amounts
}

// TestACorrectionOfCollateralChangesNoPastReport: both times count.
func TestACorrectionOfCollateralChangesNoPastReport(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		until := *dayPtr(t, "2024-06-30")
		first := w.collateral(app.CollateralFields{To: &until}, "guarantee", "GBP", 50000)
		w.collateral(app.CollateralFields{}, "cash", "EUR", 700)
		known := w.now()
		w.advance(time.Minute)
		fixed := w.collateral(app.CollateralFields{RecordID: &first.ID}, "guarantee", "GBP", 40000)
		same(t, "now", w.held(app.Moment{}), []int64{40000, 700})
		same(t, "as it was known", w.held(app.Moment{KnownAt: known}), []int64{50000, 700})
		same(t, "in July", w.held(app.Moment{AsOf: dayPtr(t, "2024-07-01")}), []int64{40000, 700})
		same(t, "in July as it was known", w.held(app.Moment{AsOf: dayPtr(t, "2024-07-01"), KnownAt: known}), []int64{700})
		same(t, "in May", w.held(app.Moment{AsOf: dayPtr(t, "2024-05-31")}), []int64(nil))
		w.collateral(app.CollateralFields{RecordID: &fixed.ID}, "guarantee", "GBP", 0)
		same(t, "taken back", w.held(app.Moment{}), []int64{700})
		all, err := w.app.Collaterals.List(t.Context(), w.actor, nil, wholeList)
		if err != nil || len(all.Items) != 4 || all.Items[3].RecordID != first.ID {
			t.Errorf("rows %+v, %v", all.Items, err)
		}
	})
}

// TestModelAndWhatIfOverABook: turnover counts all card payments less refunds, E1 the protected ones; a failure costs
// what the exposure of the same channels says.
func TestModelAndWhatIfOverABook(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.fix("2024-05-31", map[money.Currency]string{"GBP": "0.50000"})
		c, other := w.channel(travel.ModeProtectionOnly, "GBP"), w.channel(travel.ModeProtectionOnly, "EUR")
		b, e := w.booking(c, 100000, "2024-09-14"), w.booking(other, 100000, "2024-06-10")
		paid := w.must(report(travel.Purchase, b, 30000))
		w.must(linked(travel.Refund, paid, b, 6000))
		bank := report(travel.Purchase, b, 7777)
		bank.Method = travel.BankTransfer
		w.must(bank)
		w.must(report(travel.Purchase, e, 20000))
		w.setClock(time.Date(2024, 6, 12, 9, 0, 0, 0, time.UTC))
		bands := protection.Bands{{Days: 30, SharePPM: 500_000}}
		m, err := w.app.Exposure.Model(t.Context(), w.actor, app.EstimateQuery{Bands: bands})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "model", m.Rows, []protection.ModelRow{
			{ChannelID: c.ID, Currency: "GBP", Estimate: 12000, E1: 24000, Valued: true, EstimateReport: 12000, E1Report: 24000},
			{ChannelID: other.ID, Currency: "EUR", Estimate: 10000, E1: 0, Valued: true, EstimateReport: 5000},
		})
		// Of June twelve days have passed; the payments were on the third, so ten days take ten twelfths of the month.
		bands[0].Days = 10
		if m, err = w.app.Exposure.Model(t.Context(), w.actor, app.EstimateQuery{Bands: bands, Channels: []int64{c.ID}}); err != nil {
			t.Fatal(err)
		}
		same(t, "ten days", []int64{m.Estimate, m.E1, int64(len(m.Rows))}, []int64{10000, 24000, 1})
		w.limit(protection.LimitChannel, 0, 20000)
		w.collateral(app.CollateralFields{ChannelID: &c.ID}, "cash", "GBP", 5000)
		day := civil.DayOf(w.now()) - 2
		x, err := w.app.Exposure.WhatIf(t.Context(), w.actor, app.EstimateQuery{Moment: app.Moment{AsOf: &day}})
		if err != nil {
			t.Fatal(err)
		}
		exposure := w.exposure(app.ExposureQuery{Moment: app.Moment{AsOf: &day}})
		same(t, "loss", []int64{x.Total.E1, x.Net, x.Held}, []int64{exposure.Total.E1, 34000, 0}) // held from today on
		same(t, "months", x.Months.Rows, []protection.WhatIfRow{
			{Key: "2024-06", Figures: protection.Figures{Allocations: 1, E1: 10000}},
			{Key: "2024-09", Figures: protection.Figures{Allocations: 1, E1: 24000}},
		})
		x, err = w.app.Exposure.WhatIf(t.Context(), w.actor, app.EstimateQuery{Channels: []int64{c.ID}})
		if err != nil || len(x.Channels) != 1 {
			t.Fatalf("%+v, %v", x, err)
		}
		got := x.Channels[0]
		same(t, "one channel", []int64{got.E1, got.Held, got.Net, got.Use, got.Limit.Amount}, []int64{24000, 5000, 19000, 24000, 20000})
		if _, err := w.app.Exposure.WhatIf(t.Context(), w.actor, app.EstimateQuery{Channels: []int64{999}}); !fault.Is(err, fault.Invalid) {
			t.Errorf("a channel that is none: %v", err)
		}
	})
}
