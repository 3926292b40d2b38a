package apptest

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/ledger"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/reports"
	"holdfast/internal/travel"
)

// History makes a random book: what is logged, changed and priced, in any order.
type History struct {
	*World
	Random    *rand.Rand
	Channels  []travel.Channel
	suppliers []int64
	Bookings  []travel.Booking
	payments  []payment
}

type payment struct {
	travel.Transaction
	booking travel.Booking
}

func NewHistory(w *World, seed uint64) *History {
	w.t.Helper()
	h := &History{World: w, Random: rand.New(rand.NewPCG(seed, 1))}
	w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365", "USD": "1.08520"})
	h.Channels = []travel.Channel{
		w.Channel(travel.ModeProtectionOnly, "EUR"), w.Channel(travel.ModeProtectionOnly, "GBP"),
		w.Channel(travel.ModeProtectionOnly, "JPY"), // without a fixing until late
		w.Channel(travel.ModeDraft, "USD"), w.Channel(travel.ModeTest, "EUR"),
	}
	for _, name := range []string{"Air", "Bus", "Camp"} {
		s, err := w.App.Suppliers.Create(w.t.Context(), w.Actor, travel.SupplierFields{Name: &name})
		if err != nil {
			w.t.Fatal(err)
		}
		h.suppliers = append(h.suppliers, s.ID)
	}
	return h
}

func (h *History) Day(from, days int) civil.Day {
	return civil.DayOf(h.Now()) + civil.Day(from+h.Random.IntN(days))
}

func (h *History) someSuppliers() []int64 {
	list := slices.Clone(h.suppliers)
	h.Random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:h.Random.IntN(len(list)+1)]
}

func (h *History) NewBooking() {
	h.t.Helper()
	c := h.Channels[h.Random.IntN(len(h.Channels))]
	end := h.Day(-20, 90)
	start := end - civil.Day(h.Random.IntN(15))
	total, country := int64(1+h.Random.IntN(100000)), []string{"PT", "FR", "US"}[h.Random.IntN(3)]
	content, first, last, email, suppliers := "A week", "Ada", "Byron", "ada@example.org", h.someSuppliers()
	in := travel.BookingFields{
		ChannelID: &c.ID, Content: &content, Firstname: &first, Surname: &last, Email: &email, End: &end, Total: &total,
		Currency: &c.Currency, Suppliers: &suppliers, Country: &country,
	}
	if h.Random.IntN(3) > 0 {
		in.Start = &start
	}
	b, err := h.App.Bookings.Create(h.t.Context(), h.Actor, in)
	if err != nil {
		h.t.Fatal(err)
	}
	h.Bookings = append(h.Bookings, b)
}

func (h *History) Pay() {
	b := h.Bookings[h.Random.IntN(len(h.Bookings))]
	in := Report(travel.Purchase, b, 1+h.Random.Int64N(b.Total))
	in.CardType = []string{"visa", "mastercard", "amex", ""}[h.Random.IntN(4)]
	in.EffectiveAt = h.Now().Add(-time.Duration(h.Random.IntN(15*24)) * time.Hour)
	if h.Random.IntN(6) == 0 {
		in.Method = travel.BankTransfer
	}
	if t, ok := h.try(in); ok {
		h.payments = append(h.payments, payment{t, b})
	}
}

func (h *History) Adjust() {
	if len(h.payments) == 0 {
		return
	}
	p := h.payments[h.Random.IntN(len(h.payments))]
	kinds := []travel.TransactionType{travel.Refund, travel.Refund, travel.Chargeback, travel.ChargebackReversal}
	total := 1 + h.Random.Int64N(p.Total)
	if h.Random.IntN(2) == 0 {
		total = p.Total
	}
	in := Linked(kinds[h.Random.IntN(len(kinds))], p.Transaction, p.booking, total)
	in.EffectiveAt = h.Now().Add(-time.Duration(h.Random.IntN(10*24)) * time.Hour)
	h.try(in)
}

// try logs what the rules may well refuse.
func (h *History) try(in travel.NewTransaction) (travel.Transaction, bool) {
	t, _, err := h.App.Payments.Create(h.t.Context(), h.Actor, in)
	if err != nil && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.NotPossible) {
		h.t.Error(err)
	}
	return t, err == nil
}

func (h *History) Change() {
	b := h.Bookings[h.Random.IntN(len(h.Bookings))]
	end, suppliers, country := h.Day(-30, 120), h.someSuppliers(), []string{"PT", "ES"}[h.Random.IntN(2)]
	total := b.Total + h.Random.Int64N(50000)
	in := travel.BookingFields{}
	switch h.Random.IntN(4) {
	case 0:
		in.End = &end
	case 1:
		in.Suppliers = &suppliers
	case 2:
		in.Total = &total
	default:
		in.Country = &country
	}
	_, err := h.App.Bookings.Update(h.t.Context(), h.Actor, b.ID, in)
	if err != nil && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.NotPossible) {
		h.t.Error(err)
	}
}

// FoldSome takes some deltas into the cubes and leaves others out.
func (h *History) FoldSome(ctx context.Context, limit int) {
	err := h.Core.Store.Write(ctx, func(tx *db.Tx) error {
		_, err := ledger.FoldExposure(tx, h.Site.ID, limit)
		return err
	})
	if err != nil {
		h.t.Error(err)
	}
}

func (h *History) Step() {
	switch h.Random.IntN(10) {
	case 0, 1:
		h.NewBooking()
	case 2, 3, 4, 5:
		h.Pay()
	case 6, 7:
		h.Adjust()
	case 8:
		h.Change()
	default:
		h.Advance(time.Duration(h.Random.IntN(100)) * time.Hour)
	}
}

// CheckBuckets compares what buckets answer with what the allocations themselves do: by every dimension, alone and
// crossed with others that chance picks, in both valuations, each on one of several days.
func (h *History) CheckBuckets(when string, days []civil.Day) {
	h.t.Helper()
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
			h.Same(when, q)
			if h.t.Failed() {
				return
			}
		}
	}
	h.checkAhead(when, days)
	h.checkEstimates(when, days)
}

// checkAhead compares run-offs and ageings likewise, on half of the days.
func (h *History) checkAhead(when string, days []civil.Day) {
	h.t.Helper()
	for i := h.Random.IntN(2); i < len(days); i += 2 {
		q := reports.ExposureQuery{Moment: ledger.Moment{AsOf: &days[i]}, Valuation: protection.Valuations[h.Random.IntN(2)]}
		if h.Random.IntN(3) == 0 {
			q.Channels = []int64{h.Channels[0].ID, h.Channels[3].ID}
		}
		q.KnownAt = h.Now()
		runOff, ageing := h.RunOff(q), h.Ageing(q)
		h.Advance(time.Microsecond) // what was known in the past is read from the rows
		if rows := h.RunOff(q); !reflect.DeepEqual(runOff, rows) {
			h.t.Fatalf("%s, run-off from %s, %s, channels %v:\nbuckets %+v\nrows    %+v",
				when, days[i], q.Valuation, q.Channels, runOff, rows)
		}
		if rows := h.Ageing(q); !reflect.DeepEqual(ageing, rows) {
			h.t.Fatalf("%s, ageing of %s, %s, channels %v:\nbuckets %+v\nrows    %+v",
				when, days[i], q.Valuation, q.Channels, ageing, rows)
		}
	}
}

// checkEstimates compares what a failure costs, and the model beside the actual, likewise, on half of the days.
func (h *History) checkEstimates(when string, days []civil.Day) {
	h.t.Helper()
	for i := h.Random.IntN(2); i < len(days); i += 2 {
		q := reports.EstimateQuery{Moment: ledger.Moment{AsOf: &days[i]}}
		if h.Random.IntN(3) == 0 {
			q.Channels = []int64{h.Channels[0].ID, h.Channels[3].ID}
		}
		q.KnownAt = h.Now()
		whatIf, model := h.estimates(q)
		h.Advance(time.Microsecond)
		ofRows, modelOfRows := h.estimates(q)
		if !reflect.DeepEqual(whatIf, ofRows) {
			h.t.Fatalf("%s, what if on %s, channels %v:\nbuckets %+v\nrows    %+v", when, days[i], q.Channels, whatIf, ofRows)
		}
		if !reflect.DeepEqual(model, modelOfRows) {
			h.t.Fatalf("%s, model on %s, channels %v:\nbuckets %+v\nrows    %+v", when, days[i], q.Channels, model, modelOfRows)
		}
	}
}

func (h *History) estimates(q reports.EstimateQuery) (reports.WhatIfReport, reports.ModelReport) {
	h.t.Helper()
	whatIf, err := h.App.Exposure.WhatIf(h.t.Context(), h.Actor, q)
	if err != nil {
		h.t.Fatal(err)
	}
	model, err := h.App.Exposure.Model(h.t.Context(), h.Actor, q)
	if err != nil {
		h.t.Fatal(err)
	}
	return whatIf, model
}

// FoldAll waits until everything is due, and folds it.
func (h *History) FoldAll() {
	h.t.Helper()
	h.Advance(time.Minute)
	for more := true; more; {
		var err error
		if more, err = h.App.Buckets.Fold(h.t.Context()); err != nil {
			h.t.Fatal(err)
		}
	}
	err := h.Core.Store.Read(h.t.Context(), func(tx *db.Tx) error {
		sites, err := ledger.SitesToFold(tx)
		if len(sites) > 0 {
			h.t.Errorf("there is something left to fold of the sites %v", sites)
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *History) Same(when string, q reports.ExposureQuery) {
	h.t.Helper()
	q.KnownAt = h.Now()
	buckets := h.Exposure(q)
	h.Advance(time.Microsecond) // what was known in the past is read from the rows
	rows := h.Exposure(q)
	if !reflect.DeepEqual(buckets, rows) {
		h.t.Errorf("%s, %s by %s,%s %s, channels %v:\nbuckets %+v\nrows    %+v",
			when, *q.AsOf, q.By, q.Across, q.Valuation, q.Channels, buckets.Report, rows.Report)
	}
}
