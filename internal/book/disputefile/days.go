package disputefile

import (
	"regexp"
	"strings"
	"time"
	_ "time/tzdata" // names such as Europe/Madrid, on machines that have none

	"holdfast/internal/domain/civil"
)

// layouts are the formats of days and times at processors: with a zone, without a zone, and days without a time.
var (
	zonedLayouts = []string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999999999-0700", "2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05.999999999Z07:00",
		"2006-01-02 15:04:05.999999999 -0700", "2006-01-02 15:04:05 -07:00", "2006/01/02 15:04:05 -0700", "2006/01/02 15:04:05 -07:00",
	}
	plainLayouts = []string{
		"2006-01-02 15:04:05.999999999", "2006-01-02 15:04", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006/01/02 15:04:05", "2006/01/02 15:04",
	}
	dayLayouts = []string{"2006-01-02", "2006/01/02", "20060102"}
	usLayouts  = []string{"1/2/2006 15:04:05", "1/2/2006 15:04", "1/2/2006 3:04:05 PM", "1/2/2006 3:04 PM"}
	usDays     = []string{"1/2/2006", "1-2-2006"}
)

// offsets are the zones that processors abbreviate, in hours and minutes east of GMT. Ambiguous abbreviations are left
// out.
var offsets = map[string]string{
	"UTC": "+0000", "GMT": "+0000", "Z": "+0000", "WET": "+0000", "WEST": "+0100", "BST": "+0100", "CET": "+0100", "MET": "+0100",
	"CEST": "+0200", "MEST": "+0200", "EET": "+0200", "EEST": "+0300", "SAST": "+0200", "MSK": "+0300", "GST": "+0400",
	"SGT": "+0800", "HKT": "+0800", "AWST": "+0800", "JST": "+0900", "KST": "+0900", "ACST": "+0930", "ACDT": "+1030",
	"AEST": "+1000", "AEDT": "+1100", "NZST": "+1200", "NZDT": "+1300", "BRT": "-0300", "ART": "-0300", "NST": "-0330", "AST": "-0400", "ADT": "-0300",
	"EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500", "MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
	"AKST": "-0900", "AKDT": "-0800", "HST": "-1000",
}

// zone is a zone by its letters, its offset (+02:00, -0700, UTC+2) or its name (Europe/Madrid). Without a name it is GMT.
func zone(name string) (*time.Location, bool) {
	plain := strings.ToUpper(strings.TrimSpace(name))
	if plain == "" {
		return time.UTC, true
	}
	if offset, ok := offsets[plain]; ok {
		plain = offset
	}
	plain = strings.TrimPrefix(strings.TrimPrefix(plain, "UTC"), "GMT")
	for _, layout := range []string{"-0700", "-07:00", "-07"} {
		if at, err := time.Parse(layout, plain); err == nil {
			return at.Location(), true
		}
	}
	if at, err := time.Parse("-7", plain); err == nil {
		return at.Location(), true
	}
	if len(plain) == 2 && (plain[0] == '+' || plain[0] == '-') { // +2
		return zone(plain[:1] + "0" + plain[1:])
	}
	if !strings.Contains(name, "/") {
		return nil, false
	}
	location, err := time.LoadLocation(strings.TrimSpace(name))
	return location, err == nil
}

// calendar is how a format writes its days.
type calendar struct {
	us     bool     // month/day/year, in addition to the other formats
	layout []string // of a mapping; then nothing else is read
	zone   string   // where no column names one; "" is GMT
}

var lettersBehind = regexp.MustCompile(`^(.*[0-9]) ?([A-Z]{1,5}|UTC[+-][0-9:]+)$`)

// day reads the day in GMT of a cell, whose zone may be in another column. An empty cell is no day. A day without a
// time is used unchanged, whatever the zone, because it could be on either side of midnight.
func (r *record) day(how calendar, zoneColumns []string, names ...string) civil.Day {
	text, column := r.cell(names...)
	if text == "" || strings.HasPrefix(text, "0000-00-00") {
		return civil.NoDay
	}
	zoneName, zoneColumn := how.zone, column
	if len(zoneColumns) > 0 {
		if name, of := r.cell(zoneColumns...); name != "" {
			zoneName, zoneColumn = name, of
		}
	}
	if found := lettersBehind.FindStringSubmatch(text); found != nil && found[2] != "Z" && found[2] != "PM" && found[2] != "AM" && len(how.layout) == 0 {
		text, zoneName, zoneColumn = found[1], found[2], column
	}
	location, ok := zone(zoneName)
	if !ok {
		r.wrong(zoneColumn, "%q is not known as a time zone.", clip(zoneName))
		return civil.NoDay
	}
	at, ok := how.read(text, location)
	if !ok {
		r.wrong(column, "%q is not a date such as %s.", clip(text), how.example())
		return civil.NoDay
	}
	day := civil.DayOf(at)
	if day < civil.FirstDay || day > civil.LastDay {
		r.wrong(column, "%q is not between %s and %s.", clip(text), civil.FirstDay, civil.LastDay)
		return civil.NoDay
	}
	return day
}

// mustDay is day for a line that must have a date.
func (r *record) mustDay(how calendar, zoneColumns []string, names ...string) civil.Day {
	if text, column := r.cell(names...); text == "" {
		r.wrong(column, "is empty. It is the date of the event.")
		return civil.NoDay
	}
	return r.day(how, zoneColumns, names...)
}

func (how calendar) example() string {
	switch {
	case len(how.layout) > 0:
		return time.Date(2026, 5, 31, 18, 30, 0, 0, time.UTC).Format(how.layout[0])
	case how.us:
		return "5/31/2026"
	}
	return "2026-05-31 18:30:00"
}

// read reads a time. A day alone is its midnight in GMT.
func (how calendar) read(text string, location *time.Location) (time.Time, bool) {
	if len(how.layout) > 0 {
		for _, layout := range how.layout {
			in := location
			if !strings.Contains(layout, "15") && !strings.Contains(layout, "3:") && !strings.Contains(layout, "03") {
				in = time.UTC
			}
			if at, err := time.ParseInLocation(layout, text, in); err == nil {
				return at, true
			}
		}
		return time.Time{}, false
	}
	type list struct {
		layouts []string
		in      *time.Location
	}
	lists := []list{{zonedLayouts, time.UTC}, {plainLayouts, location}, {dayLayouts, time.UTC}}
	if how.us {
		lists = append(lists, list{usLayouts, location}, list{usDays, time.UTC})
	}
	for _, l := range lists {
		for _, layout := range l.layouts {
			if at, err := time.ParseInLocation(layout, text, l.in); err == nil {
				return at, true
			}
		}
	}
	return time.Time{}, false
}
