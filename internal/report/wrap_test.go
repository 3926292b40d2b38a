package report_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
)

// TestSumsNeverWrap: amounts whose sum in the policy's currency exceeds 64 bits give a clear error in each report (R0), whether it reads
// cubes or rows.
func TestSumsNeverWrap(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2024-05-31", map[money.Currency]string{"IDR": "17000.00", "GBP": "0.85000"})
		rupiah := money.Currency("IDR")
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-06-01"), Currency: &rupiah})
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		const large = 400_000_000_000_000 // EUR; IDR 6.8 · 10^18 each, of at most 9.2 · 10^18
		for range 2 {
			b := w.Booking(c, large, "2024-09-14")
			w.Must(apptest.Report(payment.Purchase, b, large))
		}
		w.Advance(time.Minute)
		known := w.Now().Add(-20 * time.Second)
		locked := report.ExposureQuery{Valuation: exposure.Locked}
		past := locked
		past.Moment = ledger.Moment{KnownAt: known}
		spot := report.ExposureQuery{Valuation: exposure.Spot, Currency: rupiah}
		ctx := t.Context()
		for more := true; more; { // the cubes also contain the sum
			var err error
			if more, err = w.App.Buckets.Fold(ctx); err != nil {
				t.Fatal(err)
			}
		}
		for name, read := range map[string]func() error{
			"exposure":             func() error { _, err := w.App.Exposure.Report(ctx, w.Actor, locked); return err },
			"exposure of the past": func() error { _, err := w.App.Exposure.Report(ctx, w.Actor, past); return err },
			"exposure at spot":     func() error { _, err := w.App.Exposure.Report(ctx, w.Actor, spot); return err },
			"run-off":              func() error { _, err := w.App.Exposure.RunOff(ctx, w.Actor, locked); return err },
			"run-off of the past":  func() error { _, err := w.App.Exposure.RunOff(ctx, w.Actor, past); return err },
			"ageing":               func() error { _, err := w.App.Exposure.Ageing(ctx, w.Actor, locked); return err },
			"ageing of the past":   func() error { _, err := w.App.Exposure.Ageing(ctx, w.Actor, past); return err },
			"movement": func() error {
				_, err := w.App.Exposure.Movement(ctx, w.Actor, report.MovementQuery{ExposureQuery: locked, From: apptest.DayPtr(t, "2024-06-01")})
				return err
			},
			"what-if": func() error {
				_, err := w.App.Exposure.WhatIf(ctx, w.Actor, report.EstimateQuery{Currency: rupiah})
				return err
			},
			"model": func() error {
				_, err := w.App.Exposure.Model(ctx, w.Actor, report.EstimateQuery{Currency: rupiah})
				return err
			},
		} {
			if err := read(); !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), "large") {
				t.Errorf("%s: %v", name, err)
			}
		}
		// In the currency of the payments, no sum is too large.
		if r := w.Exposure(report.ExposureQuery{Valuation: exposure.Spot, Currency: "EUR"}); r.Total.E1 != 2*large {
			t.Errorf("in EUR: %+v", r.Total)
		}
	})
}
