package terms_test

import (
	"testing"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/terms"

	"pgregory.net/rapid"
)

func day(t interface{ Fatal(...any) }, text string) civil.Day {
	d, err := civil.ParseDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestPeriods(t *testing.T) {
	for _, c := range []struct{ kind, day, first, last, name string }{
		{"month", "2024-02-29", "2024-02-01", "2024-02-29", "2024-02"}, // leap year
		{"month", "2023-02-28", "2023-02-01", "2023-02-28", "2023-02"},
		{"month", "2100-02-10", "2100-02-01", "2100-02-28", "2100-02"}, // no leap year
		{"month", "2024-12-31", "2024-12-01", "2024-12-31", "2024-12"},
		{"week", "2024-06-05", "2024-06-03", "2024-06-09", "2024-W23"},
		{"week", "2020-12-31", "2020-12-28", "2021-01-03", "2020-W53"}, // ISO week 53
		{"week", "2021-01-03", "2020-12-28", "2021-01-03", "2020-W53"},
		{"week", "2021-01-04", "2021-01-04", "2021-01-10", "2021-W01"},
		{"week", "2024-12-31", "2024-12-30", "2025-01-05", "2025-W01"}, // the week is next year's
		{"biweek", "1970-01-05", "1970-01-05", "1970-01-18", "1970-W02/03"},
		{"biweek", "1970-01-18", "1970-01-05", "1970-01-18", "1970-W02/03"},
		{"biweek", "1970-01-04", "1969-12-22", "1970-01-04", "1969-W52/01"}, // counted backwards
		{"biweek", "2024-06-05", "2024-05-27", "2024-06-09", "2024-W22/23"},
		{"biweek", "2021-01-01", "2020-12-28", "2021-01-10", "2020-W53/01"},
	} {
		p := terms.PeriodOf(c.kind, day(t, c.day))
		if p.First.String() != c.first || p.Last.String() != c.last || p.Name() != c.name || p.Kind != c.kind {
			t.Errorf("%s of %s: %s to %s, %s", c.kind, c.day, p.First, p.Last, p.Name())
		}
	}
}

// TestPeriodsFollowEachOther: every day is in exactly one period.
func TestPeriodsFollowEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(terms.StatementPeriods).Draw(t, "kind")
		d := civil.Day(rapid.IntRange(-20000, 60000).Draw(t, "day"))
		p := terms.PeriodOf(kind, d)
		if d < p.First || d > p.Last {
			t.Fatalf("%s lies outside %s to %s", d, p.First, p.Last)
		}
		if next := p.Next(); next.First != p.Last+1 {
			t.Fatalf("after %s comes %s", p.Last, next.First)
		}
		for _, same := range []civil.Day{p.First, p.Last} {
			if terms.PeriodOf(kind, same) != p {
				t.Fatalf("%s is in another period than %s", same, d)
			}
		}
	})
}

func TestBusinessDays(t *testing.T) {
	for _, c := range []struct {
		from string
		n    int64
		want string
	}{
		{"2024-07-01", 10, "2024-07-15"}, // Monday to Monday
		{"2024-06-28", 1, "2024-07-01"},  // Friday to Monday
		{"2024-06-29", 1, "2024-07-01"},  // Saturday
		{"2024-06-30", 1, "2024-07-01"},  // Sunday
		{"2024-02-28", 2, "2024-03-01"},  // over a leap day
		{"2024-12-31", 10, "2025-01-14"},
		{"2024-07-01", 0, "2024-07-01"},
	} {
		if got := terms.AfterBusinessDays(day(t, c.from), c.n); got.String() != c.want {
			t.Errorf("%d business days after %s: %s, want %s", c.n, c.from, got, c.want)
		}
	}
}
