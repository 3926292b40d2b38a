package pdf

import (
	"slices"
	"unicode"
)

// firstMark is the first mark of Hebrew. Those before it are for Latin, Greek and Cyrillic letters.
const firstMark = '\u0591'

// marked reports whether a character is a mark of Arabic, Hebrew or Thai, which is drawn above or below the letter
// before it. Marks of other scripts are drawn where their font places them.
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

// ascenderRoom is the space that a Thai mark leaves for the ascender at the right of a letter.
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

// placed is a mark and its position: the distance from the start of the letter, and the height above the line.
type placed struct {
	mark  rune
	x, up int
}

// shadda is drawn next to its letter, even if a vowel is written before it: a vowel below it would be a different one.
const shadda = '\u0651'

// highest and lowest are how far marks may reach, so that many of them do not cover the lines above and below.
const highest, lowest = 1250, -550

// place positions marks on a letter by their bounding boxes: centred, each farther out than the previous one. Fonts
// have tables for it, which the PDF library does not read.
func place(letter rune, marks []rune, shapes map[rune]shape) []placed {
	on := shapes[letter]
	top, bottom := on.box.maxY, on.box.minY
	if unicode.Is(unicode.Thai, letter) {
		top = 0 // its marks are high enough for all letters except for ascenders next to them
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
