package report_test

import (
	"context"
	"strings"
	"testing"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/limits"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestAScopeThatDoesNotExist: an unknown scope is an error of every report and list, never an empty result.
func TestAScopeThatDoesNotExist(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	day := *apptest.DayPtr(t, "2024-06-01")
	page := apptest.WholeList
	asked := map[string]func(ctx context.Context, s exposure.Scope) error{
		"exposure": func(ctx context.Context, s exposure.Scope) error {
			_, err := w.App.Exposure.Report(ctx, w.Actor, report.ExposureQuery{Scope: s})
			return err
		},
		"run-off": func(ctx context.Context, s exposure.Scope) error {
			_, err := w.App.Exposure.RunOff(ctx, w.Actor, report.ExposureQuery{Scope: s})
			return err
		},
		"ageing": func(ctx context.Context, s exposure.Scope) error {
			_, err := w.App.Exposure.Ageing(ctx, w.Actor, report.ExposureQuery{Scope: s})
			return err
		},
		"movement": func(ctx context.Context, s exposure.Scope) error {
			_, err := w.App.Exposure.Movement(ctx, w.Actor, report.MovementQuery{ExposureQuery: report.ExposureQuery{Scope: s}, From: &day})
			return err
		},
	}
	for name, ask := range asked {
		for field, s := range map[string]exposure.Scope{
			"channels":   {Channels: []int64{w.Channel(merchant.ModeTest, "GBP").ID, 99}},
			"suppliers":  {Suppliers: []int64{98}},
			"schemes":    {Schemes: []card.Scheme{"viza"}},
			"countries":  {Countries: []string{"XX"}},
			"currencies": {Currencies: []money.Currency{"XXQ"}},
			"months":     {Months: []string{"2024-13"}},
		} {
			if err := ask(t.Context(), s); !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), field) {
				t.Errorf("%s of unknown %s: %v", name, field, err)
			}
		}
	}
	unknown := []int64{99}
	_, err := w.App.Exposure.Model(t.Context(), w.Actor, report.EstimateQuery{Channels: unknown})
	_, err2 := w.App.Exposure.WhatIf(t.Context(), w.Actor, report.EstimateQuery{Channels: unknown})
	_, err3 := w.App.Limits.List(t.Context(), w.Actor, limits.LimitFilter{Channels: unknown}, page)
	_, err4 := w.App.Limits.Events(t.Context(), w.Actor, limits.LimitEvents{Channels: unknown}, page)
	_, err5 := w.App.Collaterals.List(t.Context(), w.Actor, unknown, page)
	_, err6 := w.App.Collaterals.Held(t.Context(), w.Actor, ledger.Moment{}, errs.Problems{}, unknown, page)
	_, err7 := w.App.Premiums.List(t.Context(), w.Actor, protection.PremiumFilter{Channels: unknown}, page)
	_, _, err8 := w.App.Statements.List(t.Context(), w.Actor, statements.StatementFilter{Channels: unknown}, page)
	for i, err := range []error{err, err2, err3, err4, err5, err6, err7, err8} {
		if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), "channels") {
			t.Errorf("list %d of an unknown channel: %v", i+1, err)
		}
	}
}

// TestScopesAddUp: the parts of the book by any attribute add up to the whole, in every report.
func TestScopesAddUp(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		h := apptest.NewHistory(w, 3)
		w.Fix("2024-05-31", map[money.Currency]string{"JPY": "170"})
		h.NewBooking()
		for range 60 {
			h.Step()
		}
		whole := native(w, exposure.Scope{})
		if whole[0] == 0 || whole[3] == 0 {
			t.Fatalf("the book is empty: %v", whole)
		}
		for name, parts := range map[string][]exposure.Scope{
			"currencies": {{Currencies: []money.Currency{"EUR", "JPY"}}, {Currencies: []money.Currency{"GBP", "USD"}}},
			"schemes":    {{Schemes: []card.Scheme{card.Visa}}, {Schemes: []card.Scheme{card.Mastercard, card.Amex, card.Unknown}}},
			"countries":  {{Countries: []string{"PT", "ES"}}, {Countries: []string{"FR"}}, {Countries: []string{"US"}}},
		} {
			var sum [5]int64
			for _, part := range parts {
				for i, n := range native(w, part) {
					sum[i] += n
				}
			}
			if sum != whole {
				t.Errorf("by %s: %v, the whole is %v", name, sum, whole)
			}
		}
	})
}

// native adds up E1 of the exposure, of the ageing and of the run-off, and the closing and the new E1 of a movement, each
// over all base currencies.
func native(w *apptest.World, s exposure.Scope) (sums [5]int64) {
	q := report.ExposureQuery{Scope: s}
	for _, row := range w.Exposure(q).Rows {
		sums[0] += row.E1
	}
	for _, band := range w.Ageing(q).Bands {
		for _, c := range band.By {
			sums[1] += c.E1
		}
	}
	for _, c := range w.RunOff(q).Points[0].By {
		sums[2] += c.E1
	}
	for _, row := range w.Movement("2024-05-01", q).Rows {
		sums[3] += row.Closing.E1
		sums[4] += row.Of(protection.CauseNew).E1
	}
	return sums
}
