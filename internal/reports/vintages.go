package reports

import (
	"context"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/ledger"
	"holdfast/internal/merchants"
	"holdfast/internal/protection"
)

// VintageQuery asks what has become of the payments of a channel.
type VintageQuery struct {
	Problems fault.Problems
	ledger.Moment
	ChannelID int64
}

// VintageReport has the payments of a channel by their months, and the sums for each currency. Final: it can no longer change
// (R0).
type VintageReport struct {
	AsOf    civil.Day
	KnownAt time.Time
	Final   bool
	Rows    []protection.Vintage
	Totals  []protection.Vintage
}

// vintagePage is how many allocations are read with their premium at once. It bounds the memory of the report.
const vintagePage = 500

// Vintages tells for each month of payment of a channel how much was refunded and charged back, and how much of the premium is
// earned (R10). It reads all payments of the channel.
func (e *Exposure) Vintages(ctx context.Context, actor auth.Actor, in VintageQuery) (VintageReport, error) {
	return core.Read(ctx, e.Core, actor, func(tx *db.Tx) (report VintageReport, err error) {
		p := in.Problems.Clone()
		report.AsOf, report.KnownAt = in.Complete(tx.Now, &p)
		if err := merchants.CheckChannels(tx, actor.SiteID, []int64{in.ChannelID}, &p); err != nil {
			return report, err
		}
		if err := p.Err(); err != nil {
			return report, err
		}
		sums := protection.NewVintages(report.AsOf, report.KnownAt)
		if err := addVintages(tx, actor.SiteID, in.ChannelID, report, sums); err != nil {
			return report, err
		}
		report.Rows, report.Totals = sums.List()
		report.Final, err = isFinal(tx, actor.SiteID, report.KnownAt)
		return report, err
	})
}

// addVintages reads the allocations of a channel, and page by page their premium lines.
func addVintages(tx *db.Tx, siteID, channelID int64, at VintageReport, sums *protection.Vintages) error {
	var page []protection.History
	add := func() error {
		ids := make([]int64, len(page))
		for i, h := range page {
			ids[i] = h.ID
		}
		lines, err := ledger.PremiumOfEach(tx, siteID, ids)
		if err != nil {
			return err
		}
		for _, h := range page {
			if err := sums.Add(h, lines[h.ID]); err != nil {
				return err
			}
		}
		page = page[:0]
		return nil
	}
	err := ledger.HistoriesOfChannel(tx, siteID, channelID, at.AsOf, at.KnownAt, func(h protection.History) error {
		if page = append(page, h); len(page) < vintagePage {
			return nil
		}
		return add()
	})
	if err != nil {
		return err
	}
	return add()
}
