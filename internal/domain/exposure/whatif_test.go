package exposure_test

import (
	"testing"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"

	"pgregory.net/rapid"
)

func TestCollateral(t *testing.T) {
	held := exposure.CollateralHeld([]exposure.Collateral{
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
	asOf := civil.DayOf(time.Date(2024, 6, 10, 0, 0, 0, 0, time.UTC))
	rates := fx.NewTable([]fx.Fixing{{Provider: fx.ECB, Day: asOf, Currency: "GBP", Rate: rate(t, "0.50")}})
	n, err := exposure.NewNetting(held, rates, "GBP", asOf, asOf.End())
	if err != nil {
		t.Fatal(err)
	}
	if len(n.PendingRate) != 1 || n.PendingRate[0] != (exposure.HeldAmount{ChannelID: 8, Currency: "JPY", Amount: 200}) {
		t.Errorf("without a rate: %+v", n.PendingRate)
	}
	for _, c := range []struct{ e1, held, net int64 }{{150, 100, 50}, {60, 100, 0}} {
		if got := n.Channel(7, exposure.ChannelTotalE1{E1: c.e1}); got != (exposure.NetTotal{Held: c.held, Net: c.net}) {
			t.Errorf("channel with %d: %+v", c.e1, got)
		}
	}
	if got := n.Channel(7, exposure.ChannelTotalE1{E1: 150, Gap: true}); !got.NetGap || got.HeldGap {
		t.Errorf("what is left of an exposure that is not known: %+v", got)
	}
	// Of channel 7's 100 only 60 count: the rest does not cover others.
	if got := n.Total(map[int64]exposure.ChannelTotalE1{7: {E1: 60}, 9: {E1: 700}}); got != (exposure.NetTotal{Held: 560, Net: 200}) {
		t.Errorf("total: %+v; want 560, 200", got)
	}
	// Channel 8 has collateral without a rate: what it covers is unknown, unless nothing is at risk there.
	for of, gap := range map[exposure.ChannelTotalE1]bool{{}: false, {E1: 700}: true, {Gap: true}: true} {
		got := n.Total(map[int64]exposure.ChannelTotalE1{7: {E1: 60}, 8: of})
		if got.HeldGap != gap || got.NetGap != gap {
			t.Errorf("total with %+v of channel 8: %+v", of, got)
		}
	}
}

// TestWhatIfIsTheExposureOfTheFailing: the loss is the same by channel, scheme and month, and limits are shown with it.
func TestWhatIfIsTheExposureOfTheFailing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := exposure.ReportQuery{AsOf: 20000, KnownAt: civil.Day(20000).End(), Currency: "GBP", Policy: "GBP", Recognition: terms.RecognitionEndDate}
		w := exposure.NewWhatIf(q, fx.NewTable(nil))
		for i := range rapid.Int64Range(0, 12).Draw(t, "positions") {
			if err := w.Add(drawPosition(t, i)); err != nil {
				t.Fatal(err)
			}
		}
		netting, err := exposure.NewNetting([]exposure.Collateral{{Currency: "GBP", Amount: 1000}}, fx.NewTable(nil), "GBP", q.AsOf, q.KnownAt)
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

func sumOf(rows exposure.WhatIfRows) int64 {
	sum := rows.Rounding.E1
	for _, r := range rows.Rows {
		sum += r.E1
	}
	return sum
}
