// Package pspevents receives reports from card processors: webhook notices of their events, and the events themselves,
// polled in case a notice was lost. It owns processor_notices; how far events are polled is in package payments. Start
// at Notices.Take.
package pspevents

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"holdfast/internal/book/disputes"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/platform/leases"
	"holdfast/internal/platform/sites"
	"holdfast/internal/psp"
	"holdfast/internal/store"
)

// Bounds of the work with webhook notices and polled events: how many one run takes, and how many at the same time.
const (
	noticeBatch  = 64
	askAtOnce    = 8
	pollBatch    = 16
	pollPause    = time.Minute
	noticeMemory = 90 * 24 * time.Hour // how long a repeated delivery is recognised
)

// Notices stores processors' notices about charges, and queries the processor about each. The content of a notice is
// never trusted.
type Notices struct {
	*payments.Room
	Payments *payments.GatewayPayments
	Disputes *disputes.Disputes
}

// Event is a delivery to the webhook of a channel. It is not verified yet.
type Event struct {
	Processor         string
	SiteID, ChannelID int64
	Signature         string
	Body              []byte
}

// Take stores a webhook notice for a channel, if its signature is that of the channel's processor. Follow then has the
// processor asked about it. A wrong signature is an error of the kind Forbidden, an unknown channel one of NoRoute.
func (n *Notices) Take(ctx context.Context, e Event) error {
	a, channel, err := n.accessOfChannel(ctx, e.SiteID, e.ChannelID, e.Processor)
	if errors.Is(err, store.ErrNotFound) || err == nil && channel.Processor != e.Processor {
		return errs.New(errs.NoRoute, "No route was found matching the URL and request method.")
	}
	if err != nil {
		return err
	}
	notice, err := a.gateway.ReadEvent(a.at, psp.Event{Signature: e.Signature, Body: e.Body})
	if psp.KindOf(err) != "" {
		return &errs.Error{Kind: errs.Forbidden, Message: "The signature does not match the channel's processor.", Err: err}
	}
	if err != nil {
		return err
	}
	return n.keepNotices(ctx, a, e.Processor, e.SiteID, e.ChannelID, []psp.Notice{notice}, func(*store.Tx) error { return nil })
}

// account is what is needed to receive events from a channel's processor.
type account struct {
	gateway psp.Gateway
	at      psp.Account
	clock   sites.Clock
}

// accessOfChannel reads a channel and its access to a processor.
func (n *Notices) accessOfChannel(
	ctx context.Context, siteID, channelID int64, processor string,
) (a account, channel merchant.Channel, err error) {
	err = n.Store.Read(ctx, siteID, func(tx *store.Tx) (err error) {
		a.clock, err = sites.ClockOf(tx, siteID)
		return err
	})
	if err != nil {
		return a, channel, err
	}
	err = n.ReadBy(ctx, a.clock, func(tx *store.Tx) (err error) {
		if channel, err = merchants.Channel(tx, siteID, channelID); err != nil || !n.TakesAt(channel, processor) {
			return err
		}
		a.gateway, a.at, err = n.AccountAt(tx, channel, processor)
		return err
	})
	return a, channel, err
}

// keepNotices stores the notices that name a charge. also is called in the same write.
func (n *Notices) keepNotices(
	ctx context.Context, a account, processor string, siteID, channelID int64, notices []psp.Notice, also func(tx *store.Tx) error,
) error {
	return n.WriteBy(ctx, a.clock, func(tx *store.Tx) error {
		for _, h := range notices {
			if h.EventID == "" || h.Reference == "" && h.ProcessorID == "" || !storableNotice(h) {
				continue
			}
			err := insertNotice(tx, Notice{EventID: h.EventID, Charge: payments.Charge{
				SiteID: siteID, ChannelID: channelID, Processor: processor, Reference: h.Reference, ProcessorID: h.ProcessorID,
			}})
			if err != nil {
				return err
			}
		}
		return also(tx)
	})
}

// storableNotice reports whether the ids in a notice can be stored: not too long, valid text, and no card number.
func storableNotice(h psp.Notice) bool {
	return !slices.ContainsFunc([]string{h.EventID, h.Reference, h.ProcessorID}, func(name string) bool {
		return len(name) > check.MaxText || !utf8.ValidString(name) || strings.ContainsRune(name, 0) || card.HoldsCardNumber(name)
	})
}

// Follow asks processors about the charges in their notices, a bounded number in each call. It returns more if
// there may be some left.
func (n *Notices) Follow(ctx context.Context) (more bool, err error) {
	var due []Notice
	err = n.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		due, err = noticesDue(tx, noticeBatch)
		return err
	})
	if err != nil {
		return false, err
	}
	leases.AtOnce(due, askAtOnce, func(h Notice) {
		if err := n.followNotice(ctx, h); err != nil {
			n.Log.Warn("processing a processor webhook failed", "site", h.SiteID, "channel", h.ChannelID, "processor", h.Processor, "error", err)
		}
	})
	return len(due) == noticeBatch && ctx.Err() == nil, nil
}

func (n *Notices) followNotice(ctx context.Context, h Notice) error {
	reported, asked := n.Payments.AskAbout(ctx, h.Charge)
	asked = errors.Join(asked, n.Disputes.Apply(ctx, reported))
	// If it failed, it is tried again later. A charge that is not ours belongs to another user of the same account.
	err := n.Store.Write(context.WithoutCancel(ctx), h.Charge.SiteID, func(tx *store.Tx) error {
		next := time.Time{}
		if asked != nil {
			next = sites.RealNow(tx).Add(min(2*time.Second<<min(h.Asks, 10), 10*time.Minute))
		}
		return putOffNotice(tx, h, next)
	})
	return errors.Join(asked, err)
}

// Poll reads the newest events of processors, for the channels whose turn it is, and stores them as notices. So
// nothing is lost if a webhook was not delivered. It returns more if there may be some left.
func (n *Notices) Poll(ctx context.Context) (more bool, err error) {
	var due []payments.Poll
	err = n.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		due, err = payments.PollsDue(tx, pollBatch)
		return err
	})
	if err != nil {
		return false, err
	}
	leases.AtOnce(due, askAtOnce, func(f payments.Poll) {
		if err := n.pollOne(ctx, f); err != nil {
			n.Log.Warn("reading processor events failed", "site", f.SiteID, "channel", f.ChannelID, "processor", f.Processor, "error", err)
		}
	})
	return len(due) == pollBatch && ctx.Err() == nil, nil
}

func (n *Notices) pollOne(ctx context.Context, f payments.Poll) error {
	claimed := false
	err := n.Store.Write(ctx, f.SiteID, func(tx *store.Tx) (err error) {
		claimed, err = payments.ClaimPoll(tx, f, sites.RealNow(tx).Add(pollPause))
		return err
	})
	if err != nil || !claimed {
		return err
	}
	a, channel, err := n.accessOfChannel(ctx, f.SiteID, f.ChannelID, f.Processor)
	if err != nil || !n.TakesAt(channel, f.Processor) {
		return err // the channel has left this processor, which is no longer queried unless the channel returns
	}
	calling, cancel := context.WithTimeout(ctx, n.Settings.CallTimeout)
	defer cancel()
	notices, next, err := a.gateway.Events(calling, a.at, f.Cursor)
	if err != nil {
		return err
	}
	return n.keepNotices(ctx, a, f.Processor, f.SiteID, f.ChannelID, notices, func(tx *store.Tx) error {
		again := sites.RealNow(tx).Add(pollPause)
		if len(notices) > 0 && next != f.Cursor { // there may be more events than one answer holds
			again = sites.RealNow(tx)
		}
		f.Cursor = next
		return payments.SavePoll(tx, f, again)
	})
}

// noticesPerWrite bounds how many notices one write of Forget removes.
const noticesPerWrite = 1000

// Forget removes notices that are done and too old to be delivered again. It returns more if there may be some
// left.
func (n *Notices) Forget(ctx context.Context) (more bool, err error) {
	return sites.Each(ctx, n.DB, sites.Older("processor_notices", "received_at", "o.ask_at IS NULL", noticeMemory), noticesPerWrite, forgetNotices)
}
