package report

import (
	"context"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// VintageQuery selects the outcomes of a channel's payments.
type VintageQuery struct {
	Problems errs.Problems
	ledger.Moment
	ChannelID int64
}

// VintageReport has the payments of a channel by their months, and the sums for each currency. Final: it can no longer change
// (R0).
type VintageReport struct {
	AsOf    civil.Day
	KnownAt time.Time
	Final   bool
	Rows    []estimate.Vintage
	Totals  []estimate.Vintage
}

// Vintages computes for each payment month of a channel how much was refunded and charged back, and how much of the
// premium is earned (R10). It reads all payments of the channel.
func (e *Exposure) Vintages(ctx context.Context, actor access.Actor, in VintageQuery) (VintageReport, error) {
	return sites.Report(ctx, e.DB, actor, func(tx *store.Tx) (report VintageReport, err error) {
		p := in.Problems.Clone()
		report.AsOf, report.KnownAt = in.Complete(tx.Now, &p)
		if err := merchants.CheckChannels(tx, actor.SiteID, []int64{in.ChannelID}, &p); err != nil {
			return report, err
		}
		if err := p.Err(); err != nil {
			return report, err
		}
		sums := estimate.NewVintages(report.AsOf)
		if err := ledger.VintagesOf(tx, actor.SiteID, in.ChannelID, report.AsOf, report.KnownAt, sums.Add); err != nil {
			return report, err
		}
		report.Rows, report.Totals = sums.List()
		report.Final, err = isFinal(tx, actor.SiteID, report.KnownAt)
		return report, err
	})
}
