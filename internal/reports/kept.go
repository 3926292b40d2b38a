package reports

import (
	"fmt"
	"sync"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/exposure"
	"holdfast/internal/ledger"
	"holdfast/internal/money"
	"holdfast/internal/rates"
	"holdfast/internal/travel"
)

// Bounds of what a process keeps.
const (
	keptBytes  = 8 << 20 // of all answers, roughly
	keptAnswer = 1 << 20 // of one; what is larger is made anew
	keptSites  = 200
	keptEach   = 200 // answers of a site
)

// kept holds the last reports about now. An answer counts as long as the version of the site's exposure is the one that it was
// made of, which each request reads from the database. So it does not matter which process has changed something.
type kept struct {
	mu    sync.Mutex
	sites map[int64]*keptOf
	bytes int
	last  map[int64]ledger.Version // of each site, as it was read last from the database itself
}

type keptOf struct {
	version ledger.Version
	answers map[question]answer
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

// answer is a report that is right from the one instant to before the other.
type answer struct {
	report      any
	from, until time.Time
}

// current notes the version of a site that the database itself has, or, of a copy, reports whether that is the one which was
// noted. What a copy has of an earlier version is right for that, and would push out what is kept of the version that counts.
func (k *kept) current(siteID int64, v ledger.Version, copied bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if copied {
		return k.last[siteID] == v
	}
	if k.last == nil || len(k.last) >= keptSites {
		k.last = map[int64]ledger.Version{}
	}
	k.last[siteID] = v
	return true
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
func (k *kept) put(siteID int64, v ledger.Version, q question, a answer, bytes int) {
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
		of = &keptOf{version: v, answers: map[question]answer{}}
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

// keptReport is a report that can be kept: what it was asked for, and roughly how many bytes it takes.
type keptReport interface {
	asked() *exposure.ReportQuery
	weight() int
}

// keep returns the kept answer to a query where it is still right, and makes it otherwise. The version is read in the same
// transaction as the book, so they belong together. The report is shared: nobody may change what it points to.
func keep[T any, R interface {
	*T
	keptReport
}](tx *db.Tx, e *Exposure, siteID int64, kind string, in ExposureQuery, fresh func() (T, error)) (report T, err error) {
	if !in.keepable() {
		return fresh()
	}
	v, err := ledger.VersionOf(tx, siteID)
	if err != nil || v.ClockAhead != core.ClockOfTx.Of(tx).Ahead.Microseconds() {
		return fresh() // the clock was moved since the caller's was read, or there is no such site, which the report says
	}
	if !e.kept.current(siteID, v, tx.OfCopy()) {
		return fresh()
	}
	tx.UpToDate()
	q := in.question(kind, tx.Now)
	if found, ok := e.kept.get(siteID, v, q, tx.Now); ok {
		report = found.(T)
		R(&report).asked().KnownAt = tx.Now
		return report, nil
	}
	if report, err = fresh(); err != nil || R(&report).asked().Recognition == travel.RecognitionLinear {
		return report, err
	}
	until, err := ledger.SameUntil(tx, siteID)
	if err != nil {
		return report, err
	}
	ratesUntil, err := rates.SameUntil(tx)
	if ratesUntil.Before(until) {
		until = ratesUntil
	}
	if err == nil {
		e.kept.put(siteID, v, q, answer{report, tx.Now, until}, R(&report).weight())
	}
	return report, err
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
