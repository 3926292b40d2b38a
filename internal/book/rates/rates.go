// Package rates records fixings: from history files, from providers, and as quotes that two people have approved. It
// then prices the allocations that were waiting for a rate (R9). Start at Rates.
package rates

import (
	"context"
	"io"
	"slices"
	"sync"

	"holdfast/internal/book/fixings"
	"holdfast/internal/book/limits"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Rates are the use cases of fixings.
type Rates struct {
	*sites.DB
	Approvals   *approvals.Approvals
	ForexMargin fx.Margin // added to the fixings in the forex feeds of channels

	tried    tried
	upToDate sync.Map // by site: upToDate
}

// Register registers how an approved quote is carried out. Allocations that waited for it are priced then.
func (r *Rates) Register() *Rates {
	r.Approvals.Register(proposal.ManualRate, approvals.Kind{Carry: carryOutQuote, Effect: effectOfQuote, After: func(ctx context.Context, actor access.Actor) error {
		_, err := r.pricePendingOf(ctx, sites.ClockFor(actor))
		return err
	}})
	return r
}

// fixingsPerWrite is how many fixings one write of a longer job stores. A write lives at most five seconds, and other writes wait behind it.
const fixingsPerWrite = 2000

// RatesReport is the result of an import of rates.
type RatesReport struct {
	Days         int          // days in the file
	Created      int          // fixings that are new on file
	AlreadyThere int          // fixings that were on file with the same rate
	Skipped      int          // fixings of currencies in which no amount can be
	Conflicts    []RateOnFile // fixings that are on file with another rate, which stays; 100 at most
	First, Last  civil.Day    // first and last day of the new fixings; 0 when there are none
	Priced       int          // allocations that had waited for a rate
}

// RateOnFile is a fixing of an import that is on file with another rate.
type RateOnFile struct {
	Fixing fx.Fixing
	OnFile string // the rate on file
}

// conflictsKept is how many conflicts a report lists at most.
const conflictsKept = 100

// ImportHistory puts the fixings of the ECB's history file on file. Fixings that are on file already stay as they are. It
// refuses the whole file when one part of it is broken.
func (r *Rates) ImportHistory(ctx context.Context, actor access.Actor, file io.Reader) (RatesReport, error) {
	if err := actor.Require(access.WriteRates); err != nil {
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

// Fetch calls get to ask a provider for its fixings of today, and puts them on file.
func (r *Rates) Fetch(
	ctx context.Context, actor access.Actor, get func(ctx context.Context) ([]fx.Fixing, error),
) (RatesReport, error) {
	if err := actor.Require(access.WriteRates); err != nil {
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

// Add puts fixings on file and prices the allocations that waited for them. Fixings that are on file already stay as they
// are.
func (r *Rates) Add(ctx context.Context, actor access.Actor, fixings []fx.Fixing) (RatesReport, error) {
	var report RatesReport
	if err := actor.Require(access.WriteRates); err != nil {
		return report, err
	}
	for batch := range slices.Chunk(fixings, fixingsPerWrite) {
		var done RatesReport
		err := r.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
			var err error
			if done, err = addFixings(tx, batch); err != nil || done.Created == 0 {
				return err
			}
			return audit.Record(tx, audit.OfDeployment(actor), "rates.add", "rates", nil, auditRates(batch[0].Provider, done))
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

// fixingKey identifies a fixing that counts for every site: there is one at most on file with the same key.
type fixingKey struct {
	provider fx.Provider
	currency money.Currency
	day      civil.Day
	quote    string
}

func keyOf(f fx.Fixing) fixingKey { return fixingKey{f.Provider, f.Currency, f.Day, f.QuoteID} }

// addFixings compares the fixings with those on file, and adds the missing ones.
func addFixings(tx *store.Tx, list []fx.Fixing) (done RatesReport, err error) {
	first, last := list[0].Day, list[0].Day
	providers := map[fx.Provider]bool{}
	for _, f := range list {
		first, last = min(first, f.Day), max(last, f.Day)
		providers[f.Provider] = true
	}
	onFile := map[fixingKey]string{}
	for p := range providers {
		stored, err := fixings.Between(tx, p, first, last)
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
	return done, putFixings(tx, missing)
}

// putFixings puts fixings on file, and notes them for the limits whose uses may depend on them.
func putFixings(tx *store.Tx, list []fx.Fixing) error {
	if len(list) > 0 {
		if err := limits.NoteRates(tx); err != nil {
			return err
		}
	}
	return fixings.Insert(tx, list)
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

// auditedRates is the shape of an import of rates in the audit.
type auditedRates struct {
	Provider string `json:"provider"`
	Created  int    `json:"created"`
	First    string `json:"first"`
	Last     string `json:"last"`
}

func auditRates(provider fx.Provider, done RatesReport) any {
	return auditedRates{Provider: string(provider), Created: done.Created, First: done.First.String(), Last: done.Last.String()}
}
