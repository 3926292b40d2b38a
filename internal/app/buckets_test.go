package app_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

// history makes a random book: what is logged, changed and priced, in any order.
type history struct {
	*world
	random    *rand.Rand
	channels  []travel.Channel
	suppliers []int64
	bookings  []travel.Booking
	payments  []payment
}

type payment struct {
	travel.Transaction
	booking travel.Booking
}

func newHistory(w *world, seed uint64) *history {
	w.t.Helper()
	h := &history{world: w, random: rand.New(rand.NewPCG(seed, 1))}
	w.fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365", "USD": "1.08520"})
	h.channels = []travel.Channel{
		w.channel(travel.ModeProtectionOnly, "EUR"), w.channel(travel.ModeProtectionOnly, "GBP"),
		w.channel(travel.ModeProtectionOnly, "JPY"), // without a fixing until late
		w.channel(travel.ModeDraft, "USD"), w.channel(travel.ModeTest, "EUR"),
	}
	for _, name := range []string{"Air", "Bus", "Camp"} {
		s, err := w.app.Suppliers.Create(w.t.Context(), w.actor, travel.SupplierFields{Name: &name})
		if err != nil {
			w.t.Fatal(err)
		}
		h.suppliers = append(h.suppliers, s.ID)
	}
	return h
}

func (h *history) day(from, days int) civil.Day {
	return civil.DayOf(h.now()) + civil.Day(from+h.random.IntN(days))
}

func (h *history) someSuppliers() []int64 {
	list := slices.Clone(h.suppliers)
	h.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:h.random.IntN(len(list)+1)]
}

func (h *history) newBooking() {
	h.t.Helper()
	c := h.channels[h.random.IntN(len(h.channels))]
	end := h.day(-20, 90)
	start := end - civil.Day(h.random.IntN(15))
	total, country := int64(1+h.random.IntN(100000)), []string{"PT", "FR", "US"}[h.random.IntN(3)]
	content, first, last, email, suppliers := "A week", "Ada", "Byron", "ada@example.org", h.someSuppliers()
	in := travel.BookingFields{
		ChannelID: &c.ID, Content: &content, Firstname: &first, Surname: &last, Email: &email, End: &end, Total: &total,
		Currency: &c.Currency, Suppliers: &suppliers, Country: &country,
	}
	if h.random.IntN(3) > 0 {
		in.Start = &start
	}
	b, err := h.app.Bookings.Create(h.t.Context(), h.actor, in)
	if err != nil {
		h.t.Fatal(err)
	}
	h.bookings = append(h.bookings, b)
}

func (h *history) pay() {
	b := h.bookings[h.random.IntN(len(h.bookings))]
	in := report(travel.Purchase, b, 1+h.random.Int64N(b.Total))
	in.CardType = []string{"visa", "mastercard", "amex", ""}[h.random.IntN(4)]
	in.EffectiveAt = h.now().Add(-time.Duration(h.random.IntN(15*24)) * time.Hour)
	if h.random.IntN(6) == 0 {
		in.Method = travel.BankTransfer
	}
	if t, ok := h.try(in); ok {
		h.payments = append(h.payments, payment{t, b})
	}
}

func (h *history) adjust() {
	if len(h.payments) == 0 {
		return
	}
	p := h.payments[h.random.IntN(len(h.payments))]
	kinds := []travel.TransactionType{travel.Refund, travel.Refund, travel.Chargeback, travel.ChargebackReversal}
	total := 1 + h.random.Int64N(p.Total)
	if h.random.IntN(2) == 0 {
		total = p.Total
	}
	in := linked(kinds[h.random.IntN(len(kinds))], p.Transaction, p.booking, total)
	in.EffectiveAt = h.now().Add(-time.Duration(h.random.IntN(10*24)) * time.Hour)
	h.try(in)
}

// try logs what the rules may well refuse.
func (h *history) try(in travel.NewTransaction) (travel.Transaction, bool) {
	t, _, err := h.app.Payments.Create(h.t.Context(), h.actor, in)
	if err != nil && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.NotPossible) {
		h.t.Error(err)
	}
	return t, err == nil
}

func (h *history) change() {
	b := h.bookings[h.random.IntN(len(h.bookings))]
	end, suppliers, country := h.day(-30, 120), h.someSuppliers(), []string{"PT", "ES"}[h.random.IntN(2)]
	total := b.Total + h.random.Int64N(50000)
	in := travel.BookingFields{}
	switch h.random.IntN(4) {
	case 0:
		in.End = &end
	case 1:
		in.Suppliers = &suppliers
	case 2:
		in.Total = &total
	default:
		in.Country = &country
	}
	_, err := h.app.Bookings.Update(h.t.Context(), h.actor, b.ID, in)
	if err != nil && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.NotPossible) {
		h.t.Error(err)
	}
}

// foldSome takes some deltas into the cubes and leaves others out.
func (h *history) foldSome(ctx context.Context, limit int) {
	err := h.core.Store.Write(ctx, func(tx *store.Tx) error {
		_, err := store.FoldExposure(tx, h.site.ID, limit)
		return err
	})
	if err != nil {
		h.t.Error(err)
	}
}

func (h *history) step() {
	switch h.random.IntN(10) {
	case 0, 1:
		h.newBooking()
	case 2, 3, 4, 5:
		h.pay()
	case 6, 7:
		h.adjust()
	case 8:
		h.change()
	default:
		h.advance(time.Duration(h.random.IntN(100)) * time.Hour)
	}
}

// checkBuckets compares what buckets answer with what the allocations themselves do: by every dimension, alone and
// crossed with others that chance picks, in both valuations, each on one of several days.
func (h *history) checkBuckets(when string, days []civil.Day) {
	h.t.Helper()
	for _, by := range protection.Dimensions {
		others := slices.DeleteFunc(slices.Clone(protection.Dimensions), func(d protection.Dimension) bool { return d == by })
		h.random.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
		for _, across := range append(others[:2], "") {
			q := app.ExposureQuery{
				Moment: app.Moment{AsOf: &days[h.random.IntN(len(days))]}, By: by, Across: across,
				Valuation: protection.Valuations[h.random.IntN(2)],
			}
			if h.random.IntN(3) == 0 {
				q.Channels = []int64{h.channels[0].ID, h.channels[3].ID}
			}
			h.same(when, q)
			if h.t.Failed() {
				return
			}
		}
	}
	h.checkAhead(when, days)
	h.checkEstimates(when, days)
}

// checkAhead compares run-offs and ageings likewise, on half of the days.
func (h *history) checkAhead(when string, days []civil.Day) {
	h.t.Helper()
	for i := h.random.IntN(2); i < len(days); i += 2 {
		q := app.ExposureQuery{Moment: app.Moment{AsOf: &days[i]}, Valuation: protection.Valuations[h.random.IntN(2)]}
		if h.random.IntN(3) == 0 {
			q.Channels = []int64{h.channels[0].ID, h.channels[3].ID}
		}
		q.KnownAt = h.now()
		runOff, ageing := h.runOff(q), h.ageing(q)
		h.advance(time.Microsecond) // what was known in the past is read from the rows
		if rows := h.runOff(q); !reflect.DeepEqual(runOff, rows) {
			h.t.Fatalf("%s, run-off from %s, %s, channels %v:\nbuckets %+v\nrows    %+v",
				when, days[i], q.Valuation, q.Channels, runOff, rows)
		}
		if rows := h.ageing(q); !reflect.DeepEqual(ageing, rows) {
			h.t.Fatalf("%s, ageing of %s, %s, channels %v:\nbuckets %+v\nrows    %+v",
				when, days[i], q.Valuation, q.Channels, ageing, rows)
		}
	}
}

// checkEstimates compares what a failure costs, and the model beside the actual, likewise, on half of the days.
func (h *history) checkEstimates(when string, days []civil.Day) {
	h.t.Helper()
	for i := h.random.IntN(2); i < len(days); i += 2 {
		q := app.EstimateQuery{Moment: app.Moment{AsOf: &days[i]}}
		if h.random.IntN(3) == 0 {
			q.Channels = []int64{h.channels[0].ID, h.channels[3].ID}
		}
		q.KnownAt = h.now()
		whatIf, model := h.estimates(q)
		h.advance(time.Microsecond)
		ofRows, modelOfRows := h.estimates(q)
		if !reflect.DeepEqual(whatIf, ofRows) {
			h.t.Fatalf("%s, what if on %s, channels %v:\nbuckets %+v\nrows    %+v", when, days[i], q.Channels, whatIf, ofRows)
		}
		if !reflect.DeepEqual(model, modelOfRows) {
			h.t.Fatalf("%s, model on %s, channels %v:\nbuckets %+v\nrows    %+v", when, days[i], q.Channels, model, modelOfRows)
		}
	}
}

func (h *history) estimates(q app.EstimateQuery) (app.WhatIfReport, app.ModelReport) {
	h.t.Helper()
	whatIf, err := h.app.Exposure.WhatIf(h.t.Context(), h.actor, q)
	if err != nil {
		h.t.Fatal(err)
	}
	model, err := h.app.Exposure.Model(h.t.Context(), h.actor, q)
	if err != nil {
		h.t.Fatal(err)
	}
	return whatIf, model
}

// foldAll waits until everything is due, and folds it.
func (h *history) foldAll() {
	h.t.Helper()
	h.advance(time.Minute)
	for more := true; more; {
		var err error
		if more, err = h.app.Buckets.Fold(h.t.Context()); err != nil {
			h.t.Fatal(err)
		}
	}
	err := h.core.Store.Read(h.t.Context(), func(tx *store.Tx) error {
		sites, err := store.SitesToFold(tx)
		if len(sites) > 0 {
			h.t.Errorf("there is something left to fold of the sites %v", sites)
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *history) same(when string, q app.ExposureQuery) {
	h.t.Helper()
	q.KnownAt = h.now()
	buckets := h.exposure(q)
	h.advance(time.Microsecond) // what was known in the past is read from the rows
	rows := h.exposure(q)
	if !reflect.DeepEqual(buckets, rows) {
		h.t.Errorf("%s, %s by %s,%s %s, channels %v:\nbuckets %+v\nrows    %+v",
			when, *q.AsOf, q.By, q.Across, q.Valuation, q.Channels, buckets.Report, rows.Report)
	}
}

func TestBucketSumsEqualLineSums(t *testing.T) {
	for seed := range histories(t, 4) {
		t.Run(fmt.Sprint("history ", seed), func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				h := newHistory(w, seed)
				if seed%2 == 1 {
					start, from := travel.RecognitionStartDate, civil.DayOf(w.now())+10
					if _, err := w.app.Policies.Set(t.Context(), w.actor, travel.PolicyFields{From: &from, Recognition: &start}); err != nil {
						t.Fatal(err)
					}
				}
				h.newBooking()
				days := func() []civil.Day {
					return []civil.Day{h.day(-40, 30), h.day(-5, 5), h.day(0, 1), h.day(1, 40), h.day(41, 100), h.day(141, 60)}
				}
				for range 3 {
					for range 25 {
						h.step()
					}
					h.foldSome(t.Context(), h.random.IntN(40))
					h.checkBuckets("partly folded", days())
				}
				w.fix("2024-06-02", map[money.Currency]string{"JPY": "171.94"}) // late, for what was paid before
				h.checkBuckets("priced", days())
				h.foldAll()
				h.checkBuckets("folded", days())
			})
		})
	}
}

// TestBucketsWhileManyWrite: payments, refunds, changes, late rates and folding at once, also two that fold.
func TestBucketsWhileManyWrite(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		books := make([]*history, 6)
		for i := range books {
			books[i] = newHistory(w, uint64(100+i))
			for range 3 {
				books[i].newBooking()
			}
			books[i].bookings = append(books[i].bookings, books[0].bookings...) // all write to these
		}
		var all sync.WaitGroup
		for i, h := range books {
			all.Go(func() {
				for n := range 25 {
					switch {
					case i < 2 && n%4 == 0:
						h.foldSome(t.Context(), 10)
					case i == 2 && n == 12:
						h.fix("2024-06-02", map[money.Currency]string{"JPY": "171.94"})
					case n%3 == 0:
						h.change()
					case n%3 == 1:
						h.pay()
					default:
						h.adjust()
					}
				}
			})
		}
		all.Wait()
		books[0].checkBuckets("all have written", []civil.Day{books[0].day(-10, 5), books[0].day(0, 1), books[0].day(10, 40)})
	})
}

// TestATotalThatChangedBeforeTheFirstPayment: the payment counts from a day on which the total was still the old one.
func TestATotalThatChangedBeforeTheFirstPayment(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		h := newHistory(w, 1)
		b := w.booking(h.channels[0], 50000, "2024-09-14")
		paid := w.now().Add(24 * time.Hour)
		w.advance(3 * 24 * time.Hour)
		total := int64(80000)
		if _, err := w.app.Bookings.Update(t.Context(), w.actor, b.ID, travel.BookingFields{Total: &total}); err != nil {
			t.Fatal(err)
		}
		in := report(travel.Purchase, b, 10000)
		in.EffectiveAt = paid
		w.must(in)
		for days, e4 := range map[civil.Day]int64{-2: 40000, 0: 70000} {
			day := civil.DayOf(w.now()) + days
			r := w.exposure(app.ExposureQuery{Moment: app.Moment{AsOf: &day}})
			if len(r.Instalments) != 1 || r.Instalments[0].E1 != e4 {
				t.Errorf("%s: %+v, want %d", day, r.Instalments, e4)
			}
			h.same("paid late", app.ExposureQuery{Moment: app.Moment{AsOf: &day}, By: protection.ByChannel, Valuation: protection.Spot})
		}
	})
}
