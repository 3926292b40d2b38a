package pdf

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// Apart marks the start of a part of a text that is ordered separately. No text from outside contains it.
const Apart = "\u2068"

// shaped reports whether a text has letters that are not simply drawn one after the other.
func shaped(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Thai) })
}

// Clean removes the invisible marks that embed, override and isolate directions. In a name they could reverse the text
// next to it, or make it look like another name. Decomposed letters are composed.
func Clean(text string) string {
	if shaped(text) {
		text = norm.NFC.String(text) // not of other texts: Japanese names have characters that would change
	}
	return strings.Map(func(r rune) rune {
		if r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return -1
		}
		return r
	}, text)
}

// arrange turns a text of one line from the order in which it is read into the characters to draw, from left to right.
// Arabic letters get the forms in which they join. Each part that begins with Apart stays where it is. It reports whether
// the line is read from the right.
func arrange(text string) (drawn string, fromRight bool) {
	if !shaped(text) {
		return strings.Map(visible, text), false
	}
	var b strings.Builder
	parts := strings.Split(text, Apart)
	for _, part := range parts {
		part, right := order(join(part))
		b.WriteString(part)
		fromRight = right && len(parts) == 1
	}
	return strings.Map(visible, b.String()), fromRight
}

// visible removes the marks that only control how adjacent text is joined and ordered.
func visible(r rune) rune {
	switch r {
	case '\u2068', zeroWidthNonJoiner, zeroWidthJoiner, '\u200e', '\u200f', '\u061c', '\ufeff':
		return -1
	}
	return r
}

// order puts a text in the order in which it is drawn: the algorithm of Unicode's annex 9, for a line that decides its
// own direction and has nothing embedded.
func order(text string) (drawn string, fromRight bool) {
	line := []rune(strings.Map(func(r rune) rune {
		switch class(r) {
		case bidi.BN: // invisible
			return -1
		case bidi.B:
			return ' '
		}
		return r
	}, text))
	base := direction(line)
	return reorder(line, levels(line, base)), base == bidi.R
}

func class(r rune) bidi.Class {
	p, _ := bidi.LookupRune(r)
	return p.Class()
}

// direction is that of the first letter (rules P2 and P3).
func direction(line []rune) bidi.Class {
	for _, r := range line {
		switch class(r) {
		case bidi.L:
			return bidi.L
		case bidi.R, bidi.AL:
			return bidi.R
		}
	}
	return bidi.L
}

// reorder reverses, from the highest level down, each part of at least that level (rule L2). Marks stay after their
// letter, because they are drawn over it.
func reorder(text []rune, level []int) string {
	type cluster struct {
		text  []rune
		level int
	}
	var line []cluster
	for i, r := range text {
		if n := len(line); n > 0 && unicode.Is(unicode.Mn, r) {
			line[n-1].text = append(line[n-1].text, r)
			continue
		}
		if level[i]%2 == 1 {
			r = mirrored(r)
		}
		line = append(line, cluster{[]rune{r}, level[i]})
	}
	for at := 2; at > 0; at-- {
		for i := 0; i < len(line); i++ { // jumps over what it has turned
			end := i
			for end < len(line) && line[end].level >= at {
				end++
			}
			slices.Reverse(line[i:end])
			i = max(i, end-1)
		}
	}
	var b strings.Builder
	for _, c := range line {
		b.WriteString(string(c.text))
	}
	return b.String()
}

// mirrored is the character that is drawn for a bracket or quotation mark read from the right (rule L4).
func mirrored(r rune) rune {
	const pairs = "()[]{}<>«»‹›≤≥⟨⟩「」『』【】《》〈〉（）［］｛｝"
	all := []rune(pairs)
	if i := slices.Index(all, r); i >= 0 {
		return all[i^1]
	}
	return r
}
