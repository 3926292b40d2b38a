package limits

import (
	"fmt"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/civil"
)

// step does the next piece of work: it moves to another day, applies a new recognition, or takes changes.
func (s *recomputing) step(day civil.Day, changes []LimitChange) (more bool, err error) {
	if !s.book.Walking {
		if more, err = s.turnTo(day); more || err != nil {
			return true, err
		}
	}
	if s.book.Walking {
		if err := s.walk(); err != nil || s.book.Walking {
			return true, err
		}
		if err := s.goBy(); err != nil || s.book.Walking { // by now there may be another one
			return true, err
		}
	}
	if s.limits, err = LimitsUpTo(s.tx, s.book.SiteID, s.book.Day); err != nil {
		return false, err
	}
	// A new day, recognition or limit may have changed the levels.
	if err := s.judgeAll(); err != nil {
		return false, err
	}
	if err := s.read(changes); err != nil {
		return false, err
	}
	var last LimitChange
	for _, c := range changes {
		// Everything after a new policy counts by it.
		if civil.DayOf(c.RecordedAt) > s.book.Day || last.Kind == ChangePolicy {
			break
		}
		if err := s.takeChange(c); err != nil {
			return false, fmt.Errorf("change %d: %w", c.ID, err)
		}
		last = c
	}
	if err := forgetChanges(s.tx, s.book.SiteID, last.ID); err != nil {
		return false, err
	}
	if last.Kind == ChangePolicy {
		if err := s.goBy(); err != nil || s.book.Walking {
			return true, err
		}
		return true, s.judgeAll() // the currency may be another one
	}
	return s.book.Day < day || len(changes) == changesPerWrite || len(changes) > 0 && last.ID != changes[len(changes)-1].ID, nil
}

// turnTo moves the book to the end of another day, or of the first day before it on which a policy begins. First it
// computes the lines that change with time alone until then, a bounded number in each piece.
func (s *recomputing) turnTo(day civil.Day) (more bool, err error) {
	if day > s.book.Day {
		if day, err = merchants.NextPolicyDay(s.tx, s.book.SiteID, s.book.Day, day); err != nil {
			return false, err
		}
		due, err := linesDue(s.tx, s.book.SiteID, day, linesPerWrite)
		if err != nil {
			return false, err
		}
		if err := s.renew(due, day); err != nil {
			return false, err
		}
		if len(due) == linesPerWrite {
			return true, nil
		}
		s.book.Day = day
	}
	return false, s.goBy()
}

// goBy goes by the policy in force: it values uses in its currency, and begins a walk if its recognition is a new one.
func (s *recomputing) goBy() error {
	known, err := policiesTaken(s.tx, s.book.SiteID)
	if err != nil {
		return err
	}
	policy, err := merchants.PolicyKnown(s.tx, s.book.SiteID, s.book.Day, known)
	s.value = newValuing(s.tx, s.book.SiteID, s.book.Day, policy.Currency)
	if err == nil && policy.Recognition != s.book.Recognition {
		s.book.Recognition, s.book.Walking, s.book.WalkedTo = policy.Recognition, true, 0
	}
	return err
}

// walk computes the next lines again, by the new recognition. Each allocation in which a recognition may find something
// undelivered has a line, also if it is 0.
func (s *recomputing) walk() error {
	list, err := linesAfter(s.tx, s.book.SiteID, s.book.WalkedTo, linesPerWrite)
	if err != nil {
		return err
	}
	if err := s.renew(list, s.book.Day); err != nil {
		return err
	}
	if len(list) > 0 {
		s.book.WalkedTo = list[len(list)-1]
	}
	s.book.Walking = len(list) == linesPerWrite
	return nil
}

// renew recomputes the lines of allocations, at the end of a day, and judges objects whose use has grown.
func (s *recomputing) renew(ids []int64, day civil.Day) (err error) {
	if s.facts, err = FactsOf(s.tx, s.book.SiteID, ids, nil); err != nil {
		return err
	}
	for _, id := range ids {
		grown, err := s.apply(s.facts[id], day)
		if err != nil {
			return err
		}
		if err := s.judgeObjects(s.facts[id].History, grown, day, false); err != nil {
			return err
		}
	}
	return s.saveLines()
}
