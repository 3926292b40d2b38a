package ledger_test

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"holdfast/internal/apptest"
	"holdfast/internal/civil"
	"holdfast/internal/db"
	"holdfast/internal/ledger"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/reports"
	"holdfast/internal/travel"
)

func TestBucketSumsEqualLineSums(t *testing.T) {
	for seed := range apptest.Histories(t, 4) {
		t.Run(fmt.Sprint("history ", seed), func(t *testing.T) {
			apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
				h := apptest.NewHistory(w, seed)
				if seed%2 == 1 {
					start, from := travel.RecognitionStartDate, civil.DayOf(w.Now())+10
					if _, err := w.App.Policies.Set(t.Context(), w.Actor, travel.PolicyFields{From: &from, Recognition: &start}); err != nil {
						t.Fatal(err)
					}
				}
				h.NewBooking()
				days := func() []civil.Day {
					return []civil.Day{h.Day(-40, 30), h.Day(-5, 5), h.Day(0, 1), h.Day(1, 40), h.Day(41, 100), h.Day(141, 60)}
				}
				for range 3 {
					for range 25 {
						h.Step()
					}
					h.FoldSome(t.Context(), h.Random.IntN(40))
					checkBuckets(t, h, "partly folded", days())
				}
				w.Fix("2024-06-02", map[money.Currency]string{"JPY": "171.94"}) // late, for what was paid before
				checkBuckets(t, h, "priced", days())
				foldAll(t, h)
				checkBuckets(t, h, "folded", days())
			})
		})
	}
}

// TestBucketsWhileManyWrite: payments, refunds, changes, late rates and folding at once, also two that fold.
func TestBucketsWhileManyWrite(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		books := make([]*apptest.History, 6)
		for i := range books {
			books[i] = apptest.NewHistory(w, uint64(100+i))
			for range 3 {
				books[i].NewBooking()
			}
			books[i].Bookings = append(books[i].Bookings, books[0].Bookings...) // all write to these
		}
		var all sync.WaitGroup
		for i, h := range books {
			all.Go(func() {
				for n := range 25 {
					switch {
					case i < 2 && n%4 == 0:
						h.FoldSome(t.Context(), 10)
					case i == 2 && n == 12:
						h.Fix("2024-06-02", map[money.Currency]string{"JPY": "171.94"})
					case n%3 == 0:
						h.Change()
					case n%3 == 1:
						h.Pay()
					default:
						h.Adjust()
					}
				}
			})
		}
		all.Wait()
		checkBuckets(t, books[0], "all have written", []civil.Day{books[0].Day(-10, 5), books[0].Day(0, 1), books[0].Day(10, 40)})
	})
}

// TestATotalThatChangedBeforeTheFirstPayment: the payment counts from a day on which the total was still the old one.
func TestATotalThatChangedBeforeTheFirstPayment(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		h := apptest.NewHistory(w, 1)
		b := w.Booking(h.Channels[0], 50000, "2024-09-14")
		paid := w.Now().Add(24 * time.Hour)
		w.Advance(3 * 24 * time.Hour)
		total := int64(80000)
		if _, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, travel.BookingFields{Total: &total}); err != nil {
			t.Fatal(err)
		}
		in := apptest.Report(travel.Purchase, b, 10000)
		in.EffectiveAt = paid
		w.Must(in)
		for days, e4 := range map[civil.Day]int64{-2: 40000, 0: 70000} {
			day := civil.DayOf(w.Now()) + days
			r := w.Exposure(reports.ExposureQuery{Moment: ledger.Moment{AsOf: &day}})
			if len(r.Instalments) != 1 || r.Instalments[0].E1 != e4 {
				t.Errorf("%s: %+v, want %d", day, r.Instalments, e4)
			}
			sameFromRows(t, h, "paid late", reports.ExposureQuery{Moment: ledger.Moment{AsOf: &day}, By: protection.ByChannel, Valuation: protection.Spot})
		}
	})
}

// checkBuckets compares what buckets answer with what the allocations themselves do: by every dimension, alone and
// crossed with others that chance picks, in both valuations, each on one of several days.
func checkBuckets(t *testing.T, h *apptest.History, when string, days []civil.Day) {
	t.Helper()
	for _, by := range protection.Dimensions {
		others := slices.DeleteFunc(slices.Clone(protection.Dimensions), func(d protection.Dimension) bool { return d == by })
		h.Random.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
		for _, across := range append(others[:2], "") {
			q := reports.ExposureQuery{
				Moment: ledger.Moment{AsOf: &days[h.Random.IntN(len(days))]}, By: by, Across: across,
				Valuation: protection.Valuations[h.Random.IntN(2)],
			}
			if h.Random.IntN(3) == 0 {
				q.Channels = []int64{h.Channels[0].ID, h.Channels[3].ID}
			}
			sameFromRows(t, h, when, q)
			if t.Failed() {
				return
			}
		}
	}
	checkAhead(t, h, when, days)
	checkEstimates(t, h, when, days)
}

// checkAhead compares run-offs and ageings likewise, on half of the days.
func checkAhead(t *testing.T, h *apptest.History, when string, days []civil.Day) {
	t.Helper()
	for i := h.Random.IntN(2); i < len(days); i += 2 {
		q := reports.ExposureQuery{Moment: ledger.Moment{AsOf: &days[i]}, Valuation: protection.Valuations[h.Random.IntN(2)]}
		if h.Random.IntN(3) == 0 {
			q.Channels = []int64{h.Channels[0].ID, h.Channels[3].ID}
		}
		q.KnownAt = h.Now()
		runOff, ageing := h.RunOff(q), h.Ageing(q)
		h.Advance(time.Microsecond) // what was known in the past is read from the rows
		if rows := h.RunOff(q); !reflect.DeepEqual(runOff, rows) {
			t.Fatalf("%s, run-off from %s, %s, channels %v:\nbuckets %+v\nrows    %+v",
				when, days[i], q.Valuation, q.Channels, runOff, rows)
		}
		if rows := h.Ageing(q); !reflect.DeepEqual(ageing, rows) {
			t.Fatalf("%s, ageing of %s, %s, channels %v:\nbuckets %+v\nrows    %+v",
				when, days[i], q.Valuation, q.Channels, ageing, rows)
		}
	}
}

// checkEstimates compares what a failure costs, and the model beside the actual, likewise, on half of the days.
func checkEstimates(t *testing.T, h *apptest.History, when string, days []civil.Day) {
	t.Helper()
	for i := h.Random.IntN(2); i < len(days); i += 2 {
		q := reports.EstimateQuery{Moment: ledger.Moment{AsOf: &days[i]}}
		if h.Random.IntN(3) == 0 {
			q.Channels = []int64{h.Channels[0].ID, h.Channels[3].ID}
		}
		q.KnownAt = h.Now()
		whatIf, model := estimates(t, h, q)
		h.Advance(time.Microsecond)
		ofRows, modelOfRows := estimates(t, h, q)
		if !reflect.DeepEqual(whatIf, ofRows) {
			t.Fatalf("%s, what if on %s, channels %v:\nbuckets %+v\nrows    %+v", when, days[i], q.Channels, whatIf, ofRows)
		}
		if !reflect.DeepEqual(model, modelOfRows) {
			t.Fatalf("%s, model on %s, channels %v:\nbuckets %+v\nrows    %+v", when, days[i], q.Channels, model, modelOfRows)
		}
	}
}

func estimates(t *testing.T, h *apptest.History, q reports.EstimateQuery) (reports.WhatIfReport, reports.ModelReport) {
	t.Helper()
	whatIf, err := h.App.Exposure.WhatIf(t.Context(), h.Actor, q)
	if err != nil {
		t.Fatal(err)
	}
	model, err := h.App.Exposure.Model(t.Context(), h.Actor, q)
	if err != nil {
		t.Fatal(err)
	}
	return whatIf, model
}

// foldAll waits until everything is due, and folds it.
func foldAll(t *testing.T, h *apptest.History) {
	t.Helper()
	h.Advance(time.Minute)
	for more := true; more; {
		var err error
		if more, err = h.App.Buckets.Fold(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	err := h.Core.Store.Read(t.Context(), func(tx *db.Tx) error {
		sites, err := ledger.SitesToFold(tx)
		if len(sites) > 0 {
			t.Errorf("there is something left to fold of the sites %v", sites)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func sameFromRows(t *testing.T, h *apptest.History, when string, q reports.ExposureQuery) {
	t.Helper()
	q.KnownAt = h.Now()
	buckets := h.Exposure(q)
	h.Advance(time.Microsecond) // what was known in the past is read from the rows
	rows := h.Exposure(q)
	if !reflect.DeepEqual(buckets, rows) {
		t.Errorf("%s, %s by %s,%s %s, channels %v:\nbuckets %+v\nrows    %+v",
			when, *q.AsOf, q.By, q.Across, q.Valuation, q.Channels, buckets.Report, rows.Report)
	}
}
