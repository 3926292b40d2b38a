package report

import (
	"context"
	"fmt"
	"time"

	"holdfast/internal/book/fixings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Bounds of a process's cache of reports: together 32 MB.
const (
	keptReports = 128
	keptBytes   = 256 << 10 // of one report, roughly; larger ones are computed again
)

// question is the key of a cached report about now: everything that the report depends on except the clock. The version
// is that of the site's exposure, which each request reads from the database, so it does not matter which process has
// changed something. The settings are as requested: their defaults depend on the version.
type question struct {
	siteID    int64
	version   ledger.Version
	kind      string
	asOf      civil.Day
	currency  money.Currency
	valuation exposure.Valuation
	by        exposure.Dimension
	across    exposure.Dimension
	channels  string
}

// answered is a report that is right from the one instant to before the other.
type answered struct {
	report      any
	from, until time.Time
}

func (a answered) isRight(now time.Time) bool { return !now.Before(a.from) && now.Before(a.until) }

// cacheable reports whether a query's report is cached: about now, and about the whole book or channels. Reports that
// read single allocations can change without a bucket changing.
func (in ExposureQuery) cacheable() bool {
	return in.Problems.Err() == nil && in.KnownAt.IsZero() && !in.Scope.Narrow()
}

// question is the query as a key.
func (in ExposureQuery) question(tx *store.Tx, v ledger.Version, kind string) question {
	q := question{
		siteID: tx.Clock.SiteID, version: v, kind: kind, asOf: civil.DayOf(tx.Now), currency: in.Currency, valuation: in.Valuation, by: in.By, across: in.Across,
		channels: fmt.Sprint(in.Channels),
	}
	if in.AsOf != nil {
		q.asOf = *in.AsOf
	}
	return q
}

// keptReport is a cacheable report: its query, and roughly how many bytes it takes.
type keptReport interface {
	asked() *exposure.ReportQuery
	weight() int
}

// answer gives the kept answer to a query if it is still right. Otherwise it computes the report: in the same short read if
// the cubes are enough, else in a long one. The version is read in the same transaction as the book, so they belong
// together. The report is shared and must not be changed.
func answer[T any, R interface {
	*T
	keptReport
}](
	ctx context.Context, e *Exposure, actor access.Actor, kind string, in ExposureQuery,
	cubesDo func(tx *store.Tx, siteID int64, q exposure.ReportQuery) (bool, error),
	compute func(tx *store.Tx, site merchant.Site, q exposure.ReportQuery) (T, error),
) (report T, err error) {
	var asked ledger.Version
	done := false
	report, err = sites.Read(ctx, e.DB, actor, func(tx *store.Tx) (report T, err error) {
		v, keeps := in.version(tx, actor.SiteID)
		if keeps {
			if found, ok := e.kept.Get(in.question(tx, v, kind)); ok && found.isRight(tx.Now) {
				report, done = found.report.(T), true
				R(&report).asked().KnownAt = tx.Now
				return report, nil
			}
		}
		asked = v
		site, q, err := in.on(tx, actor.SiteID)
		if err == nil {
			done, err = cubesDo(tx, site.ID, q)
		}
		if err != nil || !done {
			return report, err
		}
		if report, err = compute(tx, site, q); err == nil && keeps {
			err = e.keep(tx, v, kind, in, report, R(&report))
		}
		return report, err
	})
	if err != nil || done {
		return report, err
	}
	return sites.Report(ctx, e.DB, actor, func(tx *store.Tx) (report T, err error) {
		v, keeps := in.version(tx, actor.SiteID)
		if keeps && v == asked {
			tx.UpToDate() // a standby has what the database had
		}
		site, q, err := in.on(tx, actor.SiteID)
		if err != nil {
			return report, err
		}
		if report, err = compute(tx, site, q); err == nil && keeps && !tx.OfCopy() {
			err = e.keep(tx, v, kind, in, report, R(&report))
		}
		return report, err
	})
}

// version reads the version of the site's exposure. keeps: the answer to the query may be kept under it. It may not where the
// clock was moved since the caller's was read.
func (in ExposureQuery) version(tx *store.Tx, siteID int64) (v ledger.Version, keeps bool) {
	if !in.cacheable() {
		return v, false
	}
	v, err := ledger.VersionOf(tx, siteID) // if there is no such site, the report says so
	return v, err == nil && v.ClockAhead == tx.Clock.Ahead.Microseconds()
}

// keep caches a report that was computed under a version. of describes it.
func (e *Exposure) keep(tx *store.Tx, v ledger.Version, kind string, in ExposureQuery, report any, of keptReport) error {
	if of.asked().Recognition == terms.RecognitionLinear || of.weight() > keptBytes {
		return nil
	}
	until, err := ledger.SameUntil(tx, tx.Clock.SiteID)
	if err != nil {
		return err
	}
	ratesUntil, err := fixings.SameUntil(tx)
	if err != nil {
		return err
	}
	if ratesUntil.Before(until) {
		until = ratesUntil
	}
	e.kept.Put(in.question(tx, v, kind), answered{report, tx.Now, until})
	return nil
}

// Roughly the bytes of a row with its key, and of a line of all else.
const (
	rowBytes  = 500
	lineBytes = 150
)

func (r *ExposureReport) asked() *exposure.ReportQuery { return &r.Query }

func (r *ExposureReport) weight() int {
	return rowBytes*(1+len(r.Rows)+len(r.Subtotals)) + lineBytes*(len(r.ChannelNames)+2*len(r.Channels)+len(r.PendingRate)+
		len(r.Converted)+len(r.Uncovered)+len(r.Instalments))
}

func (r *RunOffReport) asked() *exposure.ReportQuery { return &r.Query }

func (r *RunOffReport) weight() int {
	return rowBytes + lineBytes*(len(r.Points)+len(r.PendingRate)+len(r.Converted)+len(r.Uncovered))
}

func (r *AgeingReport) asked() *exposure.ReportQuery { return &r.Query }

func (r *AgeingReport) weight() int {
	return rowBytes + lineBytes*(len(r.Bands)+len(r.PendingRate)+len(r.Converted)+len(r.Uncovered))
}
