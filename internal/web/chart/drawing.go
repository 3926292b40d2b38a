package chart

import (
	"strconv"
	"strings"
)

// unit is a length in a drawing, in hundredths of its unit. Its text is valid in an SVG attribute.
type unit int64

const one unit = 100

func (u unit) String() string {
	text := strconv.FormatInt(int64(u/one), 10)
	rest := u % one
	if rest == 0 {
		return text
	}
	if rest < 0 {
		rest = -rest
		if u > -one {
			text = "-0"
		}
	}
	return text + "." + strings.TrimRight(strconv.FormatInt(int64(one+rest), 10)[1:], "0")
}

// width is one of the two drawings of a chart. The style sheet shows the one that fits.
type width struct {
	class string
	w     unit
	h     unit // for charts with a vertical axis
	ticks int64
	wide  bool
}

var (
	wide   = width{class: "wide", w: 640 * one, h: 250 * one, ticks: 6, wide: true}
	narrow = width{class: "narrow", w: 380 * one, h: 220 * one, ticks: 5}
)

// drawing is the content of one SVG, back to front.
type drawing struct {
	Class    string
	W, H     unit
	Patterns []pattern
	Grid     []line
	Bands    []band
	Marks    []mark
	Over     []line
	Texts    []text
}

// text is a text at a point. Anchor is start, middle or end.
type text struct {
	X, Y   unit
	Anchor string
	Class  string
	Text   string
}

// extent is the maximum width of a text.
func (t text) extent() (from, to unit) {
	w := textWidth(t.Text)
	switch t.Anchor {
	case "middle":
		return t.X - w/2, t.X + w/2
	case "end":
		return t.X - w, t.X
	}
	return t.X, t.X + w
}

type line struct {
	X1, Y1, X2, Y2 unit
	Class          string
}

// look is the fill of a surface: its class, or a pattern named by Fill.
type look struct{ Class, Fill string }

type box struct {
	X, Y, W, H unit
	Look       look
}

// band is one series of an area: the surface and its top line.
type band struct {
	Look      look
	Path, Top string
}

// mark is a point of the chart: the hover target, the focusable link if it has one, and the accessible text.
type mark struct {
	Title string
	Tip   text // the Title as drawn
	Href  string
	Reach box // hover area
	Boxes []box
	Texts []text
}

// pattern is a fill that is distinguishable without colour. Kind is hatch, dots, plain or over.
type pattern struct{ ID, Kind string }

// kinds are the patterns of the series after the first, which is solid.
var kinds = []string{"hatch", "dots", "plain"}

// patterns returns the patterns that a drawing uses. Their ids start with prefix: a pattern in a hidden drawing cannot be
// used by another.
func (p plot) patterns(prefix string) []pattern {
	var list []pattern
	if p.Kind == Limits {
		return []pattern{{ID: prefix + "-over", Kind: "over"}}
	}
	if p.Kind == Waterfall {
		return nil
	}
	for i, kind := range kinds {
		if i+1 < len(p.Series) {
			list = append(list, pattern{ID: prefix + "-" + kind, Kind: kind})
		}
	}
	return list
}

// seriesLook is the fill of a series in the drawing or legend whose patterns have the prefix.
func (p plot) seriesLook(series int, prefix string) look {
	if series == 0 {
		return look{Class: "s0"}
	}
	kind := kinds[min(series, len(kinds))-1]
	return look{Class: "s" + digits(min(series, len(kinds))), Fill: "url(#" + prefix + "-" + kind + ")"}
}

// look is the fill of a series in one of the drawings.
func (p plot) look(series int, w width) look { return p.seriesLook(series, p.ID+"-"+w.class) }
