package dispute_test

import (
	"testing"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
)

// TestWorkedRatios holds the worked numbers of R15.
func TestWorkedRatios(t *testing.T) {
	sound := dispute.Volume{Payments: 200_000, Disputes: 900, Amounts: []dispute.VolumeIn{{Currency: "EUR", Paid: 20_000_000_000, Disputed: 60_000_000}}}
	failed := dispute.Volume{Payments: 4_000, Disputes: 1_600, Amounts: []dispute.VolumeIn{
		{Currency: "EUR", Paid: 400_000_000, Disputed: 200_000_000}, {Currency: "GBP", Paid: 0, Disputed: 5_000},
	}}
	all := sound.Add(failed)
	on, ok := dispute.ThresholdsOn(civil.Date(2026, 6, 30))
	if !ok {
		t.Fatal("no thresholds")
	}
	for _, w := range []struct {
		name            string
		volume          dispute.Volume
		ppm, byAmount   int64
		site, threshold int64
	}{
		{"with the failed merchant", all, 12_255, 12_745, 7_000, 0},
		{"without it", sound, 4_500, 3_000, 0, 0},
		{"the failed merchant", failed, 400_000, 500_000, 7_000, 15_000},
	} {
		ppm, ok := w.volume.Ratio()
		byAmount, ok2 := w.volume.Amounts[0].Ratio()
		if !ok || !ok2 || ppm != w.ppm || byAmount != w.byAmount || on.OfSite(w.volume) != w.site || on.OfMerchant(w.volume) != w.threshold {
			t.Errorf("%s: %d by number, %d by amount, thresholds %d and %d", w.name, ppm, byAmount, on.OfSite(w.volume), on.OfMerchant(w.volume))
		}
	}
	if _, ok := failed.Amounts[1].Ratio(); ok {
		t.Error("a ratio without payments")
	}
	if _, ok := (dispute.Volume{Disputes: 1}).Ratio(); ok {
		t.Error("a ratio without payments")
	}
	few := dispute.Volume{Payments: 1_499, Disputes: 1_499}
	if on.OfMerchant(few) != 0 || on.OfSite(dispute.Volume{Payments: 1_000, Disputes: 5}) != 5_000 {
		t.Error("thresholds apply from their ratio and number on")
	}
	if _, ok := dispute.ThresholdsOn(civil.Date(2025, 3, 31)); ok {
		t.Error("thresholds before the first")
	}
}
