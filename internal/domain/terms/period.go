package terms

import (
	"fmt"
	"time"

	"holdfast/internal/domain/civil"
)

// StatementPeriods are the values of a channel's statement_period (section 2.3), the default first.
var StatementPeriods = []string{"month", "biweek", "week"}

// The periods of a channel's statements (R11), the values of statement_period.
const (
	PeriodMonth  = "month"
	PeriodBiweek = "biweek"
	PeriodWeek   = "week"
)

// firstMonday is Monday 1970-01-05: biweeks are counted from there (R11).
const firstMonday civil.Day = 4

const daysOfWeek = 7

// Period is the period of a statement: the days from First to Last, both included (R11).
type Period struct {
	Kind        string
	First, Last civil.Day
}

// PeriodOf is the period of a kind that has the day in it. Weeks are those of ISO 8601, and a biweek is two of them.
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

// Name writes the period: 2024-06, 2024-W23 or 2024-W23/24. The year is that of ISO 8601, which differs from the year
// of the days for some weeks.
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

// AfterBusinessDays is the day that is n business days after a day. Business days are Monday to Friday (R11).
func AfterBusinessDays(day civil.Day, n int64) civil.Day {
	for n > 0 {
		day++
		if at := day.Start().Weekday(); at != time.Saturday && at != time.Sunday {
			n--
		}
	}
	return day
}
