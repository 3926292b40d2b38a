package protection

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
)

// Level is the amount at risk at the end of a day (R7): E1, not delivered, and E2, delivered and still disputable.
type Level struct {
	E1 int64
	E2 int64
}

// Plus adds two levels.
func (l Level) Plus(o Level) Level { return Level{money.Sum(l.E1, o.E1), money.Sum(l.E2, o.E2)} }

// Minus subtracts a level from this one.
func (l Level) Minus(o Level) Level { return Level{money.Sum(l.E1, -o.E1), money.Sum(l.E2, -o.E2)} }

// Level is the amount at risk at the end of a day, for N = n. After the last day of dispute it is zero.
func (t Terms) Level(n int64, day civil.Day, by terms.Recognition) Level {
	if day > t.LastDay {
		return Level{}
	}
	u := t.Undelivered(n, day, by)
	return Level{E1: u, E2: n - u}
}

// Fade calls each for every change that time alone makes, for N = n, on the days after one day and up to another: the
// amount is delivered, in full or day by day, and finally it expires.
func (t Terms) Fade(n int64, after, until civil.Day, by terms.Recognition, each func(Change) error) error {
	before := t.Level(n, after, by)
	first, last := t.End+1, t.End+1
	switch by {
	case terms.RecognitionStartDate:
		first, last = t.Start, t.Start
	case terms.RecognitionLinear:
		first, last = t.Start, t.End
	}
	for day := max(first, after+1); day <= min(last, until, t.LastDay); day++ {
		now := t.Level(n, day, by)
		if now == before {
			continue
		}
		if err := each(Change{day, CauseDelivered, before, now}); err != nil {
			return err
		}
		before = now
	}
	if after > t.LastDay || until <= t.LastDay || before == (Level{}) {
		return nil
	}
	return each(Change{t.LastDay + 1, CauseExpired, before, Level{}})
}
