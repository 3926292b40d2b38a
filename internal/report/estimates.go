package report

import (
	"context"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/limits"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// EstimateQuery describes a Model or a WhatIf. Zero values are the defaults: today, everything known now, the policy
// currency, all channels, the shipped bands.
type EstimateQuery struct {
	Problems errs.Problems
	ledger.Moment
	Currency money.Currency
	Channels []int64
	Bands    estimate.Bands // for a Model only
}

// ModelReport compares an estimate with the actual exposure. It has the names that the channels had at its moment.
type ModelReport struct {
	estimate.ModelReport
	Final        bool
	ChannelNames map[int64]string
}

// WhatIfReport is the cost of a failure of channels. It has the names of the channels at its moment.
type WhatIfReport struct {
	exposure.WhatIfReport
	Final        bool
	ChannelNames map[int64]string
}

// complete fills in the defaults and reads the rates of the day.
func (in EstimateQuery) complete(tx *store.Tx, site merchant.Site) (q exposure.ReportQuery, rates *fx.Table, err error) {
	q, err = in.exposure().complete(tx, site)
	if err != nil {
		return q, nil, err
	}
	rates, err = ratesOn(tx, site, q, q.AsOf)
	return q, rates, err
}

// exposure returns the query for the exposure with which the estimate is compared.
func (in EstimateQuery) exposure() ExposureQuery {
	return ExposureQuery{
		Problems: in.Problems, Moment: in.Moment, Currency: in.Currency,
		Scope: exposure.Scope{Channels: in.Channels},
	}
}

// Model estimates exposure from card turnover alone, and compares that with the actual exposure of the same channels.
func (e *Exposure) Model(ctx context.Context, actor access.Actor, in EstimateQuery) (ModelReport, error) {
	return sites.Report(ctx, e.DB, actor, func(tx *store.Tx) (report ModelReport, err error) {
		site, err := merchants.Site(tx, actor.SiteID)
		if err != nil {
			return report, err
		}
		q, rates, err := in.complete(tx, site)
		if err != nil {
			return report, err
		}
		bands := in.bands()
		var turnover []estimate.Turnover
		first := bands.FirstDay(q.AsOf)
		err = payments.Turnover(tx, site.ID, first, q.AsOf, q.KnownAt, in.Channels, func(t estimate.Turnover) error {
			turnover = append(turnover, t)
			return nil
		})
		if err != nil {
			return report, err
		}
		actual := exposure.NewExposure(q, rates)
		if err := sumUp(tx, site.ID, q, actual); err != nil {
			return report, tooLarge(err)
		}
		sums, err := actual.Report()
		if err != nil {
			return report, tooLarge(err)
		}
		if report.ModelReport, err = estimate.Model(sums, turnover, bands, rates); err != nil {
			return report, tooLarge(err)
		}
		if report.Final, err = isFinal(tx, site.ID, q.KnownAt); err != nil {
			return report, err
		}
		report.ChannelNames, err = ledger.ChannelNamesAt(tx, site.ID, q.KnownAt)
		return report, err
	})
}

// bands are those of the query, or the shipped ones.
func (in EstimateQuery) bands() estimate.Bands {
	if len(in.Bands) == 0 {
		return estimate.ShippedBands()
	}
	return in.Bands
}

// WhatIf computes the loss if channels fail at the end of a day: those of the query, or all if it names none.
func (e *Exposure) WhatIf(ctx context.Context, actor access.Actor, in EstimateQuery) (WhatIfReport, error) {
	done := false
	report, err := sites.Read(ctx, e.DB, actor, func(tx *store.Tx) (report WhatIfReport, err error) {
		site, q, err := in.exposure().on(tx, actor.SiteID)
		if err == nil {
			done, err = cubesKnow(tx, site.ID, q)
		}
		if err != nil || !done {
			return report, err
		}
		return whatIf(tx, site, q)
	})
	if err != nil || done {
		return report, err
	}
	return sites.Report(ctx, e.DB, actor, func(tx *store.Tx) (report WhatIfReport, err error) {
		site, q, err := in.exposure().on(tx, actor.SiteID)
		if err != nil {
			return report, err
		}
		return whatIf(tx, site, q)
	})
}

func whatIf(tx *store.Tx, site merchant.Site, q exposure.ReportQuery) (report WhatIfReport, err error) {
	rates, err := ratesOn(tx, site, q, q.AsOf)
	if err != nil {
		return report, err
	}
	sums := exposure.NewWhatIf(q, rates)
	if err := addFailing(tx, site.ID, q, sums); err != nil {
		return report, tooLarge(err)
	}
	netting, err := nettingOf(tx, site.ID, q, rates)
	if err != nil {
		return report, err
	}
	limits, err := limits.LimitsUpTo(tx, site.ID, q.AsOf)
	if err != nil {
		return report, err
	}
	if report.WhatIfReport, err = sums.Report(netting, limits, q.KnownAt); err != nil {
		return report, tooLarge(err)
	}
	report.Final, report.ChannelNames, err = headOf(tx, site.ID, q)
	return report, err
}

// addFailing adds up the exposure of the failing merchants: from the cubes or the buckets if they are enough, else from
// the allocations.
func addFailing(tx *store.Tx, siteID int64, q exposure.ReportQuery, sums *exposure.WhatIf) error {
	rows, err := needsRows(tx, siteID, q)
	switch {
	case err != nil:
		return err
	case rows:
		return positions(tx, siteID, q, sums.Add)
	}
	r := readingOf(tx, siteID, q)
	later, others, err := ledger.LaterPacks(tx, r)
	switch {
	case err != nil:
		return err
	case later > others: // cubes have the current knowledge
		return bucketsIn(tx, siteID, q, sums.AddBucket)
	}
	return ledger.ExposureOn(tx, r, exposure.WhatIfViews(len(r.Channels) > 0), sums.AddCell)
}

// nettingOf reads the collateral of the report's channels.
func nettingOf(
	tx *store.Tx, siteID int64, q exposure.ReportQuery, rates *fx.Table,
) (*exposure.Netting, error) {
	held, err := ledger.CollateralOn(tx, siteID, q.Scope.Channels, q.AsOf, q.KnownAt)
	if err != nil {
		return nil, err
	}
	n, err := exposure.NewNetting(held, rates, q.Currency, q.AsOf, q.KnownAt)
	return n, tooLarge(err)
}
