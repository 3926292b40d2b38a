package app

import (
	"context"
	"fmt"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fx"
	"holdfast/internal/money"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

// Feeds gives the forex feed of each of the given base currencies as of now: what a unit of it costs in every currency
// that has a fixing on file that is young enough, with the deployment's margin.
func (c *Channels) Feeds(
	ctx context.Context, actor auth.Actor, bases []money.Currency,
) (map[money.Currency][]fx.FeedRate, error) {
	return read(ctx, c.Core, actor, func(tx *store.Tx) (map[money.Currency][]fx.FeedRate, error) {
		feeds := map[money.Currency][]fx.FeedRate{}
		if len(bases) == 0 {
			return feeds, nil
		}
		site, err := store.Site(tx, actor.SiteID)
		if err != nil {
			return nil, err
		}
		today, age := civil.DayOf(tx.Now), site.Policy.MaxFixingAgeDays
		fixings, err := store.FixingsWithin(tx, providersOf(site), money.Currencies(), today-civil.Day(age), today, tx.Now)
		if err != nil {
			return nil, err
		}
		table := fx.NewTable(fixings)
		for _, base := range bases {
			if _, done := feeds[base]; !done {
				feeds[base] = fx.Feed(table, base, today, tx.Now, int(age), c.ForexMargin)
			}
		}
		return feeds, nil
	})
}

// RotateSecret gives a channel another secret: auth strings of the payment modal, and hashes of transactions, that were
// made with the one before are wrong from now on.
func (c *Channels) RotateSecret(ctx context.Context, actor auth.Actor, id, ifVersion int64) (travel.Channel, error) {
	if err := actor.Require(auth.SetChannelTerms); err != nil {
		return travel.Channel{}, err
	}
	secret, err := auth.NewChannelSecret(c.Random)
	if err != nil {
		return travel.Channel{}, fmt.Errorf("drawing a channel secret: %w", err)
	}
	changed, err := write(ctx, c.Core, actor, func(tx *store.Tx) (travel.Channel, error) {
		channel, err := store.LockChannel(tx, actor.SiteID, id)
		if err != nil {
			return channel, err
		}
		if err := checkVersion(ifVersion, channel.Version-1); err != nil {
			return channel, err
		}
		if err := store.SetChannelSecret(tx, actor.SiteID, id, secret); err != nil {
			return channel, err
		}
		channel.Secret, channel.ModifiedAt = secret, tx.Now
		shown := auditChannel(channel) // that it was done, and nothing of what it is
		return channel, audit(tx, actor, "channel.secret", channelObject(channel), shown, shown)
	})
	return changed, unknownChannel(err, id)
}
