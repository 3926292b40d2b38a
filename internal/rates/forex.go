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

// Feeds returns the present forex feed of each base currency. A feed says what one unit of the base currency costs in
// every currency with a recent fixing, with the margin of the deployment.
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
		fixings, err := fixingsWithin(tx, ProvidersOf(site), money.Currencies(), today-civil.Day(age), today, tx.Now)
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
