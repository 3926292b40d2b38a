// Package onboarding changes what an operator and a merchant have agreed on: it creates, changes and closes
// channels, configures their processors, and adds policies. Some changes need two people (R0). It is a layer above
// payments and limits, which report what a change would affect. The tables belong to package merchants. Start at
// Channels.
package onboarding

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/errs"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Channels are the use cases of channels.
type Channels struct {
	*sites.DB
	*merchants.Processors
	Approvals *approvals.Approvals
	Random    io.Reader     // for secrets
	NewUUID   func() string // for channels
}

// Register registers the encrypted columns of the use cases, and the kinds of proposals that they execute.
func (c *Channels) Register() *Channels {
	c.Vault.Register(merchants.SealedColumns...)
	c.Approvals.Register(proposal.OpenCover, approvals.Kind{Carry: c.carryOut, Effect: c.effect})
	return c
}

// Secret decrypts the secret of a channel that these use cases returned. It is "" if the actor may not see it.
func (c *Channels) Secret(channel merchant.Channel) (string, error) {
	return merchants.OpenSecret(c.Vault, channel.SiteID, channel.ID, channel.SealedSecret)
}

// HashOf computes the hash of a transaction, which its channel's secret signs.
func (c *Channels) HashOf(t payment.Transaction) (string, error) {
	secret, err := merchants.OpenSecret(c.Vault, t.SiteID, t.ChannelID, t.SealedSecret)
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
	found, err := sites.Read(ctx, c.DB, actor, func(tx *store.Tx) (merchant.Channel, error) {
		return merchants.Channel(tx, actor.SiteID, id)
	})
	return shownTo(actor, found), unknownChannel(err, id)
}

// ByName reads the channel of the actor's site with exactly this name. An error names the ids if
// several have it.
func (c *Channels) ByName(ctx context.Context, actor access.Actor, name string) (merchant.Channel, error) {
	found, err := sites.Read(ctx, c.DB, actor, func(tx *store.Tx) (merchant.Channel, error) {
		return merchants.ChannelByName(tx, actor.SiteID, name)
	})
	return shownTo(actor, found), store.NotFoundAs(errs.SettingNotFound, err, "There is no channel named %q.", name)
}

// List reads one page of the channels of the actor's site.
func (c *Channels) List(
	ctx context.Context, actor access.Actor, filter merchants.ChannelFilter, page store.Page,
) (store.List[merchant.Channel], error) {
	list, err := sites.ReadPage(ctx, c.DB, actor, page, func(tx *store.Tx) (store.List[merchant.Channel], error) {
		return merchants.ChannelsPage(tx, actor.SiteID, filter, page)
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
			err = fmt.Errorf("generating a channel secret: %w", err)
		}
		return drawn, err
	})
	create := func(tx *store.Tx) (made merchant.Channel, outcome idempotency.Outcome, err error) {
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
			return made, idempotency.Outcome{ID: made.ID}, err
		}
		if err := refuseKey(in.ProcessorFields, merchant.Channel{}, channel); err != nil {
			return made, outcome, err
		}
		p, err := c.Approvals.Request(tx, actor, proposal.Proposal{
			Kind: proposal.OpenCover, Subject: "new channel " + channel.Name, Reason: in.Reason,
		}, openCover{ChannelFields: in}, insert)
		if err == nil && p.State == proposal.Open {
			return merchant.Channel{Proposal: &p}, idempotency.Outcome{ProposalID: p.ID}, nil
		}
		return made, idempotency.Outcome{ID: made.ID}, err
	}
	made, err := idempotency.Once(ctx, c.DB, actor, create, c.again(actor))
	return shownTo(actor, made), err
}

// again returns the function that reads what an earlier request made or changed: a channel, or an open proposal.
func (c *Channels) again(actor access.Actor) func(ctx context.Context, made idempotency.Outcome) (merchant.Channel, error) {
	return func(ctx context.Context, made idempotency.Outcome) (merchant.Channel, error) {
		if made.ProposalID == 0 {
			found, err := c.Get(ctx, actor, made.ID)
			return idempotency.OrLast(ctx, c.DB, actor, merchants.ChannelObject(merchant.Channel{ID: made.ID}), found, err)
		}
		proposal, err := c.Approvals.Find(ctx, actor, made.ProposalID)
		return merchant.Channel{Proposal: &proposal}, err
	}
}

// newChannel makes a channel from its fields and checks it. It does not store it.
func (c *Channels) newChannel(tx *store.Tx, actor access.Actor, in merchant.ChannelFields) (merchant.Channel, error) {
	in.Profile = c.Profile
	site, err := merchants.Site(tx, actor.SiteID)
	if err != nil {
		return merchant.Channel{}, err
	}
	problems := in.Problems.Clone()
	channel := in.NewChannel(site, actor.Can(access.SetChannelTerms), &problems)
	if err := merchants.NoteUnknownSuppliers(tx, actor.SiteID, channel.Suppliers, &problems); err != nil {
		return merchant.Channel{}, err
	}
	return channel, problems.Err()
}

// insert stores a new channel, with the key of its tokenizer.
func (c *Channels) insert(
	tx *store.Tx, actor access.Actor, channel merchant.Channel, secret string, in merchant.ProcessorFields,
) (merchant.Channel, error) {
	made, err := merchants.MakeChannel(c.Vault, tx, channel, secret)
	if err != nil {
		return made, err
	}
	if err := c.keepTokenizerKey(tx, merchant.Channel{}, made, in); err != nil {
		return made, err
	}
	return made, audit.Record(tx, actor, "channel.create", merchants.ChannelObject(made), nil, merchants.AuditedChannel(made))
}

// refuseKey refuses a tokenizer's key in a change that another operator may have to approve. Such a change is stored for
// that operator to read, and the key must not be readable.
func refuseKey(in merchant.ProcessorFields, before, after merchant.Channel) error {
	if key, _ := in.NewTokenizerKey(before, after); key == "" {
		return nil
	}
	return errs.WrongField("tokenizer_api_key", "Send the key in a separate request. This change opens cover and may wait for another operator, who would see the key.")
}

// Change sets the given fields of a channel. The fields that only the operator can set are ignored from anyone else. A
// change that opens cover needs two people: outside a sandbox, Change stores an open proposal, and returns it in the
// channel, which is otherwise as it was.
func (c *Channels) Change(ctx context.Context, actor access.Actor, id int64, in merchant.ChannelFields) (merchant.Channel, error) {
	if err := actor.Require(access.WriteChannels); err != nil {
		return merchant.Channel{}, err
	}
	changed, err := idempotency.Once(ctx, c.DB, actor, func(tx *store.Tx) (merchant.Channel, idempotency.Outcome, error) {
		changed, err := c.change(tx, actor, id, in)
		if changed.Proposal != nil {
			return changed, idempotency.Outcome{ProposalID: changed.Proposal.ID}, err
		}
		return changed, idempotency.Outcome{ID: id}, err
	}, c.again(actor))
	return shownTo(actor, changed), unknownChannel(err, id)
}

// change is Change inside a write.
func (c *Channels) change(tx *store.Tx, actor access.Actor, id int64, in merchant.ChannelFields) (changed merchant.Channel, err error) {
	stored, err := merchants.LockChannel(tx, actor.SiteID, id)
	if err != nil {
		return changed, err
	}
	if err := errs.CheckVersion(in.IfVersion, stored.Version-1); err != nil {
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
	p, err := c.Approvals.Request(tx, actor, proposal.Proposal{
		Kind: proposal.OpenCover, Subject: merchants.ChannelObject(stored), Reason: in.Reason,
	}, openCover{ChannelID: id, ChannelFields: in}, func() (any, error) {
		changed, err = c.save(tx, actor, stored, channel, in.ProcessorFields)
		return channelResult{changed.ID}, err
	})
	if err == nil && p.State == proposal.Open {
		changed, err = merchants.LeaveChannel(tx, stored)
		changed.Proposal = &p
	}
	return changed, err
}

// opensCover reports whether the change makes payments of the channel protected (R2) that were not protected before.
// Unlocking a channel in a covered mode also opens cover.
func opensCover(before, after merchant.Channel) bool {
	return after.Covered() && (!before.Covered() || before.Locked && !after.Locked)
}

// changed sets the given fields of a channel and checks them. It does not store the channel.
func (c *Channels) changed(
	tx *store.Tx, actor access.Actor, stored merchant.Channel, in merchant.ChannelFields,
) (merchant.Channel, error) {
	in.Profile = c.Profile
	hasBookings, err := bookings.ChannelHasAny(tx, actor.SiteID, stored.ID)
	if err != nil {
		return stored, err
	}
	problems := in.Problems.Clone()
	channel := in.Change(stored, hasBookings, actor.Can(access.SetChannelTerms), &problems)
	if err := merchants.NoteUnknownSuppliers(tx, actor.SiteID, channel.Suppliers, &problems); err != nil {
		return stored, err
	}
	return channel, problems.Err()
}

// save stores a changed channel, with the key of its tokenizer.
func (c *Channels) save(
	tx *store.Tx, actor access.Actor, before, after merchant.Channel, in merchant.ProcessorFields,
) (merchant.Channel, error) {
	if merchant.Same(before, after) && in.TokenizerKey == nil {
		return merchants.LeaveChannel(tx, before)
	}
	changed, err := merchants.UpdateChannel(tx, after)
	if err != nil {
		return changed, err
	}
	if err := c.keepTokenizerKey(tx, before, changed, in); err != nil {
		return changed, err
	}
	return changed, audit.Record(tx, actor, "channel.change", merchants.ChannelObject(changed), merchants.AuditedChannel(before), merchants.AuditedChannel(changed))
}

// Delete removes a channel that nothing refers to. ifVersion is the version that the caller has read, 0 for any. Errors: SettingNotFound,
// Precondition, and InUse if the channel has other records or bookings, even in the trash. InUse says what to do instead.
func (c *Channels) Delete(ctx context.Context, actor access.Actor, id, ifVersion int64) error {
	if err := actor.Require(access.WriteChannels); err != nil {
		return err
	}
	instead := "Instead, ask the operator to close it (account_mode closed): it then takes no new bookings."
	if actor.Can(access.SetChannelTerms) {
		instead = "Close it instead (account_mode closed): it then takes no new bookings."
	}
	err := idempotency.OnceGone(ctx, c.DB, actor, id, func(tx *store.Tx) error {
		stored, err := merchants.LockChannel(tx, actor.SiteID, id)
		if err != nil {
			return err
		}
		if err := errs.CheckVersion(ifVersion, stored.Version-1); err != nil {
			return err
		}
		if used, err := bookings.ChannelHasAny(tx, actor.SiteID, id); err != nil {
			return err
		} else if used {
			return errs.New(errs.InUse, "Channel %d cannot be deleted because it has had bookings, which are kept even in the trash. %s", id, instead)
		}
		if err := merchants.DeleteChannel(tx, actor.SiteID, id); err != nil {
			return err
		}
		last := stored
		last.SealedSecret = "" // it was deleted with the channel
		if err := idempotency.KeepLast(tx, actor.SiteID, merchants.ChannelObject(stored), last); err != nil {
			return err
		}
		return audit.Record(tx, actor, "channel.delete", merchants.ChannelObject(stored), merchants.AuditedChannel(stored), nil)
	})
	if errors.Is(err, store.ErrConflict) { // a foreign key forbids it
		return errs.New(errs.InUse, "Channel %d cannot be deleted: a protection request, statement, limit, collateral or rate card refers to it. "+
			"Delete a protection request that is still a draft. %s", id, instead)
	}
	return unknownChannel(err, id)
}

// RotateSecret gives a channel a new secret. Auth strings of the payment modal and hashes of transactions that were made
// with the old secret are no longer valid.
func (c *Channels) RotateSecret(ctx context.Context, actor access.Actor, id, ifVersion int64) (merchant.Channel, error) {
	if err := actor.Require(access.SetChannelTerms); err != nil {
		return merchant.Channel{}, err
	}
	secret, err := secrets.NewChannelSecret(c.Random)
	if err != nil {
		return merchant.Channel{}, fmt.Errorf("generating a channel secret: %w", err)
	}
	changed, err := idempotency.Once(ctx, c.DB, actor, func(tx *store.Tx) (merchant.Channel, idempotency.Outcome, error) {
		outcome := idempotency.Outcome{ID: id}
		channel, err := merchants.LockChannel(tx, actor.SiteID, id)
		if err != nil {
			return channel, outcome, err
		}
		if err := errs.CheckVersion(ifVersion, channel.Version-1); err != nil {
			return channel, outcome, err
		}
		if err := sites.Changed(tx, actor.SiteID); err != nil { // processes remember the channel with its secret
			return channel, outcome, err
		}
		if channel.SealedSecret, err = merchants.GiveSecret(c.Vault, tx, channel, secret); err != nil {
			return channel, outcome, err
		}
		channel.ModifiedAt = tx.Now
		shown := merchants.AuditedChannel(channel) // the audit says that the secret was changed; it never holds the secret
		return channel, outcome, audit.Record(tx, actor, "channel.secret", merchants.ChannelObject(channel), shown, shown)
	}, c.again(actor))
	return changed, unknownChannel(err, id)
}

// shownTo removes the secret of a channel if the actor may not see it.
func shownTo(actor access.Actor, c merchant.Channel) merchant.Channel {
	if !actor.Can(access.SeeChannelSecret) {
		c.SealedSecret, c.TokenizerKeyEnd = "", ""
	}
	return c
}

func unknownChannel(err error, id int64) error {
	return store.NotFoundAs(errs.SettingNotFound, err, "Channel %d not found.", id)
}
