package exposure

import (
	"cmp"
	"slices"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
)

// curve holds the change of each day in a slice. There are few curves and few days. A map took as long as all
// conversions together.
type curve struct {
	first   civil.Day
	changes []protection.Level // of the first day and the days after it
}

func (c *curve) add(day civil.Day, delta protection.Level) {
	switch {
	case len(c.changes) == 0:
		c.first = day
	case day < c.first:
		c.changes = slices.Concat(make([]protection.Level, c.first-day), c.changes)
		c.first = day
	}
	if short := int(day-c.first) + 1 - len(c.changes); short > 0 {
		c.changes = append(c.changes, make([]protection.Level, short)...)
	}
	at := &c.changes[day-c.first]
	*at = at.Plus(delta)
}

// any reports whether anything changes.
func (c *curve) any() bool {
	return slices.ContainsFunc(c.changes, func(l protection.Level) bool { return l != protection.Level{} })
}

// each yields the changes in order of the days, including zero ones.
func (c *curve) each(yield func(civil.Day, protection.Level) bool) {
	for i, l := range c.changes {
		if !yield(c.first+civil.Day(i), l) {
			return
		}
	}
}

// steps are the changes of one line of a report, in any order. There may be one for each allocation, so they are
// merged by day now and then: then they are never many more than the days. There are many lines, and a map for each
// would be slow.
type steps struct {
	list   []dayLevel
	merged int
}

type dayLevel struct {
	day civil.Day
	protection.Level
}

func (s *steps) add(day civil.Day, delta protection.Level) {
	if delta == (protection.Level{}) {
		return
	}
	if n := len(s.list); n > 0 && s.list[n-1].day == day {
		s.list[n-1].Level = s.list[n-1].Plus(delta)
		return
	}
	if s.list = append(s.list, dayLevel{day, delta}); len(s.list) > 2*s.merged+256 {
		s.merge()
	}
}

// merge adds up the steps of each day, and returns them in order of the days.
func (s *steps) merge() []dayLevel {
	slices.SortFunc(s.list, func(a, b dayLevel) int { return cmp.Compare(a.day, b.day) })
	merged := s.list[:0]
	for _, step := range s.list {
		if n := len(merged); n > 0 && merged[n-1].day == step.day {
			merged[n-1].Level = merged[n-1].Plus(step.Level)
		} else {
			merged = append(merged, step)
		}
	}
	s.list, s.merged = merged, len(merged)
	return merged
}

// into adds the steps to a curve.
func (s *steps) into(c *curve) {
	for _, step := range s.merge() {
		c.add(step.day, step.Level)
	}
}

// series holds the changes of one line of a report, in base currency and at locked rates.
type series struct {
	native steps
	locked steps // in a locked valuation only
	count  int64 // allocations on the day of the report
}

// change adds a change. value is nil in a spot valuation.
func (s *series) change(c protection.Change, value func(int64) (int64, error)) error {
	s.native.add(c.Day, c.After.Minus(c.Before))
	if value == nil {
		return nil
	}
	before, err := convertLevel(c.Before, value)
	if err != nil {
		return err
	}
	after, err := convertLevel(c.After, value)
	s.locked.add(c.Day, after.Minus(before))
	return err
}

// add adds a change with its locked value.
func (s *series) add(day civil.Day, native, locked protection.Level, by Valuation) {
	s.native.add(day, native)
	if by == Locked {
		s.locked.add(day, locked)
	}
}

// value is the steps that a report converts to its currency: those in base currency, or at locked rates.
func (s *series) value(by Valuation) *steps {
	if by == Locked {
		return &s.locked
	}
	return &s.native
}

// convert adds the steps, in the report currency, to a curve. The level of each day is rounded once.
func (s *steps) convert(total *curve, quote *fx.Quote) error {
	var level, converted protection.Level
	for _, step := range s.merge() {
		now, err := converted, error(nil)
		if step.E1 != 0 { // many steps change one of the two only, and the past has no E2
			now.E1, err = quote.Convert(money.Sum(level.E1, step.E1))
		}
		if step.E2 != 0 && err == nil {
			now.E2, err = quote.Convert(level.E2 + step.E2)
		}
		if err != nil {
			return err
		}
		level = level.Plus(step.Level)
		total.add(step.day, now.Minus(converted))
		converted = now
	}
	return nil
}
