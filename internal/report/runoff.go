package report

import (
	"context"
	"errors"
	"slices"
	"time"

	"holdfast/internal/book/fixings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// RunOffReport is a run-off. Final: it can no longer change (R0).
type RunOffReport struct {
	exposure.RunOffReport
	Final bool
}

// AgeingReport is an ageing. Final: it can no longer change (R0).
type AgeingReport struct {
	exposure.AgeingReport
	Final bool
}

// MovementQuery asks for a movement from the end of the day From to the end of the day AsOf, which is today by default. By
// is ByCurrency, the default, or ByChannel.
type MovementQuery struct {
	ExposureQuery
	From *civil.Day
}

// MovementReport is a movement. Final: it can no longer change (R0). It has the names that the channels had at its moment.
type MovementReport struct {
	exposure.MovementReport
	Final        bool
	ChannelNames map[int64]string
}

// addRunOff adds up the holdings on the day of a run-off, and on the days before. The sums by channel hold the changes
// of all days. Only a report that needs rows reads every allocation.
func addRunOff(tx *store.Tx, siteID int64, q exposure.ReportQuery, runOff *exposure.RunOff) error {
	rows, err := needsRows(tx, siteID, q)
	if err != nil {
		return err
	}
	if !rows && !q.Scope.Narrow() {
		return ledger.ExposureAhead(tx, readingOf(tx, siteID, q), exposure.ChannelView, runOff.Cell)
	}
	if err := heldByRow(tx, siteID, q, runOff.Add); err != nil {
		return err
	}
	return histories(tx, siteID, q, runOff.AddPast)
}

// addAgeing adds up the holdings on the day of an ageing.
func addAgeing(tx *store.Tx, siteID int64, q exposure.ReportQuery, ageing *exposure.Ageing) error {
	rows, err := needsRows(tx, siteID, q)
	switch {
	case err != nil:
		return err
	case rows:
		return heldByRow(tx, siteID, q, ageing.Add)
	}
	return bucketsIn(tx, siteID, q, ageing.AddBucket)
}

// heldByRow calls each for every allocation that is held on the day of a report.
func heldByRow(tx *store.Tx, siteID int64, q exposure.ReportQuery, each func(exposure.Holding) error) error {
	return positions(tx, siteID, q, func(p exposure.Position) error {
		return each(exposure.HoldingOf(p, q))
	})
}

// RunOff computes how much is still at risk on each later day, if nothing happens and time passes (R8). The report may be shared
// with other callers and must not be changed.
func (e *Exposure) RunOff(ctx context.Context, actor access.Actor, in ExposureQuery) (RunOffReport, error) {
	return answer(ctx, e, actor, "run-off", in, runOffFromCubes, runOffOf)
}

// runOffFromCubes reports whether the cubes are enough for a run-off: for today or later. For one of the past,
// everything since is taken out.
func runOffFromCubes(tx *store.Tx, siteID int64, q exposure.ReportQuery) (bool, error) {
	if q.Scope.Narrow() || q.AsOf < civil.DayOf(tx.Now) || earlier(tx, q) {
		return false, nil
	}
	rows, err := needsRows(tx, siteID, q)
	return !rows, err
}

func runOffOf(tx *store.Tx, site merchant.Site, q exposure.ReportQuery) (report RunOffReport, err error) {
	rates, err := ratesOn(tx, site, q, q.AsOf)
	if err != nil {
		return report, err
	}
	runOff := exposure.NewRunOff(q, rates)
	if err := addRunOff(tx, site.ID, q, runOff); err != nil {
		return report, tooLarge(err)
	}
	if report.RunOffReport, err = runOff.Report(); err != nil {
		return report, tooLarge(err)
	}
	report.Final, err = isFinal(tx, site.ID, q.KnownAt)
	return report, err
}

// Ageing computes how much of the exposure is delivered how soon (R8). The report may be shared with other callers, so
// it must not be changed.
func (e *Exposure) Ageing(ctx context.Context, actor access.Actor, in ExposureQuery) (AgeingReport, error) {
	noCube := func(*store.Tx, int64, exposure.ReportQuery) (bool, error) { return false, nil }
	return answer(ctx, e, actor, "ageing", in, noCube, ageingOf)
}

func ageingOf(tx *store.Tx, site merchant.Site, q exposure.ReportQuery) (report AgeingReport, err error) {
	rates, err := ratesOn(tx, site, q, q.AsOf)
	if err != nil {
		return report, err
	}
	ageing := exposure.NewAgeing(q, rates)
	if err := addAgeing(tx, site.ID, q, ageing); err != nil {
		return report, tooLarge(err)
	}
	if report.AgeingReport, err = ageing.Report(); err != nil {
		return report, tooLarge(err)
	}
	report.Final, err = isFinal(tx, site.ID, q.KnownAt)
	return report, err
}

// Movement computes why the exposure on two days differs, line by line (R8).
func (e *Exposure) Movement(ctx context.Context, actor access.Actor, in MovementQuery) (MovementReport, error) {
	return sites.Report(ctx, e.DB, actor, func(tx *store.Tx) (report MovementReport, err error) {
		site, q, err := in.movement(tx, actor.SiteID)
		if err != nil {
			return report, err
		}
		opening, closing, err := movementRates(tx, site, q)
		if err != nil {
			return report, err
		}
		movement := exposure.NewMovement(q, opening, closing)
		if err := addMovement(tx, site.ID, q, movement); err != nil {
			return report, tooLarge(err)
		}
		if report.MovementReport, err = movement.Report(); err != nil {
			return report, tooLarge(err)
		}
		report.Final, report.ChannelNames, err = headOf(tx, site.ID, q.ReportQuery)
		return report, err
	})
}

// addMovement adds up the changes due to time alone since the first day, from the buckets, and the allocations that
// have changed otherwise since. Only a report that needs rows reads every allocation.
func addMovement(tx *store.Tx, siteID int64, q exposure.MovementQuery, movement *exposure.Movement) error {
	rows, err := needsRows(tx, siteID, q.ReportQuery)
	switch {
	case err != nil:
		return err
	case rows, q.Scope.Narrow(): // a bucket of the first day does not say in which scope it is on the last one
		return histories(tx, siteID, q.ReportQuery, movement.Add)
	}
	channels := q.Scope.Channels
	var failed error
	held := ledger.Reading{SiteID: siteID, Day: q.From, Known: q.KnownAt, Channels: channels}
	err = ledger.BucketsOn(tx, held, func(d exposure.Delta) {
		if err := movement.AddHeld(d); failed == nil {
			failed = err
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	return ledger.HistoriesBetween(tx, siteID, q.From, q.AsOf, q.KnownAt, channels, movement.AddChanged)
}

// problems adds the errors of the first day to those of the query.
func (in MovementQuery) problems(today civil.Day) errs.Problems {
	p := in.Problems.Clone()
	if in.AsOf != nil {
		today = *in.AsOf
	}
	switch {
	case in.From != nil && *in.From > today:
		p.Wrong("from", "The movement must not start after its end, %s.", today)
	case in.From == nil && !p.Has("from"): // if it has a problem, it was given, but wrong
		p.Missing("from")
	}
	return p
}

// on reads the site of a query and completes the query.
func (in ExposureQuery) on(tx *store.Tx, siteID int64) (merchant.Site, exposure.ReportQuery, error) {
	site, err := merchants.Site(tx, siteID)
	if err != nil {
		return site, exposure.ReportQuery{}, err
	}
	q, err := in.complete(tx, site)
	return site, q, err
}

// ratesOn reads the rates of a day for a report, in all currencies that it can need: those of the site's channels and
// collateral, and that of the report.
func ratesOn(tx *store.Tx, site merchant.Site, q exposure.ReportQuery, day civil.Day) (*fx.Table, error) {
	currencies, err := ledger.CurrenciesOf(tx, site.ID)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(currencies, q.Currency) {
		currencies = append(currencies, q.Currency)
	}
	fixings, err := fixings.UpTo(tx, fixings.ProvidersOf(site), currencies, day, q.KnownAt)
	return fx.NewTable(fixings), err
}

// isFinal reports whether a report as known at an instant can no longer change (R0).
func isFinal(tx *store.Tx, siteID int64, knownAt time.Time) (bool, error) {
	final, err := sites.Final(tx, siteID)
	return err == nil && !knownAt.After(final), err
}
