package modal_test

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// luminance is the relative luminance of a colour, as WCAG 2 defines it.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	digits := strings.TrimPrefix(colour, "#")
	if len(digits) == 3 {
		digits = digits[:1] + digits[:1] + digits[1:2] + digits[1:2] + digits[2:] + digits[2:]
	}
	value, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) != 6 {
		t.Fatalf("%q is not a colour", colour)
	}
	part := func(shift uint) float64 {
		c := float64(value>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

func TestColoursAreDistinct(t *testing.T) {
	style, err := os.ReadFile(filepath.Join("assets", "frame.css"))
	if err != nil {
		t.Fatal(err)
	}
	light, dark, found := strings.Cut(string(style), "@media (prefers-color-scheme: dark)")
	if !found {
		t.Fatal("there are no dark colours")
	}
	dark, _, _ = strings.Cut(dark, "}")
	for name, block := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]float64{}
		for _, m := range regexp.MustCompile(`--([\w-]+): (#[0-9a-f]+);`).FindAllStringSubmatch(block, -1) {
			if _, ok := colours[m[1]]; !ok {
				colours[m[1]] = luminance(t, m[2])
			}
		}
		// Text needs 4.5 to 1, the outlines of fields 3 to 1.
		for _, pair := range []struct {
			front, back string
			least       float64
		}{
			{"ink", "paper", 4.5}, {"ink", "tint", 4.5}, {"quiet", "paper", 4.5}, {"quiet", "tint", 4.5}, {"on-accent", "accent", 4.5},
			{"on-accent", "accent-dark", 4.5}, {"accent", "paper", 4.5}, {"accent", "wash", 4.5}, {"accent-dark", "wash", 4.5}, {"quiet", "wash", 4.5},
			{"bad", "paper", 4.5}, {"bad", "bad-wash", 4.5}, {"good", "good-wash", 4.5}, {"open", "open-wash", 4.5}, {"edge", "paper", 3},
			{"quiet", "line", 3},
		} {
			front, ok1 := colours[pair.front]
			back, ok2 := colours[pair.back]
			if ratio := (max(front, back) + 0.05) / (min(front, back) + 0.05); !ok1 || !ok2 || ratio < pair.least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, want %.1f", name, pair.front, pair.back, ratio, pair.least)
			}
		}
	}
}
