package rates

import (
	"context"
	"fmt"
	"sync"
	"time"

	"holdfast/internal/book/fixings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/limits"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// pricedPerWrite is how many allocations that wait one write looks at.
const pricedPerWrite = 200

// PricePending prices the allocations of all sites that wait for a rate which is on file now. It prices by the same rule
// as at the time of the payment (R9), and returns how many it priced.
func (r *Rates) PricePending(ctx context.Context) (priced int, err error) {
	var clocks []sites.Clock
	err = r.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		clocks, err = ledger.SitesWithPendingRates(tx)
		return err
	})
	for _, site := range clocks {
		n, err := r.priceIfNew(ctx, site)
		priced += n
		if err != nil {
			return priced, fmt.Errorf("site %d: %w", site.SiteID, err)
		}
	}
	return priced, err
}

// onFile is what prices allocations at a time: nothing changes while it is the same.
type onFile struct {
	version int64         // of all fixings
	until   int64         // see SameUntil, in microseconds
	ahead   time.Duration // of the clock of the site
}

// tried has, for each site, the fixings with which all waiting allocations were tried.
type tried struct {
	mu    sync.Mutex
	sites map[int64]trial
}

type trial struct {
	onFile
	first, last time.Time // when the first and the last try by it began
}

// How long all allocations are retried with the same fixings, because a payment that did not see the latest one may be
// in a write that ends later; and how often after that in any case.
const (
	settledAfter = 2 * time.Minute
	triedAgain   = time.Hour
)

// priceIfNew prices what waits in a site, unless nothing has come that could price it. Where no rate comes for long, many wait: looking at
// all of them each minute would hold up everybody else.
func (r *Rates) priceIfNew(ctx context.Context, site sites.Clock) (priced int, err error) {
	now, found := r.Clock(), onFile{ahead: site.Ahead}
	err = r.ReadBy(ctx, site, func(tx *store.Tx) error {
		until, err := fixings.SameUntil(tx)
		if err != nil {
			return err
		}
		found.until = store.Micros(until)
		found.version, err = sites.RatesVersion(tx)
		return err
	})
	if err != nil {
		return 0, err
	}
	r.tried.mu.Lock()
	before := r.tried.sites[site.SiteID]
	r.tried.mu.Unlock()
	this := trial{found, now, now}
	if before.onFile == found && !before.first.IsZero() {
		if before.last.Sub(before.first) >= settledAfter && now.Sub(before.last) < triedAgain {
			return 0, nil
		}
		this.first = before.first
	}
	if priced, err = r.pricePendingOf(ctx, site); err != nil {
		return priced, err
	}
	r.tried.mu.Lock()
	defer r.tried.mu.Unlock()
	if r.tried.sites == nil {
		r.tried.sites = map[int64]trial{}
	}
	r.tried.sites[site.SiteID] = this
	return priced, nil
}

func (r *Rates) pricePendingOf(ctx context.Context, site sites.Clock) (priced int, err error) {
	for after, more := int64(0), true; more; {
		var done int
		var last int64
		err := r.WriteBy(ctx, site, func(tx *store.Tx) error {
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

// pricePage prices the next allocations after an id. last is the id of the last one that it looked at, 0 when none is
// left.
func pricePage(tx *store.Tx, siteID, after int64) (done int, last int64, err error) {
	site, err := merchants.SiteInForce(tx, siteID)
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
	return done, last, ledger.SaveChanges(tx)
}

// priceLate prices an allocation that waited for its rate, if the rate is on file now.
func priceLate(tx *store.Tx, site merchant.Site, a protection.Allocation) (priced bool, err error) {
	fixings, err := fixings.For(tx, site, a.Paid(), a.MaxFixingAge, a.Currency, a.PolicyCurrency)
	if err != nil {
		return false, err
	}
	if priced, err = ledger.PriceLate(tx, a, fixings); priced {
		limits.NoteChange(tx, a.SiteID, limits.ChangePriced, 0, a.ID)
	}
	return priced, err
}
