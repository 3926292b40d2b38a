package report_test

import (
	"math/big"
	"reflect"
	"testing"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// behind are the figures of a row of a model, added up from its details.
type behind struct {
	estimate *big.Rat
	e1       int64
}

// TestModelDetailsAddUp: the details of a model add up to its estimates and its E1, today and as known in the past, by
// page and all together.
func TestModelDetailsAddUp(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		h := apptest.NewHistory(w, 3)
		for range 3 {
			h.NewBooking()
		}
		for range 80 {
			h.Step()
		}
		known := w.Now()
		w.Advance(time.Minute)
		h.Pay()
		refunds, payments := 0, 0
		for _, in := range []report.EstimateQuery{
			{}, {Bands: estimate.Bands{{Days: 10, SharePPM: 333_333}, {Days: 95, SharePPM: 500_001}}},
			{Moment: ledger.Moment{KnownAt: known}}, {Moment: ledger.Moment{AsOf: new(civil.DayOf(known) - 9), KnownAt: known}},
		} {
			m, err := w.App.Exposure.Model(t.Context(), w.Actor, in)
			if err != nil {
				t.Fatal(err)
			}
			var all []estimate.ModelDetail
			_, err = w.App.Exposure.EachModelDetail(t.Context(), w.Actor, in, func(_ report.ModelDetailsReport, d estimate.ModelDetail) error {
				all = append(all, d)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range all {
				switch {
				case d.Type == payment.Refund && d.Turnover < 0:
					refunds++
				case d.Figure == estimate.FigureEstimate && d.Turnover > 0:
					payments++
				}
			}
			checkModel(t, m, all)
			var paged []estimate.ModelDetail
			for number, more := 1, true; more; number++ {
				page := store.Page{Number: number, Size: 7, Offset: -1, Count: true}
				r, err := w.App.Exposure.ModelDetails(t.Context(), w.Actor, in, page)
				if err != nil || r.Items.Total != int64(len(all)) || r.Final != m.Final {
					t.Fatalf("page %d of %d: %+v, %v", number, len(all), r, err)
				}
				paged, more = append(paged, r.Items.Items...), r.Items.More
			}
			if !reflect.DeepEqual(paged, all) {
				t.Errorf("%+v: the pages are not the list:\n%+v\n%+v", in, paged, all)
			}
		}
		if refunds == 0 || payments < 20 {
			t.Errorf("only %d payments and %d refunds stood behind something", payments, refunds)
		}
	})
}

// checkModel compares the rows of a model with the sums of its details.
func checkModel(t *testing.T, m report.ModelReport, details []estimate.ModelDetail) {
	t.Helper()
	type key struct {
		channel  int64
		currency money.Currency
	}
	sums := map[key]*behind{}
	for _, d := range details {
		k := key{d.ChannelID, d.Currency}
		if sums[k] == nil {
			sums[k] = &behind{estimate: new(big.Rat)}
		}
		sums[k].e1 += d.E1
		if d.Figure == estimate.FigureEstimate {
			part := new(big.Rat).SetInt64(d.Turnover)
			sums[k].estimate.Add(sums[k].estimate, part.Mul(part, d.Share))
		}
	}
	for _, row := range m.Rows {
		of := sums[key{row.ChannelID, row.Currency}]
		if of == nil {
			of = &behind{estimate: new(big.Rat)}
		}
		delete(sums, key{row.ChannelID, row.Currency})
		estimate, err := money.Round(of.estimate.Num(), of.estimate.Denom())
		if err != nil || estimate != row.Estimate || of.e1 != row.E1 {
			t.Errorf("channel %d in %s: the details make %d and E1 %d, the report has %d and %d, %v", row.ChannelID, row.Currency,
				estimate, of.e1, row.Estimate, row.E1, err)
		}
	}
	if len(sums) > 0 {
		t.Errorf("details of no row: %+v", sums)
	}
}
