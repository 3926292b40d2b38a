package chart

import "strings"

// table is the content of "Numbers".
type table struct {
	Names   string
	Unit    string // unit shown once above the columns; "" for none
	Columns []string
	Rows    []tableRow
}

type tableRow struct {
	Name, Href string
	Cells      []string
}

// Several reports whether the unit has its own row above the columns.
func (t table) Several() bool { return t.Unit != "" && len(t.Columns) > 1 }

// table has all numbers of the points, unrounded, in the order of the drawing.
func (p plot) table() table {
	t := table{Names: p.Names, Unit: p.unit(), Columns: p.Series}
	switch {
	case p.Kind == Limits:
		used := p.Series[0]
		if used == "" {
			used = "Used"
		}
		t.Columns = []string{used, "Limit"}
	case len(p.Series) == 1 && t.Unit != "":
		t.Columns = []string{strings.TrimSpace(p.Series[0] + " " + t.Unit)}
	case len(p.Series) == 1 && p.Series[0] == "":
		t.Columns = []string{"Number"}
		if p.Unit == Percent {
			t.Columns = []string{"Share"}
		}
	}
	for i, point := range p.Points {
		row := tableRow{Name: point.name(), Href: point.Href}
		for k := range p.Series {
			cell := p.full(point.value(k))
			if p.Kind == Waterfall && i > 0 && i < len(p.Points)-1 && point.value(k) > 0 {
				cell = "+" + cell
			}
			row.Cells = append(row.Cells, cell)
		}
		if p.Kind == Limits {
			row.Cells = append(row.Cells, p.limitCell(point))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (p plot) limitCell(point Point) string {
	if !point.HasMark {
		return "no limit"
	}
	return p.full(point.Mark)
}

// tooltip is the text of a point: its name and numbers.
func (p plot) tooltip(i int) string {
	point := p.Points[i]
	switch {
	case p.Kind == Limits && !point.HasMark:
		return point.name() + ": " + p.said(point.used()) + ", no limit"
	case p.Kind == Limits:
		words := point.name() + ": " + p.full(point.used()) + " of " + p.said(point.Mark) + ", " + percent(point)
		if point.over() {
			words += ", over the limit"
		}
		return words
	case p.Kind == Waterfall && i > 0 && i < len(p.Points)-1 && point.value(0) > 0:
		return point.name() + ": +" + p.said(point.value(0))
	case len(p.Series) == 1:
		return point.name() + ": " + p.said(point.value(0))
	}
	var parts []string
	for k, name := range p.Series {
		parts = append(parts, name+" "+p.said(point.value(k)))
	}
	return point.name() + ": " + strings.Join(parts, ", ")
}

// shortTooltip is the tooltip of a point, shortened to fit into the drawing. If there is no room for the names of the series, the numbers
// are in the order of the legend.
func (p plot) shortTooltip(i int, room unit) string {
	text := p.tooltip(i)
	if len(p.Series) > 1 && textWidth(text) > room {
		var numbers []string
		for k := range p.Series {
			numbers = append(numbers, p.full(p.Points[i].value(k)))
		}
		text = strings.TrimSpace(p.Points[i].name() + ": " + strings.Join(numbers, " + ") + " " + p.unit())
	}
	return fit(text, room)
}

// about describes the drawing in words, for screen readers.
func (p plot) about() string {
	n := len(p.Points)
	first, last := p.Points[0], p.Points[n-1]
	if n == 1 {
		return p.tooltip(0) + "."
	}
	switch p.Kind {
	case Limits:
		over := 0
		for _, point := range p.Points {
			if point.over() {
				over++
			}
		}
		return digits(n) + " limits, the most used first. " + digits(over) + " of them over the limit. " +
			p.tooltip(0) + "."
	case Waterfall:
		return "From " + p.tooltip(0) + ", over " + digits(n-2) + " changes, to " + p.tooltip(n-1) + "."
	case Ranked:
		return digits(n) + " bars, the largest first. " + p.tooltip(0) + "."
	}
	most := 0
	for i, total := range p.totals {
		if total > p.totals[most] {
			most = i
		}
	}
	return digits(n) + " points, from " + first.name() + " to " + last.name() + ". The highest is " +
		p.tooltip(most) + "."
}
