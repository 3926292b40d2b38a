package chart

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"holdfast/internal/domain/money"

	"pgregory.net/rapid"
)

// node is an element of the markup.
type node struct {
	name     string
	attrs    map[string]string
	children []*node
	words    string
}

// read parses a chart. The markup is HTML that is also valid XML.
func read(t rapid.TB, c Chart) *node {
	t.Helper()
	root := &node{}
	open := []*node{root}
	decoder := xml.NewDecoder(strings.NewReader(string(c.HTML())))
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return root
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, c.HTML())
		}
		top := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			n := &node{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				n.attrs[a.Name.Local] = a.Value
			}
			top.children, open = append(top.children, n), append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			top.words += string(token)
		}
	}
}

// all returns the elements with a name, in order.
func (n *node) all(name string) []*node {
	var list []*node
	for _, child := range n.children {
		if child.name == name || name == "" {
			list = append(list, child)
		}
		list = append(list, child.all(name)...)
	}
	return list
}

// text is the text of an element.
func (n *node) text() string {
	words := n.words
	for _, child := range n.children {
		words += child.text()
	}
	return words
}

var kindsOfCharts = []Kind{Area, Bars, Ranked, Limits, Waterfall}

// anyChart draws charts of all kinds, with small and huge numbers, and with arbitrary texts.
func anyChart(t *rapid.T) Chart {
	values := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64Range(-10_000_000, 900_000_000), rapid.Int64())
	chosen := rapid.SampledFrom([]string{"Mar 26", `<b>"&'`, "", "a long name of a hotel"})
	words := rapid.OneOf(rapid.StringN(0, 40, -1), chosen)
	c := Chart{
		ID: "it", Kind: rapid.SampledFrom(kindsOfCharts).Draw(t, "kind"), Title: words.Draw(t, "title"),
		Currency: rapid.SampledFrom([]money.Currency{"", "EUR", "JPY", "KWD"}).Draw(t, "currency"),
		Unit:     rapid.SampledFrom([]Unit{Amount, Percent, Count}).Draw(t, "unit"),
		Series:   rapid.SliceOfN(words, 0, 3).Draw(t, "series"), Caption: words.Draw(t, "caption"),
		LessIsBetter: rapid.Bool().Draw(t, "less"),
	}
	n := rapid.OneOf(rapid.IntRange(0, 14), rapid.IntRange(0, 45)).Draw(t, "points")
	for range n {
		p := Point{Label: words.Draw(t, "label"), Long: words.Draw(t, "long"), Mark: values.Draw(t, "mark")}
		p.Values = rapid.SliceOfN(values, 0, 3).Draw(t, "values")
		p.HasMark = rapid.Bool().Draw(t, "has mark")
		if rapid.Bool().Draw(t, "linked") {
			p.Href = "/x?" + words.Draw(t, "href")
		}
		c.Points = append(c.Points, p)
	}
	return c
}

func TestNoTwoTextsOverlap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := prepare(anyChart(t))
		if len(p.Points) == 0 {
			return
		}
		for _, w := range []width{wide, narrow} {
			d := p.draw(w)
			texts := slices.Clone(d.Texts)
			for _, m := range d.Marks {
				texts = append(texts, m.Texts...)
			}
			for i, a := range texts {
				from, to := a.extent()
				if from < 0 || to > d.W || a.Y < em*one*3/4 || a.Y > d.H {
					t.Fatalf("%s: %q is at %v to %v, %v, outside", w.class, a.Text, from, to, a.Y)
				}
				for _, b := range texts[:i] {
					start, end := b.extent()
					if max(a.Y-b.Y, b.Y-a.Y) < em*one && from < end && start < to {
						t.Fatalf("%s: %q (%v to %v) lies on %q", w.class, a.Text, from, to, b.Text)
					}
				}
			}
		}
	})
}

func TestBarsAreInTheDrawingAndInProportion(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := prepare(anyChart(t))
		if len(p.Points) == 0 {
			return
		}
		for _, w := range []width{wide, narrow} {
			d := p.draw(w)
			for i, m := range d.Marks {
				for _, b := range m.Boxes {
					if b.X < 0 || b.Y < 0 || b.W < 0 || b.H < 0 || b.X+b.W > d.W || b.Y+b.H > d.H {
						t.Fatalf("%s: %+v is not in %v × %v", w.class, b, d.W, d.H)
					}
				}
				if p.Kind == Bars {
					proportionate(t, m, p.values[i])
				}
			}
		}
	})
}

// proportionate compares the boxes of a point with each other: they have the proportion of their numbers.
func proportionate(t *rapid.T, m mark, values []int64) {
	var sizes []int64
	for _, v := range values {
		if v != 0 {
			sizes = append(sizes, max(v, -v))
		}
	}
	if len(sizes) != len(m.Boxes) {
		t.Fatalf("%d numbers have %d boxes", len(sizes), len(m.Boxes))
	}
	for i, a := range m.Boxes {
		for k, b := range m.Boxes {
			off := int64(a.H)*sizes[k] - int64(b.H)*sizes[i]
			// Each is rounded to a hundredth at both ends. Values too small to be seen get the minimum height.
			if a.H > least && b.H > least && max(off, -off) > 2*(sizes[i]+sizes[k]) {
				t.Fatalf("%d is %v high, and %d is %v", sizes[i], a.H, sizes[k], b.H)
			}
		}
	}
}

func TestBarsReachTheirTicks(t *testing.T) {
	t.Parallel()
	c := Chart{Kind: Bars}
	for _, v := range []int64{300, 150, 0, -100, 1} {
		c.Points = append(c.Points, Point{Values: []int64{v}})
	}
	for _, w := range []width{wide, narrow} {
		d := prepare(c).draw(w)
		height := map[string]unit{} // of the ticks
		for _, text := range d.Texts {
			height[text.Text] = text.Y - baseline
		}
		zero := height["0"]
		if top := d.Marks[0].Boxes[0]; top.Y != height["300"] || top.Y+top.H != zero {
			t.Errorf("%s: 300 goes from %v to %v, and the ticks are %v", w.class, top.Y+top.H, top.Y, height)
		}
		if low := d.Marks[3].Boxes[0]; low.Y != zero || low.Y+low.H != height["-100"] {
			t.Errorf("%s: -100 goes from %v to %v, and the ticks are %v", w.class, low.Y, low.Y+low.H, height)
		}
		if half := d.Marks[1].Boxes[0]; max(half.H*2-(zero-height["300"]), (zero-height["300"])-half.H*2) > 4 {
			t.Errorf("%s: 150 is %v high", w.class, half.H)
		}
		if little := d.Marks[4].Boxes[0]; little.H < least || len(d.Marks[2].Boxes) != 0 {
			t.Errorf("%s: 1 is %v high, and 0 has %d boxes", w.class, little.H, len(d.Marks[2].Boxes))
		}
	}
}

func TestRankedBarsAreInProportionAndSorted(t *testing.T) {
	t.Parallel()
	c := Chart{Kind: Ranked, Currency: "EUR"}
	for _, v := range []int64{500, -250, 1000, 0, 750} {
		c.Points = append(c.Points, Point{Label: fmt.Sprint(v), Values: []int64{v}})
	}
	p := prepare(c)
	for _, w := range []width{wide, narrow} {
		d := p.draw(w)
		var names []string
		widths := map[string]unit{}
		for _, m := range d.Marks {
			name := m.Texts[0].Text
			names = append(names, name)
			for _, b := range m.Boxes {
				widths[name] = b.W
			}
		}
		if want := []string{"1000", "750", "500", "0", "-250"}; !slices.Equal(names, want) {
			t.Errorf("%v, want %v", names, want)
		}
		full := widths["1000"]
		for name, part := range map[string]unit{"750": 3, "500": 2, "-250": 1} {
			if off := widths[name] - full*part/4; off < -2 || off > 2 {
				t.Errorf("%s is %v wide, and 1000 is %v", name, widths[name], full)
			}
		}
	}
	if c.Points[0].Label != "500" {
		t.Error("the caller's points were sorted")
	}
}

func TestEveryNumberIsInTheTable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := anyChart(t)
		p := prepare(c)
		cells := map[string]int{}
		for _, td := range read(t, c).all("td") {
			cells[strings.TrimPrefix(td.text(), "+")]++
		}
		count := 0
		for _, point := range p.Points {
			want := []string{}
			for k := range p.Series {
				want = append(want, p.full(point.value(k)))
			}
			if p.Kind == Limits && point.HasMark {
				want = append(want, p.full(point.Mark))
			} else if p.Kind == Limits {
				want = append(want, "no limit")
			}
			for _, text := range want {
				count++
				if cells[text]--; cells[text] < 0 {
					t.Fatalf("%q is not in the table", text)
				}
			}
		}
		for text, more := range cells {
			if more != 0 {
				t.Fatalf("%q is in the table, and no number", text)
			}
		}
		if len(p.Points) > 0 && count == 0 {
			t.Fatal("no numbers were looked for")
		}
	})
}

var reference = regexp.MustCompile(`^url\(#(.+)\)$`)

// TestTheMarkupIsSound: ids are unique, references resolve, the content security policy is respected, and every class
// has a style.
func TestTheMarkupIsSound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		root := read(t, anyChart(t))
		ids := map[string]bool{}
		for _, n := range root.all("") {
			if id := n.attrs["id"]; id != "" {
				if ids[id] {
					t.Fatalf("the id %s appears twice", id)
				}
				ids[id] = true
			}
		}
		for _, n := range root.all("") {
			if n.name == "script" || n.name == "style" || n.attrs["style"] != "" {
				t.Fatalf("%s %v in the markup", n.name, n.attrs)
			}
			var refs []string
			if m := reference.FindStringSubmatch(n.attrs["fill"]); m != nil {
				refs = append(refs, m[1])
			}
			refs = append(refs, strings.Fields(n.attrs["aria-labelledby"]+" "+n.attrs["aria-describedby"])...)
			for _, id := range refs {
				if !ids[id] {
					t.Fatalf("%s refers to %s, which is not there", n.name, id)
				}
			}
			if n.name == "svg" && n.attrs["role"] == "img" && len(n.all("a")) > 0 {
				t.Fatal("links in an image: no keyboard finds them")
			}
			for _, class := range strings.Fields(n.attrs["class"]) {
				if !regexp.MustCompile(`\.`+class+`\b`).MatchString(Style()) && !slices.Contains(needNoLook, class) {
					t.Fatalf("the class %s has no look", class)
				}
			}
		}
	})
}

// needNoLook are classes that only use the styles of all texts or fills.
var needNoLook = []string{"value", "s1", "s2", "s3", "over"}

func TestTheStyleUsesTheVariables(t *testing.T) {
	t.Parallel()
	for _, m := range regexp.MustCompile(`var\((--[a-z]+)\)`).FindAllStringSubmatch(Style(), -1) {
		if !strings.Contains(" --ink --faint --line --accent --paper --good --bad --warn ", " "+m[1]+" ") {
			t.Errorf("%s is no variable of the pages", m[1])
		}
	}
	if found := regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|rgb|hsl`).FindString(Style()); found != "" {
		t.Errorf("the colour %s does not follow dark mode", found)
	}
}

func TestTicks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.OneOf(rapid.Int64Range(-50, 50), rapid.Int64Range(-room, room))
		lowest, highest := numbers.Draw(t, "a"), numbers.Draw(t, "b")
		if lowest > highest {
			lowest, highest = highest, lowest
		}
		most := rapid.SampledFrom([]int64{wide.ticks, narrow.ticks}).Draw(t, "most")
		s := newScale(lowest, highest, most)
		ticks := s.ticks()
		if s.lo > lowest || s.hi < highest || !slices.Contains(ticks, 0) || int64(len(ticks)) > most+3 {
			t.Fatalf("%d to %d has the ticks %v", lowest, highest, ticks)
		}
		if (lowest != 0 || highest != 0) && (ticks[0] != s.lo || ticks[len(ticks)-1] != s.hi || len(ticks) < 2) {
			t.Fatalf("the axis from %d to %d has the ticks %v", s.lo, s.hi, ticks)
		}
		if text := fmt.Sprint(s.step); !regexp.MustCompile(`^(1|2|25|5)0*$`).MatchString(text) {
			t.Fatalf("the step %s is not nice", text)
		}
		exponent := rapid.IntRange(-4, 9).Draw(t, "exponent")
		for _, v := range ticks {
			if text := short(v, exponent, exactly); back(t, text, exponent) != v {
				t.Fatalf("%d·10^%d is written %s", v, exponent, text)
			}
		}
	})
}

// back parses a short form.
func back(t rapid.TB, text string, exponent int) int64 {
	zeros := map[string]int{"k": 3, "m": 6, "bn": 9, "tn": 12}
	m := regexp.MustCompile(`^(-?)([0-9,]+)(?:\.([0-9]+))?(k|m|bn|tn)?$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("%q is no short form", text)
	}
	if text == "0" {
		return 0
	}
	digits := strings.ReplaceAll(m[2], ",", "") + m[3]
	move := zeros[m[4]] - len(m[3]) - exponent
	if move < 0 && !strings.HasSuffix(digits, strings.Repeat("0", -move)) {
		t.Fatalf("%q says more than the tick", text)
	}
	digits += strings.Repeat("0", max(move, 0))
	digits = digits[:len(digits)+min(move, 0)]
	v, err := strconv.ParseInt(m[1]+digits, 10, 64)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

func TestShort(t *testing.T) {
	t.Parallel()
	tests := []struct {
		amount   int64
		currency money.Currency
		want     string
	}{
		{120_000_000, "EUR", "1.2m"}, {84_000_000, "EUR", "840k"}, {-340_000, "EUR", "-3.4k"}, {95_000, "EUR", "950"},
		{123_456_789, "EUR", "1.2m"}, {1_234_567, "EUR", "12.3k"}, {12_345_678, "EUR", "123k"},
		{125_000, "EUR", "1.3k"}, {0, "EUR", "0"}, {5, "EUR", "0.05"}, {-5, "EUR", "-0.05"}, {50, "EUR", "0.5"},
		{99, "EUR", "0.99"}, {100, "EUR", "1"},
		{155, "EUR", "1.6"}, {99_949, "EUR", "999"}, {99_950, "EUR", "1k"}, {99_999_999, "EUR", "1m"},
		{-99_999_999, "EUR", "-1m"},
		{950, "JPY", "950"}, {1_200_000, "JPY", "1.2m"}, {1, "JPY", "1"}, {1_200_000_000, "KWD", "1.2m"},
		{123, "KWD", "0.123"},
		{950, "", "950"}, {1500, "", "1.5k"}, {2_500_000_000_000, "JPY", "2.5tn"}, {340_000_000_000, "EUR", "3.4bn"},
		{math.MaxInt64, "JPY", "9,223,372tn"}, {math.MinInt64, "JPY", "-9,223,372tn"},
		{math.MinInt64, "EUR", "-92,234tn"},
	}
	for _, tt := range tests {
		if got := Short(tt.amount, tt.currency); got != tt.want {
			t.Errorf("Short(%d, %s) = %s, want %s", tt.amount, tt.currency, got, tt.want)
		}
	}
}

func TestUnitsInTheDrawing(t *testing.T) {
	t.Parallel()
	lengths := map[unit]string{0: "0", 100: "1", 150: "1.5", 1205: "12.05", -5: "-0.05", -150: "-1.5", 70: "0.7"}
	for u, want := range lengths {
		if u.String() != want {
			t.Errorf("%d is written %s, want %s", int64(u), u, want)
		}
	}
}
