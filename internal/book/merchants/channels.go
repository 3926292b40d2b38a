// Package merchants keeps what an operator and a merchant agree on: channels with their credentials at processors,
// suppliers, and policies with their rate cards. It owns the tables channels, channel_*, suppliers, policies and
// rate_card_lines. Begin reading at Channels.
package merchants

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/errs"
	"holdfast/internal/platform/core"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// Channels are the use cases of channels.
type Channels struct {
	*core.Core
	hasBookings     OfChannel
	hasOpenPayments OfChannel
}

// OfChannel answers yes or no to a question about one channel. The rooms that own the rows answer it.
type OfChannel func(tx *store.Tx, siteID, channelID int64) (bool, error)

// NewChannels makes the use cases. hasBookings reports whether a channel has bookings, and hasOpenPayments whether it has
// payments whose outcome is not known yet.
func NewChannels(c *core.Core, hasBookings, hasOpenPayments OfChannel) *Channels {
	channels := &Channels{Core: c, hasBookings: hasBookings, hasOpenPayments: hasOpenPayments}
	c.Sealed.Register(sealedColumns...)
	c.Kinds.Register(proposal.OpenCover, core.Kind{Carry: channels.carryOut, Effect: channels.effect})
	return channels
}

// Secret opens the secret of a channel that these use cases returned. It is "" for an actor who may not see it.
func (c *Channels) Secret(channel merchant.Channel) (string, error) {
	return OpenSecret(c.Core, channel.SiteID, channel.ID, channel.SealedSecret)
}

// HashOf computes the hash of a transaction, which its channel's secret signs.
func (c *Channels) HashOf(t payment.Transaction) (string, error) {
	secret, err := OpenSecret(c.Core, t.SiteID, t.ChannelID, t.SealedSecret)
	return secrets.TransactionHash(t.ID, string(t.Status), t.Total, secret), err
}

// HashesOf computes the hashes of transactions, by their ids.
func (c *Channels) HashesOf(list []payment.Transaction) (hashes map[int64]string, err error) {
	hashes = make(map[int64]string, len(list))
	for _, t := range list {
		if hashes[t.ID], err = c.HashOf(t); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}

// Get reads one channel of the actor's site.
func (c *Channels) Get(ctx context.Context, actor access.Actor, id int64) (merchant.Channel, error) {
	found, err := core.Read(ctx, c.Core, actor, func(tx *store.Tx) (merchant.Channel, error) {
		return Channel(tx, actor.SiteID, id)
	})
	return shownTo(actor, found), unknownChannel(err, id)
}

// ByName reads the channel of the actor's site with exactly this name. An error names the ids if
// several have it.
func (c *Channels) ByName(ctx context.Context, actor access.Actor, name string) (merchant.Channel, error) {
	found, err := core.Read(ctx, c.Core, actor, func(tx *store.Tx) (merchant.Channel, error) {
		return ChannelByName(tx, actor.SiteID, name)
	})
	return shownTo(actor, found), core.NotFoundAs(errs.SettingNotFound, err, "There is no channel with the name %q.", name)
}

// List reads one page of the channels of the actor's site.
func (c *Channels) List(
	ctx context.Context, actor access.Actor, filter ChannelFilter, page store.Page,
) (store.List[merchant.Channel], error) {
	list, err := core.ReadPage(ctx, c.Core, actor, page, func(tx *store.Tx) (store.List[merchant.Channel], error) {
		return ChannelsPage(tx, actor.SiteID, filter, page)
	})
	for i, channel := range list.Items {
		list.Items[i] = shownTo(actor, channel)
	}
	return list, err
}

// drawnChannel is what chance gives a new channel.
type drawnChannel struct{ uuid, secret string }

// Create makes a channel of the actor's site. A channel whose payments are protected needs two people: outside a sandbox,
// Create stores an open proposal, and returns it in an otherwise empty channel.
func (c *Channels) Create(ctx context.Context, actor access.Actor, in merchant.ChannelFields) (merchant.Channel, error) {
	if err := actor.Require(access.WriteChannels); err != nil {
		return merchant.Channel{}, err
	}
	// Drawn once: the write may run more than once, and makes the same channel.
	draw := sync.OnceValues(func() (drawn drawnChannel, err error) {
		drawn.uuid = c.NewUUID()
		if drawn.secret, err = secrets.NewChannelSecret(c.Random); err != nil {
			err = fmt.Errorf("drawing a channel secret: %w", err)
		}
		return drawn, err
	})
	create := func(tx *store.Tx) (made merchant.Channel, outcome core.Outcome, err error) {
		drawn, err := draw()
		if err != nil {
			return made, outcome, err
		}
		channel, err := c.newChannel(tx, actor, in)
		if err != nil {
			return made, outcome, err
		}
		channel.UUID = drawn.uuid
		insert := func() (any, error) {
			made, err = c.insert(tx, actor, channel, drawn.secret, in.ProcessorFields)
			return channelResult{made.ID}, err
		}
		if !channel.Covered() {
			_, err := insert()
			return made, core.Outcome{ID: made.ID}, err
		}
		if err := refuseKey(in.ProcessorFields, merchant.Channel{}, channel); err != nil {
			return made, outcome, err
		}
		p, err := c.Request(tx, actor, proposal.Proposal{
			Kind: proposal.OpenCover, Subject: "new channel " + channel.Name, Reason: in.Reason,
		}, openCover{ChannelFields: in}, insert)
		if err == nil && p.State == proposal.Open {
			return merchant.Channel{Proposal: &p}, core.Outcome{ProposalID: p.ID}, nil
		}
		return made, core.Outcome{ID: made.ID}, err
	}
	made, err := core.Once(ctx, c.Core, actor, create, c.again(actor))
	return shownTo(actor, made), err
}

// again returns the function that reads what an earlier request made or changed: a channel, or an open proposal.
func (c *Channels) again(actor access.Actor) func(ctx context.Context, made core.Outcome) (merchant.Channel, error) {
	return func(ctx context.Context, made core.Outcome) (merchant.Channel, error) {
		if made.ProposalID == 0 {
			return c.Get(ctx, actor, made.ID)
		}
		proposal, err := core.FindProposal(ctx, c.Core, actor, made.ProposalID)
		return merchant.Channel{Proposal: &proposal}, err
	}
}

// newChannel makes a channel from its fields and checks it. It does not store it.
func (c *Channels) newChannel(tx *store.Tx, actor access.Actor, in merchant.ChannelFields) (merchant.Channel, error) {
	in.Profile = c.Profile
	site, err := Site(tx, actor.SiteID)
	if err != nil {
		return merchant.Channel{}, err
	}
	problems := in.Problems.Clone()
	channel := in.NewChannel(site, actor.Can(access.SetChannelTerms), &problems)
	if err := NoteUnknownSuppliers(tx, actor.SiteID, channel.Suppliers, &problems); err != nil {
		return merchant.Channel{}, err
	}
	return channel, problems.Err()
}

// insert stores a new channel, with the key of its tokenizer.
func (c *Channels) insert(
	tx *store.Tx, actor access.Actor, channel merchant.Channel, secret string, in merchant.ProcessorFields,
) (merchant.Channel, error) {
	made, err := MakeChannel(c.Core, tx, channel, secret)
	if err != nil {
		return made, err
	}
	if err := c.keepTokenizerKey(tx, merchant.Channel{}, made, in); err != nil {
		return made, err
	}
	return made, core.Record(tx, actor, "channel.create", channelObject(made), nil, auditChannel(made))
}

// refuseKey refuses a tokenizer's key in a change that another operator may have to approve. Such a change is stored for
// that operator to read, and nobody may read the key.
func refuseKey(in merchant.ProcessorFields, before, after merchant.Channel) error {
	if key, _ := in.NewTokenizerKey(before, after); key == "" {
		return nil
	}
	return errs.WrongField("tokenizer_api_key", "Send the key in a request of its own: this change opens cover and may wait for another operator, who would see the key.")
}

func channelObject(c merchant.Channel) string { return fmt.Sprintf("channel %d", c.ID) }

// Change sets the given fields of a channel. The fields that only the operator can set are ignored from anyone else. A
// change that opens cover needs two people: outside a sandbox, Change stores an open proposal, and returns it in the
// channel, which is otherwise as it was.
func (c *Channels) Change(ctx context.Context, actor access.Actor, id int64, in merchant.ChannelFields) (merchant.Channel, error) {
	if err := actor.Require(access.WriteChannels); err != nil {
		return merchant.Channel{}, err
	}
	changed, err := core.Once(ctx, c.Core, actor, func(tx *store.Tx) (merchant.Channel, core.Outcome, error) {
		changed, err := c.change(tx, actor, id, in)
		if changed.Proposal != nil {
			return changed, core.Outcome{ProposalID: changed.Proposal.ID}, err
		}
		return changed, core.Outcome{ID: id}, err
	}, c.again(actor))
	return shownTo(actor, changed), unknownChannel(err, id)
}

// change is Change inside a write.
func (c *Channels) change(tx *store.Tx, actor access.Actor, id int64, in merchant.ChannelFields) (changed merchant.Channel, err error) {
	stored, err := LockChannel(tx, actor.SiteID, id)
	if err != nil {
		return changed, err
	}
	if err := core.CheckVersion(in.IfVersion, stored.Version-1); err != nil {
		return changed, err
	}
	channel, err := c.changed(tx, actor, stored, in)
	if err != nil {
		return changed, err
	}
	if !opensCover(stored, channel) {
		return c.save(tx, actor, stored, channel, in.ProcessorFields)
	}
	if err := refuseKey(in.ProcessorFields, stored, channel); err != nil {
		return changed, err
	}
	p, err := c.Request(tx, actor, proposal.Proposal{
		Kind: proposal.OpenCover, Subject: channelObject(stored), Reason: in.Reason,
	}, openCover{ChannelID: id, ChannelFields: in}, func() (any, error) {
		changed, err = c.save(tx, actor, stored, channel, in.ProcessorFields)
		return channelResult{changed.ID}, err
	})
	if err == nil && p.State == proposal.Open {
		changed, err = LeaveChannel(tx, stored)
		changed.Proposal = &p
	}
	return changed, err
}

// opensCover reports whether the change makes payments of the channel protected (R2) that were not protected before. To
// unlock a channel in a mode that covers opens cover, too.
func opensCover(before, after merchant.Channel) bool {
	return after.Covered() && (!before.Covered() || before.Locked && !after.Locked)
}

// changed sets the given fields of a channel and checks them. It does not store the channel.
func (c *Channels) changed(
	tx *store.Tx, actor access.Actor, stored merchant.Channel, in merchant.ChannelFields,
) (merchant.Channel, error) {
	in.Profile = c.Profile
	hasBookings, err := c.hasBookings(tx, actor.SiteID, stored.ID)
	if err != nil {
		return stored, err
	}
	problems := in.Problems.Clone()
	channel := in.Change(stored, hasBookings, actor.Can(access.SetChannelTerms), &problems)
	if err := NoteUnknownSuppliers(tx, actor.SiteID, channel.Suppliers, &problems); err != nil {
		return stored, err
	}
	return channel, problems.Err()
}

// save stores a changed channel, with the key of its tokenizer.
func (c *Channels) save(
	tx *store.Tx, actor access.Actor, before, after merchant.Channel, in merchant.ProcessorFields,
) (merchant.Channel, error) {
	changed, err := UpdateChannel(tx, after)
	if err != nil {
		return changed, err
	}
	if err := c.keepTokenizerKey(tx, before, changed, in); err != nil {
		return changed, err
	}
	return changed, core.Record(tx, actor, "channel.change", channelObject(changed), auditChannel(before), auditChannel(changed))
}

// Delete removes a channel that nothing refers to. ifVersion is the version that the caller has read, 0 for any. Errors:
// SettingNotFound, Precondition, and InUse when the channel has bookings.
func (c *Channels) Delete(ctx context.Context, actor access.Actor, id, ifVersion int64) error {
	if err := actor.Require(access.WriteChannels); err != nil {
		return err
	}
	inUse := errs.New(errs.InUse, "Channel %d has bookings, or had some that were deleted, or has a request for protection, and cannot be deleted.", id)
	err := removeUnused(ctx, c.Core, actor, id, inUse, func(tx *store.Tx) error {
		stored, err := LockChannel(tx, actor.SiteID, id)
		if err != nil {
			return err
		}
		if err := core.CheckVersion(ifVersion, stored.Version-1); err != nil {
			return err
		}
		if err := DeleteChannel(tx, actor.SiteID, id); err != nil {
			return err
		}
		return core.Record(tx, actor, "channel.delete", channelObject(stored), auditChannel(stored), nil)
	})
	return unknownChannel(err, id)
}

// removeUnused runs a write that removes the thing with an id, and returns inUse when a foreign key forbids it.
func removeUnused(
	ctx context.Context, c *core.Core, actor access.Actor, id int64, inUse error, remove func(tx *store.Tx) error,
) error {
	err := core.OnceGone(ctx, c, actor, id, remove)
	if errors.Is(err, store.ErrConflict) {
		return inUse
	}
	return err
}

// RotateSecret gives a channel a new secret. Auth strings of the payment modal and hashes of transactions that were made
// with the old secret are no longer valid.
func (c *Channels) RotateSecret(ctx context.Context, actor access.Actor, id, ifVersion int64) (merchant.Channel, error) {
	if err := actor.Require(access.SetChannelTerms); err != nil {
		return merchant.Channel{}, err
	}
	secret, err := secrets.NewChannelSecret(c.Random)
	if err != nil {
		return merchant.Channel{}, fmt.Errorf("drawing a channel secret: %w", err)
	}
	changed, err := core.Once(ctx, c.Core, actor, func(tx *store.Tx) (merchant.Channel, core.Outcome, error) {
		outcome := core.Outcome{ID: id}
		channel, err := LockChannel(tx, actor.SiteID, id)
		if err != nil {
			return channel, outcome, err
		}
		if err := core.CheckVersion(ifVersion, channel.Version-1); err != nil {
			return channel, outcome, err
		}
		if err := core.Changed(tx, actor.SiteID); err != nil { // processes remember the channel with its secret
			return channel, outcome, err
		}
		if channel.SealedSecret, err = giveSecret(c.Core, tx, channel, secret); err != nil {
			return channel, outcome, err
		}
		channel.ModifiedAt = tx.Now
		shown := auditChannel(channel) // the audit says that the secret was changed; it never holds the secret
		return channel, outcome, core.Record(tx, actor, "channel.secret", channelObject(channel), shown, shown)
	}, c.again(actor))
	return changed, unknownChannel(err, id)
}

// shownTo removes the secret of a channel for an actor who may not see it.
func shownTo(actor access.Actor, c merchant.Channel) merchant.Channel {
	if !actor.Can(access.SeeChannelSecret) {
		c.SealedSecret = ""
	}
	return c
}

func unknownChannel(err error, id int64) error {
	return core.NotFoundAs(errs.SettingNotFound, err, "There is no channel %d.", id)
}
