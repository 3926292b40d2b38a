package chart

import (
	"slices"
	"strings"
)

// frame is the plot area of a chart with a vertical axis.
type frame struct {
	width
	scale                   scale
	left, top               unit
	right, bottom           unit
	innerWidth, innerHeight unit
}

const (
	gap       = 8 * one // between a label and its neighbour
	lineOf    = 15 * one
	least     = 3 * one / 2 // anything thinner may fall between two pixels
	thickest  = 44 * one    // bars of few points
	baseline  = 4 * one     // from the middle of a text to its foot
	leastSlot = 90 * one    // labels longer than their slot are truncated to at least this
)

// frame builds the axis for numbers from lowest to highest, with room for lines of labels below it.
func (p plot) frame(w width, lowest, highest int64, lines int) (frame, drawing) {
	f := frame{width: w, scale: newScale(lowest, highest, w.ticks), top: 26 * one, right: w.w}
	d := drawing{W: w.w, H: w.h}
	f.bottom = w.h - gap - unit(lines)*lineOf
	f.innerHeight = f.bottom - f.top
	ticks := f.scale.ticks()
	gutter := textWidth(p.unit())
	for _, v := range ticks {
		gutter = max(gutter, textWidth(p.tick(v)))
	}
	f.left = gutter + gap
	f.innerWidth = f.right - f.left
	for _, v := range ticks {
		y := f.y(v)
		class := "grid"
		if v == 0 {
			class = "zero"
		}
		d.Grid = append(d.Grid, line{X1: f.left, Y1: y, X2: f.right, Y2: y, Class: class})
		d.Texts = append(d.Texts, text{X: gutter, Y: y + baseline, Anchor: "end", Class: "tick", Text: p.tick(v)})
	}
	if unit := p.unit(); unit != "" {
		d.Texts = append(d.Texts, text{X: gutter, Y: 11 * one, Anchor: "end", Class: "tick", Text: unit})
	}
	return f, d
}

// y is the vertical position of a value.
func (f frame) y(v int64) unit { return f.bottom - f.scale.at(v, f.innerHeight) }

// slot is the horizontal space of one of n points.
func (f frame) slot(i, n int) (from, to unit) {
	return f.left + f.innerWidth*unit(i)/unit(n), f.left + f.innerWidth*unit(i+1)/unit(n)
}

// span is the box of a bar from one value to another, in the middle of a slot.
func (f frame) span(from, to unit, a, b int64, fill look) box {
	room := to - from
	thick := min(room*2/3, thickest)
	if room < 3*one { // gaps would be thinner than a pixel
		thick = room
	}
	foot, length := visible(f.y(a), f.y(b), f.top, f.bottom)
	return box{X: from + (room-thick)/2, Y: foot, W: thick, H: length, Look: fill}
}

// visible returns the start and size of a bar between two positions of an axis: even the smallest is visible, and none
// leaves the axis.
func visible(a, b, begin, end unit) (from, size unit) {
	from, size = min(a, b), max(a, b)-min(a, b)
	if size < least {
		if b < a {
			from = a - least
		}
		size = least
	}
	return max(min(from, end-size), begin), size
}

// labels places the points' names below the axis: as many as fit, evenly spaced. at is the centre of each.
func (f frame) labels(points []Point, at func(i int) unit) []text {
	var places []int
	for i, point := range points {
		if strings.TrimSpace(point.Label) != "" {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		return nil
	}
	most := min(max(f.innerWidth/unit(len(places))-gap, leastSlot), f.w)
	all := make([]text, len(places))
	for k, i := range places {
		label := text{X: at(i), Y: f.bottom + lineOf + 2*one, Anchor: "middle", Class: "label"}
		label.Text = fit(points[i].Label, most)
		half := textWidth(label.Text) / 2
		label.X = max(min(label.X, f.w-half), half) // the first and the last stay in the drawing
		all[k] = label
	}
	for step := 1; ; step++ {
		var chosen []text
		for k := 0; k < len(all); k += step {
			chosen = append(chosen, all[k])
		}
		if apart(chosen) {
			return chosen
		}
	}
}

// apart reports whether consecutive texts leave a gap.
func apart(list []text) bool {
	for i := 1; i < len(list); i++ {
		_, end := list[i-1].extent()
		if start, _ := list[i].extent(); start < end+gap {
			return false
		}
	}
	return true
}

// bars draws a bar per point. Positive numbers are stacked up from zero, negative ones down.
func (p plot) bars(w width) drawing {
	var lowest, highest int64
	for _, values := range p.values {
		down, up := reach(values)
		lowest, highest = min(lowest, down), max(highest, up)
	}
	f, d := p.frame(w, lowest, highest, 1)
	n := len(p.Points)
	for i, point := range p.Points {
		from, to := f.slot(i, n)
		m := mark{Title: p.tooltip(i), Tip: f.tip(p, i), Href: point.Href, Reach: box{X: from, Y: f.top, W: to - from, H: f.innerHeight}}
		var up, down int64
		for k, v := range p.values[i] {
			base := &up
			if v < 0 {
				base = &down
			}
			if v != 0 {
				m.Boxes = append(m.Boxes, f.span(from, to, *base, *base+v, p.look(k, w)))
			}
			*base += v
		}
		d.Marks = append(d.Marks, m)
	}
	d.Texts = append(d.Texts, f.labels(p.Points, func(i int) unit {
		from, to := f.slot(i, n)
		return (from + to) / 2
	})...)
	return d
}

// reach returns the ends of a stacked bar.
func reach(values []int64) (down, up int64) {
	for _, v := range values {
		down, up = down+min(v, 0), up+max(v, 0)
	}
	return down, up
}

// minTarget is the minimum width of a hover target of an area, so that a pointer can hit it.
const minTarget = 5 * one

// areas draws the series as surfaces on top of each other.
func (p plot) areas(w width) drawing {
	var lowest, highest int64
	levels := make([][]int64, len(p.Series)+1) // the lower edge of each series, and the upper one of the last
	for k := range levels {
		levels[k] = make([]int64, len(p.Points))
	}
	for i, values := range p.values {
		for k, v := range values {
			levels[k+1][i] = levels[k][i] + v
			lowest, highest = min(lowest, levels[k+1][i]), max(highest, levels[k+1][i])
		}
	}
	f, d := p.frame(w, lowest, highest, 1)
	last := unit(len(p.Points) - 1)
	x := func(i int) unit { return f.left + f.innerWidth*unit(i)/last }
	if first, span := p.Points[0].At, p.Points[last].At-p.Points[0].At; span > 0 {
		x = func(i int) unit { return f.left + f.innerWidth*unit(p.Points[i].At-first)/unit(span) }
	}
	for k := range p.Series {
		top := path(levels[k+1], x, f.y)
		foot := slices.Clone(levels[k])
		slices.Reverse(foot)
		back := path(foot, func(i int) unit { return x(len(foot) - 1 - i) }, f.y)
		d.Bands = append(d.Bands, band{Look: p.look(k, w), Path: "M" + top + "L" + back + "Z", Top: "M" + top})
	}
	targets := f.targets(len(p.Points), x)
	for k, i := range targets {
		from, to := f.left, f.right
		if k > 0 {
			from = (x(targets[k-1]) + x(i)) / 2
		}
		if k < len(targets)-1 {
			to = (x(i) + x(targets[k+1])) / 2
		}
		reach := box{X: from, Y: f.top, W: to - from, H: f.innerHeight}
		// A thin line marks the point that the tooltip is about.
		here := box{X: min(max(x(i)-one/2, f.left), f.right-one), Y: f.top, W: one, H: f.innerHeight}
		here.Look.Class = "here"
		d.Marks = append(d.Marks, mark{Title: p.tooltip(i), Tip: f.tip(p, i), Reach: reach, Boxes: []box{here}})
	}
	d.Texts = append(d.Texts, f.labels(p.Points, x)...)
	return d
}

// targets returns the points of an area that get a hover target: those far enough from the previous one, and the last.
func (f frame) targets(n int, x func(int) unit) (list []int) {
	for i := range n {
		if len(list) == 0 || x(i)-x(list[len(list)-1]) >= minTarget {
			list = append(list, i)
		}
	}
	if end := len(list) - 1; list[end] != n-1 {
		if end > 0 {
			list = list[:end]
		}
		list = append(list, n-1)
	}
	return list
}

// tip is the text above the axis that shows a point's numbers on hover.
func (f frame) tip(p plot, i int) text {
	return text{X: f.right, Y: 11 * one, Anchor: "end", Class: "tip last", Text: p.shortTooltip(i, f.right-f.left)}
}

// path joins the values with straight lines. After the first point, SVG needs no command letter.
func path(values []int64, x func(int) unit, y func(int64) unit) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(x(i).String() + "," + y(v).String())
	}
	return b.String()
}
