package civil_test

import (
	"testing"
	"time"

	"holdfast/internal/civil"
)

func TestDayIsCivilInGMTWhateverTheZone(t *testing.T) {
	auckland := time.FixedZone("NZDT", 13*60*60)
	at := time.Date(2024, 3, 1, 5, 0, 0, 0, auckland) // still the leap day in GMT
	if got := civil.DayOf(at).String(); got != "2024-02-29" {
		t.Errorf("DayOf(%v) = %s, want 2024-02-29", at, got)
	}
	before := time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC)
	if got := civil.DayOf(before); got != -1 {
		t.Errorf("DayOf(%v) = %d, want -1", before, got)
	}
}

func TestEndIsTheLastInstantOfTheDay(t *testing.T) {
	d := civil.Date(2024, 12, 31)
	if civil.DayOf(d.End()) != d || civil.DayOf(d.End().Add(time.Microsecond)) != d+1 {
		t.Errorf("End() = %v does not close %s", d.End(), d)
	}
	if got := civil.FormatInstant(d.End()); got != "2024-12-31 23:59:59" {
		t.Errorf("end of day written as %q", got)
	}
}

func FuzzParseDay(f *testing.F) {
	for _, s := range []string{"2024-02-29", "2023-02-29", "2024-1-1", "", "9999-12-31", "1969-12-31", "2024-01-01 "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := civil.ParseDay(s)
		if err == nil && d.String() != s {
			t.Errorf("ParseDay(%q) is written back as %q", s, d.String())
		}
	})
}

func FuzzParseInstant(f *testing.F) {
	for _, s := range []string{"2024-02-29 23:59:59", "2024-02-29T23:59:59", "2024-02-29 24:00:00", "2024-02-29 23:59:60"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, err := civil.ParseInstant(s)
		// A fraction of a second is read and cut: the wire writes whole seconds.
		if err == nil && len(s) == len(civil.InstantLayout) && civil.FormatInstant(at) != s {
			t.Errorf("ParseInstant(%q) is written back as %q", s, civil.FormatInstant(at))
		}
	})
}
