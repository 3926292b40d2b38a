package chart

import (
	"strings"
	"testing"
)

// TestAnAreaKeepsTheDistancesOfItsDays: days at unequal distances are so on the axis.
func TestAnAreaKeepsTheDistancesOfItsDays(t *testing.T) {
	t.Parallel()
	top := func(at ...int64) string {
		c := Chart{Kind: Area, Series: []string{"a"}}
		for _, n := range at {
			c.Points = append(c.Points, Point{Label: "x", Values: []int64{10}, At: n})
		}
		return page(c).Drawings[0].Bands[0].Top
	}
	equal := top(0, 0, 0)
	if top(5, 15, 25) != equal {
		t.Errorf("equal distances are drawn as %s, want %s", top(5, 15, 25), equal)
	}
	first := strings.Fields(equal)
	for name, at := range map[string][]int64{"early": {20000, 20001, 20300}, "late": {-300, -1, 0}} {
		got := strings.Fields(top(at...))
		if got[0] != first[0] || got[2] != first[2] || got[1] == first[1] {
			t.Errorf("a point in the middle that comes %s: %v, at equal distances %v", name, got, first)
		}
	}
}
