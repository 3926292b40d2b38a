package imports

import (
	"context"
	"iter"
	"slices"
	"strings"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// effect says what importing a file would do, for the operator who approves it: a hash means nothing to them. It is nil
// if no approval is needed, or the proposal already exists. Otherwise the rows are read to their end.
func (r *importRun) effect(ctx context.Context, rows iter.Seq2[ImportedPayment, error]) (*proposal.Effect, error) {
	var asks bool
	err := r.Store.Read(ctx, r.actor.SiteID, func(tx *store.Tx) error {
		site, err := merchants.SiteInForce(tx, r.actor.SiteID)
		if err != nil {
			return store.NotFoundAs(errs.SettingNotFound, err, "Site %d not found.", r.actor.SiteID)
		}
		p, _ := r.asked()
		if asks = p.Subject != "" && !site.Sandbox && r.opts.SHA256 != ""; !asks {
			return nil
		}
		_, known, err := proposalOf(tx, r.actor.SiteID, p)
		asks = !known
		return err
	})
	if err != nil || !asks {
		return nil, err
	}
	opts := r.opts
	opts.DryRun, opts.Progress, opts.Refused = true, nil, nil
	dry := newRun(r.Imports, r.actor, opts)
	if err := dry.rehearse(ctx, rows); err != nil {
		return nil, err
	}
	if opts.Tried != nil { // earlier runs may have done some of it, or all
		var file proposal.FileEffect
		err := r.Store.Read(ctx, r.actor.SiteID, func(tx *store.Tx) (err error) {
			file, err = opts.Tried(tx)
			return err
		})
		return &proposal.Effect{File: &file}, err
	}
	done := dry.report
	file := proposal.FileEffect{
		Rows: done.Rows, Refused: done.Refused, BookingsCreated: done.Bookings.Created, BookingsThere: done.Bookings.AlreadyThere,
		PaymentsCreated: done.Payments.Created, PaymentsThere: done.Payments.AlreadyThere, Channels: []proposal.FileShares{},
	}
	for name, share := range dry.shares {
		_, share.Created = dry.channels[name]
		file.Channels = append(file.Channels, share)
	}
	slices.SortFunc(file.Channels, func(a, b proposal.FileShares) int { return strings.Compare(a.Channel, b.Channel) })
	return &proposal.Effect{File: &file}, nil
}

// sharesOf are the shares of one chunk, with the channels that it or an earlier chunk creates.
func (r *importRun) sharesOf(c *importChunk) (list []proposal.FileShares) {
	for name, share := range c.shares {
		_, before := r.channels[name]
		share.Created = before || slices.ContainsFunc(c.opened, func(opened merchant.Channel) bool { return opened.Name == name })
		list = append(list, share)
	}
	// In a fixed order, so that two writes never deadlock.
	slices.SortFunc(list, func(a, b proposal.FileShares) int { return strings.Compare(a.Channel, b.Channel) })
	return list
}

// shares are the parts of a file that go to each channel, by the channel's name.
type shares map[string]proposal.FileShares

// add counts one payment. Its total is in the currency of the channel.
func (s shares) add(channel merchant.Channel, t payment.Transaction, total int64) {
	day := civil.DayOf(t.EffectiveAt).String()
	one := proposal.FileShares{
		Channel: channel.Name, Mode: string(channel.Mode), Currency: channel.Currency, Payments: 1, FirstPaid: day, LastPaid: day,
	}
	switch t.Type {
	case payment.Purchase, payment.Capture, payment.ChargebackReversal:
		one.Added = total
	case payment.Refund, payment.Chargeback, payment.Prevented:
		one.Taken = total
	}
	s.merge(one)
}

func (s shares) merge(one proposal.FileShares) {
	sum, ok := s[one.Channel]
	if !ok {
		s[one.Channel] = one
		return
	}
	sum.Payments += one.Payments
	sum.Added += one.Added
	sum.Taken += one.Taken
	sum.FirstPaid, sum.LastPaid = min(sum.FirstPaid, one.FirstPaid), max(sum.LastPaid, one.LastPaid)
	s[one.Channel] = sum
}
