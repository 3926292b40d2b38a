package report_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestDetailsAddUp: the details of a report add up to its rows, in both valuations, for today and the past.
func TestDetailsAddUp(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		h := apptest.NewHistory(w, 7)
		h.NewBooking()
		for range 80 {
			h.Step()
		}
		known := w.Now()
		w.Advance(time.Minute)
		h.Pay()
		found := exposure.Figures{}
		for _, valuation := range exposure.Valuations {
			for _, m := range []ledger.Moment{
				{}, {KnownAt: known}, {AsOf: new(civil.DayOf(known) - 9), KnownAt: known}, {AsOf: new(civil.DayOf(known) + 30)},
			} {
				q := report.ExposureQuery{Moment: m, Valuation: valuation}
				r := w.Exposure(q)
				got, want := map[string]sums{}, map[string]sums{}
				for _, row := range r.Rows {
					want[fmt.Sprint(row.Key.ChannelID, row.Currency)] = sums{row.Figures, row.Memo, lockedOf(row, valuation)}
					found.Allocations += row.Allocations
					found.E1, found.E2 = found.E1+row.E1, found.E2+row.E2
				}
				for _, d := range details(t, w, report.DetailsQuery{ExposureQuery: q}) {
					if d.Pending && valuation == exposure.Locked {
						continue // in no row
					}
					key := fmt.Sprint(d.ChannelID, d.Currency)
					s := got[key]
					s.add(d, valuation)
					if s != (sums{}) {
						got[key] = s
					}
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s, %+v:\ndetails %+v\nreport  %+v", valuation, m, got, want)
				}
				checkAges(t, w, q)
				checkRunOff(t, w, q)
				checkMovement(t, w, q)
			}
		}
		if found.Allocations == 0 || found.E1 == 0 || found.E2 == 0 {
			t.Errorf("the book shows too little: %+v", found)
		}
	})
}

// sums are the totals of details.
type sums struct {
	exposure.Figures
	exposure.Memo
	locked protection.Level
}

func (s *sums) add(d exposure.Detail, v exposure.Valuation) {
	s.Allocations, s.Figures.E1, s.Figures.E2 = s.Allocations+d.Figures.Allocations, s.Figures.E1+d.Figures.E1, s.Figures.E2+d.Figures.E2
	s.E4, s.E5 = s.E4+d.E4, s.E5+d.E5
	if v == exposure.Locked {
		s.locked = s.locked.Plus(protection.Level{E1: d.E1Report, E2: d.E2Report})
	}
}

// lockedOf is the value of a row where lines are converted one by one.
func lockedOf(row exposure.Row, v exposure.Valuation) protection.Level {
	if v == exposure.Spot {
		return protection.Level{}
	}
	return protection.Level{E1: row.E1Report, E2: row.E2Report}
}

// details reads all pages, which must follow each other without a gap.
func details(t *testing.T, w *apptest.World, q report.DetailsQuery) (list []exposure.Detail) {
	t.Helper()
	for number := 1; ; number++ {
		q.Page = store.Page{Number: number, Size: 3, Offset: -1, Count: number%2 == 0}
		r, err := w.App.Exposure.Details(t.Context(), w.Actor, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range r.Items.Items {
			if n := len(list); n > 0 && (d.BookingID < list[n-1].BookingID ||
				d.BookingID == list[n-1].BookingID && d.AllocationID != 0 && d.AllocationID <= list[n-1].AllocationID) {
				t.Errorf("allocation %d of booking %d comes after %d of %d", d.AllocationID, d.BookingID, list[n-1].AllocationID, list[n-1].BookingID)
			}
			list = append(list, d)
		}
		if !r.Items.More {
			break
		}
	}
	var streamed []exposure.Detail
	_, err := w.App.Exposure.EachDetail(t.Context(), w.Actor, q, func(_ report.DetailsReport, d exposure.Detail) error {
		streamed = append(streamed, d)
		return nil
	})
	if err != nil || !reflect.DeepEqual(streamed, list) {
		t.Errorf("the pages have %d items, the whole %d, %v", len(list), len(streamed), err)
	}
	return list
}

func checkAges(t *testing.T, w *apptest.World, q report.ExposureQuery) {
	t.Helper()
	for _, band := range w.Ageing(q).Bands {
		got, want := map[money.Currency]int64{}, map[money.Currency]int64{}
		for _, c := range band.By {
			want[c.Currency] = c.E1
		}
		for _, d := range details(t, w, report.DetailsQuery{ExposureQuery: q, Bands: []string{band.Name}}) {
			if !d.Pending || q.Valuation == exposure.Spot {
				got[d.Currency] += d.Figures.E1
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("band %s: details %v, report %v", band.Name, got, want)
		}
	}
}

func checkRunOff(t *testing.T, w *apptest.World, q report.ExposureQuery) {
	t.Helper()
	points := w.RunOff(q).Points
	for _, point := range []exposure.RunOffPoint{points[0], points[20], points[len(points)-1]} {
		got := map[money.Currency]protection.Level{}
		for _, d := range details(t, w, report.DetailsQuery{ExposureQuery: q, On: &point.Day}) {
			if !d.Pending || q.Valuation == exposure.Spot {
				got[d.Currency] = got[d.Currency].Plus(protection.Level{E1: d.Figures.E1, E2: d.Figures.E2})
			}
		}
		for _, c := range point.By {
			if got[c.Currency] != c.Level {
				t.Errorf("run-off on %s in %s: details %+v, report %+v", point.Day, c.Currency, got[c.Currency], c.Level)
			}
		}
	}
}

func checkMovement(t *testing.T, w *apptest.World, q report.ExposureQuery) {
	t.Helper()
	r := w.Movement("2024-06-03", q)
	got, want := map[money.Currency][]protection.Level{}, map[money.Currency][]protection.Level{}
	for _, row := range r.Rows {
		want[row.Currency] = levels(nil, row.Flows)
	}
	in := report.MovementQuery{ExposureQuery: q, From: apptest.DayPtr(t, "2024-06-03")}
	for number := 1; ; number++ {
		page, err := w.App.Exposure.MovementDetails(t.Context(), w.Actor, in, store.Page{Number: number, Size: 4, Offset: -1, Count: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range page.Items.Items {
			if !d.Pending || q.Valuation == exposure.Spot {
				got[d.Currency] = levels(got[d.Currency], d.Flows)
			}
		}
		if !page.Items.More {
			break
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("movement: details %v, report %v", got, want)
	}
}

// levels adds the lines of a movement to sums.
func levels(sums []protection.Level, f exposure.Flows) []protection.Level {
	list := append([]protection.Level{f.Opening, f.Closing}, f.Causes[:]...)
	for i := range list {
		if sums != nil {
			list[i] = list[i].Plus(sums[i])
		}
	}
	return list
}

func TestDetailsRefuseWhatDoesNotExist(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	page := store.Page{Number: 1, Size: 3, Offset: -1}
	yesterday := civil.DayOf(w.Now()) - 1
	for name, q := range map[string]report.DetailsQuery{
		"a channel":    {ExposureQuery: report.ExposureQuery{Scope: exposure.Scope{Channels: []int64{99}}}},
		"a band":       {Bands: []string{"soon"}},
		"a day before": {On: &yesterday},
	} {
		q.Page = page
		if _, err := w.App.Exposure.Details(t.Context(), w.Actor, q); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.App.Exposure.MovementDetails(t.Context(), w.Actor, report.MovementQuery{}, page); !errs.Is(err, errs.Missing) {
		t.Errorf("a movement without a first day: %v", err)
	}
}
