package rates

import (
	"cmp"
	"context"
	"slices"

	"holdfast/internal/book/fixings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// statusDays is how far Status looks back: a currency without a fixing in these days counts as discontinued.
const statusDays = 60

// statusCounted is how many of the allocations that wait are counted.
const statusCounted = 2000

// Status is the state of a site's rates: what is on file, what is missing, and what is waiting.
type Status struct {
	MaxAge  int64    // days for which a fixing counts (R9)
	Latest  []Latest // one for each currency and provider, in order of the currencies
	Pending []Pending
	More    bool // more allocations wait than were counted
}

// Latest is the last fixing of a currency by one provider.
type Latest struct {
	fx.Fixing
	Age     int64 // days from the fixing to today
	Counts  bool  // for a payment of today (R9)
	Missing int   // days in the last 60 on which the provider has rates of other currencies, and none of this one
}

// Pending is what waits for a rate in one currency.
type Pending struct {
	Currency, Into money.Currency // of the allocations, and of their policy
	Count          int64
	Amount         int64     // minor units of Currency
	Oldest         civil.Day // the first day on which something was paid
}

// Status reads the state of the rates of the actor's site. It counts at most the first 2,000 allocations that wait.
func (r *Rates) Status(ctx context.Context, actor access.Actor) (Status, error) {
	return sites.Read(ctx, r.DB, actor, func(tx *store.Tx) (s Status, err error) {
		site, err := merchants.Site(tx, actor.SiteID)
		if err != nil {
			return s, err
		}
		s.MaxAge = site.Policy.MaxFixingAgeDays
		today := civil.DayOf(tx.Now)
		list, err := fixings.Within(tx, fixings.ProvidersOf(site), money.Currencies(), today-statusDays, today, tx.Now)
		if err != nil {
			return s, err
		}
		list = slices.DeleteFunc(list, func(f fx.Fixing) bool { return !f.ExpiresAt.IsZero() && !f.ExpiresAt.After(tx.Now) })
		s.Latest = latestOf(list, today, s.MaxAge)
		waiting, err := ledger.PendingAllocations(tx, actor.SiteID, 0, statusCounted+1)
		if s.More = len(waiting) > statusCounted; s.More {
			waiting = waiting[:statusCounted]
		}
		s.Pending = pendingOf(waiting)
		return s, err
	})
}

// series are the fixings of one provider for one currency.
type series struct {
	currency money.Currency
	provider fx.Provider
}

func latestOf(list []fx.Fixing, today civil.Day, maxAge int64) (latest []Latest) {
	last, days := map[series]fx.Fixing{}, map[series]map[civil.Day]bool{}
	published := map[fx.Provider]map[civil.Day]bool{}
	for _, f := range list {
		key := series{f.Currency, f.Provider}
		if before, ok := last[key]; !ok || f.Day > before.Day || f.Day == before.Day && f.ID > before.ID {
			last[key] = f
		}
		note(days, key, f.Day)
		note(published, f.Provider, f.Day)
	}
	for key, f := range last {
		l := Latest{Fixing: f, Age: int64(today - f.Day)}
		l.Counts = l.Age <= maxAge
		if f.Provider != fx.Manual { // quotes are single ones
			l.Missing = len(published[f.Provider]) - len(days[key])
		}
		latest = append(latest, l)
	}
	slices.SortFunc(latest, func(a, b Latest) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Provider, b.Provider))
	})
	return latest
}

func note[K comparable](sets map[K]map[civil.Day]bool, key K, day civil.Day) {
	if sets[key] == nil {
		sets[key] = map[civil.Day]bool{}
	}
	sets[key][day] = true
}

func pendingOf(waiting []protection.Allocation) (list []Pending) {
	for _, a := range waiting {
		i := slices.IndexFunc(list, func(p Pending) bool { return p.Currency == a.Currency && p.Into == a.PolicyCurrency })
		if i < 0 {
			list = append(list, Pending{Currency: a.Currency, Into: a.PolicyCurrency, Oldest: a.Paid()})
			i = len(list) - 1
		}
		list[i].Count, list[i].Amount, list[i].Oldest = list[i].Count+1, list[i].Amount+a.Amount, min(list[i].Oldest, a.Paid())
	}
	slices.SortFunc(list, func(a, b Pending) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Into, b.Into))
	})
	return list
}
