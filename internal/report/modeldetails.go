package report

import (
	"context"
	"errors"

	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// ModelDetailsReport has one page of the items behind a model.
type ModelDetailsReport struct {
	Query        exposure.ReportQuery
	Bands        estimate.Bands
	Final        bool
	ChannelNames map[int64]string
	Items        store.List[estimate.ModelDetail]
}

// ModelDetails lists the items behind a model, one page of them: first the payments behind the estimates, in order of
// transactions, and then the allocations behind E1, in order of bookings. For each channel and currency, the turnovers times
// their shares add up to the estimate before it is rounded, and the allocations to its E1.
func (e *Exposure) ModelDetails(
	ctx context.Context, actor access.Actor, in EstimateQuery, page store.Page,
) (report ModelDetailsReport, err error) {
	return sites.Report(ctx, e.DB, actor, func(tx *store.Tx) (report ModelDetailsReport, err error) {
		pages := pager[ModelDetailsReport, estimate.ModelDetail]{page: page}
		if report, err = in.each(tx, actor.SiteID, pages.add); err == nil || errors.Is(err, errEnough) {
			report.Items, err = pages.end(err)
		}
		return report, err
	})
}

// EachModelDetail calls each for every item behind a model, with the report without items.
func (e *Exposure) EachModelDetail(
	ctx context.Context, actor access.Actor, in EstimateQuery, each func(ModelDetailsReport, estimate.ModelDetail) error,
) (ModelDetailsReport, error) {
	return sites.Report(ctx, e.DB, actor, func(tx *store.Tx) (ModelDetailsReport, error) {
		report, err := in.each(tx, actor.SiteID, each)
		return report, err
	})
}

func (in EstimateQuery) each(
	tx *store.Tx, siteID int64, each func(ModelDetailsReport, estimate.ModelDetail) error,
) (report ModelDetailsReport, err error) {
	site, err := merchants.Site(tx, siteID)
	if err != nil {
		return report, err
	}
	if report.Query, _, err = in.complete(tx, site); err != nil {
		return report, err
	}
	q := report.Query
	report.Bands = in.bands()
	if report.Final, report.ChannelNames, err = headOf(tx, siteID, q); err != nil {
		return report, err
	}
	shares := estimate.NewModelShares(report.Bands, q.AsOf)
	err = payments.TurnoverParts(tx, siteID, report.Bands.FirstDay(q.AsOf), q.AsOf, q.KnownAt, in.Channels, func(p estimate.TurnoverPart) error {
		return each(report, shares.Detail(p))
	})
	if err != nil {
		return report, err
	}
	_, err = DetailsQuery{ExposureQuery: in.exposure()}.each(tx, siteID, func(_ DetailsReport, d exposure.Detail) error {
		if d.Category != exposure.Covered || d.E1 == 0 {
			return nil
		}
		return each(report, estimate.ModelDetail{
			Figure: estimate.FigureE1, ChannelID: d.ChannelID, Currency: d.Currency, BookingID: d.BookingID,
			TransactionID: d.TransactionID, PaymentID: d.AllocationID, E1: d.E1,
		})
	})
	return report, err
}
