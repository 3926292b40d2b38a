// Package report computes reports about the book: exposure, run-off, ageing, movement, model, what-if, explanations
// and bordereaux. It owns no tables and writes nothing. Start at Exposure.Report.
package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/lib/cache"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Exposure computes the loss if merchants fail (R7), and reports based on it.
type Exposure struct {
	*sites.DB
	kept *cache.Cache[question, answered]
}

// NewExposure makes the use cases, with an empty cache.
func NewExposure(db *sites.DB) *Exposure {
	return &Exposure{db, cache.New[question, answered](keptReports)}
}

// ExposureQuery describes an exposure report. Zero values are the defaults: today, everything known now, the policy
// currency, spot, by channel, all channels.
type ExposureQuery struct {
	Problems errs.Problems
	ledger.Moment
	Currency  money.Currency
	Valuation exposure.Valuation
	By        exposure.Dimension
	Across    exposure.Dimension // crossed with By
	exposure.Scope
}

// ExposureReport is an exposure report. It has the names that the channels had at its moment.
type ExposureReport struct {
	exposure.Report
	Final        bool // it can no longer change (R0)
	ChannelNames map[int64]string
	Net          exposure.NetExposure
}

// Report computes an exposure report. It may be shared with other callers and must not be changed.
func (e *Exposure) Report(ctx context.Context, actor access.Actor, in ExposureQuery) (ExposureReport, error) {
	return answer(ctx, e, actor, "exposure", in, exposureFromCubes, exposureOf)
}

// complete fills in the defaults. It refuses a query that cannot be answered, and names every wrong parameter.
func (in ExposureQuery) complete(tx *store.Tx, site merchant.Site) (exposure.ReportQuery, error) {
	p := in.Problems.Clone()
	q := exposure.ReportQuery{
		Currency:  in.Currency,
		Valuation: cmp.Or(in.Valuation, exposure.Valuations[0]),
		By:        cmp.Or(in.By, exposure.Dimensions[0]),
		Across:    in.Across,
		Scope:     in.Scope,
	}
	if err := checkScope(tx, site.ID, in.Scope, &p); err != nil {
		return q, err
	}
	q.AsOf, q.KnownAt = in.Moment.Complete(tx.Now, &p)
	if !slices.Contains(exposure.Valuations, q.Valuation) {
		p.Wrong("valuation", "Must be one of: spot, locked.")
	}
	if !slices.Contains(exposure.Dimensions, q.By) || q.Across != "" && !slices.Contains(exposure.Dimensions, q.Across) {
		p.Wrong("by", "Must be one of: channel, month, currency, scheme, country, supplier, or two of them separated by a comma.")
	}
	if q.By == q.Across {
		p.Wrong("by", "The two groupings must differ.")
	}
	policy, err := merchants.PolicyKnown(tx, site.ID, q.AsOf, q.KnownAt)
	if err != nil {
		return q, err
	}
	q.Recognition, q.Policy = policy.Recognition, policy.Currency
	if q.Currency == "" {
		q.Currency = policy.Currency
	}
	if q.Valuation == exposure.Locked && q.Currency != policy.Currency {
		p.Wrong("currency", "Locked values are only available in the policy currency, %s.", policy.Currency)
	}
	return q, p.Err()
}

func exposureOf(tx *store.Tx, site merchant.Site, q exposure.ReportQuery) (report ExposureReport, err error) {
	rates, err := ratesOn(tx, site, q, q.AsOf)
	if err != nil {
		return report, err
	}
	unprotected, err := merchants.UnprotectedChannels(tx, site.ID, q.AsOf, q.KnownAt)
	if err != nil {
		return report, err
	}
	sums := exposure.NewExposure(q, rates)
	sums.LeaveOut(unprotected)
	if err := sumUp(tx, site.ID, q, sums); err != nil {
		return report, tooLarge(err)
	}
	if report.Report, err = sums.Report(); err != nil {
		return report, tooLarge(err)
	}
	netting, err := nettingOf(tx, site.ID, q, rates)
	if err != nil {
		return report, err
	}
	report.Net = report.Report.Net(netting)
	report.Final, report.ChannelNames, err = headOf(tx, site.ID, q)
	return report, err
}

// exposureFromCubes says whether the cubes are enough for an exposure report.
func exposureFromCubes(tx *store.Tx, siteID int64, q exposure.ReportQuery) (bool, error) {
	_, cubed := exposure.ViewFor(q, len(q.Scope.Channels) > 0)
	if !cubed || q.Scope.Narrow() {
		return false, nil
	}
	return cubesKnow(tx, siteID, q)
}

// fewPacks is how many packs a short read may take out of the cubes. A thousand deltas take less than a millisecond.
const fewPacks = 20

// cubesKnow reports whether the cubes are sufficient for a report about the moment: little has been recorded since.
func cubesKnow(tx *store.Tx, siteID int64, q exposure.ReportQuery) (bool, error) {
	rows, err := needsRows(tx, siteID, q)
	if err != nil || rows {
		return false, err
	}
	later, others, err := ledger.LaterPacks(tx, readingOf(tx, siteID, q))
	return later <= min(others, fewPacks), err
}

// needsRows reports whether a report has to read every allocation. The ledger's sums are not enough if trips are
// delivered day by day, or for a known_at before the sums had recording times.
func needsRows(tx *store.Tx, siteID int64, q exposure.ReportQuery) (bool, error) {
	if q.Recognition == terms.RecognitionLinear {
		return true, nil
	}
	since, err := ledger.KnownSince(tx, siteID)
	return earlier(tx, q) && q.KnownAt.Before(since), err
}

// earlier reports whether there may be something that was recorded after the moment of a report. A copy of the database continues
// while it is read, so it may have more than it is known to have.
func earlier(tx *store.Tx, q exposure.ReportQuery) bool {
	return q.KnownAt.Before(tx.Now) || tx.OfCopy()
}

// readingOf is the part of the buckets that a report reads.
func readingOf(tx *store.Tx, siteID int64, q exposure.ReportQuery) ledger.Reading {
	r := ledger.Reading{SiteID: siteID, Day: q.AsOf, Channels: q.Scope.Channels}
	if earlier(tx, q) {
		r.Known = q.KnownAt
	}
	return r
}

// sumUp adds up a report: from the buckets if they are enough, else from the allocations.
func sumUp(tx *store.Tx, siteID int64, q exposure.ReportQuery, sums *exposure.Exposure) error {
	rows, err := needsRows(tx, siteID, q)
	switch {
	case err != nil:
		return err
	case rows:
		// The outstanding amount of a booking depends on all its positions, including those out of scope.
		return ledger.Positions(tx, siteID, q.AsOf, q.KnownAt, q.Scope.Channels, sums.Add)
	}
	// No cube has the total of a narrow scope. Cubes have the state known now: if most of it was recorded later, they
	// do not help.
	later, others, err := ledger.LaterPacks(tx, readingOf(tx, siteID, q))
	if err != nil {
		return err
	}
	if q.Scope.Narrow() || later > others {
		return bucketsIn(tx, siteID, q, func(d exposure.Delta) {
			sums.AddBucket(d)
			sums.AddTotal(exposure.ChannelView.CellOf(d.Bucket), d.On(q.AsOf))
		})
	}
	return addBuckets(tx, readingOf(tx, siteID, q), q, sums)
}

// positions calls each for the positions in the scope of a report.
func positions(tx *store.Tx, siteID int64, q exposure.ReportQuery, each func(exposure.Position) error) error {
	return ledger.Positions(tx, siteID, q.AsOf, q.KnownAt, q.Scope.Channels, func(p exposure.Position) error {
		if !q.Scope.Position(p) {
			return nil
		}
		return each(p)
	})
}

// histories calls each for the allocations in the scope of a report, with their history.
func histories(tx *store.Tx, siteID int64, q exposure.ReportQuery, each func(protection.History) error) error {
	return ledger.Histories(tx, siteID, q.AsOf, q.KnownAt, q.Scope.Channels, func(h protection.History) error {
		if !q.Scope.History(h, q.AsOf, q.KnownAt) {
			return nil
		}
		return each(h)
	})
}

// bucketsIn calls each for the changes of buckets in the scope of a report.
func bucketsIn(tx *store.Tx, siteID int64, q exposure.ReportQuery, each func(exposure.Delta)) error {
	return ledger.BucketsOn(tx, readingOf(tx, siteID, q), func(d exposure.Delta) {
		if q.Scope.Bucket(d.Bucket) {
			each(d)
		}
	})
}

// addBuckets adds up the rows of a report from the sums that the ledger keeps for this view, or from the buckets if it
// keeps none. It adds up the total from the sums by channel.
func addBuckets(tx *store.Tx, r ledger.Reading, q exposure.ReportQuery, sums *exposure.Exposure) error {
	total := []exposure.View{exposure.ChannelView}
	v, cubed := exposure.ViewFor(q, len(r.Channels) > 0)
	if !cubed {
		if err := ledger.BucketsOn(tx, r, sums.AddBucket); err != nil {
			return err
		}
		return ledger.ExposureOn(tx, r, total, func(_ exposure.View, c exposure.Cell, t exposure.Tally) {
			sums.AddTotal(c, t)
		})
	}
	views := total
	if v != exposure.ChannelView {
		views = append(views, v)
	}
	err := ledger.ExposureOn(tx, r, views, func(of exposure.View, c exposure.Cell, t exposure.Tally) {
		if of == v {
			sums.AddRows(v, c, t)
		}
		if of == exposure.ChannelView {
			sums.AddTotal(c, t)
		}
	})
	if back := sums.TakeBack(); err == nil && len(back) > 0 {
		r.Channels = back
		err = ledger.BucketsOn(tx, r, sums.TakeBackBucket)
	}
	return err
}

// tooLarge makes a fault of a figure that is too large for the currency of the report, because the caller has chosen
// that currency.
func tooLarge(err error) error {
	if errors.Is(err, money.ErrRange) {
		return &errs.Error{
			Kind: errs.Invalid, Message: "Invalid parameter(s): currency", Err: err,
			Params: map[string]string{"currency": "An amount is too large to be shown in this currency."},
		}
	}
	if err != nil {
		return fmt.Errorf("exposure: %w", err)
	}
	return nil
}
