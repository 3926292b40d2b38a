// Package rates puts fixings on file: histories, feeds and quotes that two people agree on. It prices what waited for a
// rate (R9). It owns fixings. Begin reading at Rates.
package rates

import (
	"context"
	"fmt"
	"io"
	"slices"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fx"
	"holdfast/internal/ledger"
	"holdfast/internal/limits"
	"holdfast/internal/merchants"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// Rates puts fixings on file and prices what was waiting for them (R9).
type Rates struct{ *core.Core }

// NewRates makes the use cases.
func NewRates(c *core.Core) *Rates {
	r := &Rates{c}
	c.Kinds.Register(travel.ProposeManualRate, core.Kind{Carry: carryOutQuote, After: func(ctx context.Context, actor auth.Actor) error {
		_, err := r.pricePendingOf(ctx, core.ClockFor(actor)) // what waited for this rate
		return err
	}})
	return r
}

// Bounds of one write of a longer job: a write lives at most five seconds, and others wait behind it.
const (
	fixingsPerWrite = 2000
	pricedPerWrite  = 200
)

// RatesReport says what an import of rates did.
type RatesReport struct {
	Days         int // of the file
	Created      int
	AlreadyThere int
	Skipped      int          // of currencies that ISO no longer lists
	Conflicts    []RateOnFile // on file with another rate, which stays
	First, Last  civil.Day    // of what was created; 0 where nothing was
	Priced       int          // allocations that had waited for a rate
}

// RateOnFile is a fixing that an import gives otherwise than it is on file.
type RateOnFile struct {
	Fixing fx.Fixing
	OnFile string
}

// conflictsKept bounds the list in a report.
const conflictsKept = 100

// ImportHistory puts the fixings of the ECB's history file on file; what is there already stays as it is. A file that
// is broken anywhere is refused as a whole.
func (r *Rates) ImportHistory(ctx context.Context, actor auth.Actor, file io.Reader) (RatesReport, error) {
	if err := actor.Require(auth.WriteRates); err != nil {
		return RatesReport{}, err
	}
	var fixings []fx.Fixing
	counts, err := fx.ReadHistory(file, func(f fx.Fixing) error {
		fixings = append(fixings, f)
		return nil
	})
	if err != nil {
		return RatesReport{}, err
	}
	report, err := r.Add(ctx, actor, fixings)
	report.Days, report.Skipped = counts.Days, counts.Skipped
	return report, err
}

// Fetch puts on file what a provider publishes today; get asks it.
func (r *Rates) Fetch(
	ctx context.Context, actor auth.Actor, get func(ctx context.Context) ([]fx.Fixing, error),
) (RatesReport, error) {
	if err := actor.Require(auth.WriteRates); err != nil {
		return RatesReport{}, err
	}
	fixings, err := get(ctx)
	if err != nil {
		return RatesReport{}, err
	}
	report, err := r.Add(ctx, actor, fixings)
	days := map[civil.Day]bool{}
	for _, f := range fixings {
		days[f.Day] = true
	}
	report.Days = len(days)
	return report, err
}

// Add puts fixings on file, those that are there already stay, and prices what was waiting.
func (r *Rates) Add(ctx context.Context, actor auth.Actor, fixings []fx.Fixing) (RatesReport, error) {
	var report RatesReport
	if err := actor.Require(auth.WriteRates); err != nil {
		return report, err
	}
	for batch := range slices.Chunk(fixings, fixingsPerWrite) {
		var done RatesReport
		err := r.Store.Write(ctx, func(tx *db.Tx) error {
			var err error
			if done, err = addFixings(tx, batch); err != nil || done.Created == 0 {
				return err
			}
			return core.Record(tx, core.OfDeployment(actor), "rates.add", "rates", nil, auditRates(batch[0].Provider, done))
		})
		if err != nil {
			return report, err
		}
		report.merge(done)
	}
	priced, err := r.PricePending(ctx)
	report.Priced = priced
	return report, err
}

// fixingKey is what there can be one fixing of.
type fixingKey struct {
	provider fx.Provider
	currency money.Currency
	day      civil.Day
	quote    string
}

func keyOf(f fx.Fixing) fixingKey { return fixingKey{f.Provider, f.Currency, f.Day, f.QuoteID} }

// addFixings compares fixings with what is on file and adds what is missing.
func addFixings(tx *db.Tx, list []fx.Fixing) (done RatesReport, err error) {
	first, last := list[0].Day, list[0].Day
	providers := map[fx.Provider]bool{}
	for _, f := range list {
		first, last = min(first, f.Day), max(last, f.Day)
		providers[f.Provider] = true
	}
	onFile := map[fixingKey]string{}
	for p := range providers {
		stored, err := FixingsBetween(tx, p, first, last)
		if err != nil {
			return done, err
		}
		for _, f := range stored {
			onFile[keyOf(f)] = f.Rate.String()
		}
	}
	var missing []fx.Fixing
	for _, f := range list {
		switch rate, ok := onFile[keyOf(f)]; {
		case !ok:
			missing = append(missing, f)
			onFile[keyOf(f)] = f.Rate.String()
			done.created(f.Day)
		case rate == f.Rate.String():
			done.AlreadyThere++
		default:
			done.Conflicts = append(done.Conflicts, RateOnFile{Fixing: f, OnFile: rate})
		}
	}
	return done, InsertFixings(tx, missing)
}

func (r *RatesReport) created(day civil.Day) {
	r.Created++
	if r.First == 0 || day < r.First {
		r.First = day
	}
	r.Last = max(r.Last, day)
}

func (r *RatesReport) merge(o RatesReport) {
	r.Created += o.Created
	r.AlreadyThere += o.AlreadyThere
	if o.First != 0 && (r.First == 0 || o.First < r.First) {
		r.First = o.First
	}
	r.Last = max(r.Last, o.Last)
	r.Conflicts = append(r.Conflicts, o.Conflicts[:min(len(o.Conflicts), conflictsKept-len(r.Conflicts))]...)
}

// PricePending prices the allocations of all sites that wait for a rate, by the same rule as at logging, where the rate
// is on file now. It returns how many it priced.
func (r *Rates) PricePending(ctx context.Context) (priced int, err error) {
	var sites []core.SiteClock
	err = r.Store.Read(ctx, func(tx *db.Tx) error {
		sites, err = ledger.SitesWithPendingRates(tx)
		return err
	})
	for _, site := range sites {
		n, err := r.pricePendingOf(ctx, site)
		priced += n
		if err != nil {
			return priced, fmt.Errorf("site %d: %w", site.SiteID, err)
		}
	}
	return priced, err
}

func (r *Rates) pricePendingOf(ctx context.Context, site core.SiteClock) (priced int, err error) {
	for after, more := int64(0), true; more; {
		var done int
		var last int64
		err := r.WriteBy(ctx, site, func(tx *db.Tx) error {
			done, last, err = pricePage(tx, site.SiteID, after)
			return err
		})
		if err != nil {
			return priced, err
		}
		priced += done
		after, more = last, last != 0
	}
	return priced, nil
}

// pricePage prices the next allocations after an id. last is the last one it looked at, 0 where there are none left.
func pricePage(tx *db.Tx, siteID, after int64) (done int, last int64, err error) {
	site, err := merchants.Site(tx, siteID)
	if err != nil {
		return 0, 0, err
	}
	waiting, err := ledger.PendingAllocations(tx, siteID, after, pricedPerWrite)
	if err != nil {
		return 0, 0, err
	}
	for _, a := range waiting {
		last = a.ID
		priced, err := priceLate(tx, site, a)
		if err != nil {
			return 0, 0, fmt.Errorf("allocation %d: %w", a.ID, err)
		}
		if priced {
			done++
		}
	}
	return done, last, nil
}

// priceLate prices an allocation that waited for its rate, where the rate is on file now.
func priceLate(tx *db.Tx, site travel.Site, a protection.Allocation) (priced bool, err error) {
	fixings, err := FixingsFor(tx, site, a.Paid(), a.MaxFixingAge, a.Currency, a.PolicyCurrency)
	if err != nil {
		return false, err
	}
	if priced, err = ledger.PriceLate(tx, a, fixings); priced {
		limits.NoteChange(tx, a.SiteID, limits.ChangePriced, 0, a.ID)
	}
	return priced, err
}

// FixingsFor reads what can price the given currencies for a payment of a day, as known now: the fixings of the days
// before it, up to the oldest age that counts. Where the currencies are one and the same there is nothing to price.
func FixingsFor(
	tx *db.Tx, site travel.Site, paid civil.Day, maxAge int64, from, to money.Currency,
) (*fx.Table, error) {
	if from == to {
		return fx.NewTable(nil), nil
	}
	fixings, err := FixingsWithin(tx, ProvidersOf(site), []money.Currency{from, to}, paid-civil.Day(maxAge), paid-1, tx.Now)
	return fx.NewTable(fixings), err
}

// ProvidersOf lists whose fixings count for a site. Made-up rates count in a sandbox and nowhere else.
func ProvidersOf(site travel.Site) []fx.Provider {
	if site.Sandbox {
		return []fx.Provider{fx.ECB, fx.Manual, fx.Demo}
	}
	return []fx.Provider{fx.ECB, fx.Manual}
}

type auditedRates struct {
	Provider string `json:"provider"`
	Created  int    `json:"created"`
	First    string `json:"first"`
	Last     string `json:"last"`
}

func auditRates(provider fx.Provider, done RatesReport) any {
	return auditedRates{Provider: string(provider), Created: done.Created, First: done.First.String(), Last: done.Last.String()}
}
