package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// words gives the texts of a chart's drawing.
func words(d drawing) []string {
	var list []string
	for _, m := range d.Marks {
		for _, text := range m.Texts {
			list = append(list, text.Text)
		}
	}
	for _, text := range d.Texts {
		list = append(list, text.Text)
	}
	return list
}

func limit(name string, used, mark int64) Point {
	return Point{Label: name, Values: []int64{used}, Mark: mark, HasMark: true}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	c := Chart{Kind: Limits, Currency: "EUR", Points: []Point{
		limit("half", 50_00, 100_00), {Label: "free", Values: []int64{7_00}}, limit("nearly", 9_999_99, 10_000_00),
		limit("exactly", 100_00, 100_00), limit("over", 100_01, 100_00),
		limit("nothing", 1, 0), limit("unused nothing", 0, 0), limit("given back", -5_00, 100_00),
		limit("huge", math.MaxInt64, 1), limit("largest", math.MaxInt64, math.MaxInt64),
	}}
	want := map[string]struct {
		number string
		over   bool
	}{
		"half": {"50%", false}, "free": {"no limit", false}, "nearly": {"99%", false}, "exactly": {"100%", false},
		"over": {"100%, over", true}, "nothing": {"no room, over", true}, "unused nothing": {"0%", false},
		"given back": {"0%", false}, "huge": {"> 9,999%, over", true}, "largest": {"100%", false},
	}
	p := prepare(c)
	for _, w := range []width{wide, narrow} {
		d := p.draw(w)
		var order []string
		for _, m := range d.Marks {
			name, number := m.Texts[0].Text, m.Texts[1].Text
			order = append(order, name)
			if number != want[name].number {
				t.Errorf("%s: %q, want %q", name, number, want[name].number)
			}
			// The part over the limit is visible without colour: with a pattern and a word.
			hatched := slices.ContainsFunc(m.Boxes, func(b box) bool {
				return b.Look.Class == "over" && b.W > 0 && b.Look.Fill != ""
			})
			if hatched != want[name].over || strings.Contains(m.Title, "over the limit") != want[name].over {
				t.Errorf("%s: over the limit is %v in the drawing, and the title is %q", name, hatched, m.Title)
			}
		}
		got := strings.Join(order, " ")
		if !strings.HasPrefix(got, "nothing huge over ") || !strings.HasSuffix(got, " free") {
			t.Errorf("in the order %s", got)
		}
		if len(d.Over) != len(c.Points)-1 {
			t.Errorf("%d limits are marked, want %d", len(d.Over), len(c.Points)-1)
		}
	}
	if about := p.about(); !strings.Contains(about, "3 of them over the limit") {
		t.Errorf("what is read out: %s", about)
	}
}

func TestLimitsAreComparedExactly(t *testing.T) {
	t.Parallel()
	more, less := limit("more", math.MaxInt64-1, math.MaxInt64), limit("less", math.MaxInt64-2, math.MaxInt64)
	if moreUsed(more, less) >= 0 || moreUsed(less, more) <= 0 || moreUsed(more, more) != 0 {
		t.Error("the order of limits is lost where numbers are huge")
	}
}

func TestWaterfallLeadsFromLevelToLevel(t *testing.T) {
	t.Parallel()
	c := Chart{Kind: Waterfall, Currency: "EUR"}
	for i, v := range []int64{100_00, 50_00, -70_00, 0, 80_00} {
		c.Points = append(c.Points, Point{Label: fmt.Sprint("step ", i), Values: []int64{v}})
	}
	for _, better := range []bool{false, true} {
		c.LessIsBetter = better
		rows, lowest, highest := prepare(c).stepRows()
		if lowest != 0 || highest != 150_00 {
			t.Errorf("from %d to %d", lowest, highest)
		}
		up, down := "good", "bad"
		if better {
			up, down = down, up
		}
		want := []string{
			"0 10000 s0 100", "10000 15000 " + up + " +50", "15000 8000 " + down + " -70", "8000 8000 0", "0 8000 s0 80",
		}
		for i, r := range rows {
			piece := r.pieces[0]
			got := fmt.Sprint(piece.from, piece.to, " ", piece.look.Class, " ", r.number)
			if piece.from == piece.to { // no bar, no colour
				got = fmt.Sprint(piece.from, piece.to, " ", r.number)
			}
			if got != want[i] {
				t.Errorf("step %d is %s, want %s", i, got, want[i])
			}
		}
	}
	texts := read(t, c).all("td")
	if got := texts[1].text() + " " + texts[2].text() + " " + texts[4].text(); got != "+50.00 -70.00 80.00" {
		t.Errorf("the table says %s", got)
	}
}

// TestAWaterfallShowsSmallChangesOfLargeLevels: its axis then starts near the lowest level, and a note says so.
func TestAWaterfallShowsSmallChangesOfLargeLevels(t *testing.T) {
	t.Parallel()
	steps := func(values ...int64) (c Chart) {
		c.Kind, c.Currency, c.ID = Waterfall, "EUR", "it"
		for _, v := range values {
			c.Points = append(c.Points, Point{Label: "step", Values: []int64{v}})
		}
		return c
	}
	c := steps(1_000_000_00, 5_000_00, -15_000_00, 990_000_00)
	p := prepare(c)
	if p.start != 985_000_00 || !slices.Equal(p.notes, []string{"The axis starts at 985k EUR, so that the changes are visible."}) {
		t.Errorf("the axis starts at %d: %q", p.start, p.notes)
	}
	for _, w := range []width{wide, narrow} {
		d := p.draw(w)
		up, down := d.Marks[1].Boxes[0], d.Marks[2].Boxes[0]
		if up.W < w.w/20 || down.W < 3*up.W-2 || down.W > 3*up.W+2 {
			t.Errorf("%s: 5,000 is %v wide, and 15,000 is %v, of %v", w.class, up.W, down.W, w.w)
		}
		if len(d.Marks[0].Boxes) != 2 || d.Marks[0].Boxes[1].Look.Class != "break" || len(d.Marks[3].Boxes) != 2 {
			t.Errorf("%s: the levels do not show that they are cut: %+v", w.class, d.Marks[0].Boxes)
		}
	}
	for _, c := range []Chart{
		steps(100, 50, -70, 80), steps(0, 5, 5), steps(5, -5, 0), steps(100, 0, 100), steps(-100, 1, -99), steps(100), steps(),
		steps(math.MaxInt64, math.MinInt64, -1),
	} {
		if p := prepare(c); p.start != 0 {
			t.Errorf("the axis of %v starts at %d", p.totals, p.start)
		}
	}
}

// TestAPointShowsItsNumbersWhileItIsHoveredOver: in the drawing, and inside its bounds.
func TestAPointShowsItsNumbersWhileItIsHoveredOver(t *testing.T) {
	t.Parallel()
	var points []Point
	for i := range Most {
		points = append(points, Point{Long: fmt.Sprint("Day ", i), Values: []int64{int64(1000 - i)}})
	}
	for _, kind := range kindsOfCharts {
		for _, n := range []int{1, 2, Most} {
			for _, w := range []width{wide, narrow} {
				p := prepare(Chart{Kind: kind, Currency: "EUR", Points: points[:n]})
				d := p.draw(w)
				if len(d.Marks) < min(n, mostRows) {
					t.Errorf("kind %d, %s: %d of %d points have a hover target", kind, w.class, len(d.Marks), n)
				}
				last := d.Marks[len(d.Marks)-1]
				if kind == Area && last.Title != p.tooltip(n-1) {
					t.Errorf("%s: the last target says %q", w.class, last.Title)
				}
				for _, m := range d.Marks {
					if from, to := m.Tip.extent(); m.Tip.Text != m.Title || from < 0 || to > d.W {
						t.Errorf("kind %d, %s: %q shows %q from %v to %v", kind, w.class, m.Title, m.Tip.Text, from, to)
					}
				}
			}
		}
	}
}

// TestSeveralNumbersFitAboveANarrowChart: the names of the series are left out before a number is.
func TestSeveralNumbersFitAboveANarrowChart(t *testing.T) {
	t.Parallel()
	c := Chart{Currency: "GBP", Series: []string{"Undelivered (E1)", "Tail (E2)"}, Points: []Point{
		{Label: "Nov", Long: "28 Nov 2026", Values: []int64{576_192_59, 259_300_94}}, {Label: "Dec", Long: "28 Dec 2026", Values: []int64{1, 2}},
	}}
	for _, c.Kind = range []Kind{Area, Bars, Ranked} {
		p := prepare(c)
		if got, want := p.draw(narrow).Marks[0].Tip.Text, "28 Nov 2026: 576,192.59 + 259,300.94 GBP"; got != want {
			t.Errorf("kind %d: %q, want %q", c.Kind, got, want)
		}
		if got := p.draw(wide).Marks[0].Tip.Text; got != p.tooltip(0) {
			t.Errorf("kind %d, wide: %q", c.Kind, got)
		}
	}
}

func TestFewNumbers(t *testing.T) {
	t.Parallel()
	for _, kind := range kindsOfCharts {
		empty := read(t, Chart{Kind: kind, Title: "Run-off"})
		if len(empty.all("svg")) > 0 || !strings.Contains(empty.text(), "No data for this chart.") {
			t.Errorf("kind %d without points: %s", kind, empty.text())
		}
		single := read(t, Chart{Kind: kind, Points: []Point{{Label: "May", Values: []int64{5}}}})
		if len(single.all("svg")) != 2 || len(single.all("td")) == 0 {
			t.Errorf("kind %d with one point: %s", kind, single.text())
		}
		none := []int64{0}
		zeros := Chart{Kind: kind, Currency: "EUR"}
		zeros.Points = []Point{{Label: "May", Values: none}, {Label: "June", Values: none}}
		if text := read(t, zeros).text(); !strings.Contains(text, "All values are zero.") {
			t.Errorf("kind %d of zeros: %s", kind, text)
		}
	}
	d := prepare(Chart{Kind: Area, Points: []Point{{Label: "May", Values: []int64{5}}}}).draw(wide)
	if len(d.Marks) != 1 || len(d.Marks[0].Boxes) != 1 || d.Marks[0].Boxes[0].H == 0 {
		t.Errorf("an area of one point shows %+v", d.Marks)
	}
}

func TestManyNumbers(t *testing.T) {
	t.Parallel()
	var points []Point
	for i := range Most + 1 {
		points = append(points, Point{Label: fmt.Sprint("Day ", i), Values: []int64{int64(1000 - i)}})
	}
	for _, kind := range kindsOfCharts {
		c := Chart{Kind: kind, Points: points, Currency: "EUR"}
		root := read(t, c)
		if text := root.text(); !strings.Contains(text, "Only the first 400 of 401 are shown.") {
			t.Errorf("kind %d does not say that points are missing", kind)
		}
		if n := len(root.all("tbody")[0].all("tr")); n != Most {
			t.Errorf("kind %d: the table has %d lines", kind, n)
		}
		if n := len(c.HTML()); n > 420_000 {
			t.Errorf("kind %d has %d bytes", kind, n)
		}
	}
	d := prepare(Chart{Kind: Bars, Points: points[:Most]}).draw(wide)
	if shown := words(d); !slices.Contains(shown, "Day 0") || len(shown) > 20 {
		t.Errorf("the labels are %v", shown)
	}
	if len(d.Marks) != Most {
		t.Errorf("%d bars", len(d.Marks))
	}
}

func TestOthersHaveTheRest(t *testing.T) {
	t.Parallel()
	c := Chart{Kind: Ranked, Currency: "EUR"}
	for range 30 {
		c.Points = append(c.Points, Point{Label: "Hotel", Values: []int64{100_00}})
	}
	d := prepare(c).draw(wide)
	last := d.Marks[len(d.Marks)-1]
	if len(d.Marks) != mostRows || last.Texts[0].Text != "11 others" || last.Texts[1].Text != "1.1k" ||
		last.Title != "11 others: 1.1k EUR" {
		t.Errorf("%d rows, and the last is %+v", len(d.Marks), last)
	}
	if one, all := d.Marks[0].Boxes[0].W, last.Boxes[0].W; max(all-11*one, 11*one-all) > 11 {
		t.Errorf("one is %v wide, and 11 are %v", one, all)
	}
}

// TestHugeNumbers: sums beyond 64 bits do not flip a bar.
func TestHugeNumbers(t *testing.T) {
	t.Parallel()
	c := Chart{Currency: "JPY", Series: []string{"a", "b"}, Points: []Point{
		{Label: "up", Values: []int64{math.MaxInt64, math.MaxInt64}},
		{Label: "down", Values: []int64{math.MinInt64, math.MinInt64}},
	}}
	for _, c.Kind = range []Kind{Bars, Area, Ranked} {
		p := prepare(c)
		if p.totals[0] <= 0 || p.totals[1] >= 0 || p.zeros == 0 {
			t.Errorf("kind %d has the sums %v", c.Kind, p.totals)
		}
		if c.Kind == Bars {
			for i, m := range p.draw(wide).Marks {
				// Two numbers go up, and two down: each has a little less than a quarter of the height.
				for _, b := range m.Boxes {
					if b.Y < 26*one || b.H < 30*one || b.H > 60*one {
						t.Errorf("a number of point %d is %v high, at %v", i, b.H, b.Y)
					}
				}
			}
		}
		text := read(t, c).text()
		if !strings.Contains(text, "9,223,372,036,854,775,807") || !strings.Contains(text, "-9,223,372,036,854,775,808") {
			t.Errorf("kind %d: the table has not all digits", c.Kind)
		}
	}
	up := Chart{Kind: Bars, Currency: "JPY", Points: c.Points[:1]}
	if shown := words(prepare(up).draw(wide)); !slices.Contains(shown, "20,000,000tn") {
		t.Errorf("the axis has %v", shown)
	}
}

func TestTextsAreOnlyTexts(t *testing.T) {
	t.Parallel()
	evil := "<script>alert(1)</script>\x00\x1b\xff\"'&"
	for _, kind := range kindsOfCharts {
		c := Chart{ID: "a b\"c", Kind: kind, Title: evil, Caption: evil, Names: evil, Series: []string{evil, evil}}
		c.Points = []Point{
			{Label: evil, Long: evil, Values: []int64{1, 2}, Href: "javascript:alert(1)"},
			{Label: evil, Values: []int64{1, 2}, Href: "/dashboard?a=1&b=\"2"},
		}
		root := read(t, c)
		for _, n := range root.all("") {
			evilLink := strings.HasPrefix(n.attrs["href"], "javascript")
			if n.name == "script" || evilLink || strings.ContainsAny(n.attrs["id"], " \"") {
				t.Errorf("kind %d has %s %v", kind, n.name, n.attrs)
			}
		}
		if !strings.Contains(root.text(), "<script>alert(1)</script>") {
			t.Errorf("kind %d does not show the text", kind)
		}
	}
}

func TestBarsAreLinksForTheKeyboard(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{Bars, Ranked, Limits, Waterfall} {
		may := Point{Label: "May", Long: "May 2026", Values: []int64{123_456}, Href: "/may"}
		root := read(t, Chart{Kind: kind, Currency: "EUR", Points: []Point{may}})
		for _, svg := range root.all("svg") {
			links := svg.all("a")
			if svg.attrs["role"] != "group" || len(links) != 1 || links[0].attrs["href"] != "/may" ||
				!strings.HasPrefix(links[0].attrs["aria-label"], "May 2026: 1,234.56 EUR") ||
				links[0].all("title")[0].text() != links[0].attrs["aria-label"] {
				t.Errorf("kind %d: %+v", kind, links)
			}
		}
	}
}

func TestTheTableSaysTheCurrencyOnce(t *testing.T) {
	t.Parallel()
	for _, series := range [][]string{{"Undelivered", "Tail"}, {"Exposure"}, nil} {
		for _, kind := range kindsOfCharts {
			may := Point{Label: "May", Values: []int64{1, 2}}
			root := read(t, Chart{Kind: kind, Currency: "EUR", Series: series, Names: "Month", Points: []Point{may}})
			head := root.all("thead")[0]
			if strings.Count(head.text(), "EUR") != 1 || strings.Contains(root.all("tbody")[0].text(), "EUR") {
				t.Errorf("kind %d with %v: %q", kind, series, root.all("table")[0].text())
			}
			for _, th := range root.all("th") {
				if th.attrs["scope"] == "" {
					t.Errorf("%q is the header of nothing", th.text())
				}
			}
		}
	}
}

func TestSeveralSeriesHaveAKey(t *testing.T) {
	t.Parallel()
	root := read(t, Chart{Kind: Area, Series: []string{"Undelivered", "Tail"}, Points: []Point{
		{Label: "May", Values: []int64{5, 2}}, {Label: "June", Values: []int64{3, 2}},
	}})
	keys := root.all("li")
	if len(keys) != 2 || keys[0].text() != " Undelivered" || keys[1].text() != " Tail" {
		t.Fatalf("%d keys", len(keys))
	}
	// The second differs from the first without colour.
	if keys[1].all("pattern") == nil || keys[0].all("rect")[len(keys[0].all("rect"))-1].attrs["fill"] != "" {
		t.Error("the keys differ by their colour alone")
	}
	alone := Chart{Kind: Area, Series: []string{"One"}, Points: []Point{{Values: []int64{1}}}}
	if len(read(t, alone).all("li")) > 0 {
		t.Error("a single series has a key")
	}
}
