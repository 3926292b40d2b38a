// Package civil is the program's calendar: days in GMT, and the text formats for days and times in requests and
// responses. "As of a day" means the end of that day (R0).
package civil

import (
	"fmt"
	"time"
)

// Layouts of days, such as 2026-03-31, and of times in GMT, such as 2026-03-31 14:05:00 (section 2).
const (
	DayLayout     = "2006-01-02"
	InstantLayout = "2006-01-02 15:04:05"
)

const secondsPerDay = 24 * 60 * 60

// Day is a calendar day in GMT (R0). It counts from 1970-01-01, which is 0. It is a plain number, so that databases
// can compare and subtract days.
type Day int64

// NoDay means no day, such as the start of a booking that only has an end.
const NoDay Day = -1 << 31

// FirstDay and LastDay are the first and the last day that an input can have.
var (
	FirstDay = DayOf(time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC))
	LastDay  = DayOf(time.Date(2199, 12, 31, 0, 0, 0, 0, time.UTC))
)

// DayOf returns the day on which t falls in GMT.
func DayOf(t time.Time) Day {
	s := t.Unix()
	d := s / secondsPerDay
	if s%secondsPerDay < 0 { // Go divides towards zero, but times before 1970 belong to the earlier day
		d--
	}
	return Day(d)
}

// Date returns the day with this date. Like time.Date, it takes October 32 for November 1.
func Date(year int, month time.Month, dayOfMonth int) Day {
	return DayOf(time.Date(year, month, dayOfMonth, 0, 0, 0, 0, time.UTC))
}

// ParseDay reads a day of the form YYYY-MM-DD. It is an error when the calendar has no such day, and when the day
// is outside FirstDay to LastDay.
func ParseDay(s string) (Day, error) {
	t, err := time.Parse(DayLayout, s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a date in the format YYYY-MM-DD", s)
	}
	d := DayOf(t)
	if d < FirstDay || d > LastDay {
		return 0, fmt.Errorf("%q is not between %s and %s", s, FirstDay, LastDay)
	}
	return d, nil
}

// Start returns the first instant of the day.
func (d Day) Start() time.Time { return time.Unix(int64(d)*secondsPerDay, 0).UTC() }

// End returns the last microsecond of the day: the databases keep times to the microsecond.
func (d Day) End() time.Time { return (d + 1).Start().Add(-time.Microsecond) }

// String writes the day as YYYY-MM-DD.
func (d Day) String() string {
	var room [len(time.RFC3339)]byte
	if text := d.Start().AppendFormat(room[:0], time.RFC3339); len(text) == lengthRFC3339 {
		return string(text[:len(DayLayout)])
	}
	return d.Start().Format(DayLayout)
}

// Long writes the day in words, for sentences: "28 June 2027".
func (d Day) Long() string { return d.Start().Format("2 January 2006") }

// Month writes the month of the day as YYYY-MM.
func (d Day) Month() string { return d.Start().Format("2006-01") }

// MarshalText writes the day as YYYY-MM-DD.
func (d Day) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Day) UnmarshalText(text []byte) error {
	day, err := time.Parse(DayLayout, string(text))
	*d = DayOf(day)
	return err
}

// ParseInstant reads a time in GMT of the form YYYY-MM-DD HH:MM:SS. It is an error when it is no such time, and when
// its day is outside FirstDay to LastDay.
func ParseInstant(s string) (time.Time, error) {
	t, err := time.ParseInLocation(InstantLayout, s, time.UTC)
	if err != nil || t.Format(InstantLayout) != s { // package time also accepts fractions and one-digit hours
		return time.Time{}, fmt.Errorf("%q is not a time in the format YYYY-MM-DD HH:MM:SS", s)
	}
	if d := DayOf(t); d < FirstDay || d > LastDay {
		return time.Time{}, fmt.Errorf("%q is not between %s and %s", s, FirstDay, LastDay)
	}
	return t, nil
}

// FormatInstant writes a time in GMT as YYYY-MM-DD HH:MM:SS.
func FormatInstant(t time.Time) string {
	var room [len(time.RFC3339)]byte
	if text := t.UTC().AppendFormat(room[:0], time.RFC3339); len(text) == lengthRFC3339 {
		text[len(DayLayout)] = ' '
		return string(text[:len(InstantLayout)])
	}
	return t.UTC().Format(InstantLayout)
}

// lengthRFC3339 is the length of a time in GMT with a four-digit year. The standard library formats this layout several
// times faster than others, and it begins like ours.
const lengthRFC3339 = len("2006-01-02T15:04:05Z")
