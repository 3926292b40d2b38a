package rates

import (
	"context"

	"holdfast/internal/book/fixings"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Feeds returns the present forex feed of each base currency. A feed says what one unit of the base currency costs in
// every currency with a recent fixing, with the margin of the deployment.
func (r *Rates) Feeds(
	ctx context.Context, actor access.Actor, bases []money.Currency,
) (map[money.Currency][]fx.FeedRate, error) {
	return sites.Read(ctx, r.DB, actor, func(tx *store.Tx) (map[money.Currency][]fx.FeedRate, error) {
		feeds := map[money.Currency][]fx.FeedRate{}
		if len(bases) == 0 {
			return feeds, nil
		}
		site, err := merchants.Site(tx, actor.SiteID)
		if err != nil {
			return nil, err
		}
		today, age := civil.DayOf(tx.Now), site.Policy.MaxFixingAgeDays
		fixings, err := fixings.Within(tx, fixings.ProvidersOf(site), money.Currencies(), today-civil.Day(age), today, tx.Now)
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
