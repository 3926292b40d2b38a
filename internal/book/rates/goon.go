package rates

import (
	"context"
	"time"

	"holdfast/internal/book/fixings"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/clock"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

const (
	// quietDays is how many days a sandbox waits for real rates before it makes up its own: a long weekend.
	quietDays = 5
	// activeDays is how old the last rate of a currency may be, compared with the newest rate. A currency with an older
	// one was discontinued by its provider, and gets no more rates.
	activeDays = 30
	// madeUpDays is the maximum number of days for which rates are made up in one run.
	madeUpDays = 500
)

// GoOn makes up rates for every sandbox whose clock is ahead of its rates, so that its payments do not wait forever. A
// sandbox is checked again on its next day, and when rates have changed.
func (r *Rates) GoOn(ctx context.Context) error {
	var sandboxes []sites.Clock
	var now upToDate
	err := r.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		if now.version, err = sites.RatesVersion(tx); err != nil {
			return err
		}
		sandboxes, err = sites.SandboxClocks(tx)
		return err
	})
	for _, clock := range sandboxes {
		now.day = civil.DayOf(r.Clock().Add(clock.Ahead))
		if last, _ := r.upToDate.Load(clock.SiteID); err != nil || last == now {
			continue
		}
		if err = r.GoOnIn(ctx, clock); err == nil {
			r.upToDate.Store(clock.SiteID, now)
		}
	}
	return err
}

// upToDate is when GoOn had nothing left to make up for a sandbox: on a day of its clock, with these rates on file.
type upToDate struct {
	version int64
	day     civil.Day
}

// MoveClock moves the clock of a sandbox forward to an instant, and brings its rates up to the new day. Errors: those of
// clock.Move.
func (r *Rates) MoveClock(ctx context.Context, actor access.Actor, to time.Time) (clock.Time, error) {
	moved, err := clock.Move(ctx, r.DB, actor, to)
	if err != nil {
		return moved, err
	}
	return moved, r.GoOnIn(ctx, sites.Clock{SiteID: actor.SiteID, Ahead: moved.Now.Sub(moved.Real)})
}

// GoOnIn makes up rates for one sandbox, and prices what waited for them: the last rate of each currency continues, on every
// weekday up to today. The fixings are of the provider demo and count for this site alone. On any other site it does
// nothing.
func (r *Rates) GoOnIn(ctx context.Context, clock sites.Clock) error {
	made := 0
	missing := func(tx *store.Tx) ([]fx.Fixing, error) {
		site, err := sites.Alone(tx, clock.SiteID)
		if err != nil || !site.Sandbox {
			return nil, err
		}
		today := civil.DayOf(tx.Now)
		onFile, err := fixings.UpTo(tx, fixings.ProvidersOf(site), money.Currencies(), today, tx.Now)
		return madeUp(onFile, clock.SiteID, today), err
	}
	err := r.ReadBy(ctx, clock, func(tx *store.Tx) error {
		list, err := missing(tx)
		made = len(list)
		return err
	})
	if err != nil || made == 0 {
		return err
	}
	err = r.WriteBy(ctx, clock, func(tx *store.Tx) error {
		list, err := missing(tx)
		if err != nil || len(list) == 0 {
			return err
		}
		var done RatesReport
		for _, f := range list {
			done.created(f.Day)
		}
		if err := putFixings(tx, list); err != nil {
			return err
		}
		return audit.Record(tx, access.System(clock.SiteID), "rates.add", "rates", nil, auditRates(fx.Demo, done))
	})
	if err == nil {
		_, err = r.pricePendingOf(ctx, clock)
	}
	return err
}

// madeUp continues the last fixing of each currency up to today.
func madeUp(onFile []fx.Fixing, siteID int64, today civil.Day) (list []fx.Fixing) {
	newest, last := civil.NoDay, map[money.Currency]fx.Fixing{}
	for _, f := range onFile {
		newest = max(newest, f.Day)
		if before, ok := last[f.Currency]; !ok || f.Day > before.Day {
			last[f.Currency] = f
		}
	}
	for _, c := range money.Currencies() {
		f, ok := last[c]
		if !ok || f.Day < newest-activeDays || f.Day >= today-quietDays {
			continue
		}
		for day := max(f.Day+1, today-madeUpDays); day <= today; day++ {
			w := day.Start().Weekday()
			if _, gone := c.Withdrawn(day); gone || w == time.Saturday || w == time.Sunday {
				continue
			}
			list = append(list, fx.Fixing{SiteID: siteID, Provider: fx.Demo, Day: day, Currency: c, Rate: f.Rate})
		}
	}
	return list
}
