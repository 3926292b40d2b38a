// Package limits checks payments against limits (R12). Limits of transactions and bookings are checked in the write
// of the payment, limits of channels and sites in a job. A limit never rejects a payment. The package owns the tables
// limits, limit_* and over_limits. Start at Judge, then Limits.Recompute.
package limits

import (
	"slices"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/store"
)

// everything is the known_at of a write that has locked a booking: all facts on file count. Another write may have
// recorded some of them at a later time, while this one was waiting for the lock.
var everything = civil.LastDay.End()

// limiting judges allocations by the limits of transactions and bookings (R12).
type limiting struct {
	valuing
	at     time.Time // when the change was made that is judged
	limits protection.Limits
	by     terms.Recognition
	// late: the allocation got its value after it was recorded, perhaps together with others of its booking. Then only
	// the allocations that had a value before it count. A payment that is valued immediately has locked its booking, so
	// all stored allocations came before it, whatever the clocks show.
	late bool
}

func newLimiting(tx *store.Tx, siteID int64, day civil.Day, at time.Time) (*limiting, error) {
	l := &limiting{valuing: newValuing(tx, siteID, day, ""), at: at}
	var err error
	l.limits, err = LimitsUpTo(tx, siteID, day, protection.LimitTransaction, protection.LimitBooking)
	if err != nil || len(l.limits) == 0 { // most sites have no limits, and need nothing more
		return l, err
	}
	policy, err := merchants.PolicyOn(tx, siteID, day)
	l.by, l.policy = policy.Recognition, policy.Currency
	return l, err
}

// Judge judges a payment that was just posted by the limits of transactions and bookings (R12). The caller has locked
// the bookings of the payment. Judge also notes a change for the job that judges by the limits of channels and sites. over
// is the part of the payment that exceeds a limit, in minor units of the currency in; if it exceeds several limits, the
// largest part.
func Judge(tx *store.Tx, t payment.Transaction) (over int64, in money.Currency, err error) {
	NoteChange(tx, t.SiteID, ChangePayment, t.ID, 0)
	l, err := newLimiting(tx, t.SiteID, civil.DayOf(tx.Now), tx.Now)
	if err != nil || len(l.limits) == 0 {
		return 0, "", err
	}
	for _, part := range t.Payments {
		list, err := ledger.HistoriesOfBooking(tx, t.SiteID, part.BookingID)
		if err != nil {
			return 0, "", err
		}
		for _, h := range list {
			if h.TransactionID != t.ID {
				continue
			}
			if err := l.judge(h); err != nil {
				return 0, "", err
			}
		}
	}
	found, err := OverLimits(tx, t.SiteID, []int64{t.ID})
	over, in = protection.OverLimitAmount(found)
	return over, in, err
}

// PolicyChanged notes a new policy for the job: it may find other parts of the trips undelivered.
func PolicyChanged(tx *store.Tx, siteID int64) { NoteChange(tx, siteID, ChangePolicy, 0, 0) }

// Redate calls ledger.Redate for a booking that changes, and notes each allocation that it changed, for the job.
func Redate(tx *store.Tx, packs protection.Rulepacks, before, after booking.Booking) error {
	changed, err := ledger.Redate(tx, packs, before, after)
	for _, id := range changed {
		NoteChange(tx, after.SiteID, ChangeReDated, 0, id)
	}
	return err
}

// judge judges an allocation that just got its value.
func (l *limiting) judge(h protection.History) error {
	use, err := h.UseAt(l.day, everything, l.by)
	if err != nil || use.Amount == 0 {
		return err
	}
	if err := l.judgeTransaction(h); err != nil {
		return err
	}
	return l.judgeBooking(h)
}

// usesIn adds up the uses of allocations at the end of the day, in the currency of a limit. added is the part of the one
// with an id.
func (l *limiting) usesIn(list []protection.History, id int64, limit money.Currency) (use, added int64, err error) {
	sums := map[money.Currency]int64{}
	var own protection.LimitUse
	var in money.Currency
	for _, h := range list {
		u, err := h.UseAt(l.day, everything, l.by)
		if err != nil {
			return 0, 0, err
		}
		sums[h.PolicyCurrency] = money.UpTo(sums[h.PolicyCurrency], u.Amount)
		if h.ID == id {
			own, in = u, h.PolicyCurrency
		}
	}
	return l.grownBy(sums, in, own.Amount, limit)
}

// grownBy values subtotals in the currency of a limit. added is what an amount, which is in one of them, adds.
func (l *limiting) grownBy(
	sums map[money.Currency]int64, in money.Currency, amount int64, limit money.Currency,
) (use, added int64, err error) {
	if use, err = l.total(sums, limit); err != nil {
		return 0, 0, err
	}
	sums[in] -= amount
	before, err := l.total(sums, limit)
	return use, use - before, err
}

// upTo keeps the allocations that got their value before a, those that got it at the same time and have smaller ids, and
// a itself. So if several allocations are priced together, each has its own part above a limit.
func upTo(a protection.Allocation, list []protection.History) []protection.History {
	return slices.DeleteFunc(list, func(o protection.History) bool {
		return o.PricedAt.After(a.PricedAt) || o.PricedAt.Equal(a.PricedAt) && o.ID > a.ID
	})
}

// inForce finds the limit of a scope that an allocation counts against.
func (l *limiting) inForce(scope protection.LimitScope, a protection.Allocation) (protection.Limit, bool) {
	limit, ok := l.limits.InForce(scope, a.ChannelID, l.day, everything)
	return limit, ok && l.counts(a.PolicyCurrency, limit.Currency)
}

func (l *limiting) judgeTransaction(h protection.History) error {
	a := h.Allocation
	limit, ok := l.inForce(protection.LimitTransaction, a)
	if !ok {
		return nil
	}
	list, err := ledger.HistoriesWithIDs(l.tx, a.SiteID, nil, []int64{a.TransactionID})
	if err != nil {
		return err
	}
	use, added, err := l.usesIn(upTo(a, list), a.ID, limit.Currency)
	if err != nil {
		return err
	}
	return l.record(a, limit, a.TransactionID, added, use, limit.Level(use-added), true)
}

// judgeBooking judges the use of an allocation's booking after a payment added to it.
func (l *limiting) judgeBooking(h protection.History) error {
	a := h.Allocation
	limit, ok := l.inForce(protection.LimitBooking, a)
	if !ok {
		return nil
	}
	stored, use, added, err := l.lockBooking(a, limit)
	if err != nil {
		return err
	}
	// Deliveries and refunds lower the use without a judgement. So the previous level is that of the use just before
	// this change, if it is lower than the stored one.
	before := min(stored, limit.Level(use-added))
	return l.record(a, limit, a.BookingID, added, use, before, true)
}

// lockBooking locks the use of a booking, computes it, and stores its level. It returns the level that was stored before,
// and what the allocation adds to the use.
func (l *limiting) lockBooking(a protection.Allocation, limit protection.Limit) (before, use, added int64, err error) {
	stored, err := lockUse(l.tx, a.SiteID, a.BookingID, limit.Currency)
	if err != nil {
		return 0, 0, 0, err
	}
	list, err := ledger.HistoriesOfBooking(l.tx, a.SiteID, a.BookingID)
	if err != nil {
		return 0, 0, 0, err
	}
	if l.late {
		list = upTo(a, list)
	}
	if use, added, err = l.usesIn(list, a.ID, limit.Currency); err != nil {
		return 0, 0, 0, err
	}
	before, stored.Level = stored.Level, limit.Level(use)
	return before, use, added, saveUse(l.tx, a.SiteID, stored)
}

// judgeGrowth judges the transaction and the booking of an allocation after something other than a payment raised its use:
// a reversal, new dates or another policy. There are only events, and no part above a limit. One such change may raise the
// uses of several allocations, one after the other. The use that counts here is that of the lines after this one, so each
// level has one event. A payment that was recorded meanwhile has made its own events. grown is in the currency of the
// allocation's policy.
func (l *limiting) judgeGrowth(h protection.History, grown int64) error {
	a := h.Allocation
	for _, scope := range []protection.LimitScope{protection.LimitTransaction, protection.LimitBooking} {
		object := a.TransactionID
		if scope == protection.LimitBooking {
			object = a.BookingID
		}
		limit, ok := l.inForce(scope, a)
		if !ok {
			continue
		}
		sums, err := recomputedUses(l.tx, a.SiteID, scope, object)
		if err != nil {
			return err
		}
		use, added, err := l.grownBy(sums, a.PolicyCurrency, grown, limit.Currency)
		if err != nil {
			return err
		}
		before := limit.Level(use - added)
		if limit.Level(use) <= before {
			continue
		}
		if scope == protection.LimitBooking {
			stored, _, _, err := l.lockBooking(a, limit)
			if err != nil {
				return err
			}
			before = min(before, stored)
		}
		if err := l.record(a, limit, object, added, use, before, false); err != nil {
			return err
		}
	}
	return nil
}

// record writes the events for the levels that the use rose to, and the part of a payment above the limit.
func (l *limiting) record(
	a protection.Allocation, limit protection.Limit, object, added, use, before int64, payment bool,
) error {
	cause := a.TransactionID
	if !payment {
		cause = 0
	}
	err := recordCrossings(l.tx, protection.LimitEvent{
		SiteID: a.SiteID, Scope: limit.Scope, ObjectID: object, ChannelID: a.ChannelID, Use: use, Limit: limit,
		TransactionID: cause, CrossedAt: l.at,
	}, before)
	if err != nil || !payment {
		return err
	}
	return recordOver(l.tx, a, limit, added, use)
}

// recordCrossings writes an event for each level above before, up to the level of the event's use.
func recordCrossings(tx *store.Tx, e protection.LimitEvent, before int64) error {
	for _, e.Percent = range protection.Crossed(before, e.Limit.Level(e.Use)) {
		if err := insertLimitEvent(tx, e); err != nil {
			return err
		}
	}
	return nil
}

// recordOver writes the part of an allocation that exceeds a limit, if any.
func recordOver(tx *store.Tx, a protection.Allocation, limit protection.Limit, added, use int64) error {
	over := limit.Over(added, use)
	if over == 0 {
		return nil
	}
	return insertOver(tx, a.SiteID, protection.OverLimit{
		AllocationID: a.ID, TransactionID: a.TransactionID, Scope: limit.Scope, Amount: over, Currency: limit.Currency,
		Use: use, LimitAmount: limit.Amount, LimitID: limit.ID,
	})
}
