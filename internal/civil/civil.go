// Package civil holds the calendar of the program: civil days in GMT and the two texts in which the wire writes
// days and instants (R0: days are civil days in GMT, "as of a day" means its end).
package civil

import (
	"fmt"
	"time"
)

// Layouts of the wire (section 2 of the document): days as Y-m-d, instants as Y-m-d H:i:s in GMT.
const (
	DayLayout     = "2006-01-02"
	InstantLayout = "2006-01-02 15:04:05"
)

const secondsPerDay = 24 * 60 * 60

// Day is a civil day in GMT, counted from 1970-01-01, which is 0. It is a plain number so that databases can compare
// and subtract days.
type Day int64

// NoDay stands for the absence of a day, such as the start of a booking that names only its end.
const NoDay Day = -1 << 31

// FirstDay and LastDay bound the days that are accepted as input.
var (
	FirstDay = DayOf(time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC))
	LastDay  = DayOf(time.Date(2199, 12, 31, 0, 0, 0, 0, time.UTC))
)

// DayOf returns the day on which t falls in GMT.
func DayOf(t time.Time) Day {
	s := t.Unix()
	d := s / secondsPerDay
	if s%secondsPerDay < 0 { // Go truncates towards zero; instants before 1970 belong to the earlier day.
		d--
	}
	return Day(d)
}

// Date returns the day of a year, month and day of the month; it normalises like time.Date.
func Date(year int, month time.Month, dayOfMonth int) Day {
	return DayOf(time.Date(year, month, dayOfMonth, 0, 0, 0, 0, time.UTC))
}

// ParseDay reads a day written Y-m-d, strictly: no day that the calendar does not have, none outside FirstDay to LastDay.
func ParseDay(s string) (Day, error) {
	t, err := time.Parse(DayLayout, s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a date of the form Y-m-d", s)
	}
	d := DayOf(t)
	if d < FirstDay || d > LastDay {
		return 0, fmt.Errorf("%q lies outside %s to %s", s, FirstDay, LastDay)
	}
	return d, nil
}

// Start returns the first instant of the day.
func (d Day) Start() time.Time { return time.Unix(int64(d)*secondsPerDay, 0).UTC() }

// End returns the last microsecond of the day: the finest instant that the stores keep.
func (d Day) End() time.Time { return (d + 1).Start().Add(-time.Microsecond) }

// String writes the day as Y-m-d.
func (d Day) String() string { return d.Start().Format(DayLayout) }

// Month writes the day's month as Y-m.
func (d Day) Month() string { return d.Start().Format("2006-01") }

// MarshalText writes the day as Y-m-d.
func (d Day) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// ParseInstant reads an instant written Y-m-d H:i:s, in GMT.
func ParseInstant(s string) (time.Time, error) {
	t, err := time.ParseInLocation(InstantLayout, s, time.UTC)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not an instant of the form Y-m-d H:i:s", s)
	}
	if d := DayOf(t); d < FirstDay || d > LastDay {
		return time.Time{}, fmt.Errorf("%q lies outside %s to %s", s, FirstDay, LastDay)
	}
	return t, nil
}

// FormatInstant writes an instant as Y-m-d H:i:s in GMT.
func FormatInstant(t time.Time) string { return t.UTC().Format(InstantLayout) }
