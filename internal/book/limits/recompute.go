package limits

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Bounds of the job. A write takes at most five seconds (R0). So a write that had begun when a change was seen has
// ended after seenAfter; one second of it allows for clock differences between processes. A change is in the running
// use in less than ten seconds.
const (
	seenAfter       = 6 * time.Second
	changesPerWrite = 100
	linesPerWrite   = 300
)

// Recompute brings the running use of every channel and site up to date, and judges the changes since the last run by
// their limits (R12). It works in bounded pieces, and returns more if there may be work left.
//
// A change gets its id before its write is durable, so the ids become visible out of order. A run therefore records the
// last id that it sees at each site, and a run after seenAfter processes the changes up to this id. Each of these ids
// belongs to a write that had begun by then, and has since been committed or rolled back. So all changes are processed
// in order of their ids, each once. The result depends neither on the times of the runs nor on the number of processes.
func (l *Limits) Recompute(ctx context.Context) (more bool, err error) {
	if err := l.look(ctx); err != nil {
		return false, err
	}
	var due []bookDue
	var days []civil.Day
	err = l.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		if due, err = booksDue(tx, tx.Now.Add(-seenAfter), civil.DayOf(sites.RealNow(tx).Add(-store.FinalAfter))); err != nil {
			return err
		}
		days = make([]civil.Day, len(due))
		for i, b := range due {
			final, err := sites.FinalBy(tx, b.Clock)
			if err != nil {
				return err
			}
			days[i] = civil.DayOf(final)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	for i, b := range due {
		today := days[i]
		if b.UpTo == 0 && !b.Walking && b.Day >= today {
			continue
		}
		actor := access.System(b.Clock.SiteID)
		actor.Ahead = b.Clock.Ahead
		left, err := sites.Write(ctx, l.DB, actor, func(tx *store.Tx) (bool, error) {
			return recomputePiece(tx, b.Clock.SiteID, b.UpTo, today)
		})
		if err != nil {
			return false, fmt.Errorf("site %d: %w", b.Clock.SiteID, err)
		}
		more = more || left
	}
	left, err := l.review(ctx)
	return more || left, err
}

// look notes the last change of each site that is visible, if it is a new one.
func (l *Limits) look(ctx context.Context) error {
	var unseen []lastChange
	err := l.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		unseen, err = unseenChanges(tx)
		return err
	})
	for _, c := range unseen {
		if err != nil {
			return err
		}
		// This needs a write of its own: its clock is read after the change was seen.
		err = l.Store.Write(ctx, c.siteID, func(tx *store.Tx) error { return sawChange(tx, c, tx.Now.Add(-seenAfter)) })
	}
	return err
}

// recomputing is one piece of the work on the running use of a site, inside one write that has locked its book. The book
// is stored in the same write, so a crash leaves nothing half done, and nothing is done twice.
type recomputing struct {
	tx     *store.Tx
	book   limitBook
	limits protection.Limits
	value  valuing // at the end of the book's day
	uses   *uses
	stored map[useKey]runningUse // the uses as they are in the database
	at     time.Time             // when the change was recorded that is judged now
	facts  map[int64]*LimitFacts // of the allocations of this piece, by their ids
	about  map[int64][]int64     // the ids of the allocations that each transaction changes
	lines  map[int64]limitLine   // of allocations, changed and not stored yet: see saveLines
}

func recomputePiece(tx *store.Tx, siteID, upTo int64, today civil.Day) (more bool, err error) {
	policy, err := merchants.PolicyOn(tx, siteID, today)
	if err != nil {
		return false, err
	}
	s := &recomputing{tx: tx, stored: map[useKey]runningUse{}, at: tx.Now, lines: map[int64]limitLine{}}
	// A new book begins on the day of its first change.
	changes, err := WaitingChanges(tx, siteID, upTo, changesPerWrite)
	if err != nil {
		return false, err
	}
	first := today
	if len(changes) > 0 {
		first = civil.DayOf(changes[0].RecordedAt)
	}
	if s.book, err = lockBook(tx, siteID, first, policy.Recognition); err != nil {
		return false, err
	}
	// Read them again, now that no other process recomputes this site.
	if changes, err = WaitingChanges(tx, siteID, upTo, changesPerWrite); err != nil {
		return false, err
	}
	if s.uses, err = runningUses(tx, siteID); err != nil {
		return false, err
	}
	for k, u := range s.uses.by {
		s.stored[k] = *u
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

// dayBefore returns a day, or the day of the first change that waits, if that is earlier. A new day waits until all
// changes of the days before are in the running use. They are all visible by now.
func dayBefore(tx *store.Tx, siteID int64, day civil.Day) (civil.Day, error) {
	waiting, err := WaitingChanges(tx, siteID, math.MaxInt64, 1)
	if err != nil || len(waiting) == 0 {
		return day, err
	}
	return min(day, civil.DayOf(waiting[0].RecordedAt)), nil
}

// read reads the facts of the allocations that the changes are about.
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
	if s.about, err = adjustedBy(s.tx, s.book.SiteID, adjusting); err != nil {
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

// apply computes the line of an allocation again, and adds the difference to the uses of its channel and site. It returns
// the difference.
func (s *recomputing) apply(f *LimitFacts, day civil.Day) (grown int64, err error) {
	a := f.Allocation
	after := limitLine{AllocationID: a.ID, ChannelID: a.ChannelID, Currency: a.PolicyCurrency}
	after.LimitUse, err = f.UseAt(day, s.book.KnownAt, s.book.Recognition)
	if err != nil || after.LimitUse == f.line.LimitUse {
		return 0, err
	}
	grown = after.Amount - f.line.Amount
	f.line = after
	for _, use := range []*runningUse{
		s.uses.of(protection.LimitChannel, a.ChannelID, a.PolicyCurrency), s.uses.of(protection.LimitSite, 0, a.PolicyCurrency),
	} {
		use.Amount = money.UpTo(use.Amount, grown)
	}
	s.lines[a.ID] = after
	return grown, nil
}

// takeChange adds one change to the running use, and judges it.
func (s *recomputing) takeChange(c LimitChange) error {
	s.at = c.RecordedAt
	// Keep the latest time: a change may have been recorded before one that was taken earlier.
	if c.RecordedAt.After(s.book.KnownAt) {
		s.book.KnownAt = c.RecordedAt
	}
	ids := s.about[c.TransactionID]
	if c.AllocationID != 0 {
		ids = []int64{c.AllocationID}
	}
	for _, id := range ids {
		payment := c.Kind == ChangePayment || c.Kind == ChangePriced
		grown, err := s.takeAllocation(s.facts[id], payment)
		if err != nil {
			return err
		}
		// If a payment has its value from the beginning, Judge has judged it already.
		if c.Kind != ChangePayment {
			if err := s.judgeObjects(s.facts[id].History, grown, s.book.Day, payment); err != nil {
				return err
			}
		}
	}
	if c.Kind == ChangeLimit {
		return s.judgeAll()
	}
	return nil
}

// takeAllocation computes the line of an allocation again, and judges the uses of its channel and site. It writes an event
// for each level that a use rose to, and the part of a payment above the limit. It returns the growth of the line.
func (s *recomputing) takeAllocation(f *LimitFacts, payment bool) (grown int64, err error) {
	a := f.Allocation
	scopes := []protection.LimitScope{protection.LimitChannel, protection.LimitSite}
	objects, before := []int64{a.ChannelID, 0}, make([]int64, len(scopes))
	for i, scope := range scopes {
		if limit, ok := s.inForce(scope, objects[i]); ok {
			if before[i], err = s.useIn(scope, objects[i], limit); err != nil {
				return 0, err
			}
		}
	}
	if grown, err = s.apply(f, s.book.Day); err != nil {
		return 0, err
	}
	for i, scope := range scopes {
		limit, ok := s.inForce(scope, objects[i])
		if !ok {
			continue
		}
		use, err := s.useIn(scope, objects[i], limit)
		if err != nil {
			return 0, err
		}
		cause := int64(0)
		if payment {
			cause = a.TransactionID
			if err := recordOver(s.tx, a, limit, use-before[i], use); err != nil {
				return 0, err
			}
		}
		if err := s.cross(scope, objects[i], limit, use, cause); err != nil {
			return 0, err
		}
	}
	return grown, nil
}

// inForce finds the limit of a channel or of the site.
func (s *recomputing) inForce(scope protection.LimitScope, object int64) (protection.Limit, bool) {
	return s.limits.InForce(scope, object, s.book.Day, s.known())
}

// useIn is the use of a channel or of the site in the currency of a limit.
func (s *recomputing) useIn(scope protection.LimitScope, object int64, limit protection.Limit) (int64, error) {
	use, _, err := s.uses.in(s.value, scope, object, limit.Currency)
	return use, err
}

// cross brings the level of a use up to date, and writes an event for each level that it rose to. After a fall, the next
// rise makes new events.
func (s *recomputing) cross(scope protection.LimitScope, object int64, limit protection.Limit, use, cause int64) error {
	u := s.uses.of(scope, object, limit.Currency)
	before := u.Level
	u.Level = limit.Level(use)
	return recordCrossings(s.tx, protection.LimitEvent{
		SiteID: s.book.SiteID, Scope: scope, ObjectID: object, ChannelID: object, Use: use, Limit: limit,
		TransactionID: cause, CrossedAt: s.at,
	}, before)
}

// known is the known_at of the limits: limits count that were recorded before the current change.
func (s *recomputing) known() time.Time { return s.book.KnownAt }

// judgeAll judges all uses, after a new day, recognition, rate or limit.
func (s *recomputing) judgeAll() error {
	keys := s.uses.sorted()
	for i, k := range keys {
		limit, ok := s.inForce(k.scope, k.object)
		if !ok || limit.Currency != k.currency {
			s.uses.by[k].Level = 0
		}
		if !ok || i > 0 && keys[i-1].scope == k.scope && keys[i-1].object == k.object { // one use for all its currencies
			continue
		}
		use, err := s.useIn(k.scope, k.object, limit)
		if err != nil {
			return err
		}
		if err := s.cross(k.scope, k.object, limit, use, 0); err != nil {
			return err
		}
	}
	return nil
}

// judgeObjects judges the transaction and the booking of an allocation after its use changed. payment says that the
// allocation got its value late; then the part above the limits is recorded, too.
func (s *recomputing) judgeObjects(h protection.History, grown int64, day civil.Day, payment bool) error {
	if grown <= 0 {
		return nil
	}
	l, err := newLimiting(s.tx, h.SiteID, day, s.at)
	if err != nil || len(l.limits) == 0 {
		return err
	}
	l.late, l.by = payment, s.book.Recognition
	if payment {
		return l.judge(h)
	}
	if err := s.saveLines(); err != nil { // which it adds up
		return err
	}
	return l.judgeGrowth(h, grown)
}

// saveLines stores the lines that were changed since the last time.
func (s *recomputing) saveLines() error {
	lines := s.lines
	s.lines = map[int64]limitLine{}
	return saveLines(s.tx, s.book.SiteID, lines)
}

func (s *recomputing) save() error {
	if err := s.saveLines(); err != nil {
		return err
	}
	for _, k := range s.uses.sorted() {
		if *s.uses.by[k] == s.stored[k] {
			continue
		}
		if err := saveUse(s.tx, s.book.SiteID, *s.uses.by[k]); err != nil {
			return err
		}
	}
	return saveBook(s.tx, s.book)
}
