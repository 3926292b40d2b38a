package ledger

import (
	"context"
	"time"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Premiums reads the premium ledger (R10) and checks it. Post, Adjust, Redate and PriceLate write it.
type Premiums struct{ *sites.DB }

// List reads one page of the lines of the premium ledger.
func (p *Premiums) List(
	ctx context.Context, actor access.Actor, f protection.PremiumFilter, page store.Page,
) (store.List[protection.PremiumLine], error) {
	return sites.ReadPage(ctx, p.DB, actor, page, func(tx *store.Tx) (store.List[protection.PremiumLine], error) {
		if err := merchants.KnownChannels(tx, actor.SiteID, f.Channels); err != nil {
			return store.List[protection.PremiumLine]{}, err
		}
		return premiumsPage(tx, actor.SiteID, f, page)
	})
}

// Correction is the result of a check of the premium ledger.
type Correction struct {
	Checked   int64 // allocations that have premium
	Corrected int64 // of these, those whose premium in the ledger was wrong
}

// allocationsPerWrite bounds one write of a check, because other writes wait for it.
const allocationsPerWrite = 200

// Correct computes the premium of all allocations of the site again. Where the ledger has another one, it books the
// difference as a correction. A dry run only counts. It needs the permission WritePolicies. Allocations that were
// corrected before an error stay corrected.
func (p *Premiums) Correct(ctx context.Context, actor access.Actor, dryRun bool) (Correction, error) {
	var all Correction
	if err := actor.Require(access.WritePolicies); err != nil {
		return all, err
	}
	for after, more := int64(0), true; more; {
		var page Correction
		var last int64
		err := p.WriteAs(ctx, actor, func(tx *store.Tx) (err error) {
			page, last, err = correctPage(tx, actor.SiteID, after, dryRun)
			return err
		})
		if err != nil {
			return all, err
		}
		all.Checked, all.Corrected = all.Checked+page.Checked, all.Corrected+page.Corrected
		after, more = last, last != 0
	}
	return all, nil
}

// correctPage corrects the next allocations after an id. It returns the id of the last one that it looked at, or 0 if
// there are none left.
func correctPage(tx *store.Tx, siteID, after int64, dryRun bool) (done Correction, last int64, err error) {
	list, err := allocationsWithPremium(tx, siteID, after, allocationsPerWrite)
	if err != nil {
		return done, 0, err
	}
	for _, a := range list {
		last = a.ID
		done.Checked++
		holds, err := premiumHolds(tx, a)
		if err != nil {
			return done, 0, err
		}
		if holds {
			continue
		}
		done.Corrected++
		if dryRun {
			continue
		}
		err = movePremium(tx, a.SiteID, a.ID, premiumCause{cause: protection.CauseCorrection, effectiveAt: tx.Now})
		if err != nil {
			return done, 0, err
		}
	}
	return done, last, nil
}

// premiumHolds reports whether the premium after the last line of an allocation is what R10 computes.
func premiumHolds(tx *store.Tx, a protection.Allocation) (bool, error) {
	lines, err := PremiumOf(tx, a.SiteID, a.ID)
	if err != nil || len(lines) == 0 {
		return false, err
	}
	history, err := termsHistory(tx, a.SiteID, a.ID)
	if err != nil {
		return false, err
	}
	events, err := Events(tx, a.SiteID, a.ID)
	if err != nil {
		return false, err
	}
	policy, err := PolicyOf(tx, a)
	if err != nil {
		return false, err
	}
	channel, err := merchants.ChannelAlone(tx, a.SiteID, a.ChannelID)
	if err != nil {
		return false, err
	}
	state, err := a.StateUnder(channel.Insolvency, policy, history[len(history)-1].End, a.Sum(events).Refunded)
	return state.Premium == lines[len(lines)-1].State.Premium, err
}

// firstPremium books the premium of a new allocation. If it waits for a rate, PriceLate books the premium later.
func firstPremium(tx *store.Tx, a protection.Allocation, policy terms.Policy, b booking.Booking) error {
	if !a.Decision.Protected || a.PricedAt.IsZero() {
		return nil
	}
	return bookPremium(tx, a, nil, policy, protection.PremiumChange{
		TransactionID: a.TransactionID, Cause: protection.CausePurchase, EffectiveAt: a.EffectiveAt, End: b.End,
	})
}

// premiumCause is the reason why the premium of an allocation may change.
type premiumCause struct {
	cause         protection.PremiumCause
	transactionID int64 // 0: the payment of the allocation itself
	effectiveAt   time.Time
}

// movePremium books the change of an allocation's premium after a change that is already written. It locks the
// allocation first, so that each write sees the lines that the previous one has booked. It locks nothing else.
func movePremium(tx *store.Tx, siteID, allocationID int64, why premiumCause) error {
	a, err := lockAllocation(tx, siteID, allocationID)
	if err != nil || a.PricedAt.IsZero() {
		return err
	}
	return moveLocked(tx, a, why)
}

// RepriceAfter books the premium of the payments of a channel that were recorded after it failed: it goes back while the channel
// is insolvent, and is booked again if that was withdrawn (R13). It takes those with ids greater than after, at most limit of
// them, and returns the id of the last one, or 0 if none is left.
func RepriceAfter(tx *store.Tx, siteID, channelID int64, trigger time.Time, after int64, limit int) (last int64, err error) {
	ids, err := store.Ids(tx, `SELECT id FROM allocations WHERE site_id = $1 AND channel_id = $2 AND id > $3 AND recorded_at > $4
		AND protected AND priced_at IS NOT NULL ORDER BY id LIMIT $5`, siteID, channelID, after, store.Micros(trigger), limit)
	for _, id := range ids {
		if err == nil {
			err = movePremium(tx, siteID, id, premiumCause{cause: protection.CauseInsolvency, effectiveAt: tx.Now})
		}
	}
	if err != nil || len(ids) < limit {
		return 0, err
	}
	return ids[len(ids)-1], nil
}

// moveLocked is movePremium for an allocation that is locked and priced.
func moveLocked(tx *store.Tx, a protection.Allocation, why premiumCause) error {
	history, err := termsHistory(tx, a.SiteID, a.ID)
	if err != nil {
		return err
	}
	events, err := Events(tx, a.SiteID, a.ID)
	if err != nil {
		return err
	}
	lines, err := PremiumOf(tx, a.SiteID, a.ID)
	if err != nil {
		return err
	}
	policy, err := PolicyOf(tx, a)
	if err != nil {
		return err
	}
	channel, err := merchants.ChannelAlone(tx, a.SiteID, a.ChannelID)
	if err != nil {
		return err
	}
	change := protection.PremiumChange{
		Insolvency: channel.Insolvency, TransactionID: why.transactionID, Cause: why.cause, EffectiveAt: why.effectiveAt,
		End: history[len(history)-1].End, Refunded: a.Sum(events).Refunded,
	}
	if change.TransactionID == 0 {
		change.TransactionID = a.TransactionID
	}
	return bookPremium(tx, a, lines, policy, change)
}

func bookPremium(
	tx *store.Tx, a protection.Allocation, lines []protection.PremiumLine, policy terms.Policy, c protection.PremiumChange,
) error {
	line, booked, err := a.Reprice(lines, policy, c)
	if err != nil || !booked {
		return err
	}
	line.RecordedAt = tx.Now
	// The clock of another process may be a little ahead. A line is never recorded before the line that it follows.
	if n := len(lines); n > 0 && lines[n-1].RecordedAt.After(tx.Now) {
		line.RecordedAt = lines[n-1].RecordedAt
	}
	return InsertPremium(tx, line)
}

// PolicyOf reads the policy of an allocation's price: the one that was in force on the day of the payment when the
// allocation was recorded. Policies added since do not count.
func PolicyOf(tx *store.Tx, a protection.Allocation) (terms.Policy, error) {
	return merchants.Policy(tx, a.SiteID, a.PolicyID)
}
