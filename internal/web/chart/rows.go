package chart

import (
	"slices"
	"strconv"
)

// row is one horizontal bar with its texts.
type row struct {
	name   string
	title  string
	href   string
	number string // to the right
	more   string // to the left of the number
	pieces []piece
	strong bool  // the number is highlighted
	rest   bool  // the row combines many points
	broken bool  // the bar does not start at zero
	level  int64 // level at which a waterfall continues, in plot values
}

// piece is a part of a bar, in plot values.
type piece struct {
	from, to int64
	look     look
}

// The parts of rows, from top to bottom.
const (
	headHeight = 20 * one
	rowWide    = 28 * one // name, bar and number side by side
	rowNarrow  = 42 * one // the bar below name and number
	barWide    = 14 * one
	barNarrow  = 10 * one
	nameMost   = 200 * one
	nameLeast  = 80 * one
	breakAt    = 6 * one // a gap near the foot of a bar that does not start at zero
	breakWide  = 3 * one
)

// rows draws Ranked, Limits and Waterfall, whose names are too long for a horizontal axis.
func (p plot) rows(w width) drawing {
	switch p.Kind {
	case Limits:
		rows := p.limitRows(w)
		return p.lay(w, rows, scale{hi: limitsEnd(rows), step: hundred})
	case Waterfall:
		rows, lowest, highest := p.stepRows()
		axis := tight(lowest, highest)
		if p.start > 0 {
			axis.lo = p.start
		}
		return p.lay(w, rows, axis)
	}
	rows, lowest, highest := p.rankedRows(w)
	return p.lay(w, rows, tight(lowest, highest))
}

// tight is the axis of rows with numbers instead of ticks.
func tight(lowest, highest int64) scale {
	return scale{lo: min(lowest, 0), hi: max(highest, 0), step: max(highest-lowest, 1)}
}

// rankedRows are the largest points, plus one row for all others.
func (p plot) rankedRows(w width) (rows []row, lowest, highest int64) {
	add := func(r row, values []int64, total int64) {
		var up, down int64
		for k, v := range values {
			base := &up
			if v < 0 {
				base = &down
			}
			if v != 0 {
				r.pieces = append(r.pieces, piece{*base, *base + v, p.look(k, w)})
			}
			*base += v
		}
		r.number = p.brief(total)
		rows, lowest, highest = append(rows, r), min(lowest, down), max(highest, up)
	}
	n := len(p.Points)
	if n > mostRows {
		n = mostRows - 1
	}
	for i, point := range p.Points[:n] {
		add(row{name: point.Label, title: p.tooltip(i), href: point.Href}, p.values[i], p.totals[i])
	}
	if n == len(p.Points) {
		return rows, lowest, highest
	}
	rest, total := make([]int64, len(p.Series)), int64(0)
	for i := n; i < len(p.Points); i++ {
		for k, v := range p.values[i] {
			rest[k] += v
		}
		total += p.totals[i]
	}
	name := digits(len(p.Points)-n) + " others"
	title := name + ": " + p.brief(total)
	if unit := p.unit(); unit != "" {
		title += " " + unit
	}
	add(row{name: name, title: title, rest: true}, rest, total)
	return rows, lowest, highest
}

// levels are the levels of a waterfall, after each of its steps: the first and the last step are levels, those between them changes.
func (p plot) levels() []int64 {
	levels := slices.Clone(p.totals)
	for i := 1; i < len(levels)-1; i++ {
		levels[i] += levels[i-1]
	}
	return levels
}

// stepRows are the steps of a waterfall: two levels with the changes between them.
func (p plot) stepRows() (rows []row, lowest, highest int64) {
	levels := p.levels()
	for i, total := range p.totals {
		r := row{name: p.Points[i].Label, title: p.tooltip(i), href: p.Points[i].Href, level: levels[i]}
		if i == 0 || i == len(p.totals)-1 {
			r.number, r.strong = p.brief(total), true
			r.pieces = []piece{{p.start, total, look{Class: "s0"}}}
			r.broken = p.start > 0
		} else {
			r.number = p.changed(total)
			r.pieces = []piece{{levels[i-1], r.level, p.changeLook(total)}}
		}
		rows, lowest, highest = append(rows, r), min(lowest, r.level), max(highest, r.level)
	}
	return rows, lowest, highest
}

// changeLook is good for increases, unless the chart says otherwise.
func (p plot) changeLook(change int64) look {
	if (change < 0) == p.LessIsBetter {
		return look{Class: "good"}
	}
	return look{Class: "bad"}
}

// A bar of Limits is measured in hundredths of a percent of its limit, and drawn up to 200%.
const (
	hundred = 100_00
	longest = 2 * hundred
)

// limitRows are the limits with the highest usage.
func (p plot) limitRows(w width) []row {
	over := look{Class: "over", Fill: "url(#" + p.ID + "-" + w.class + "-over)"}
	var rows []row
	for i, point := range p.Points[:min(len(p.Points), mostRows)] {
		r := row{name: point.Label, title: p.tooltip(i), href: point.Href}
		used := p.values[i][0]
		if !point.HasMark {
			r.more, r.number = p.brief(used), "no limit"
			rows = append(rows, r)
			continue
		}
		r.more = p.brief(used) + " of " + short(point.Mark, p.exponent()-p.zeros, briefly) + p.suffix()
		r.number = percent(point)
		share := int64(point.share(hundred, longest))
		r.pieces = []piece{{0, hundred, look{Class: "track"}}, {0, min(share, hundred), look{Class: "s0"}}}
		if point.over() {
			r.number, r.strong = r.number+", over", true
			// Keep even the smallest part visible.
			r.pieces = append(r.pieces, piece{hundred, max(share, hundred+hundred/50), over})
		}
		rows = append(rows, r)
	}
	return rows
}

// limitsEnd is the end of the axis: the limit, if none is exceeded.
func limitsEnd(rows []row) int64 {
	end := int64(hundred)
	for _, r := range rows {
		for _, piece := range r.pieces {
			end = max(end, piece.to)
		}
	}
	return end
}

// percent formats the usage of a limit. It is truncated, not rounded, so that less than 100% never shows as 100%.
func percent(p Point) string {
	const most = 9999
	switch share := p.share(100, most); {
	case p.noRoom():
		return "no room"
	case share == most:
		return "> " + grouped(strconv.Itoa(most)) + "%"
	default:
		return strconv.FormatUint(share, 10) + "%"
	}
}

// columns are the positions of a row's parts.
type columns struct {
	name, from, length unit // of the name, and of the bar
	more, head         unit // right edges of the text before the number, and of the unit
	without            bool // no room for the text before the number: tooltips and table have it
}

// columns measures the texts of all rows.
func (w width) columns(rows []row, head string) columns {
	var name, more unit
	number := textWidth(head)
	for _, r := range rows {
		name, more = max(name, textWidth(r.name)), max(more, textWidth(r.more))
		number = max(number, textWidth(r.number))
	}
	c := columns{more: w.w - number - 2*gap, head: w.w}
	left := c.more
	if more > 0 {
		c.head = c.more // the amounts are there, and the shares to the right
		left = c.more - more - 2*gap
	}
	if w.wide {
		c.name = min(name, nameMost)
		c.from = c.name + 2*gap
		c.length = left - c.from
		return c
	}
	c.name, c.length = left, w.w
	if left < nameLeast {
		c.name, c.without = c.more, true
	}
	return c
}

// lay stacks the rows.
func (p plot) lay(w width, rows []row, s scale) drawing {
	c := w.columns(rows, p.unit())
	height, thick := rowWide, barWide
	if !w.wide {
		height, thick = rowNarrow, barNarrow
	}
	d := drawing{W: w.w, H: headHeight + height*unit(len(rows))}
	if head := p.unit(); head != "" {
		d.Texts = append(d.Texts, text{X: c.head, Y: 12 * one, Anchor: "end", Class: "tick", Text: head})
	}
	room := c.head - textWidth(p.unit()) - gap // room for the hover labels
	at := func(v int64) unit { return c.from + s.at(v, c.length) }
	upright := func(class string, v int64, from, to unit) {
		d.Over = append(d.Over, line{X1: at(v), Y1: from, X2: at(v), Y2: to, Class: class})
	}
	for i, r := range rows {
		top := headHeight + height*unit(i)
		words, bar := top+height/2+baseline, top+(height-thick)/2
		if !w.wide {
			words, bar = top+lineOf, top+lineOf+7*one
		}
		m := mark{Title: r.title, Href: r.href, Texts: r.words(w, c, words)}
		m.Tip = text{Y: 12 * one, Class: "tip", Text: fit(r.title, room)}
		if p.Kind == Ranked && !r.rest {
			m.Tip.Text = p.shortTooltip(i, room)
		}
		m.Reach = box{X: -gap, Y: top, W: w.w + 2*gap, H: height} // the focus ring does not touch text
		for _, piece := range r.pieces {
			if piece.from != piece.to {
				from, length := visible(at(piece.from), at(piece.to), c.from, c.from+c.length)
				m.Boxes = append(m.Boxes, box{X: from, Y: bar, W: length, H: thick, Look: piece.look})
			}
		}
		if r.broken {
			m.Boxes = append(m.Boxes, box{X: c.from + breakAt, Y: bar, W: breakWide, H: thick, Look: look{Class: "break"}})
		}
		d.Marks = append(d.Marks, m)
		switch {
		case p.Kind != Limits && w.wide:
			upright("zero", p.start, top, top+height)
		case p.Kind != Limits: // a full-height line would cross the names
			upright("grid", p.start, bar-2*one, bar+thick+2*one)
		case len(r.pieces) > 0:
			upright("limit", hundred, bar-3*one, bar+thick+3*one)
		}
		if p.Kind == Waterfall && w.wide && i < len(rows)-1 {
			from := bar + thick
			if p.totals[i] == 0 {
				from = bar // no bar: the line continues through its position
			}
			upright("join", r.level, from, bar+height)
		}
	}
	return d
}

// words are the texts of a row on one line.
func (r row) words(w width, c columns, y unit) []text {
	name, number := "name", "value"
	if r.rest {
		name = "tick"
	}
	if r.strong {
		number = "value strong"
	}
	list := []text{
		{X: 0, Y: y, Anchor: "start", Class: name, Text: fit(r.name, c.name)},
		{X: w.w, Y: y, Anchor: "end", Class: number, Text: r.number},
	}
	if r.more != "" && !c.without {
		list = append(list, text{X: c.more, Y: y, Anchor: "end", Class: "tick", Text: r.more})
	}
	return list
}
