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

// Kind says how a chart is drawn.
type Kind int

const (
	// Area stacks the series over days or months that are in order.
	Area Kind = iota
	// Bars has one upright bar for each point. Several series are stacked.
	Bars
	// Ranked has one bar for each point, the largest first, with its name to the left and its amount to the right.
	Ranked
	// Limits shows for each point how much of its Mark is used. The most used limit comes first.
	Limits
	// Waterfall leads from the first point, a level, over changes with a sign to the last point, a level again.
	Waterfall
)

// Unit says what the numbers of a chart are.
type Unit int

const (
	// Amount is money in minor units of the chart's currency. Without a currency the numbers are counts.
	Amount Unit = iota
	// Percent is hundredths of a percent: 4250 is 42.50 %.
	Percent
	// Count is whole things.
	Count
)

// Most is how many points a chart has at most. It leaves out the ones behind, and says so.
const Most = 400

// mostRows is how many rows Ranked and Limits draw. The table has all points.
const mostRows = 20

// Point is one place on the axis, with its numbers.
type Point struct {
	// Label stands on the axis, cut where it is too long. The points between the labelled ones may have none, such as
	// the days between the beginnings of months.
	Label string
	// Long stands in the table and in the title of a bar. "" means Label.
	Long string
	// Values has one number for each series, in the chart's unit.
	Values []int64
	// Mark is the limit of a point of Limits, if HasMark. Other kinds do not show it.
	Mark    int64
	HasMark bool
	// At is where an Area sets the point, such as the number of its day, in ascending order. If all are 0, the points stand
	// at equal distances.
	At int64
	// Href makes links of the bar and of the name in the table. The surfaces of an Area are no links.
	Href string
}

// name is what the table calls a point.
func (p Point) name() string {
	if p.Long != "" {
		return p.Long
	}
	return p.Label
}

// Chart is what is to be drawn. The texts are plain text: HTML escapes them.
type Chart struct {
	// ID is unique in the page; the ids of the markup begin with it.
	ID    string
	Kind  Kind
	Title string
	// Currency is that of all amounts. "" means that the numbers are counts.
	Currency money.Currency
	Unit     Unit
	// Series names the values of each point, in the order in which they are stacked. From the fourth on they look
	// alike. Limits and Waterfall have one.
	Series []string
	Points []Point
	// Caption says more below the title. It may be empty.
	Caption string
	// Names is the header of the points in the table, such as "Month". "" means "Name".
	Names string
	// LessIsBetter gives the falls of a Waterfall the good colour, and the rises the bad one.
	LessIsBetter bool
}

//go:embed chart.html
var markup string

//go:embed chart.css
var style string

var figure = template.Must(template.New("chart").Parse(markup))

// Style is the CSS of all charts. It stands on the variables --ink, --faint, --line, --accent, --paper, --good and
// --bad of the page, so that dark mode is the page's business.
func Style() string { return style }

// HTML draws the chart as a figure: its title, a legend where there are several series, a wide and a narrow drawing of
// which the style sheet shows one, and the table of the numbers. It has no inline style and no script.
func (c Chart) HTML() template.HTML {
	var b bytes.Buffer
	if err := figure.Execute(&b, page(c)); err != nil {
		panic(err) // only a mistake in chart.html can do this, whatever the chart is
	}
	return template.HTML(b.String())
}

// view is what chart.html shows.
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

// page makes all that is shown of a chart.
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
		if len(p.Points) == 1 { // an area of one day has no width
			return p.bars(w)
		}
		return p.areas(w)
	case Bars:
		return p.bars(w)
	}
	return p.rows(w)
}

// clean makes a text fit for markup: control characters and broken UTF-8 have no place in it.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// plainID keeps of an id what may stand in a reference, such as url(#id).
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
