package protection_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"holdfast/internal/civil"
	"holdfast/internal/fx"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// TestWorkedModel: 2024-06-10, 30 days and 90 days back. June has ten days so far; 30 days take all of it and 20 of the
// 31 days of May; 90 days take May and April whole and 19 of the 31 days of March.
func TestWorkedModel(t *testing.T) {
	months := protection.Months{
		day(t, "2024-06-01"): 10000, day(t, "2024-05-01"): 31000, day(t, "2024-04-01"): 30000, day(t, "2024-03-01"): 62000,
	}
	asOf := day(t, "2024-06-10")
	for days, want := range map[int]int64{5: 5000, 10: 10000, 30: 30000, 90: 10000 + 31000 + 30000 + 38000} {
		if got := months.Trailing(asOf, days); got.Cmp(big.NewRat(want, 1)) != 0 {
			t.Errorf("T(%d) = %s, want %d", days, got, want)
		}
	}
	bands := protection.Bands{{Days: 30, SharePPM: 400_000}, {Days: 90, SharePPM: 600_000}}
	if got := bands.Estimate(months, asOf); got.Cmp(big.NewRat(12000+65400, 1)) != 0 {
		t.Errorf("estimate %s, want 77400", got)
	}
	if first := bands.FirstDay(asOf); first != day(t, "2024-03-01") {
		t.Errorf("turnover is needed from %s on", first)
	}
}

// TestModelAgainstActual: one channel in euros reported in pounds, one without a rate that stands apart.
func TestModelAgainstActual(t *testing.T) {
	asOf := day(t, "2024-06-10")
	rates := fx.NewTable([]fx.Fixing{{Provider: fx.ECB, Day: asOf, Currency: "GBP", Rate: rate(t, "0.85")}})
	actual := protection.Report{
		Query: protection.ReportQuery{AsOf: asOf, KnownAt: asOf.End(), Currency: "GBP"},
		Rows:  []protection.Row{{Key: protection.Key{ChannelID: 1}, Currency: "EUR", Figures: protection.Figures{E1: 5001}}},
	}
	turnover := []protection.Turnover{
		{ChannelID: 1, Currency: "EUR", Day: asOf, Amount: 12345}, {ChannelID: 1, Currency: "EUR", Day: asOf - 1, Amount: -344},
		{ChannelID: 2, Currency: "JPY", Day: asOf, Amount: 700},
	}
	r, err := protection.Model(actual, turnover, protection.Bands{{Days: 10, SharePPM: 500_000}}, rates)
	if err != nil {
		t.Fatal(err)
	}
	want := []protection.ModelRow{
		// 6,000.5 cents: rounded to 6,001, and in pence from the exact figure: 5,100.425.
		{ChannelID: 1, Currency: "EUR", Estimate: 6001, E1: 5001, Valued: true, EstimateReport: 5100, E1Report: 4251},
		{ChannelID: 2, Currency: "JPY", Estimate: 350},
	}
	if len(r.Rows) != 2 || r.Rows[0] != want[0] || r.Rows[1] != want[1] || r.Estimate != 5100 || r.E1 != 4251 {
		t.Errorf("%+v", r)
	}
}

func TestBands(t *testing.T) {
	if sum := len(protection.ShippedBands()); sum == 0 {
		t.Error("no bands are shipped")
	}
	bands, err := protection.ParseBands("30:400000, 90:600000")
	if err != nil || len(bands) != 2 || bands[1] != (protection.Band{Days: 90, SharePPM: 600_000}) {
		t.Errorf("%v, %v", bands, err)
	}
	for _, wrong := range []string{
		"", "30", "30:", "30:x", "30:400000;90:1", "0:5", "3651:5", "30:0", "30:1000001", "30:1,30:2", "60:1,30:2", "30:600000,60:600000", "30:1x",
	} {
		if bands, err := protection.ParseBands(wrong); err == nil {
			t.Errorf("%q was read as %v", wrong, bands)
		}
	}
}

// TestTrailingTurnoverGrowsWithTheDays: where nothing is refunded, more days are never less turnover, and all days are
// all of it.
func TestTrailingTurnoverGrowsWithTheDays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asOf := civil.Day(rapid.Int64Range(19000, 20000).Draw(t, "day"))
		months, all := protection.Months{}, int64(0)
		for range rapid.IntRange(0, 8).Draw(t, "months") {
			y, m, _ := (asOf - civil.Day(rapid.Int64Range(0, 300).Draw(t, "back"))).Start().Date()
			amount := rapid.Int64Range(0, travel.MaxAmount).Draw(t, "amount")
			months[civil.Date(y, m, 1)] += amount
			all += amount
		}
		days := rapid.IntRange(1, 400).Draw(t, "days")
		if months.Trailing(asOf, days).Cmp(months.Trailing(asOf, days+1)) > 0 {
			t.Fatalf("%d days are more than one more", days)
		}
		if got := months.Trailing(asOf, 400); got.Cmp(new(big.Rat).SetInt64(all)) != 0 {
			t.Fatalf("all is %d, 400 days are %s", all, got)
		}
	})
}

func TestCollateral(t *testing.T) {
	held := protection.CollateralHeld([]protection.Collateral{
		{ID: 1, RecordID: 1, Currency: "GBP", Amount: 500, FromDay: 10, ToDay: 20},
		{ID: 2, RecordID: 2, ChannelID: 7, Currency: "EUR", Amount: 100, FromDay: 10, ToDay: civil.NoDay},
		{ID: 3, RecordID: 3, ChannelID: 7, Currency: "EUR", Amount: 900, FromDay: 16, ToDay: civil.NoDay},
		{ID: 4, RecordID: 2, ChannelID: 7, Currency: "EUR", Amount: 200, FromDay: 12, ToDay: civil.NoDay},
		{ID: 5, RecordID: 5, ChannelID: 8, Currency: "JPY", Amount: 200, FromDay: 10, ToDay: civil.NoDay},
		{ID: 6, RecordID: 6, ChannelID: 8, Currency: "GBP", Amount: 1, FromDay: 1, ToDay: 14},
	}, 15)
	if len(held) != 3 || held[0].ID != 1 || held[1].ID != 4 || held[2].ID != 5 {
		t.Fatalf("held %+v", held)
	}
	asOf := day(t, "2024-06-10")
	rates := fx.NewTable([]fx.Fixing{{Provider: fx.ECB, Day: asOf, Currency: "GBP", Rate: rate(t, "0.50")}})
	n, err := protection.NewNetting(held, rates, "GBP", asOf, asOf.End())
	if err != nil {
		t.Fatal(err)
	}
	if len(n.PendingRate) != 1 || n.PendingRate[0] != (protection.HeldAmount{ChannelID: 8, Currency: "JPY", Amount: 200}) {
		t.Errorf("without a rate: %+v", n.PendingRate)
	}
	for _, c := range []struct{ e1, held, net int64 }{{150, 100, 50}, {60, 100, 0}} {
		if got := n.Channel(7, protection.ChannelTotalE1{E1: c.e1}); got != (protection.NetTotal{Held: c.held, Net: c.net}) {
			t.Errorf("channel with %d: %+v", c.e1, got)
		}
	}
	if got := n.Channel(7, protection.ChannelTotalE1{E1: 150, Gap: true}); !got.NetGap || got.HeldGap {
		t.Errorf("what is left of an exposure that is not known: %+v", got)
	}
	// Of channel 7's 100 only 60 count: what is left of them covers nobody else.
	if got := n.Total(map[int64]protection.ChannelTotalE1{7: {E1: 60}, 9: {E1: 700}}); got != (protection.NetTotal{Held: 560, Net: 200}) {
		t.Errorf("total: %+v; want 560, 200", got)
	}
	// Channel 8 has collateral without a rate: what it covers is not known, unless nothing is at risk there.
	for of, gap := range map[protection.ChannelTotalE1]bool{{}: false, {E1: 700}: true, {Gap: true}: true} {
		got := n.Total(map[int64]protection.ChannelTotalE1{7: {E1: 60}, 8: of})
		if got.HeldGap != gap || got.NetGap != gap {
			t.Errorf("total with %+v of channel 8: %+v", of, got)
		}
	}
}

// TestWhatIfIsTheExposureOfTheFailing: the loss is the same by channel, scheme and month, and limits stand beside it.
func TestWhatIfIsTheExposureOfTheFailing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := protection.ReportQuery{AsOf: 20000, KnownAt: civil.Day(20000).End(), Currency: "GBP", Policy: "GBP", Recognition: travel.RecognitionEndDate}
		w := protection.NewWhatIf(q, fx.NewTable(nil))
		for i := range rapid.Int64Range(0, 12).Draw(t, "positions") {
			if err := w.Add(drawPosition(t, i)); err != nil {
				t.Fatal(err)
			}
		}
		netting, err := protection.NewNetting([]protection.Collateral{{Currency: "GBP", Amount: 1000}}, fx.NewTable(nil), "GBP", q.AsOf, q.KnownAt)
		if err != nil {
			t.Fatal(err)
		}
		limits := protection.Limits{{ID: 9, Scope: protection.LimitChannel, Amount: 1, Currency: money.Currency("GBP")}}
		r, err := w.Report(netting, limits, q.KnownAt)
		if err != nil {
			t.Fatal(err)
		}
		var sum int64
		for _, c := range r.Channels {
			sum += c.E1
			if c.Use != c.E1 || c.Limit == nil || c.Limit.ID != 9 {
				t.Fatalf("channel %+v", c)
			}
		}
		if sum != r.Total.E1 || sumOf(r.Months) != r.Total.E1 || sumOf(r.Schemes) != r.Total.E1 || r.Use != r.Total.E1 || r.Net.Net != max(0, sum-1000) {
			t.Fatalf("channels come to %d, report %+v", sum, r)
		}
	})
}

func sumOf(rows protection.WhatIfRows) int64 {
	sum := rows.Rounding.E1
	for _, r := range rows.Rows {
		sum += r.E1
	}
	return sum
}
