// Package limits judges payments by limits (R12): those of transactions and bookings at once, those of channels and
// sites in a job. It owns limits, limit_* and over_limits. Begin reading at Judge, then Limits.Recompute.
package limits

import (
	"slices"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/ledger"
	"holdfast/internal/merchants"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// everything is the knowledge of a write that holds a booking: whatever is on file, also what another write recorded
// with a later reading of the clock while this one was waiting.
var everything = civil.LastDay.End()

// limiting judges payments by the limits of transactions and bookings (R12).
type limiting struct {
	tx     *db.Tx
	siteID int64
	day    civil.Day // at whose end a use is taken
	at     time.Time // of the change that is judged
	limits protection.Limits
	by     travel.Recognition
	// late: of what got its value after it was logged, perhaps together with others of the same booking. What is logged
	// holds the booking, so that all that is on file came before it, whatever the clocks say.
	late bool
}

func newLimiting(tx *db.Tx, siteID int64, day civil.Day, at time.Time) (*limiting, error) {
	l := &limiting{tx: tx, siteID: siteID, day: day, at: at}
	var err error
	l.limits, err = LimitsUpTo(tx, siteID, day, protection.LimitTransaction, protection.LimitBooking)
	if err != nil || len(l.limits) == 0 { // most sites have none: nothing more is read then
		return l, err
	}
	policy, err := merchants.PolicyOn(tx, siteID, day)
	l.by = policy.Recognition
	return l, err
}

// Judge notes a payment that was posted as a change of its channel's and site's use, and judges it at once by the limits
// of transactions and bookings (R12): the write holds its bookings. over is what of the payment lies above the limit that
// it exceeds most.
func Judge(tx *db.Tx, t travel.Transaction) (over int64, in money.Currency, err error) {
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

// Redate is ledger.Redate, and notes what it changed for the limits.
func Redate(core *core.Core) func(tx *db.Tx, before, after travel.Booking) error {
	return func(tx *db.Tx, before, after travel.Booking) error {
		changed, err := ledger.Redate(tx, core.Rulepacks, before, after)
		for _, id := range changed {
			NoteChange(tx, after.SiteID, ChangeReDated, 0, id)
		}
		return err
	}
}

// judge judges an allocation that has just got its value.
func (l *limiting) judge(h protection.History) error {
	use, err := l.uses(h)
	if err != nil || use == 0 {
		return err
	}
	if err := l.judgeTransaction(h, use); err != nil {
		return err
	}
	return l.judgeBooking(h, use, true)
}

// uses adds up what allocations add on the day.
func (l *limiting) uses(list ...protection.History) (sum int64, err error) {
	for _, h := range list {
		u, err := h.UseAt(l.day, everything, l.by)
		if err != nil {
			return 0, err
		}
		sum += u.Amount
	}
	return sum, nil
}

// upTo keeps the allocations that had their value before one or with it, in order of their ids, and that one itself: of
// several that are priced at once each then has its own part of what lies above a limit.
func upTo(a protection.Allocation, list []protection.History) []protection.History {
	return slices.DeleteFunc(list, func(o protection.History) bool {
		return o.PricedAt.After(a.PricedAt) || o.PricedAt.Equal(a.PricedAt) && o.ID > a.ID
	})
}

// inForce is the limit of a scope that bounds an allocation. One in another currency, of another policy, does not.
func (l *limiting) inForce(scope protection.LimitScope, a protection.Allocation) (protection.Limit, bool) {
	limit, ok := l.limits.InForce(scope, a.ChannelID, l.day, everything)
	return limit, ok && limit.Currency == a.PolicyCurrency
}

func (l *limiting) judgeTransaction(h protection.History, added int64) error {
	a := h.Allocation
	limit, ok := l.inForce(protection.LimitTransaction, a)
	if !ok {
		return nil
	}
	list, err := ledger.HistoriesWithIDs(l.tx, a.SiteID, nil, []int64{a.TransactionID})
	if err != nil {
		return err
	}
	use, err := l.uses(upTo(a, list)...)
	if err != nil {
		return err
	}
	return l.record(a, limit, a.TransactionID, added, use, limit.Level(use-added), true)
}

// judgeBooking judges the use of an allocation's booking after it grew by an amount. Only of a payment something can
// lie above the limit; what else raises a use is an event.
func (l *limiting) judgeBooking(h protection.History, added int64, payment bool) error {
	a := h.Allocation
	limit, ok := l.inForce(protection.LimitBooking, a)
	if !ok {
		return nil
	}
	stored, err := LockUse(l.tx, a.SiteID, a.BookingID, limit.Currency)
	if err != nil {
		return err
	}
	list, err := ledger.HistoriesOfBooking(l.tx, a.SiteID, a.BookingID)
	if err != nil {
		return err
	}
	if l.late {
		list = upTo(a, list)
	}
	use, err := l.uses(list...)
	if err != nil {
		return err
	}
	// Other dates of a booking raise the use of several allocations at once, each a change of its own: the use is what it
	// has come to with this one, so that each level is told once. A payment that is logged meanwhile has told its own.
	told := use
	if !payment {
		if told, err = RecomputedUse(l.tx, a.SiteID, a.BookingID, limit.Currency); err != nil {
			return err
		}
	}
	// What was delivered or refunded since let the use fall without anyone looking: it counts as it was just before.
	before := min(stored.Level, limit.Level(told-added))
	stored.Level = limit.Level(use)
	if err := SaveUse(l.tx, a.SiteID, stored); err != nil {
		return err
	}
	return l.record(a, limit, a.BookingID, added, told, before, payment)
}

// record writes the events between the level before and now, and what of a payment lies above.
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

// recordCrossings writes an event for each level between the one before and the one of the event's use.
func recordCrossings(tx *db.Tx, e protection.LimitEvent, before int64) error {
	for _, e.Percent = range protection.Crossed(before, e.Limit.Level(e.Use)) {
		if err := InsertLimitEvent(tx, e); err != nil {
			return err
		}
	}
	return nil
}

// recordOver writes what of an allocation lies above a limit, where something does.
func recordOver(tx *db.Tx, a protection.Allocation, limit protection.Limit, added, use int64) error {
	over := limit.Over(added, use)
	if over == 0 {
		return nil
	}
	return InsertOver(tx, a.SiteID, protection.OverLimit{
		AllocationID: a.ID, TransactionID: a.TransactionID, Scope: limit.Scope, Amount: over, Currency: limit.Currency,
		Use: use, LimitAmount: limit.Amount, LimitID: limit.ID,
	})
}
