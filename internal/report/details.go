package report

import (
	"context"
	"errors"
	"slices"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// DetailsQuery selects the items behind an exposure, a run-off, an ageing or a what-if. By and Across are not used.
type DetailsQuery struct {
	ExposureQuery
	On    *civil.Day // a later day of the run-off; nil: the day of the report
	Bands []string   // of the ageing: only undelivered amounts in one of these bands
	Page  store.Page
}

// DetailsReport has one page of the items behind a report.
type DetailsReport struct {
	Query        exposure.ReportQuery
	On           civil.Day
	Final        bool
	ChannelNames map[int64]string
	Items        store.List[exposure.Detail]
}

// MovementDetailsReport has one page of the items behind a movement.
type MovementDetailsReport struct {
	Query        exposure.MovementQuery
	Final        bool
	ChannelNames map[int64]string
	Items        store.List[exposure.MovementDetail]
}

// errEnough ends a read: the page is full, and the total was not requested.
var errEnough = errors.New("enough")

// pager keeps the items of one page, and counts the others.
type pager[R, T any] struct {
	page store.Page
	seen int64
	list store.List[T]
}

func (g *pager[R, T]) add(_ R, item T) error {
	first := int64(g.page.Skip())
	switch at := g.seen - first; {
	case at >= 0 && at < int64(g.page.Size):
		g.list.Items = append(g.list.Items, item)
	case at >= int64(g.page.Size):
		g.list.More = true
		if !g.page.Count {
			return errEnough
		}
	}
	g.seen++
	return nil
}

// end returns the page, and the error of the reading.
func (g *pager[R, T]) end(err error) (store.List[T], error) {
	if errors.Is(err, errEnough) {
		err = nil
	}
	g.list.Total = g.seen
	g.list.PastEnd = pastEnd(g.page, len(g.list.Items), g.seen)
	return g.list, err
}

// Details lists the allocations and bookings behind a report, a page of them, in order of bookings and payments. They add
// up to the figures of the report of the same query.
func (e *Exposure) Details(ctx context.Context, actor access.Actor, in DetailsQuery) (report DetailsReport, err error) {
	return sites.Report(ctx, e.DB, actor, func(tx *store.Tx) (report DetailsReport, err error) {
		pages := pager[DetailsReport, exposure.Detail]{page: in.Page}
		if report, err = in.each(tx, actor.SiteID, pages.add); err == nil || errors.Is(err, errEnough) {
			report.Items, err = pages.end(err)
		}
		return report, err
	})
}

// EachDetail calls each for every item behind a report, with the report without items.
func (e *Exposure) EachDetail(
	ctx context.Context, actor access.Actor, in DetailsQuery, each func(DetailsReport, exposure.Detail) error,
) (DetailsReport, error) {
	return sites.Report(ctx, e.DB, actor, func(tx *store.Tx) (DetailsReport, error) {
		report, err := in.each(tx, actor.SiteID, each)
		return report, err
	})
}

// complete checks the query and fills in its defaults.
func (in DetailsQuery) complete(tx *store.Tx, siteID int64) (report DetailsReport, site merchant.Site, err error) {
	problems := in.Problems.Clone()
	today := civil.DayOf(tx.Now)
	if in.AsOf != nil {
		today = *in.AsOf
	}
	if in.On != nil && *in.On < today {
		problems.Wrong("on", "Must not be before the day of the report, %s.", today)
	}
	for _, name := range in.Bands {
		if !slices.ContainsFunc(exposure.AgeBands, func(b exposure.AgeBand) bool { return b.Name == name }) {
			problems.Wrong("bands", "Unknown band %q.", name)
		}
	}
	query := in.ExposureQuery
	query.Problems = problems
	if site, report.Query, err = query.on(tx, siteID); err != nil {
		return report, site, err
	}
	if report.On = report.Query.AsOf; in.On != nil {
		report.On = *in.On
	}
	report.Final, report.ChannelNames, err = headOf(tx, siteID, report.Query)
	return report, site, err
}

// headOf says whether a report is final, and the names that the channels had at its moment.
func headOf(tx *store.Tx, siteID int64, q exposure.ReportQuery) (final bool, names map[int64]string, err error) {
	if final, err = isFinal(tx, siteID, q.KnownAt); err == nil {
		names, err = ledger.ChannelNamesAt(tx, siteID, q.KnownAt)
	}
	return final, names, err
}

func (in DetailsQuery) each(
	tx *store.Tx, siteID int64, each func(DetailsReport, exposure.Detail) error,
) (DetailsReport, error) {
	report, site, err := in.complete(tx, siteID)
	if err != nil {
		return report, err
	}
	rates, err := ratesOn(tx, site, report.Query, report.Query.AsOf)
	if err != nil {
		return report, err
	}
	unprotected, err := merchants.UnprotectedChannels(tx, siteID, report.Query.AsOf, report.Query.KnownAt)
	if err != nil {
		return report, err
	}
	details := exposure.NewDetails(report.Query, report.On, rates, unprotected, func(d exposure.Detail) error {
		if len(in.Bands) > 0 && !(d.Category == exposure.Covered && slices.Contains(in.Bands, d.Band)) {
			return nil
		}
		return each(report, d)
	})
	if err = positions(tx, siteID, report.Query, details.Add); err == nil {
		err = details.Close()
	}
	return report, tooLarge(err)
}

// MovementDetails lists the allocations behind a movement, a page of them, in order of their ids. They add up to its rows.
func (e *Exposure) MovementDetails(
	ctx context.Context, actor access.Actor, in MovementQuery, page store.Page,
) (report MovementDetailsReport, err error) {
	return sites.Report(ctx, e.DB, actor, func(tx *store.Tx) (report MovementDetailsReport, err error) {
		pages := pager[MovementDetailsReport, exposure.MovementDetail]{page: page}
		if report, err = in.each(tx, actor.SiteID, pages.add); err == nil || errors.Is(err, errEnough) {
			report.Items, err = pages.end(err)
		}
		return report, err
	})
}

// EachMovementDetail calls each for every item behind a movement, with the report without items.
func (e *Exposure) EachMovementDetail(
	ctx context.Context, actor access.Actor, in MovementQuery, each func(MovementDetailsReport, exposure.MovementDetail) error,
) (MovementDetailsReport, error) {
	return sites.Report(ctx, e.DB, actor, func(tx *store.Tx) (MovementDetailsReport, error) {
		report, err := in.each(tx, actor.SiteID, each)
		return report, err
	})
}

func (in MovementQuery) each(
	tx *store.Tx, siteID int64, each func(MovementDetailsReport, exposure.MovementDetail) error,
) (report MovementDetailsReport, err error) {
	site, q, err := in.movement(tx, siteID)
	if err != nil {
		return report, err
	}
	report.Query = q
	if report.Final, report.ChannelNames, err = headOf(tx, siteID, q.ReportQuery); err != nil {
		return report, err
	}
	opening, closing, err := movementRates(tx, site, q)
	if err != nil {
		return report, err
	}
	movement := exposure.NewMovement(q, opening, closing)
	err = histories(tx, siteID, q.ReportQuery, func(h protection.History) error {
		d, ok, err := movement.Detail(h)
		if err != nil || !ok {
			return err
		}
		return each(report, d)
	})
	return report, tooLarge(err)
}

// movement completes the query of a movement.
func (in MovementQuery) movement(tx *store.Tx, siteID int64) (merchant.Site, exposure.MovementQuery, error) {
	query := in.ExposureQuery
	query.Problems = in.problems(civil.DayOf(tx.Now))
	if query.By == "" {
		query.By = exposure.ByCurrency
	}
	if query.Across != "" || query.By != exposure.ByCurrency && query.By != exposure.ByChannel {
		query.Problems.Wrong("by", "Must be one of: currency, channel.")
	}
	site, q, err := query.on(tx, siteID)
	if err != nil {
		return site, exposure.MovementQuery{}, err
	}
	return site, exposure.MovementQuery{ReportQuery: q, From: *in.From}, nil
}

// movementRates reads the fixings of the first and of the last day of a movement.
func movementRates(tx *store.Tx, site merchant.Site, q exposure.MovementQuery) (opening, closing *fx.Table, err error) {
	if opening, err = ratesOn(tx, site, q.ReportQuery, q.From); err == nil {
		closing, err = ratesOn(tx, site, q.ReportQuery, q.AsOf)
	}
	return opening, closing, err
}
