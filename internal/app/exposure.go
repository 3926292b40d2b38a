package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

// Exposure answers what would be lost if merchants failed (R7).
type Exposure struct{ *Core }

// ExposureQuery asks for an exposure report. Zero values stand for the defaults: today, what is known now, the policy
// currency, spot, by channel, all channels.
type ExposureQuery struct {
	Problems fault.Problems
	Moment
	Currency  money.Currency
	Valuation protection.Valuation
	By        protection.Dimension
	Across    protection.Dimension // crossed with By
	Channels  []int64
}

// ExposureReport is an exposure report with the names that its keys had then.
type ExposureReport struct {
	protection.Report
	Final        bool // asking again gives the same bytes for ever
	ChannelNames map[int64]string
	Net          protection.NetExposure
}

// Moment is what every report is about: the end of a day, as known at an instant. Zero values stand for today and for
// what is known now.
type Moment struct {
	AsOf    *civil.Day
	KnownAt time.Time
}

// complete fills in the defaults and notes what cannot be known.
func (m Moment) complete(now time.Time, p *fault.Problems) (asOf civil.Day, knownAt time.Time) {
	asOf, knownAt = civil.DayOf(now), now
	if m.AsOf != nil {
		asOf = *m.AsOf
	}
	if !m.KnownAt.IsZero() {
		knownAt = m.KnownAt
	}
	if knownAt.After(now) {
		p.Wrong("known_at", "Nobody knows yet what will be known then.")
	}
	return asOf, knownAt
}

// Report computes an exposure report.
func (e *Exposure) Report(ctx context.Context, actor auth.Actor, in ExposureQuery) (ExposureReport, error) {
	return read(ctx, e.Core, actor, func(tx *store.Tx) (report ExposureReport, err error) {
		site, err := store.Site(tx, actor.SiteID)
		if err != nil {
			return report, err
		}
		q, err := in.complete(tx, site)
		if err != nil {
			return report, err
		}
		if report, err = exposureOf(tx, site, q, in); err != nil {
			return report, err
		}
		if report.Final, err = isFinal(tx, site.ID, q.KnownAt); err != nil {
			return report, err
		}
		report.ChannelNames, err = store.ChannelNamesAt(tx, site.ID, q.KnownAt)
		return report, err
	})
}

// complete fills in the defaults and refuses what cannot be answered, naming every wrong parameter.
func (in ExposureQuery) complete(tx *store.Tx, site travel.Site) (protection.ReportQuery, error) {
	p := in.Problems.Clone()
	q := protection.ReportQuery{
		Currency:  in.Currency,
		Valuation: cmp.Or(in.Valuation, protection.Valuations[0]),
		By:        cmp.Or(in.By, protection.Dimensions[0]),
		Across:    in.Across,
	}
	q.AsOf, q.KnownAt = in.Moment.complete(tx.Now, &p)
	if !slices.Contains(protection.Valuations, q.Valuation) {
		p.Wrong("valuation", "This is not one of spot, locked.")
	}
	if !slices.Contains(protection.Dimensions, q.By) || q.Across != "" && !slices.Contains(protection.Dimensions, q.Across) {
		p.Wrong("by", "This is not one of channel, month, currency, scheme, country, supplier, or two of them with a comma.")
	}
	if q.By == q.Across {
		p.Wrong("by", "Nothing is crossed with itself.")
	}
	policy, err := store.PolicyKnown(tx, site.ID, q.AsOf, q.KnownAt)
	if err != nil {
		return q, err
	}
	q.Recognition, q.Policy = policy.Recognition, policy.Currency
	if q.Currency == "" {
		q.Currency = policy.Currency
	}
	if q.Valuation == protection.Locked && q.Currency != policy.Currency {
		p.Wrong("currency", "Locked values exist in the policy currency, %s, alone.", policy.Currency)
	}
	return q, p.Err()
}

func exposureOf(
	tx *store.Tx, site travel.Site, q protection.ReportQuery, in ExposureQuery,
) (report ExposureReport, err error) {
	rates, err := ratesOn(tx, site, q, q.AsOf)
	if err != nil {
		return report, err
	}
	sums := protection.NewExposure(q, rates)
	if err := sumUp(tx, site.ID, q, in, sums); err != nil {
		return report, tooLarge(err)
	}
	if report.Report, err = sums.Report(); err != nil {
		return report, tooLarge(err)
	}
	held, err := store.CollateralOn(tx, site.ID, in.Channels, q.AsOf, q.KnownAt)
	if err != nil {
		return report, err
	}
	netting, err := protection.NewNetting(held, rates, q.Currency, q.AsOf, q.KnownAt)
	if err != nil {
		return report, tooLarge(err)
	}
	report.Net = report.Report.Net(netting)
	return report, nil
}

// needsRows says whether a report has to read the allocations themselves: about what was known in the past, or with a
// delivery day by day.
func needsRows(tx *store.Tx, q protection.ReportQuery) bool {
	return q.KnownAt.Before(tx.Now) || q.Recognition == travel.RecognitionLinear
}

// sumUp adds up a report, from the buckets where these can tell.
func sumUp(
	tx *store.Tx, siteID int64, q protection.ReportQuery, in ExposureQuery, sums *protection.Exposure,
) error {
	if needsRows(tx, q) {
		return store.Positions(tx, siteID, q.AsOf, q.KnownAt, in.Channels, sums.Add)
	}
	return addBuckets(tx, siteID, q, in.Channels, sums)
}

// addBuckets adds up the rows of a report, from the cube that has them or else from the buckets themselves, and its total
// from the cube that it is made of.
func addBuckets(
	tx *store.Tx, siteID int64, q protection.ReportQuery, channels []int64, sums *protection.Exposure,
) error {
	total := []protection.View{protection.ChannelView}
	v, cubed := protection.ViewFor(q, len(channels) > 0)
	if !cubed {
		if err := store.BucketsOn(tx, siteID, q.AsOf, channels, sums.AddBucket); err != nil {
			return err
		}
		return store.ExposureOn(tx, siteID, total, q.AsOf, channels, func(_ protection.View, c protection.Cell, t protection.Tally) {
			sums.AddTotal(c, t)
		})
	}
	views := total
	if v != protection.ChannelView {
		views = append(views, v)
	}
	return store.ExposureOn(tx, siteID, views, q.AsOf, channels, func(of protection.View, c protection.Cell, t protection.Tally) {
		if of == v {
			sums.AddRows(v, c, t)
		}
		if of == protection.ChannelView {
			sums.AddTotal(c, t)
		}
	})
}

// tooLarge tells the caller when a figure does not fit the report's currency: an input of its own making.
func tooLarge(err error) error {
	if errors.Is(err, money.ErrRange) {
		return &fault.Error{
			Kind: fault.Invalid, Message: "Invalid parameter(s): currency", Err: err,
			Params: map[string]string{"currency": "An amount is too large to be counted in this currency."},
		}
	}
	if err != nil {
		return fmt.Errorf("exposure: %w", err)
	}
	return nil
}
