// Package chart draws the charts of the dashboard as SVG, with a table of the same numbers. It has no input or output
// and no state: the same chart gives the same text. Start with Chart; the layout is in upright.go and rows.go, the markup
// in chart.html, the look in chart.css.
package chart

import (
	"bytes"
	_ "embed" // chart.html and chart.css
	"html/template"
	"slices"
	"strings"

	"holdfast/internal/domain/money"
)

// Kind is how a chart is drawn.
type Kind int

const (
	// Area stacks the series over consecutive days or months.
	Area Kind = iota
	// Bars has one vertical bar per point. Several series are stacked.
	Bars
	// Ranked has one horizontal bar per point, largest first, with its name on the left and its amount on the right.
	Ranked
	// Limits shows for each point how much of its Mark is used, highest usage first.
	Limits
	// Waterfall goes from the first point, a level, through signed changes to the last point, a level again.
	Waterfall
)

// Unit is the unit of a chart's numbers.
type Unit int

const (
	// Amount is money in minor units of the chart's currency. Without a currency the numbers are counts.
	Amount Unit = iota
	// Percent is hundredths of a percent: 4250 is 42.50 %.
	Percent
	// Count is a number of things.
	Count
)

// Most is the maximum number of points in a chart. Further ones are left out, with a note.
const Most = 400

// mostRows is the maximum number of rows of Ranked and Limits. The table has all points.
const mostRows = 20

// Point is one place on the axis, with its numbers.
type Point struct {
	// Label is the axis label, truncated if too long. Points in between may have none, such as the days within a month.
	Label string
	// Long is the name in the table and in the bar's tooltip. "" means Label.
	Long string
	// Values has one number per series, in the chart's unit.
	Values []int64
	// Mark is a point's limit in Limits, if HasMark. Other kinds ignore it.
	Mark    int64
	HasMark bool
	// At is the point's position in an Area, such as its day number, in ascending order. If all are 0, the points are evenly
	// spaced.
	At int64
	// Href links the bar, and the name in the table. The surfaces of an Area are not links.
	Href string
}

// name is a point's name in the table.
func (p Point) name() string {
	if p.Long != "" {
		return p.Long
	}
	return p.Label
}

// Chart describes a chart. Texts are plain text: HTML escapes them.
type Chart struct {
	// ID is unique in the page, and the prefix of all ids in the markup.
	ID    string
	Kind  Kind
	Title string
	// Currency is the currency of all amounts. "" means that the numbers are counts.
	Currency money.Currency
	Unit     Unit
	// Series names the values of each point, in stacking order. From the fourth on they look alike. Limits and Waterfall
	// have one.
	Series []string
	Points []Point
	// Caption is an optional text below the title.
	Caption string
	// Names is the table header of the points, such as "Month". "" means "Name".
	Names string
	// LessIsBetter draws decreases in a Waterfall in the good colour, and increases in the bad one.
	LessIsBetter bool
}

//go:embed chart.html
var markup string

//go:embed chart.css
var style string

var figure = template.Must(template.New("chart").Parse(markup))

// Style is the CSS of all charts. It uses the page's variables --ink, --faint, --line, --accent, --paper, --good and --bad,
// so that the page handles dark mode.
func Style() string { return style }

// HTML renders the chart as a figure: its title, a legend if there are several series, a wide and a narrow drawing of which
// the style sheet shows one, and the table of numbers. It has no inline styles or scripts.
func (c Chart) HTML() template.HTML {
	var b bytes.Buffer
	if err := figure.Execute(&b, page(c)); err != nil {
		panic(err) // only a bug in chart.html can cause this, for any chart
	}
	return template.HTML(b.String())
}

// view is the data of chart.html.
type view struct {
	ID, Title, Caption, About string
	Empty, Linked             bool
	Keys                      []key
	Drawings                  []drawing
	Notes                     []string
	Table                     table
}

// key is one line of the legend.
type key struct {
	Name     string
	Look     look
	Patterns []pattern
}

// page builds the data of a chart.
func page(c Chart) view {
	p := prepare(c)
	v := view{ID: p.ID, Title: p.Title, Caption: p.Caption, Empty: len(p.Points) == 0, Notes: p.notes}
	if v.Empty {
		return v
	}
	v.About, v.Table = p.about(), p.table()
	for _, width := range []width{wide, narrow} {
		d := p.draw(width)
		d.Class = width.class
		d.Patterns = p.patterns(p.ID + "-" + width.class)
		v.Drawings = append(v.Drawings, d)
		v.Linked = v.Linked || slices.ContainsFunc(d.Marks, func(m mark) bool { return m.Href != "" })
	}
	if len(p.Series) > 1 && (p.Kind == Area || p.Kind == Bars || p.Kind == Ranked) {
		for i, name := range p.Series {
			id := p.ID + "-key" + digits(i)
			v.Keys = append(v.Keys, key{Name: name, Look: p.seriesLook(i, id), Patterns: p.patterns(id)})
		}
	}
	return v
}

// draw lays the chart out for one width.
func (p plot) draw(w width) drawing {
	switch p.Kind {
	case Area:
		if len(p.Points) == 1 { // an area with one day has no width
			return p.bars(w)
		}
		return p.areas(w)
	case Bars:
		return p.bars(w)
	}
	return p.rows(w)
}

// clean removes control characters and invalid UTF-8 from a text.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// plainID keeps the characters of an id that are valid in a reference, such as url(#id).
func plainID(id string) string {
	if id == "" {
		return "chart"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '-'
	}, id)
}
