package rates

import (
	"context"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fx"
	"holdfast/internal/merchants"
	"holdfast/internal/money"
)

// Feeds gives the forex feed of each of the given base currencies as of now: what a unit of it costs in every currency
// that has a fixing on file that is young enough, with the deployment's margin.
func (r *Rates) Feeds(
	ctx context.Context, actor auth.Actor, bases []money.Currency,
) (map[money.Currency][]fx.FeedRate, error) {
	return core.Read(ctx, r.Core, actor, func(tx *db.Tx) (map[money.Currency][]fx.FeedRate, error) {
		feeds := map[money.Currency][]fx.FeedRate{}
		if len(bases) == 0 {
			return feeds, nil
		}
		site, err := merchants.Site(tx, actor.SiteID)
		if err != nil {
			return nil, err
		}
		today, age := civil.DayOf(tx.Now), site.Policy.MaxFixingAgeDays
		fixings, err := FixingsWithin(tx, ProvidersOf(site), money.Currencies(), today-civil.Day(age), today, tx.Now)
		if err != nil {
			return nil, err
		}
		table := fx.NewTable(fixings)
		for _, base := range bases {
			if _, done := feeds[base]; !done {
				feeds[base] = fx.Feed(table, base, today, tx.Now, int(age), r.ForexMargin)
			}
		}
		return feeds, nil
	})
}
