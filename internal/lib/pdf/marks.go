package pdf

import (
	"slices"
	"unicode"
)

// firstMark is the first mark of Hebrew. Those before it are for Latin, Greek and Cyrillic letters.
const firstMark = '\u0591'

// marked reports whether a character is a mark of Arabic, Hebrew or Thai, which is drawn over or under the letter before
// it. Marks of other scripts stand where their font puts them.
func marked(r rune) bool {
	return unicode.Is(unicode.Mn, r) && unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Thai, unicode.Inherited) && r >= firstMark
}

// The Hebrew points that have a place of their own.
const (
	holam   = '\u05b9'
	dagesh  = '\u05bc'
	shinDot = '\u05c1'
	sinDot  = '\u05c2'
)

// markGap is kept free between a letter and its marks.
const markGap = 40

// ascenderRoom is what a Thai mark leaves free for the stroke of a letter that rises above the others, at its right.
const ascenderRoom = 130

// shape is what must be known of a glyph to place marks.
type shape struct {
	box     box
	advance int
}

func shapesOf(glyphs []glyph) map[rune]shape {
	shapes := map[rune]shape{}
	for _, g := range glyphs {
		shapes[g.character] = shape{draw(g.outline).box(), g.advance}
	}
	return shapes
}

// placed is a mark, and where it is drawn: how far from where the letter begins, and how far above the line.
type placed struct {
	mark  rune
	x, up int
}

// shadda stands next to its letter, also where a vowel is written before it: a vowel below it would be another one.
const shadda = '\u0651'

// highest and lowest are how far marks may reach, so that many of them do not cover the lines above and below.
const highest, lowest = 1250, -550

// place puts marks on a letter, as far as the boxes of the two tell: in the middle, each farther out than the one before.
// Fonts have tables for it, which the PDF library does not read.
func place(letter rune, marks []rune, shapes map[rune]shape) []placed {
	on := shapes[letter]
	top, bottom := on.box.maxY, on.box.minY
	if unicode.Is(unicode.Thai, letter) {
		top = 0 // its marks stand high enough for all letters, but for the ascenders that are at their side
	}
	var all []placed
	marks = slices.Clone(marks)
	if i := slices.Index(marks, shadda); i > 0 {
		marks = slices.Insert(slices.Delete(marks, i, i+1), 0, shadda)
	}
	for _, m := range marks {
		of := shapes[m].box
		at := placed{mark: m, x: (on.box.minX+on.box.maxX)/2 - (of.minX+of.maxX)/2}
		switch m {
		case holam, sinDot:
			at.x = on.box.minX - of.minX
		case shinDot:
			at.x = on.box.maxX - of.maxX
		}
		if unicode.Is(unicode.Thai, m) {
			at.x = on.advance
			if room := on.box.maxX - ascenderRoom - on.advance - of.maxX; on.box.maxY > of.minY+markGap && of.minY > 0 {
				at.x += min(0, room)
			}
		}
		switch {
		case m == dagesh:
		case of.minY > 0:
			at.up = min(max(0, top+markGap-of.minY), highest-of.maxY)
			top = of.maxY + at.up
		default:
			at.up = max(min(0, bottom-markGap-of.maxY), lowest-of.minY)
			bottom = of.minY + at.up
		}
		all = append(all, at)
	}
	return all
}
