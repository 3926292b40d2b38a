package travel

import (
	"fmt"
	"time"

	"holdfast/internal/civil"
)

// The periods of a channel's statements (R11), the values of statement_period.
const (
	PeriodMonth  = "month"
	PeriodBiweek = "biweek"
	PeriodWeek   = "week"
)

// firstMonday is Monday 1970-01-05: the weeks of every biweek are counted from there.
const firstMonday civil.Day = 4

const daysOfWeek = 7

// Period is the days that one statement is about, both ends included.
type Period struct {
	Kind        string
	First, Last civil.Day
}

// PeriodOf is the period that a day lies in. Weeks are those of ISO 8601; a biweek is two of them.
func PeriodOf(kind string, day civil.Day) Period {
	switch kind {
	case PeriodWeek:
		return weeks(kind, day, daysOfWeek)
	case PeriodBiweek:
		return weeks(kind, day, 2*daysOfWeek)
	default:
		at := day.Start()
		first := civil.Date(at.Year(), at.Month(), 1)
		return Period{Kind: PeriodMonth, First: first, Last: civil.Date(at.Year(), at.Month()+1, 1) - 1}
	}
}

func weeks(kind string, day, length civil.Day) Period {
	into := (day - firstMonday) % length
	if into < 0 { // days before the first Monday count backwards
		into += length
	}
	return Period{Kind: kind, First: day - into, Last: day - into + length - 1}
}

// Next is the period that follows.
func (p Period) Next() Period { return PeriodOf(p.Kind, p.Last+1) }

// Name writes the period as people do: 2024-06, 2024-W23, 2024-W23/24. A week belongs to the year that ISO 8601 gives
// it to, which is not always that of its days.
func (p Period) Name() string {
	year, week := p.First.Start().ISOWeek()
	switch p.Kind {
	case PeriodWeek:
		return fmt.Sprintf("%d-W%02d", year, week)
	case PeriodBiweek:
		_, second := p.Last.Start().ISOWeek()
		return fmt.Sprintf("%d-W%02d/%02d", year, week, second)
	default:
		return p.Last.Month()
	}
}

// AfterBusinessDays is the day that lies a number of business days, Monday to Friday, after another one.
func AfterBusinessDays(day civil.Day, n int64) civil.Day {
	for n > 0 {
		day++
		if at := day.Start().Weekday(); at != time.Saturday && at != time.Sunday {
			n--
		}
	}
	return day
}
