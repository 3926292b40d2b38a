package money

import (
	"testing"

	"pgregory.net/rapid"
)

// TestPercentages: formatted values are parsed back, and anything but a percentage with at most four decimals is an
// error.
func TestPercentages(t *testing.T) {
	t.Parallel()
	for ppm, text := range map[int64]string{0: "0", 1: "0.0001", 2_500: "0.25", 10_000: "1", 125_000: "12.5", 1_000_000: "100", 100_000: "10"} {
		if got := FormatPercent(ppm); got != text {
			t.Errorf("%d is written %q, want %q", ppm, got, text)
		}
	}
	for text, want := range map[string]int64{"12.50": 125_000, "007": 70_000, "0.0001": 1} {
		if got, err := ParsePercent(text); err != nil || got != want {
			t.Errorf("%q is read as %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", ".", "1.", ".5", "-1", "1.00001", "1%", "1,5", "1e3", "12345678901", " 1"} {
		if got, err := ParsePercent(text); err == nil {
			t.Errorf("%q is read as %d", text, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		ppm := rapid.Int64Range(0, 1e12).Draw(t, "ppm")
		if got, err := ParsePercent(FormatPercent(ppm)); err != nil || got != ppm {
			t.Errorf("%d is read back as %d, %v", ppm, got, err)
		}
	})
}
