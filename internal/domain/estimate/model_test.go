package estimate_test

import (
	"math/big"
	"testing"

	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"

	"pgregory.net/rapid"
)

// TestWorkedModel: 2024-06-10, 30 days and 90 days back. June has ten days so far; 30 days take all of it and 20 of the
// 31 days of May; 90 days take May and April whole and 19 of the 31 days of March.
func TestWorkedModel(t *testing.T) {
	months := estimate.Months{
		day(t, "2024-06-01"): 10000, day(t, "2024-05-01"): 31000, day(t, "2024-04-01"): 30000, day(t, "2024-03-01"): 62000,
	}
	asOf := day(t, "2024-06-10")
	for days, want := range map[int]int64{5: 5000, 10: 10000, 30: 30000, 90: 10000 + 31000 + 30000 + 38000} {
		if got := months.Trailing(asOf, days); got.Cmp(big.NewRat(want, 1)) != 0 {
			t.Errorf("T(%d) = %s, want %d", days, got, want)
		}
	}
	bands := estimate.Bands{{Days: 30, SharePPM: 400_000}, {Days: 90, SharePPM: 600_000}}
	if got := bands.Estimate(months, asOf); got.Cmp(big.NewRat(12000+65400, 1)) != 0 {
		t.Errorf("estimate %s, want 77400", got)
	}
	if first := bands.FirstDay(asOf); first != day(t, "2024-03-01") {
		t.Errorf("turnover is needed from %s on", first)
	}
}

// TestModelAgainstActual: one channel in euros reported in pounds, and one without a rate, which is listed separately.
func TestModelAgainstActual(t *testing.T) {
	asOf := day(t, "2024-06-10")
	rate, err := money.ParseRate("0.85")
	if err != nil {
		t.Fatal(err)
	}
	rates := fx.NewTable([]fx.Fixing{{Provider: fx.ECB, Day: asOf, Currency: "GBP", Rate: rate}})
	actual := exposure.Report{
		Query: exposure.ReportQuery{AsOf: asOf, KnownAt: asOf.End(), Currency: "GBP"},
		Rows:  []exposure.Row{{Key: exposure.Key{ChannelID: 1}, Currency: "EUR", Figures: exposure.Figures{E1: 5001}}},
	}
	turnover := []estimate.Turnover{
		{ChannelID: 1, Currency: "EUR", Day: asOf, Amount: 12345}, {ChannelID: 1, Currency: "EUR", Day: asOf - 1, Amount: -344},
		{ChannelID: 2, Currency: "JPY", Day: asOf, Amount: 700},
	}
	r, err := estimate.Model(actual, turnover, estimate.Bands{{Days: 10, SharePPM: 500_000}}, rates)
	if err != nil {
		t.Fatal(err)
	}
	want := []estimate.ModelRow{
		// 6,000.5 cents: rounded to 6,001, and in pence from the exact figure: 5,100.425.
		{ChannelID: 1, Currency: "EUR", Estimate: 6001, E1: 5001, Valued: true, EstimateReport: 5100, E1Report: 4251},
		{ChannelID: 2, Currency: "JPY", Estimate: 350},
	}
	if len(r.Rows) != 2 || r.Rows[0] != want[0] || r.Rows[1] != want[1] || r.Estimate != 5100 || r.E1 != 4251 {
		t.Errorf("%+v", r)
	}
}

func TestBands(t *testing.T) {
	if sum := len(estimate.ShippedBands()); sum == 0 {
		t.Error("no bands are shipped")
	}
	bands, err := estimate.ParseBands("30:400000, 90:600000")
	if err != nil || len(bands) != 2 || bands[1] != (estimate.Band{Days: 90, SharePPM: 600_000}) {
		t.Errorf("%v, %v", bands, err)
	}
	for _, wrong := range []string{
		"", "30", "30:", "30:x", "30:400000;90:1", "0:5", "3651:5", "30:0", "30:1000001", "30:1,30:2", "60:1,30:2", "30:600000,60:600000", "30:1x",
	} {
		if bands, err := estimate.ParseBands(wrong); err == nil {
			t.Errorf("%q was read as %v", wrong, bands)
		}
	}
}

// TestTrailingTurnoverGrowsWithTheDays: where nothing is refunded, more days are never less turnover, and all days are
// all of it.
func TestTrailingTurnoverGrowsWithTheDays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asOf := civil.Day(rapid.Int64Range(19000, 20000).Draw(t, "day"))
		months, all := estimate.Months{}, int64(0)
		for range rapid.IntRange(0, 8).Draw(t, "months") {
			y, m, _ := (asOf - civil.Day(rapid.Int64Range(0, 300).Draw(t, "back"))).Start().Date()
			amount := rapid.Int64Range(0, check.MaxAmount).Draw(t, "amount")
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

func day(t *testing.T, text string) civil.Day {
	t.Helper()
	d, err := civil.ParseDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
