package report_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

func asOf(t *testing.T, day string) report.ExposureQuery {
	return report.ExposureQuery{Moment: ledger.Moment{AsOf: apptest.DayPtr(t, day)}}
}

// TestARunOff follows one book down to nothing.
func TestARunOff(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		aLife(t, w)
		r := w.RunOff(report.ExposureQuery{})
		on := map[string]protection.Level{}
		for _, p := range r.Points {
			on[p.Day.String()] = p.Total
		}
		for day, want := range map[string]protection.Level{
			"2024-06-20": {E1: 54000}, "2024-07-25": {E1: 54000}, "2024-08-01": {E2: 54000}, "2024-11-28": {E2: 54000}, "2024-12-05": {},
		} {
			if on[day] != want {
				t.Errorf("%s: %+v, want %+v", day, on[day], want)
			}
		}
		if r.LastDay.String() != "2024-11-28" || r.HalfLife.String() != "2024-08-01" || r.MeanLifeDays() != "41.00" {
			t.Errorf("last day %s, half-life %s, mean life %s", r.LastDay, r.HalfLife, r.MeanLifeDays())
		}
		// At the rates of today: on its own day the first payment was worth less.
		if want := (exposure.Peak{Day: *apptest.DayPtr(t, "2024-06-03"), E1: 54000}); r.Peak != want {
			t.Errorf("peak %+v, want %+v", r.Peak, want)
		}
		a := w.Ageing(report.ExposureQuery{})
		if a.Total != 54000 || a.Bands[3].Name != "31-60" || a.Bands[3].E1 != 54000 || a.Bands[3].Allocations != 2 {
			t.Errorf("ageing %+v", a)
		}
		if of := w.Ageing(asOf(t, "2024-06-19")); of.Bands[4].E1 != 54000 { // moved the day after
			t.Errorf("ageing of the day before %+v", of)
		}
		locked := w.RunOff(report.ExposureQuery{Valuation: exposure.Locked})
		if locked.Points[0].Total.E1 != 51000 || locked.Peak.E1 != 51000 {
			t.Errorf("locked: %+v, peak %+v", locked.Points[0], locked.Peak)
		}
	})
}

// TestAMovement closes line by line.
func TestAMovement(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		aLife(t, w)
		w.SetClock(time.Date(2024, 8, 5, 12, 0, 0, 0, time.UTC))
		for _, c := range []struct {
			from, to           string
			valuation          exposure.Valuation
			opening, closing   protection.Level
			revaluation        int64
			causes             [7]protection.Level
			native, nativeSays int64
		}{
			{"2024-06-02", "2024-06-14", exposure.Spot, protection.Level{}, protection.Level{E1: 54000}, 0,
				[7]protection.Level{protection.CauseNew: {E1: 63000}, protection.CauseRefunded: {E1: -9000}}, 70000, 60000},
			{"2024-06-09", "2024-06-14", exposure.Spot, protection.Level{E1: 51000}, protection.Level{E1: 54000}, 3000,
				[7]protection.Level{protection.CauseNew: {E1: 9000}, protection.CauseRefunded: {E1: -9000}}, 10000, 60000},
			{"2024-06-09", "2024-06-14", exposure.Locked, protection.Level{E1: 51000}, protection.Level{E1: 51000}, 0,
				[7]protection.Level{protection.CauseNew: {E1: 8500}, protection.CauseRefunded: {E1: -8500}}, 10000, 60000},
			{"2024-06-20", "2024-08-05", exposure.Locked, protection.Level{E1: 51000}, protection.Level{E2: 51000}, 0,
				[7]protection.Level{protection.CauseDelivered: {E1: -51000, E2: 51000}}, 0, 0},
		} {
			q := asOf(t, c.to)
			q.Valuation = c.valuation
			r := w.Movement(c.from, q)
			if f := r.Total; f.Opening != c.opening || f.Closing != c.closing || f.Causes != c.causes || f.Revaluation.E1 != c.revaluation {
				t.Errorf("%s to %s, %s: %+v", c.from, c.to, c.valuation, f)
			}
			if f := r.Rows[0]; f.Of(protection.CauseNew).E1 != c.native || f.Closing.E1 != c.nativeSays {
				t.Errorf("%s to %s, %s: in EUR %+v", c.from, c.to, c.valuation, f)
			}
		}
	})
}

// TestReportsOfThePastStay: whatever is logged, renamed, moved or fixed since, the same as_of and known_at give the
// same report.
func TestReportsOfThePastStay(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		aLife(t, w)
		known := w.Now()
		w.Advance(10 * time.Second)
		all := func() (list []any) {
			for _, v := range exposure.Valuations {
				for _, day := range []string{"2024-06-15", "2024-06-20", "2024-12-24"} {
					q := asOf(t, day)
					q.KnownAt, q.Valuation = known, v
					list = append(list, w.RunOff(q), w.Ageing(q), w.Movement("2024-06-03", q))
				}
			}
			return list
		}
		before := all()
		if !before[0].(report.RunOffReport).Final || !before[1].(report.AgeingReport).Final || !before[2].(report.MovementReport).Final {
			t.Error("what was known ten seconds ago can still change")
		}
		if now := w.Movement("2024-06-03", report.ExposureQuery{}); now.Final {
			t.Error("what is known now cannot change")
		}
		bookings, err := w.App.Bookings.List(t.Context(), w.Actor, bookings.BookingFilter{}, store.Page{Number: 1, Size: 10, Offset: -1})
		if err != nil {
			t.Fatal(err)
		}
		b := bookings.Items[0]
		refund := apptest.Linked(payment.Refund, w.ReadTransaction(b.TransactionIDs[0]), b, 20000)
		refund.EffectiveAt = time.Date(2024, 6, 12, 8, 0, 0, 0, time.UTC)
		w.Must(refund)
		w.Must(apptest.Report(payment.Purchase, b, 10000))
		end := civil.Date(2024, time.June, 10)
		if _, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, booking.BookingFields{End: &end}); err != nil {
			t.Fatal(err)
		}
		w.Fix("2024-06-15", map[money.Currency]string{"GBP": "0.99"})
		if after := all(); !reflect.DeepEqual(before, after) {
			t.Errorf("before\n%+v\nafter\n%+v", before, after)
		}
		if now := w.RunOff(asOf(t, "2024-06-15")); now.Points[0].Total.E1 != 39600 { // EUR 400.00 at 0.99: the refund is of the 12th
			t.Errorf("now %+v", now.Points[0])
		}
	})
}

// TestRunOffsFromTheCube equal those from the rows, after any history and any fold.
func TestRunOffsFromTheCube(t *testing.T) {
	t.Parallel()
	var sums atomic.Int64 // of what is at risk at the beginning of the run-offs
	t.Cleanup(func() {
		if sums.Load() == 0 {
			t.Error("all run-offs were empty")
		}
	})
	for seed := range apptest.Histories(t, 2) {
		t.Run(fmt.Sprint("history ", seed), func(t *testing.T) {
			t.Parallel()
			apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
				h := apptest.NewHistory(w, 100+seed)
				if seed == 1 {
					start, from := terms.RecognitionStartDate, civil.DayOf(w.Now())-100
					if _, err := w.App.Policies.Set(t.Context(), w.Actor, terms.PolicyFields{From: &from, Recognition: &start}); err != nil {
						t.Fatal(err)
					}
				}
				h.NewBooking()
				for range 4 {
					for range 20 {
						h.Step()
					}
					h.FoldSome(t.Context(), h.Random.IntN(40))
					for _, ahead := range []civil.Day{-20, 0, 0, h.Day(0, 60) - h.Day(0, 1), 170} {
						day := civil.DayOf(w.Now()) + ahead
						q := report.ExposureQuery{
							Moment: ledger.Moment{AsOf: &day}, Valuation: exposure.Valuations[h.Random.IntN(2)],
						}
						if h.Random.IntN(3) == 0 {
							q.Channels = []int64{h.Channels[0].ID, h.Channels[3].ID}
						}
						q.KnownAt = w.Now()
						cube := w.RunOff(q)
						w.Advance(time.Microsecond)
						var rows report.RunOffReport
						fromRows(t, w, func() { rows = w.RunOff(q) })
						if !reflect.DeepEqual(cube, rows) {
							t.Fatalf("%s, %s, channels %v:\ncube %+v\nrows %+v", day, q.Valuation, q.Channels, cube, rows)
						}
						sums.Add(cube.Points[0].Total.E1 + cube.Points[0].Total.E2)
					}
				}
				h.Accepted().WantAtLeast(t, apptest.Steps{Bookings: 4, Purchases: 6})
			})
		})
	}
}

// TestWhatWaitsForARateIsApart in all three, and is included once the rate arrives.
func TestWhatWaitsForARateIsApart(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Must(apptest.Report(payment.Purchase, w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 60000, "2024-09-14"), 60000))
		for _, v := range exposure.Valuations {
			q := report.ExposureQuery{Valuation: v}
			m := w.Movement("2024-06-02", q)
			if len(m.PendingRate) != 1 || m.PendingRate[0].Of(protection.CauseNew).E1 != 60000 || !m.Gaps.Closing.E1 ||
				!m.Gaps.Of(protection.CauseNew).E1 || m.Gaps.Opening.E1 || m.Gaps.Closing.E2 {
				t.Errorf("%s: movement %+v", v, m)
			}
			r, a := w.RunOff(q), w.Ageing(q)
			if !r.Points[0].Gaps.E1 || r.Points[0].Gaps.E2 || !r.Peak.Gap || len(r.PendingRate) != 1 || r.PendingRate[0].E1 != 60000 || r.HalfLife != nil || r.Peak.E1 != 0 {
				t.Errorf("%s: run-off %+v", v, r)
			}
			if !a.Gap || len(a.PendingRate) != 1 || a.PendingRate[0].E1 != 60000 {
				t.Errorf("%s: ageing %+v", v, a)
			}
		}
		w.Fix("2024-06-02", map[money.Currency]string{"GBP": "0.85"})
		if m := w.Movement("2024-06-02", report.ExposureQuery{}); m.Total.Closing.E1 != 51000 || len(m.PendingRate) != 0 {
			t.Errorf("priced: movement %+v", m)
		}
	})
}

func TestMovementsRefuseWhatTheyCannotAnswer(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	_, err := w.App.Exposure.Movement(t.Context(), w.Actor, report.MovementQuery{})
	if f, ok := errors.AsType[*errs.Error](err); !ok || f.Kind != errs.Missing {
		t.Errorf("without a first day: %v", err)
	}
	tomorrow := civil.DayOf(w.Now()) + 1
	_, err = w.App.Exposure.Movement(t.Context(), w.Actor, report.MovementQuery{From: &tomorrow})
	if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), "from") {
		t.Errorf("backwards: %v", err)
	}
	for field, q := range map[string]report.ExposureQuery{
		"currency":  {Currency: "EUR", Valuation: exposure.Locked},
		"known_at":  {Moment: ledger.Moment{KnownAt: w.Now().Add(time.Second)}},
		"valuation": {Valuation: "guess"},
	} {
		_, err := w.App.Exposure.RunOff(t.Context(), w.Actor, q)
		_, err2 := w.App.Exposure.Ageing(t.Context(), w.Actor, q)
		for _, err := range []error{err, err2} {
			if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), field) {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
}

// aLife is a payment of EUR 600.00 that is partly refunded, then moved; and one of EUR 100.00 that was logged late.
func aLife(t *testing.T, w *apptest.World) {
	w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85"})
	w.Fix("2024-06-14", map[money.Currency]string{"GBP": "0.90"})
	b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 70000, "2024-09-14")
	p := w.Must(apptest.Report(payment.Purchase, b, 60000)) // on 2024-06-03
	w.SetClock(time.Date(2024, 6, 10, 12, 0, 0, 0, time.UTC))
	w.Must(apptest.Linked(payment.Refund, p, b, 10000))
	taken := apptest.Report(payment.Purchase, b, 10000)
	taken.EffectiveAt = time.Date(2024, 6, 4, 8, 0, 0, 0, time.UTC)
	w.Must(taken) // covered from the 10th on
	w.SetClock(time.Date(2024, 6, 20, 12, 0, 0, 0, time.UTC))
	end := civil.Date(2024, time.July, 31)
	if _, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, booking.BookingFields{End: &end}); err != nil {
		t.Fatal(err)
	}
	w.Advance(time.Minute)
}

// fromRows makes fn read reports of the past from the allocations, as if the buckets had no recording times. Current
// reports still use the buckets.
func fromRows(t *testing.T, w *apptest.World, fn func()) {
	t.Helper()
	since := func(instant int64) {
		dbtest.Write(t, w.App.DB.Store, func(tx *store.Tx) error {
			_, err := tx.Exec(`INSERT INTO exposure_folds (site_id, version, known_since) VALUES ($1, 1, $2)
				ON CONFLICT (site_id) DO UPDATE SET known_since = excluded.known_since`, w.Site.ID, instant)
			return err
		})
	}
	since(math.MaxInt64)
	defer since(0)
	fn()
}
