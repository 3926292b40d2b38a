package app

import (
	"context"
	"errors"
	"fmt"

	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

// Channels is what can be done with channels.
type Channels struct {
	*Core
}

// Get reads one channel of the actor's site.
func (c *Channels) Get(ctx context.Context, actor auth.Actor, id int64) (travel.Channel, error) {
	found, err := read(ctx, c.Core, actor, func(tx *store.Tx) (travel.Channel, error) {
		return tx.Channel(actor.SiteID, id)
	})
	return shownTo(actor, found), unknownChannel(err, id)
}

// ByName reads the channel of the actor's site with exactly this name; of several, the oldest.
func (c *Channels) ByName(ctx context.Context, actor auth.Actor, name string) (travel.Channel, error) {
	found, err := read(ctx, c.Core, actor, func(tx *store.Tx) (travel.Channel, error) {
		return tx.ChannelByName(actor.SiteID, name)
	})
	return shownTo(actor, found), unknownAs(fault.UnknownTerm, err, "There is no channel with the name %q.", name)
}

// List reads one page of the channels of the actor's site.
func (c *Channels) List(
	ctx context.Context, actor auth.Actor, filter travel.ChannelFilter, page travel.Page,
) (travel.List[travel.Channel], error) {
	list, err := read(ctx, c.Core, actor, func(tx *store.Tx) (travel.List[travel.Channel], error) {
		return tx.Channels(actor.SiteID, filter, page)
	})
	for i, channel := range list.Items {
		list.Items[i] = shownTo(actor, channel)
	}
	return list, err
}

// Create makes a channel of the actor's site.
func (c *Channels) Create(ctx context.Context, actor auth.Actor, in travel.ChannelFields) (travel.Channel, error) {
	if err := actor.Require(auth.WriteChannels); err != nil {
		return travel.Channel{}, err
	}
	// Drawn once, outside the write, which may run more than once: a repetition makes the same channel.
	secret, err := auth.NewChannelSecret(c.Random)
	if err != nil {
		return travel.Channel{}, fmt.Errorf("drawing a channel secret: %w", err)
	}
	id := c.NewUUID()
	var made travel.Channel
	err = c.Store.Write(ctx, func(tx *store.Tx) error {
		site, err := tx.Site(actor.SiteID)
		if err != nil {
			return err
		}
		problems := in.Problems.Clone()
		channel := in.NewChannel(site, actor.Can(auth.SetChannelTerms), &problems)
		channel.UUID, channel.Secret = id, secret
		if err := noteUnknownSuppliers(tx, actor.SiteID, channel.Suppliers, &problems); err != nil {
			return err
		}
		if err := problems.Err(); err != nil {
			return err
		}
		if made, err = tx.InsertChannel(channel); err != nil {
			return err
		}
		return once(tx, actor, in.Once, made.ID)
	})
	return shownTo(actor, made), err
}

// Change sets the given fields of a channel. Fields that are the operator's are ignored from anyone else.
func (c *Channels) Change(ctx context.Context, actor auth.Actor, id int64, in travel.ChannelFields) (travel.Channel, error) {
	if err := actor.Require(auth.WriteChannels); err != nil {
		return travel.Channel{}, err
	}
	var changed travel.Channel
	err := c.Store.Write(ctx, func(tx *store.Tx) error {
		stored, err := tx.LockChannel(actor.SiteID, id)
		if err != nil {
			return err
		}
		if err := checkVersion(in.IfVersion, stored.Version-1); err != nil {
			return err
		}
		hasBookings, err := tx.ChannelHasBookings(actor.SiteID, id)
		if err != nil {
			return err
		}
		problems := in.Problems.Clone()
		channel := in.Change(stored, hasBookings, actor.Can(auth.SetChannelTerms), &problems)
		if err := noteUnknownSuppliers(tx, actor.SiteID, channel.Suppliers, &problems); err != nil {
			return err
		}
		if err := problems.Err(); err != nil {
			return err
		}
		changed, err = tx.UpdateChannel(channel)
		return err
	})
	return shownTo(actor, changed), unknownChannel(err, id)
}

// Delete removes a channel that has no bookings. A version other than 0 must be the stored one.
func (c *Channels) Delete(ctx context.Context, actor auth.Actor, id, ifVersion int64) error {
	if err := actor.Require(auth.WriteChannels); err != nil {
		return err
	}
	inUse := fault.New(fault.InUse, "Channel %d has bookings, or had some that were deleted, and cannot be deleted.", id)
	err := c.Store.Write(ctx, func(tx *store.Tx) error {
		stored, err := tx.LockChannel(actor.SiteID, id)
		if err != nil {
			return err
		}
		if err := checkVersion(ifVersion, stored.Version-1); err != nil {
			return err
		}
		has, err := tx.ChannelHasBookings(actor.SiteID, id)
		if err != nil {
			return err
		}
		if has {
			return inUse
		}
		return tx.DeleteChannel(actor.SiteID, id)
	})
	// A booking that was made between the look and the removal is found by its foreign key.
	if errors.Is(err, store.ErrConflict) {
		return inUse
	}
	return unknownChannel(err, id)
}

// shownTo hides the secret of a channel from whoever may not sign with it.
func shownTo(actor auth.Actor, c travel.Channel) travel.Channel {
	if !actor.Can(auth.SeeChannelSecret) {
		c.Secret = ""
	}
	return c
}

func unknownChannel(err error, id int64) error {
	return unknownAs(fault.UnknownTerm, err, "There is no channel %d.", id)
}
