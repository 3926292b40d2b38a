package ledger

import (
	"context"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/merchants"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// Premiums reads the premium ledger (R10). What writes it is the use cases that move premium, each in its own write.
type Premiums struct{ *core.Core }

// List reads one page of the ledger's lines.
func (p *Premiums) List(
	ctx context.Context, actor auth.Actor, f protection.PremiumFilter, page travel.Page,
) (travel.List[protection.PremiumLine], error) {
	return core.Read(ctx, p.Core, actor, func(tx *db.Tx) (travel.List[protection.PremiumLine], error) {
		return premiumsPage(tx, actor.SiteID, f, page)
	})
}

// Correction says what a check of the premium ledger found.
type Correction struct {
	Checked   int64 // allocations that have premium
	Corrected int64 // of which the ledger did not hold the premium that follows from the facts
}

// allocationsPerWrite bounds one write of a check: others wait behind it.
const allocationsPerWrite = 200

// Correct goes through all allocations of the site and books, as corrections, what the ledger lacks: payments that were
// recorded before there was a ledger, first of all. On a dry run it only counts.
func (p *Premiums) Correct(ctx context.Context, actor auth.Actor, dryRun bool) (Correction, error) {
	var all Correction
	if err := actor.Require(auth.WritePolicies); err != nil {
		return all, err
	}
	for after, more := int64(0), true; more; {
		var page Correction
		var last int64
		err := p.WriteAs(ctx, actor, func(tx *db.Tx) (err error) {
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

// correctPage corrects the next allocations after an id; last is the last one it looked at, 0 where there are none left.
func correctPage(tx *db.Tx, siteID, after int64, dryRun bool) (done Correction, last int64, err error) {
	list, err := AllocationsWithPremium(tx, siteID, after, allocationsPerWrite)
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
		if err := movePremium(tx, a.SiteID, a.ID, premiumCause{cause: protection.CauseCorrection, effectiveAt: tx.Now}); err != nil {
			return done, 0, err
		}
	}
	return done, last, nil
}

// premiumHolds reports whether the last line of an allocation leads to the premium that follows from the facts.
func premiumHolds(tx *db.Tx, a protection.Allocation) (bool, error) {
	lines, err := PremiumOf(tx, a.SiteID, a.ID)
	if err != nil || len(lines) == 0 {
		return false, err
	}
	history, err := TermsHistory(tx, a.SiteID, a.ID)
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
	state, err := a.PremiumState(policy, history[len(history)-1].End, a.Sum(events).Refunded)
	return state.Premium == lines[len(lines)-1].State.Premium, err
}

// firstPremium books the premium of an allocation that was just recorded. One that waits for a rate is booked when the
// rate arrives.
func firstPremium(tx *db.Tx, a protection.Allocation, policy travel.Policy, b travel.Booking) error {
	if !a.Decision.Protected || a.PricedAt.IsZero() {
		return nil
	}
	return bookPremium(tx, a, nil, policy, protection.PremiumChange{
		TransactionID: a.TransactionID, Cause: protection.CausePurchase, EffectiveAt: a.EffectiveAt, End: b.End,
	})
}

// premiumCause is why the premium of an allocation may have moved.
type premiumCause struct {
	cause         protection.PremiumCause
	transactionID int64 // 0: the payment of the allocation itself
	effectiveAt   time.Time
}

// movePremium books what a change, which is already written, does to the premium of an allocation. The allocation is
// taken first, so that everyone who moves its premium sees what the one before has booked; nothing that other
// allocations need is.
func movePremium(tx *db.Tx, siteID, allocationID int64, why premiumCause) error {
	a, err := LockAllocation(tx, siteID, allocationID)
	if err != nil || a.PricedAt.IsZero() {
		return err
	}
	return moveLocked(tx, a, why)
}

// moveLocked is movePremium of an allocation that is taken and priced.
func moveLocked(tx *db.Tx, a protection.Allocation, why premiumCause) error {
	history, err := TermsHistory(tx, a.SiteID, a.ID)
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
	change := protection.PremiumChange{
		TransactionID: why.transactionID, Cause: why.cause, EffectiveAt: why.effectiveAt,
		End: history[len(history)-1].End, Refunded: a.Sum(events).Refunded,
	}
	if change.TransactionID == 0 {
		change.TransactionID = a.TransactionID
	}
	return bookPremium(tx, a, lines, policy, change)
}

func bookPremium(
	tx *db.Tx, a protection.Allocation, lines []protection.PremiumLine, policy travel.Policy, c protection.PremiumChange,
) error {
	line, booked, err := a.Reprice(lines, policy, c)
	if err != nil || !booked {
		return err
	}
	line.RecordedAt = tx.Now
	// Another process's clock may have been a little ahead: what is known at any instant is always the first lines.
	if n := len(lines); n > 0 && lines[n-1].RecordedAt.After(tx.Now) {
		line.RecordedAt = lines[n-1].RecordedAt
	}
	InsertPremium(tx, line)
	return nil
}

// PolicyOf reads the policy that an allocation is priced under: the one in force on P when it was recorded, whatever
// was added since.
func PolicyOf(tx *db.Tx, a protection.Allocation) (travel.Policy, error) {
	return merchants.Policy(tx, a.SiteID, a.PolicyID)
}
