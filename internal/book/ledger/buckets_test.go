package ledger_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/terms"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

func TestBucketSumsEqualLineSums(t *testing.T) {
	t.Parallel()
	all, n := &compared{held: map[string]int64{}}, apptest.Histories(t, 2)
	t.Cleanup(func() { all.wantSomething(t, int(n)) })
	for seed := range n {
		t.Run(fmt.Sprint("history ", seed), func(t *testing.T) {
			t.Parallel()
			apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
				h := apptest.NewHistory(w, seed)
				c := &comparison{t: t, History: h, to: all}
				if seed%2 == 1 {
					start, from := terms.RecognitionStartDate, civil.DayOf(w.Now())+10
					if _, err := w.App.Policies.Set(t.Context(), w.Actor, terms.PolicyFields{From: &from, Recognition: &start}); err != nil {
						t.Fatal(err)
					}
				}
				h.NewBooking()
				days := func() []civil.Day {
					return []civil.Day{h.Day(-40, 30), h.Day(-5, 5), h.Day(0, 1), h.Day(1, 40), h.Day(41, 100), h.Day(141, 60)}
				}
				for round := range 3 {
					for range 25 {
						h.Step()
						c.passes()
					}
					if round == 0 {
						forgetOutstanding(t, h)
					}
					h.FoldSome(t.Context(), h.Random.IntN(40))
					c.all("partly folded", days())
				}
				w.Fix("2024-06-02", map[money.Currency]string{"JPY": "171.94"}) // late, for earlier payments
				c.all("priced", days())
				foldAll(t, h)
				c.all("folded", days())
				h.Accepted().WantAtLeast(t, apptest.Steps{Bookings: 4, Purchases: 6})
				all.count(h.Accepted())
			})
		})
	}
}

// TestBucketsWhileManyWrite: concurrent payments, refunds, changes, late rates and two folds.
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
		together := &compared{held: map[string]int64{}}
		c := &comparison{t: t, History: books[0], to: together}
		c.all("all have written", []civil.Day{books[0].Day(-10, 5), books[0].Day(0, 1), books[0].Day(10, 40)})
		for _, h := range books {
			together.count(h.Accepted())
		}
		together.wantSomething(t, 2)
	})
}

// TestATotalThatChangedBeforeTheFirstPayment: the payment counts from a day with the old total.
func TestATotalThatChangedBeforeTheFirstPayment(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		h := apptest.NewHistory(w, 1)
		all := &compared{held: map[string]int64{}}
		c := &comparison{t: t, History: h, to: all}
		b := w.Booking(h.Channels[0], 50000, "2024-09-14")
		paid := w.Now().Add(24 * time.Hour)
		w.Advance(3 * 24 * time.Hour)
		total := int64(80000)
		if _, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, booking.BookingFields{Total: &total}); err != nil {
			t.Fatal(err)
		}
		in := apptest.Report(payment.Purchase, b, 10000)
		in.EffectiveAt = paid
		w.Must(in)
		for _, of := range []struct {
			days civil.Day
			e4   int64
		}{{-2, 40000}, {0, 70000}} {
			day := civil.DayOf(w.Now()) + of.days
			r := w.Exposure(report.ExposureQuery{Moment: ledger.Moment{AsOf: &day}})
			if len(r.Instalments) != 1 || r.Instalments[0].E1 != of.e4 {
				t.Errorf("%s: %+v, want %d", day, r.Instalments, of.e4)
			}
			c.exposure(report.ExposureQuery{Moment: ledger.Moment{AsOf: &day}, By: exposure.ByChannel, Valuation: exposure.Spot})
			c.run("paid late")
		}
		if all.held["exposure"] == 0 {
			t.Error("nothing was at risk")
		}
	})
}

// TestAWriteThatWasOvertaken: of two payments of a booking, the one with the later clock was written first. A known_at
// between the two only has the earlier one.
func TestAWriteThatWasOvertaken(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := &comparison{t: t, History: apptest.NewHistory(w, 1), to: &compared{held: map[string]int64{}}}
		b, began := w.Booking(c.Channels[0], 80000, "2024-09-14"), w.Now()
		first := w.Must(apptest.Report(payment.Purchase, b, 20000))
		later := func(d time.Duration) { w.SetClock(began.Add(d)) }
		later(time.Second)
		w.Must(apptest.Linked(payment.Refund, first, b, 20000)) // nothing remains, so there are no instalments
		later(4 * time.Second)
		w.Must(apptest.Report(payment.Purchase, b, 10000))
		later(2 * time.Second)
		w.Must(apptest.Report(payment.Purchase, b, 5000))
		later(time.Minute)
		day := civil.DayOf(began)
		for seconds, e4 := range []int64{60000, 0, 55000, 55000, 45000} {
			q := report.ExposureQuery{Moment: ledger.Moment{AsOf: &day, KnownAt: began.Add(time.Duration(seconds) * time.Second)}}
			r := w.Exposure(q)
			var rows report.ExposureReport
			fromRows(t, w, func() { rows = w.Exposure(q) })
			var got int64
			for _, i := range r.Instalments {
				got += i.E1
			}
			if got != e4 || !reflect.DeepEqual(r, rows) {
				t.Errorf("after %d seconds, want %d:\nbuckets %+v\nrows    %+v", seconds, e4, r.Report, rows.Report)
			}
		}
	})
}

// compared counts the steps and reports of several histories: a kind that was always missing or empty has not been
// tested.
type compared struct {
	mu       sync.Mutex
	accepted apptest.Steps
	held     map[string]int64 // by the kind of report, in any currency
}

func (c *compared) count(s apptest.Steps) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accepted.Add(s)
}

func (c *compared) hold(kind string, amount int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held[kind] += amount
}

// wantSomething fails the test if a kind of report was always empty, or a kind of step was accepted less than once in
// each of n histories.
func (c *compared) wantSomething(t *testing.T, n int) {
	t.Helper()
	for _, kind := range []string{"exposure", "run-off", "ageing", "movement", "what if", "model"} {
		if c.held[kind] == 0 {
			t.Errorf("all that was compared of the %s was empty", kind)
		}
	}
	c.accepted.WantAtLeast(t, apptest.Steps{Bookings: n, Purchases: n, Refunds: n, Chargebacks: n, Reversals: n, Changes: n})
}

// comparison compares reports from buckets with reports from the allocations: as known now, the same a moment later,
// when it is past, and as known at other times in the past.
type comparison struct {
	t *testing.T
	*apptest.History
	to      *compared
	moments []time.Time // at which something was recorded, or nearly so
	checks  []check
}

// check is a report that must be the same from both sources.
type check struct {
	kind, what string
	ask        func() any
	held       func(answer any) int64
	now        bool // it is about what is known now
	answers    []any
}

// passes records the current time, and lets a little time pass. Sometimes the clock goes back: then a write with a
// later clock came first, as can happen with several processes.
func (c *comparison) passes() {
	c.moments = append(c.moments, c.Now(), c.Now().Add(time.Microsecond))
	c.Advance(time.Duration(c.Random.IntN(6)-2) * time.Second)
}

// known is now, or a moment of the past.
func (c *comparison) known() (at time.Time, now bool) {
	if len(c.moments) == 0 || c.Random.IntN(2) == 0 {
		return c.Now(), true
	}
	return c.moments[c.Random.IntN(len(c.moments))], false
}

// run requests all reports: from the buckets, from them when now is past, and from the rows.
func (c *comparison) run(when string) {
	c.t.Helper()
	ask := func(past bool) {
		for i := range c.checks {
			if k := &c.checks[i]; past || k.now {
				k.answers = append(k.answers, k.ask())
			}
		}
	}
	ask(false)
	c.Advance(time.Microsecond)
	ask(true)
	fromRows(c.t, c.World, func() { ask(true) })
	for _, k := range c.checks {
		rows := k.answers[len(k.answers)-1]
		for _, buckets := range k.answers[:len(k.answers)-1] {
			if !reflect.DeepEqual(buckets, rows) {
				c.t.Fatalf("%s, %s, now %t:\nbuckets %+v\nrows    %+v", when, k.what, k.now, buckets, rows)
			}
		}
		c.to.hold(k.kind, k.held(rows))
	}
	c.checks = nil
}

// all compares by every dimension, alone and split by random others, in both valuations, each on one of several days;
// and on each day run-offs and estimates, on every other one for all channels.
func (c *comparison) all(when string, days []civil.Day) {
	c.t.Helper()
	for _, at := range c.moments { // the clock may have gone back
		c.SetClock(slices.MaxFunc([]time.Time{at, c.Now()}, time.Time.Compare))
	}
	for _, by := range exposure.Dimensions {
		others := slices.DeleteFunc(slices.Clone(exposure.Dimensions), func(d exposure.Dimension) bool { return d == by })
		c.Random.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
		for _, across := range append(others[:2], "") {
			c.exposure(report.ExposureQuery{
				Moment: ledger.Moment{AsOf: &days[c.Random.IntN(len(days))]}, By: by, Across: across,
				Valuation: exposure.Valuations[c.Random.IntN(2)], Scope: c.someScope(),
			})
		}
	}
	for i := range days {
		ahead := report.ExposureQuery{Moment: ledger.Moment{AsOf: &days[i]}, Valuation: exposure.Valuations[c.Random.IntN(2)]}
		estimates := report.EstimateQuery{Moment: ledger.Moment{AsOf: &days[i]}}
		if i%2 == 0 {
			ahead.Scope, estimates.Channels = c.someScope(), c.someChannels()
		}
		c.ahead(ahead)
		c.estimates(estimates)
	}
	c.run(when)
}

// someChannels are two of the channels, or none, which means all.
func (c *comparison) someChannels() []int64 {
	if c.Random.IntN(3) > 0 {
		return nil
	}
	return []int64{c.Channels[0].ID, c.Channels[3].ID}
}

// someScope is one of the parts of the book that reports can be about, or the whole book.
func (c *comparison) someScope() (s exposure.Scope) {
	s.Channels = c.someChannels()
	switch c.Random.IntN(12) {
	case 0:
		s.Schemes = []card.Scheme{card.Visa, card.Unknown}
	case 1:
		s.Countries = []string{"PT"}
	case 2:
		s.Currencies = []money.Currency{"EUR"}
	case 3:
		s.Suppliers = c.Suppliers[:2]
	case 4:
		s.Months = []string{civil.DayOf(c.Now()).Month()}
	}
	return s
}

func (c *comparison) exposure(q report.ExposureQuery) {
	var now bool
	q.KnownAt, now = c.known()
	c.checks = append(c.checks, check{
		kind: "exposure", now: now, ask: func() any { return c.Exposure(q) },
		what: fmt.Sprintf("%s known %s by %s,%s %s, %+v", *q.AsOf, q.KnownAt, q.By, q.Across, q.Valuation, q.Scope),
		held: func(answer any) int64 {
			r := answer.(report.ExposureReport)
			return r.Total.E1 + r.Total.E2
		},
	})
}

// ahead compares run-offs, ageings, and movements of some days up to the same day.
func (c *comparison) ahead(q report.ExposureQuery) {
	var now bool
	q.KnownAt, now = c.known()
	what := fmt.Sprintf("%s known %s, %s, %+v", *q.AsOf, q.KnownAt, q.Valuation, q.Scope)
	days := civil.Day(c.Random.IntN(40))
	c.checks = append(c.checks, check{
		kind: "run-off", what: "run-off from " + what, now: now, ask: func() any { return c.RunOff(q) },
		held: func(answer any) int64 {
			first := answer.(report.RunOffReport).Points[0].Total
			return first.E1 + first.E2
		},
	}, check{
		kind: "ageing", what: "ageing of " + what, now: now, ask: func() any { return c.Ageing(q) },
		held: func(answer any) int64 { return answer.(report.AgeingReport).Total },
	}, check{
		kind: "movement", what: fmt.Sprint("movement of ", int(days), " days to ", what), now: now,
		ask:  func() any { return c.Movement((*q.AsOf - days).String(), q) },
		held: func(answer any) int64 { return answer.(report.MovementReport).Total.Closing.E1 },
	})
}

// estimates compares what-ifs, and the model with the actual exposure.
func (c *comparison) estimates(q report.EstimateQuery) {
	var now bool
	q.KnownAt, now = c.known()
	what := fmt.Sprintf("%s known %s, channels %v", *q.AsOf, q.KnownAt, q.Channels)
	c.checks = append(c.checks, check{
		kind: "what if", what: "what if on " + what, now: now, ask: func() any {
			r, err := c.App.Exposure.WhatIf(c.t.Context(), c.Actor, q)
			if err != nil {
				c.t.Fatal(err)
			}
			return r
		},
		held: func(answer any) int64 { return answer.(report.WhatIfReport).Total.E1 },
	}, check{
		kind: "model", what: "model on " + what, now: now, ask: func() any {
			r, err := c.App.Exposure.Model(c.t.Context(), c.Actor, q)
			if err != nil {
				c.t.Fatal(err)
			}
			return r
		},
		held: func(answer any) int64 { return answer.(report.ModelReport).E1 },
	})
}

// forgetOutstanding clears the outstanding amounts of bookings, as in an earlier version: the next change computes
// them.
func forgetOutstanding(t *testing.T, h *apptest.History) {
	t.Helper()
	err := h.App.DB.Store.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
		_, err := tx.Exec(`UPDATE bookings SET outstanding = '' WHERE site_id = $1`, h.Site.ID)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
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
	err := h.App.DB.Store.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
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
