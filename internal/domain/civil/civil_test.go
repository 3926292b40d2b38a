package civil_test

import (
	"testing"
	"time"

	"holdfast/internal/domain/civil"
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

// TestDaysAndInstantsAreWrittenAsTheirLayoutsSay: in every year, including those before 0 and after 9999, and in every
// zone.
func TestDaysAndInstantsAreWrittenAsTheirLayoutsSay(t *testing.T) {
	auckland := time.FixedZone("NZDT", 13*60*60)
	for _, year := range []int{-12000, -1, 0, 7, 999, 1969, 1970, 2024, 9999, 10000, 123456} {
		for _, at := range []time.Time{
			time.Date(year, 2, 29, 23, 59, 59, 999_999_999, time.UTC), time.Date(year, 1, 1, 5, 0, 0, 1000, auckland),
		} {
			if got, want := civil.FormatInstant(at), at.UTC().Format(civil.InstantLayout); got != want {
				t.Errorf("%v is written as %q, not %q", at, got, want)
			}
			if got, want := civil.DayOf(at).String(), at.UTC().Format(civil.DayLayout); got != want {
				t.Errorf("the day of %v is written as %q, not %q", at, got, want)
			}
		}
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
		// Fractions of a second are read and dropped: the API writes whole seconds.
		if err == nil && len(s) == len(civil.InstantLayout) && civil.FormatInstant(at) != s {
			t.Errorf("ParseInstant(%q) is written back as %q", s, civil.FormatInstant(at))
		}
	})
}
