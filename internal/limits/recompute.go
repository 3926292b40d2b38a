package limits

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/merchants"
	"holdfast/internal/protection"
)

// Bounds of settling. A write lives at most five seconds (R0): whatever was begun when a change was seen is over after
// settleAfter, with a second for the clocks of two processes that take turns. A change is settled in under ten seconds.
const (
	seenAfter       = 6 * time.Second
	changesPerWrite = 100
)

// Recompute brings the running use of every channel and site up to date, and judges by their limits what was logged
// since (R12), in bounded pieces; more says that there is some left.
//
// Ids are drawn before a write is durable, so that they become visible out of order. A run therefore notes the last id
// that it sees, and a later one settles up to it: every id up to there was drawn by a write that had begun then, and is
// on file or gone when settleAfter is over. So changes are settled in order of their ids, all of them and each once,
// and what comes out depends neither on when this runs nor on how many processes there are.
func (l *Limits) Recompute(ctx context.Context) (more bool, err error) {
	if err := l.look(ctx); err != nil {
		return false, err
	}
	var upTo int64
	var due []BookDue
	var days []civil.Day
	err = l.Store.Read(ctx, func(tx *db.Tx) error {
		if upTo, err = ChangesSeenBy(tx, tx.Now.Add(-seenAfter)); err != nil {
			return err
		}
		if due, err = BooksDue(tx, upTo); err != nil {
			return err
		}
		days = make([]civil.Day, len(due))
		for i, b := range due {
			settled, err := core.FinalBy(tx, b.Clock)
			if err != nil {
				return err
			}
			days[i] = civil.DayOf(settled)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	for i, b := range due {
		today := days[i]
		if !b.Waiting && !b.Walking && b.Day >= today {
			continue
		}
		actor := auth.System(b.Clock.SiteID)
		actor.Ahead = b.Clock.Ahead
		left, err := core.Write(ctx, l.Core, actor, func(tx *db.Tx) (bool, error) {
			return recomputePiece(tx, b.Clock.SiteID, upTo, today)
		})
		if err != nil {
			return false, fmt.Errorf("site %d: %w", b.Clock.SiteID, err)
		}
		more = more || left
	}
	left, err := l.review(ctx)
	return more || left, err
}

// look notes the last change that there is, where it is a new one.
func (l *Limits) look(ctx context.Context) error {
	var last, seen int64
	err := l.Store.Read(ctx, func(tx *db.Tx) (err error) {
		last, seen, err = LastChange(tx)
		return err
	})
	if err != nil || last <= seen {
		return err
	}
	// In a write of its own, whose clock is read after the change was seen.
	return l.Store.Write(ctx, func(tx *db.Tx) error {
		done, err := ChangesSeenBy(tx, tx.Now.Add(-seenAfter))
		if err != nil {
			return err
		}
		if err := ForgetSeen(tx, done); err != nil {
			return err
		}
		return SawChange(tx, last)
	})
}

// recomputing is one piece of the work on the running use of a site, inside one write that holds its book. All that it
// writes becomes durable together with how far it has come: a crash leaves nothing half done, and nothing twice.
type recomputing struct {
	tx     *db.Tx
	book   LimitBook
	limits protection.Limits
	uses   map[useKey]*RunningUse
	at     time.Time // of the change that is settled
	// Of the allocations of this piece, by their ids; and which of them each transaction is about.
	facts map[int64]*LimitFacts
	about map[int64][]int64
}

type useKey struct {
	scope    protection.LimitScope
	object   int64
	currency string
}

func recomputePiece(tx *db.Tx, siteID, upTo int64, today civil.Day) (more bool, err error) {
	policy, err := merchants.PolicyOn(tx, siteID, today)
	if err != nil {
		return false, err
	}
	s := &recomputing{tx: tx, uses: map[useKey]*RunningUse{}, at: tx.Now}
	// A new book begins on the day of its first change.
	changes, err := WaitingChanges(tx, siteID, upTo, changesPerWrite)
	if err != nil {
		return false, err
	}
	first := today
	if len(changes) > 0 {
		first = civil.DayOf(changes[0].RecordedAt)
	}
	if s.book, err = LockBook(tx, siteID, first, policy.Recognition); err != nil {
		return false, err
	}
	// Read again now that nobody else settles.
	if changes, err = WaitingChanges(tx, siteID, upTo, changesPerWrite); err != nil {
		return false, err
	}
	stored, err := RunningUses(tx, siteID)
	if err != nil {
		return false, err
	}
	for _, u := range stored {
		s.uses[useKey{u.Scope, u.ObjectID, string(u.Currency)}] = &u
	}
	if len(changes) > 0 {
		today = civil.DayOf(changes[0].RecordedAt)
	} else if today, err = dayBefore(tx, siteID, today); err != nil {
		return false, err
	}
	if more, err = s.step(max(today, s.book.Day), changes); err != nil {
		return false, err
	}
	return more, s.save()
}

// dayBefore is a day, or an earlier one that has changes which are not settled yet: all that was recorded before the day
// can be seen by now, and the new day waits for it.
func dayBefore(tx *db.Tx, siteID int64, day civil.Day) (civil.Day, error) {
	waiting, err := WaitingChanges(tx, siteID, math.MaxInt64, 1)
	if err != nil || len(waiting) == 0 {
		return day, err
	}
	return min(day, civil.DayOf(waiting[0].RecordedAt)), nil
}

// step does the next piece: on to another day, through a new recognition, or through changes.
func (s *recomputing) step(day civil.Day, changes []LimitChange) (more bool, err error) {
	if !s.book.Walking {
		if more, err = s.turnTo(day); more || err != nil {
			return true, err
		}
	}
	if s.book.Walking {
		return true, s.walk()
	}
	if s.limits, err = LimitsUpTo(s.tx, s.book.SiteID, s.book.Day); err != nil {
		return false, err
	}
	// What a new day, recognition or limit did to the levels.
	if err := s.judgeAll(); err != nil {
		return false, err
	}
	if err := s.read(changes); err != nil {
		return false, err
	}
	var last int64
	for _, c := range changes {
		if civil.DayOf(c.RecordedAt) > s.book.Day {
			break
		}
		if err := s.settle(c); err != nil {
			return false, fmt.Errorf("change %d: %w", c.ID, err)
		}
		last = c.ID
	}
	more = len(changes) == changesPerWrite || len(changes) > 0 && last != changes[len(changes)-1].ID
	return more, ForgetChanges(s.tx, s.book.SiteID, last)
}

// turnTo takes the book to the end of another day: first the lines that change by themselves until then, a bounded
// number at each piece. A recognition that is new on it asks for a walk through all lines.
func (s *recomputing) turnTo(day civil.Day) (more bool, err error) {
	if day > s.book.Day {
		due, err := LinesDue(s.tx, s.book.SiteID, day, changesPerWrite)
		if err != nil {
			return false, err
		}
		if err := s.renew(due, day); err != nil {
			return false, err
		}
		if len(due) == changesPerWrite {
			return true, nil
		}
		s.book.Day = day
	}
	policy, err := merchants.PolicyOn(s.tx, s.book.SiteID, s.book.Day)
	if err != nil {
		return false, err
	}
	if policy.Recognition != s.book.Recognition {
		s.book.Recognition, s.book.Walking, s.book.WalkedTo = policy.Recognition, true, 0
	}
	return false, nil
}

// walk computes the next lines anew.
func (s *recomputing) walk() error {
	list, err := LinesAfter(s.tx, s.book.SiteID, s.book.WalkedTo, changesPerWrite)
	if err != nil {
		return err
	}
	if err := s.renew(list, s.book.Day); err != nil {
		return err
	}
	if len(list) > 0 {
		s.book.WalkedTo = list[len(list)-1]
	}
	s.book.Walking = len(list) == changesPerWrite
	return nil
}

// renew computes the lines of allocations anew.
func (s *recomputing) renew(ids []int64, day civil.Day) (err error) {
	if s.facts, err = FactsOf(s.tx, s.book.SiteID, ids, nil); err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := s.apply(s.facts[id], day); err != nil {
			return err
		}
	}
	return nil
}

// read reads what the changes are about.
func (s *recomputing) read(changes []LimitChange) (err error) {
	var allocations, payments, adjusting []int64
	for _, c := range changes {
		switch c.Kind {
		case ChangePayment:
			payments = append(payments, c.TransactionID)
		case ChangeEvent:
			adjusting = append(adjusting, c.TransactionID)
		case ChangeReDated, ChangePriced:
			allocations = append(allocations, c.AllocationID)
		}
	}
	if s.about, err = AdjustedBy(s.tx, s.book.SiteID, adjusting); err != nil {
		return err
	}
	for _, ids := range s.about {
		allocations = append(allocations, ids...)
	}
	if s.facts, err = FactsOf(s.tx, s.book.SiteID, allocations, payments); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(s.facts)) {
		of := s.facts[id].Allocation.TransactionID
		s.about[of] = append(s.about[of], id)
	}
	return nil
}

// apply computes the line of an allocation anew, and adds the difference to the uses of its channel and site.
func (s *recomputing) apply(f *LimitFacts, day civil.Day) (grown int64, err error) {
	a := f.Allocation
	after := LimitLine{AllocationID: a.ID, ChannelID: a.ChannelID, Currency: a.PolicyCurrency}
	after.LimitUse, err = f.UseAt(day, s.book.KnownAt, s.book.Recognition)
	if err != nil || after.LimitUse == f.Line.LimitUse {
		return 0, err
	}
	grown = after.Amount - f.Line.Amount
	f.Line = after
	s.use(protection.LimitChannel, a).Amount += grown
	s.use(protection.LimitSite, a).Amount += grown
	return grown, SaveLine(s.tx, a.SiteID, after)
}

// use is the running use that an allocation adds to.
func (s *recomputing) use(scope protection.LimitScope, a protection.Allocation) *RunningUse {
	u := RunningUse{Scope: scope, Currency: a.PolicyCurrency}
	if scope == protection.LimitChannel {
		u.ObjectID = a.ChannelID
	}
	k := useKey{scope, u.ObjectID, string(u.Currency)}
	if s.uses[k] == nil {
		s.uses[k] = &u
	}
	return s.uses[k]
}

// settle takes one change into the running use.
func (s *recomputing) settle(c LimitChange) error {
	s.at = c.RecordedAt
	// The latest so far: what an earlier change found must not be lost again to one that was recorded before it.
	if c.RecordedAt.After(s.book.KnownAt) {
		s.book.KnownAt = c.RecordedAt
	}
	ids := s.about[c.TransactionID]
	if c.AllocationID != 0 {
		ids = []int64{c.AllocationID}
	}
	for _, id := range ids {
		a := s.facts[id].Allocation
		grown, err := s.apply(s.facts[id], s.book.Day)
		if err != nil {
			return err
		}
		payment := c.Kind == ChangePayment || c.Kind == ChangePriced
		for _, scope := range []protection.LimitScope{protection.LimitChannel, protection.LimitSite} {
			if err := s.judge(s.use(scope, a), a, grown, payment); err != nil {
				return err
			}
		}
		// Of a payment that is logged with its value the booking has been judged already.
		if c.Kind != ChangePayment && grown > 0 {
			if err := s.judgeBooking(s.facts[id].History, grown, payment); err != nil {
				return err
			}
		}
	}
	if c.Kind == ChangeLimit {
		return s.judgeAll()
	}
	return nil
}

// judge judges a use after an allocation changed it: an event for each level that it rose to, and of a payment what
// lies above the limit.
func (s *recomputing) judge(u *RunningUse, a protection.Allocation, grown int64, payment bool) error {
	limit, ok := s.limits.InForce(u.Scope, a.ChannelID, s.book.Day, s.known())
	if !ok || limit.Currency != u.Currency {
		u.Level = 0
		return nil
	}
	if payment {
		if err := recordOver(s.tx, a, limit, grown, u.Amount); err != nil {
			return err
		}
	}
	cause := int64(0)
	if payment {
		cause = a.TransactionID
	}
	return s.cross(u, limit, cause)
}

// cross brings the level of a use up to date; downwards that arms its events again.
func (s *recomputing) cross(u *RunningUse, limit protection.Limit, cause int64) error {
	before := u.Level
	u.Level = limit.Level(u.Amount)
	return recordCrossings(s.tx, protection.LimitEvent{
		SiteID: s.book.SiteID, Scope: u.Scope, ObjectID: u.ObjectID, ChannelID: u.ObjectID, Use: u.Amount, Limit: limit,
		TransactionID: cause, CrossedAt: s.at,
	}, before)
}

// known is up to when limits count: those that were recorded by the change that is settled.
func (s *recomputing) known() time.Time { return s.book.KnownAt }

// judgeAll judges all uses: a day, a recognition or a limit is new.
func (s *recomputing) judgeAll() error {
	for _, k := range sortedUses(s.uses) {
		u := s.uses[k]
		limit, ok := s.limits.InForce(u.Scope, u.ObjectID, s.book.Day, s.known())
		if !ok || limit.Currency != u.Currency {
			u.Level = 0
			continue
		}
		if err := s.cross(u, limit, 0); err != nil {
			return err
		}
	}
	return nil
}

// judgeBooking judges what became of a booking's use after its payment was logged.
func (s *recomputing) judgeBooking(h protection.History, grown int64, payment bool) error {
	l, err := newLimiting(s.tx, h.SiteID, s.book.Day, s.at)
	if err != nil || len(l.limits) == 0 {
		return err
	}
	l.late = payment
	if payment {
		return l.judge(h)
	}
	return l.judgeBooking(h, grown, false)
}

func (s *recomputing) save() error {
	for _, k := range sortedUses(s.uses) {
		if err := SaveUse(s.tx, s.book.SiteID, *s.uses[k]); err != nil {
			return err
		}
	}
	return SaveBook(s.tx, s.book)
}

// sortedUses is the order in which uses are judged and stored, the same at every run.
func sortedUses(uses map[useKey]*RunningUse) []useKey {
	return slices.SortedFunc(maps.Keys(uses), func(a, b useKey) int {
		return cmp.Or(cmp.Compare(a.scope, b.scope), cmp.Compare(a.object, b.object), cmp.Compare(a.currency, b.currency))
	})
}
