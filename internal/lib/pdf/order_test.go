package pdf

import (
	"slices"
	"testing"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestTextsAreArranged(t *testing.T) {
	for name, c := range map[string]struct {
		read, drawn string
		fromRight   bool
	}{
		"latin":                       {"Château (A) 12", "Château (A) 12", false},
		"arabic joins":                {"سفر", "\ufeae\ufed4\ufeb3", true},
		"nothing joins after waw":     {"دور", "\ufead\ufeed\ufea9", true},
		"lam and alef":                {"لا", "\ufefb", true},
		"lam and alef in a word":      {"سلام", "\ufee1\ufefc\ufeb3", true},
		"lam, mark and alef":          {"لَا", "\ufefb\u064e", true},
		"two words":                   {"بيت بيت", "\ufe96\ufef4\ufe91 \ufe96\ufef4\ufe91", true},
		"marks do not part":           {"مُحَمَّد", "\ufeaa\ufee4\u064e\u0651\ufea4\u064e\ufee3\u064f", true},
		"stretched":                   {"بـب", "\ufe90ـ\ufe91", true},
		"persian":                     {"پارس", "\ufeb1\ufead\ufe8e\ufb58", true},
		"kept Apart":                  {"می\u200cروم", "\ufee1\ufeed\ufead\ufbfd\ufee3", true},
		"alef maksura":                {"على", "\ufef0\ufee0\ufecb", true},
		"written in two parts":        {"ا\u0654ب", "\ufe8f\ufe83", true},
		"hebrew":                      {"טיול", "לויט", true},
		"hebrew with points":          {"מַיִם", "םיִמַ", true},
		"latin in hebrew":             {"שלום Travel בע", "עב Travel םולש", true},
		"hebrew in latin":             {"Hotel שלום עיר Spa", "Hotel ריע םולש Spa", false},
		"number in hebrew":            {"שלום 12.5 עיר", "ריע 12.5 םולש", true},
		"number after hebrew":         {"Hotel שלום 123 Spa", "Hotel 123 םולש Spa", false},
		"number between":              {"Hotel שלום 12, 34% עיר", "Hotel ריע 34% ,12 םולש", false},
		"number of the latin part":    {"Hotel 5 שלום", "Hotel 5 םולש", false},
		"arabic digits after latin":   {"Hotel ١٢ سفر", "Hotel \ufeae\ufed4\ufeb3 ١٢", false},
		"brackets turn":               {"שלום (ABC) «עיר»", "«ריע» (ABC) םולש", true},
		"a number after brackets":     {"שלום (ABC) 56", "56 (ABC) םולש", true},
		"a number in hebrew brackets": {"ABC (שלום) 56 עיר", "ABC (םולש) ריע 56", false},
		"brackets in brackets":        {"שלום [a (b) c] 5", "5 [a (b) c] םולש", true},
		"percent after arabic":        {"Spa بب 50% Spa", "Spa 50 \ufe90\ufe91% Spa", false},
		"brackets in latin":           {"ABC (שלום)", "ABC (םולש)", false},
		"marks of direction":          {"\u202eABC\u202c \u2067DEF\u2069\u200f", "ABC DEF", false},
		"override in hebrew":          {"\u202dשלום\u202c", "םולש", true},
		"Apart":                       {"Tax ID " + Apart + "שלום 12", "Tax ID 12 םולש", false},
		"end of a paragraph":          {"שלום\u2029עיר", "ריע םולש", true},
		"thai":                        {"ไทย", "ไทย", false},
		"sara am below a tone":        {"น้ำ", "น\u0e4d\u0e49\u0e32", false},
	} {
		text := c.read
		if name != "Apart" {
			text = Clean(text)
		}
		if drawn, fromRight := arrange(text); drawn != c.drawn || fromRight != c.fromRight {
			t.Errorf("%s: %+q is drawn as %+q (from the right: %v), not as %+q", name, c.read, drawn, fromRight, c.drawn)
		}
	}
}

// TestDirectionsAreThoseOfTheLibrary compares our levels with the library's runs, which only have a direction.
func TestDirectionsAreThoseOfTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SliceOfN(rapid.SampledFrom([]rune("aZשםسب١٢12 .,:+-%$€!&*\u0301\u05b8\u064e\u200e\u200f\u061c")), 1, 24).Draw(t, "line")
		var paragraph bidi.Paragraph
		if _, err := paragraph.SetString(string(line)); err != nil {
			t.Fatal(err)
		}
		runs, err := paragraph.Order()
		if err != nil {
			t.Fatal(err)
		}
		at, level := 0, levels(line, direction(line))
		for i := range runs.NumRuns() {
			run := runs.Run(i)
			for range run.String() {
				if fromRight := level[at]%2 == 1; fromRight != (run.Direction() == bidi.RightToLeft) {
					t.Fatalf("%+q: the levels are %v, and the library's run %d (%+q) has the direction %v", string(line), level, i, run.String(), run.Direction())
				}
				at++
			}
		}
	})
}

// TestFormsAreThoseOfTheirLetters compares the table with Unicode's data for each form, and looks for it in the fonts:
// a form without a glyph could not be spelled out.
func TestFormsAreThoseOfTheirLetters(t *testing.T) {
	drawn := []rune{nikhahit, saraAa, firstTone, lastTone}
	for letter, forms := range joining {
		for _, form := range forms {
			if form == 0 {
				continue
			}
			drawn = append(drawn, form)
			if got := norm.NFKC.String(string(form)); got != string(letter) {
				t.Errorf("%U is a form of %+q, not of %U", form, got, letter)
			}
		}
		if forms[0] == 0 || (forms[initial] == 0) != (forms[initial+final] == 0) || forms[initial] != 0 && forms[final] == 0 {
			t.Errorf("%U: the forms are %U", letter, forms)
		}
	}
	for alef, form := range withLam {
		drawn = append(drawn, form, form+final)
		for _, form := range []rune{form, form + final} {
			if got := norm.NFKC.String(string(form)); got != norm.NFKC.String(string(lam)+string(alef)) {
				t.Errorf("%U is %+q", form, got)
			}
		}
	}
	for _, weight := range []string{regular, bold} {
		_, missing, err := Fonts{Dir: t.TempDir()}.typeface(string(drawn), weight, "enGB")
		if err != nil || len(missing) > 0 {
			t.Errorf("%s: without glyphs: %U, %v", weight, missing, err)
		}
	}
}

func TestMarksAreOnTheirLetters(t *testing.T) {
	fonts, err := embedded(regular)
	if err != nil {
		t.Fatal(err)
	}
	boxes := func(text string) map[rune]shape { return boxesOf(t, text, fonts) }
	shapes := boxes("บปิุ่\ufe8f\ufe97\u064e\u0651\u0650ש\u05c1\u05b8\u05bc")
	end := func(letter rune, marks string, up bool) (edges []int) {
		for _, m := range place(letter, []rune(marks), shapes) {
			b := shapes[m.mark].box
			edges = append(edges, map[bool]int{true: b.minY + m.up, false: b.maxY + m.up}[up])
			if on := shapes[letter]; m.x+b.minX < -60 || m.x+b.maxX > on.advance+60 {
				t.Errorf("%U is drawn next to %c, at %d", m.mark, letter, m.x)
			}
		}
		return edges
	}
	if e := end('บ', "ิ่", true); e[1] <= shapes['ิ'].box.maxY {
		t.Errorf("the tone is drawn into the vowel below it: %v", e)
	}
	ascender := place('ป', []rune("่"), shapes)[0]
	if plain := place('บ', []rune("่"), shapes)[0]; ascender.x-shapes['ป'].advance >= plain.x-shapes['บ'].advance {
		t.Error("the tone is drawn into the ascender")
	}
	if e := end('\ufe97', "\u064e\u0651", true); e[0] <= shapes['\ufe97'].box.maxY || e[1] <= e[0] {
		t.Errorf("marks above an Arabic letter are drawn into each other: %v", e)
	}
	if first := place('\ufe97', []rune("\u064e\u0651"), shapes)[0].mark; first != shadda {
		t.Errorf("%U is between the letter and its shadda, like another vowel", first)
	}
	for _, m := range place('\ufe97', slices.Repeat([]rune("\u064e\u0650"), 50), shapes) {
		if b := shapes[m.mark].box; b.maxY+m.up > highest || b.minY+m.up < lowest {
			t.Errorf("one of many marks is drawn far from its line: %+v", m)
		}
	}
	if e := end('\ufe8f', "\u0650", false); e[0] >= shapes['\ufe8f'].box.minY {
		t.Errorf("a mark below an Arabic letter is drawn into its dot: %v", e)
	}
	if all := place('ש', []rune("\u05bc\u05c1\u05b8"), shapes); all[0].up != 0 || all[1].x <= all[0].x {
		t.Errorf("Hebrew points: %+v", all)
	}
	end('ש', "\u05bc\u05c1\u05b8", true)
}

func boxesOf(t *testing.T, text string, fonts []*sfnt.Font) map[rune]shape {
	t.Helper()
	characters := map[rune]bool{}
	for _, r := range text {
		characters[r] = true
	}
	glyphs, missing, err := collect(characters, fonts)
	if err != nil || slices.ContainsFunc(missing, marked) {
		t.Fatal(missing, err)
	}
	return shapesOf(glyphs)
}
