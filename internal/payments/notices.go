package payments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/merchants"
	"holdfast/internal/psp"
	"holdfast/internal/travel"
)

// Bounds of the work with webhook notices and polled events.
const (
	noticeBatch  = 64
	pollBatch    = 16
	pollPause    = time.Minute
	noticeMemory = 90 * 24 * time.Hour // how long a repeated delivery is recognised
)

// ProcessorEvent is a delivery to the webhook of a channel. It is not verified yet.
type ProcessorEvent struct {
	Processor         string
	SiteID, ChannelID int64
	Signature         string
	Body              []byte
}

// TakeEvent stores a webhook notice for a channel, if its signature is that of the channel's processor. FollowNotices then
// asks the processor about it. A wrong signature is an error of the kind Forbidden, an unknown channel one of NoRoute.
func (p *GatewayPayments) TakeEvent(ctx context.Context, e ProcessorEvent) error {
	a, channel, err := p.accessOfChannel(ctx, e.SiteID, e.ChannelID, e.Processor)
	if errors.Is(err, db.ErrNotFound) || err == nil && channel.Processor != e.Processor {
		return fault.New(fault.NoRoute, "No route was found matching the URL and request method.")
	}
	if err != nil {
		return err
	}
	notice, err := a.gateway.ReadEvent(a.account, psp.Event{Signature: e.Signature, Body: e.Body})
	if psp.KindOf(err) != "" {
		return &fault.Error{Kind: fault.Forbidden, Message: "The signature is not that of the channel's processor.", Err: err}
	}
	if err != nil {
		return err
	}
	return p.keepNotices(ctx, a, e.Processor, e.SiteID, e.ChannelID, []psp.Notice{notice}, func(*db.Tx) error { return nil })
}

// accessOfChannel reads a channel and its access to a processor.
func (p *GatewayPayments) accessOfChannel(
	ctx context.Context, siteID, channelID int64, processor string,
) (a access, channel travel.Channel, err error) {
	err = p.Store.Read(ctx, func(tx *db.Tx) (err error) {
		a.clock, err = core.ClockOf(tx, siteID)
		return err
	})
	if err != nil {
		return a, channel, err
	}
	err = p.ReadBy(ctx, a.clock, func(tx *db.Tx) (err error) {
		if channel, err = merchants.Channel(tx, siteID, channelID); err != nil || !merchants.TakesAt(p.Core, channel, processor) {
			return err
		}
		a.gateway, a.account, err = merchants.AccountAt(p.Core, tx, channel, processor)
		return err
	})
	return a, channel, err
}

// keepNotices stores the notices that name a charge. also is called in the same write.
func (p *GatewayPayments) keepNotices(
	ctx context.Context, a access, processor string, siteID, channelID int64, notices []psp.Notice, also func(tx *db.Tx) error,
) error {
	return p.WriteBy(ctx, a.clock, func(tx *db.Tx) error {
		for _, h := range notices {
			if h.EventID == "" || h.Reference == "" && h.ProcessorID == "" || !storableNotice(h) {
				continue
			}
			err := insertNotice(tx, Notice{
				SiteID: siteID, ChannelID: channelID, Processor: processor, EventID: h.EventID, Reference: h.Reference,
				ProcessorID: h.ProcessorID,
			})
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
		return len(name) > travel.MaxText || !utf8.ValidString(name) || strings.ContainsRune(name, 0) || travel.HoldsCardNumber(name)
	})
}

// FollowNotices asks processors about the charges in their notices, a bounded number in each call. It returns more if
// there may be some left.
func (p *GatewayPayments) FollowNotices(ctx context.Context) (more bool, err error) {
	var due []Notice
	err = p.Store.Read(ctx, func(tx *db.Tx) (err error) {
		due, err = NoticesDue(tx, noticeBatch)
		return err
	})
	if err != nil {
		return false, err
	}
	each(due, func(h Notice) {
		if err := p.followNotice(ctx, h); err != nil {
			p.Log.Warn("following a notice of a processor failed", "site", h.SiteID, "channel", h.ChannelID, "processor", h.Processor, "error", err)
		}
	})
	return len(due) == noticeBatch && ctx.Err() == nil, nil
}

func (p *GatewayPayments) followNotice(ctx context.Context, h Notice) error {
	asked := p.askAbout(ctx, h)
	// If it failed, it is tried again later. A charge that is not ours belongs to another user of the same account.
	err := p.Store.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		next := time.Time{}
		if asked != nil {
			next = core.RealNow(tx).Add(min(2*time.Second<<min(h.Asks, 10), 10*time.Minute))
		}
		return putOffNotice(tx, h, next)
	})
	return errors.Join(asked, err)
}

func (p *GatewayPayments) askAbout(ctx context.Context, h Notice) error {
	var d travel.GatewayCharge
	err := p.Store.Read(ctx, func(tx *db.Tx) (err error) {
		d, err = gatewayChargeOfNotice(tx, h)
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	a, err := p.accessTo(ctx, d, func(*db.Tx) error { return nil })
	if err != nil {
		return err
	}
	t, err := p.find(ctx, a)
	if err == nil && t.GatewayCharge.State == travel.ChargeUnknown {
		return fmt.Errorf("the outcome of transaction %d-%d is not known yet", t.SiteID, t.ID)
	}
	return err
}

// PollEvents reads the newest events of processors, for the channels whose turn it is, and stores them as notices. So
// nothing is lost if a webhook was not delivered. It returns more if there may be some left.
func (p *GatewayPayments) PollEvents(ctx context.Context) (more bool, err error) {
	var due []poll
	err = p.Store.Write(ctx, func(tx *db.Tx) (err error) {
		due, err = claimPolls(tx, pollBatch, core.RealNow(tx).Add(pollPause))
		return err
	})
	if err != nil {
		return false, err
	}
	each(due, func(f poll) {
		if err := p.pollOne(ctx, f); err != nil {
			p.Log.Warn("reading the events of a processor failed", "site", f.SiteID, "channel", f.ChannelID, "processor", f.Processor, "error", err)
		}
	})
	return len(due) == pollBatch && ctx.Err() == nil, nil
}

func (p *GatewayPayments) pollOne(ctx context.Context, f poll) error {
	a, channel, err := p.accessOfChannel(ctx, f.SiteID, f.ChannelID, f.Processor)
	if err != nil || !merchants.TakesAt(p.Core, channel, f.Processor) {
		return err // the channel has left this processor: it is not asked any more, unless the channel comes back
	}
	calling, cancel := context.WithTimeout(ctx, core.GatewaySettingsOf(p.Core).CallTimeout)
	defer cancel()
	notices, next, err := a.gateway.Events(calling, a.account, f.Cursor)
	if err != nil {
		return err
	}
	return p.keepNotices(ctx, a, f.Processor, f.SiteID, f.ChannelID, notices, func(tx *db.Tx) error {
		again := core.RealNow(tx).Add(pollPause)
		if len(notices) > 0 && next != f.Cursor { // there may be more events than one answer holds
			again = core.RealNow(tx)
		}
		f.Cursor = next
		return savePoll(tx, f, again)
	})
}

// noticesPerWrite bounds how many notices one write of ForgetNotices removes.
const noticesPerWrite = 1000

// ForgetNotices removes notices that are done and too old to be delivered again. It returns more if there may be some
// left.
func (p *GatewayPayments) ForgetNotices(ctx context.Context) (more bool, err error) {
	err = p.Store.Write(ctx, func(tx *db.Tx) error {
		n, err := forgetNoticesBefore(tx, core.RealNow(tx).Add(-noticeMemory), noticesPerWrite)
		more = n == noticesPerWrite
		return err
	})
	return more, err
}
