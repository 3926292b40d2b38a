package report

import (
	"context"
	"fmt"
	"sync"
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

// Bounds of a process's cache.
const (
	keptBytes  = 8 << 20 // of all answers, roughly
	keptAnswer = 1 << 20 // of one; larger reports are computed again
	keptSites  = 200
	keptEach   = 200 // answers of a site
)

// kept holds the last reports about now. An answer counts as long as the version of the site's exposure is the one that it was
// made of, which each request reads from the database. So it does not matter which process has changed something.
type kept struct {
	mu    sync.Mutex
	sites map[int64]*keptOf
	bytes int
}

type keptOf struct {
	version ledger.Version
	answers map[question]answered
	bytes   int
}

// question is all that a report depends on but the version and the clock. The settings stand as they were asked: what they stand for
// by default depends on the version.
type question struct {
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

// get finds an answer that is right now.
func (k *kept) get(siteID int64, v ledger.Version, q question, now time.Time) (any, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.sites[siteID]
	if of == nil || of.version != v {
		return nil, false
	}
	a, ok := of.answers[q]
	if !ok || now.Before(a.from) || !now.Before(a.until) {
		return nil, false
	}
	return a.report, true
}

// put keeps an answer. Those of the site's other version are forgotten, and all of them where there are too many.
func (k *kept) put(siteID int64, v ledger.Version, q question, a answered, bytes int) {
	if bytes > keptAnswer {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.sites[siteID]
	if of == nil || of.version != v || len(of.answers) >= keptEach {
		if of != nil {
			k.bytes -= of.bytes
			delete(k.sites, siteID)
		}
		of = nil
	}
	if k.sites == nil || of == nil && len(k.sites) >= keptSites || k.bytes+bytes > keptBytes {
		k.sites, k.bytes, of = map[int64]*keptOf{}, 0, nil
	}
	if of == nil {
		of = &keptOf{version: v, answers: map[question]answered{}}
		k.sites[siteID] = of
	}
	if _, twice := of.answers[q]; !twice { // two requests may make one at the same time
		of.bytes, k.bytes = of.bytes+bytes, k.bytes+bytes
	}
	of.answers[q] = a
}

// keepable says whether a query is one whose answers are kept: about now, and about the whole book or channels. What reads the
// allocations one by one may change where no bucket does.
func (in ExposureQuery) keepable() bool {
	return in.Problems.Err() == nil && in.KnownAt.IsZero() && !in.Scope.Narrow()
}

// question is the query as a key.
func (in ExposureQuery) question(kind string, now time.Time) question {
	q := question{
		kind: kind, asOf: civil.DayOf(now), currency: in.Currency, valuation: in.Valuation, by: in.By, across: in.Across,
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
			var found any
			if found, done = e.kept.get(actor.SiteID, v, in.question(kind, tx.Now), tx.Now); done {
				report = found.(T)
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
	if !in.keepable() {
		return v, false
	}
	v, err := ledger.VersionOf(tx, siteID) // if there is no such site, the report says so
	return v, err == nil && v.ClockAhead == tx.Clock.Ahead.Microseconds()
}

// keep keeps a report that was computed under a version. of tells about it.
func (e *Exposure) keep(tx *store.Tx, v ledger.Version, kind string, in ExposureQuery, report any, of keptReport) error {
	if of.asked().Recognition == terms.RecognitionLinear {
		return nil
	}
	siteID := tx.Clock.SiteID
	until, err := ledger.SameUntil(tx, siteID)
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
	e.kept.put(siteID, v, in.question(kind, tx.Now), answered{report, tx.Now, until}, of.weight())
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
