package claim_test

import (
	"testing"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
)

// TestServiceProvided counts whole days, the first and the last among them.
func TestServiceProvided(t *testing.T) {
	t.Parallel()
	day := func(text string) civil.Day {
		d, err := civil.ParseDay(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		start, end, by string
		days, provided int64
	}{
		{"2024-08-17", "2024-08-31", "2024-08-22", 15, 6}, // k of R4
		{"2024-08-17", "2024-08-31", "2024-08-16", 15, 0},
		{"2024-08-17", "2024-08-31", "2024-08-17", 15, 1},
		{"2024-08-17", "2024-08-31", "2024-08-31", 15, 15},
		{"2024-08-17", "2024-08-31", "2024-12-01", 15, 15},
	} {
		if s := claim.ServiceBy(day(c.start), day(c.end), day(c.by)); s.Days != c.days || s.Provided != c.provided {
			t.Errorf("%+v: %d of %d days", c, s.Provided, s.Days)
		}
	}
	if s := claim.ServiceBy(civil.NoDay, day("2024-08-31"), day("2024-08-30")); s.Days != 1 || s.Provided != 0 || s.Start != s.End {
		t.Errorf("without a first day: %+v", s)
	}
	for disputed, late := range map[string]int64{"2024-12-29": 0, "2024-12-30": 1, "2025-01-03": 5, "2024-01-01": 0} {
		if n := claim.DaysLate(day(disputed), day("2024-12-29")); n != late {
			t.Errorf("%s: %d days late, want %d", disputed, n, late)
		}
	}
}
