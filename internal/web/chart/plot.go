package chart

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// plot is a chart ready for layout: clean texts, sorted points, and numbers small enough that their sums and products with
// lengths fit in 64 bits.
type plot struct {
	Chart
	zeros  int       // plot values are scaled by ten to this power; 0 for all but huge numbers
	values [][]int64 // of each point, one for each series, in plot values
	totals []int64   // of each point, in plot values
	notes  []string
	start  int64 // where the axis of a waterfall starts, in plot values
}

// room is the largest sum of plot values: signed, rounded up to a tick and multiplied by a drawing's length in hundredths,
// it stays below 2^63.
const room = 10_000_000_000_000

func prepare(c Chart) plot {
	p := plot{Chart: c}
	p.ID, p.Title, p.Caption, p.Names = plainID(c.ID), clean(c.Title), clean(c.Caption), clean(c.Names)
	if p.Names == "" {
		p.Names = "Name"
	}
	points := c.Points
	if len(points) > Most {
		points = points[:Most]
		p.notes = append(p.notes, "Only the first "+digits(Most)+" of "+digits(len(c.Points))+" are shown.")
	}
	p.Points = slices.Clone(points)
	series := len(c.Series)
	for i := range p.Points {
		p.Points[i].Label, p.Points[i].Long = clean(p.Points[i].Label), clean(p.Points[i].Long)
		series = max(series, len(p.Points[i].Values))
	}
	if p.Kind == Limits || p.Kind == Waterfall {
		series = 1
	}
	p.Series = make([]string, max(series, 1))
	for i := range p.Series {
		switch {
		case i < len(c.Series):
			p.Series[i] = clean(c.Series[i])
		case series > 1:
			p.Series[i] = "Series " + digits(i+1)
		}
	}
	p.sort()
	p.shrink()
	p.breakAxis()
	if p.onlyZeros() {
		p.notes = append(p.notes, "All values are zero.")
	}
	return p
}

// onlyZeros reports whether there are numbers, but all are zero.
func (p plot) onlyZeros() bool {
	for _, point := range p.Points {
		if slices.ContainsFunc(point.Values, func(v int64) bool { return v != 0 }) {
			return false
		}
	}
	return len(p.Points) > 0
}

// breakAxis lets the axis of a waterfall start near its lowest level if the changes would otherwise be hard to see: if they cover less
// than a third of the axis. A note says so.
func (p *plot) breakAxis() {
	if p.Kind != Waterfall || len(p.totals) == 0 {
		return
	}
	levels := p.levels()
	lowest, highest := slices.Min(levels), slices.Max(levels)
	span := highest - lowest
	if lowest <= 0 || span == 0 || span > highest/3 {
		return
	}
	step := niceStep(max(span/4, 1))
	if p.start = (lowest - step) / step * step; p.start <= 0 {
		p.start = 0
		return
	}
	from := short(p.start, p.exponent(), exactly) + p.suffix()
	p.notes = append(p.notes, strings.TrimSpace("The axis starts at "+from+" "+p.unit())+", so that the changes are visible.")
}

// sort sorts by size, if the kind requires it.
func (p *plot) sort() {
	switch p.Kind {
	case Ranked:
		p.shrink() // the sums must fit
		order := make([]int, len(p.Points))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.totals[b], p.totals[a]) })
		sorted := make([]Point, len(order))
		for to, from := range order {
			sorted[to] = p.Points[from]
		}
		p.Points = sorted
	case Limits:
		slices.SortStableFunc(p.Points, moreUsed)
	}
	if p.Kind == Limits && len(p.Points) > mostRows {
		p.notes = append(p.notes, "The chart shows the "+digits(mostRows)+" most used. The table has all "+
			digits(len(p.Points))+".")
	}
}

// moreUsed compares two points of Limits by usage. Points without a limit come last.
func moreUsed(a, b Point) int {
	if ofA, ofB := a.class(), b.class(); ofA != ofB || ofA != measured {
		return cmp.Or(cmp.Compare(ofA, ofB), cmp.Compare(b.used(), a.used()))
	}
	// used/limit of each, without rounding: the products have 128 bits.
	aHigh, aLow := bits.Mul64(uint64(max(a.used(), 0)), uint64(b.Mark))
	bHigh, bLow := bits.Mul64(uint64(max(b.used(), 0)), uint64(a.Mark))
	return cmp.Or(cmp.Compare(bHigh, aHigh), cmp.Compare(bLow, aLow))
}

// The classes of limits, in order. Only measured ones have a usage share.
const (
	withoutRoom = iota // limit of zero, something used
	measured
	unneeded // limit of zero, nothing used
	unlimited
)

func (p Point) class() int {
	switch {
	case !p.HasMark:
		return unlimited
	case p.Mark > 0:
		return measured
	case p.noRoom():
		return withoutRoom
	}
	return unneeded
}

// used is the number compared with the limit.
func (p Point) used() int64 { return p.value(0) }

// noRoom reports a limit of zero with usage: there is no share.
func (p Point) noRoom() bool { return p.Mark <= 0 && p.used() > p.Mark }

// over reports whether a limit is exceeded.
func (p Point) over() bool { return p.HasMark && p.used() > p.Mark }

// share returns used/limit in parts of whole, truncated, at most most; 0 if negative.
func (p Point) share(whole, most uint64) uint64 {
	switch {
	case p.noRoom():
		return most
	case p.used() <= 0 || p.Mark <= 0:
		return 0
	}
	high, low := bits.Mul64(uint64(p.used()), whole)
	if high >= uint64(p.Mark) {
		return most
	}
	quotient, _ := bits.Div64(high, low, uint64(p.Mark))
	return min(quotient, most)
}

// value is the number of a series. A missing one counts as zero.
func (p Point) value(series int) int64 {
	if series < len(p.Values) {
		return p.Values[series]
	}
	return 0
}

// shrink fills in the plot values. Numbers that are too large lose digits, which would not be visible in a drawing anyway.
func (p *plot) shrink() {
	addends := uint64(len(p.Series))
	if p.Kind != Area && p.Kind != Bars {
		addends *= uint64(max(len(p.Points), 1)) // "others", and the levels of a waterfall
	}
	var largest uint64
	for _, point := range p.Points {
		for i := range p.Series {
			largest = max(largest, size(point.value(i)))
		}
	}
	p.zeros = 0
	divisor := int64(1)
	for largest > room/addends {
		largest /= 10
		divisor *= 10
		p.zeros++
	}
	p.values, p.totals = make([][]int64, len(p.Points)), make([]int64, len(p.Points))
	for i, point := range p.Points {
		for k := range p.Series {
			v := point.value(k) / divisor
			p.values[i] = append(p.values[i], v)
			p.totals[i] += v
		}
	}
}

// size is the absolute value of a number, also of the smallest int64.
func size(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// digits formats a count.
func digits(n int) string { return strconv.Itoa(n) }

// scale is an axis from lo to hi, in plot values, with ticks at the multiples of step. Zero is on it.
type scale struct{ lo, hi, step int64 }

// newScale returns an axis for numbers from lowest to highest, in at most most+2 steps. Of two tick distances it takes the
// one that leaves less empty space. Otherwise four steps are enough.
func newScale(lowest, highest, most int64) scale {
	lowest, highest = min(lowest, 0), max(highest, 0)
	span := highest - lowest
	if span == 0 {
		return scale{step: 1}
	}
	step := niceStep((span + most - 1) / most)
	fine, coarse := around(lowest, highest, step), around(lowest, highest, niceStep(step+1))
	long, longer := fine.hi-fine.lo, coarse.hi-coarse.lo
	if long < longer || long == longer && long/step <= 4 {
		return fine
	}
	return coarse
}

// around is the axis with a given tick distance.
func around(lowest, highest, step int64) scale {
	s := scale{lo: lowest / step * step, hi: highest / step * step, step: step}
	if s.lo > lowest {
		s.lo -= step
	}
	if s.hi < highest {
		s.hi += step
	}
	return s
}

// niceStep is the smallest of 1, 2, 2.5 and 5 times a power of ten that is at least least.
func niceStep(least int64) int64 {
	for power := int64(1); ; power *= 10 {
		for _, tenths := range []int64{10, 20, 25, 50} {
			if power*tenths%10 == 0 && power*tenths/10 >= least {
				return power * tenths / 10
			}
		}
	}
}

// ticks are the positions with a line and a label, lowest first.
func (s scale) ticks() []int64 {
	var list []int64
	for v := s.lo; v <= s.hi; v += s.step {
		list = append(list, v)
	}
	return list
}

// at returns a value's distance from the start of an axis of some length.
func (s scale) at(v int64, length unit) unit {
	if s.hi == s.lo {
		return 0
	}
	return unit((v - s.lo) * int64(length) / (s.hi - s.lo))
}
