package pdf

import (
	"slices"
	"unicode"
)

// The characters that join letters but have no forms, and the one that separates letters.
const (
	tatweel            = '\u0640'
	zeroWidthJoiner    = '\u200d'
	zeroWidthNonJoiner = '\u200c'
)

// The forms of an Arabic letter: alone, at the end, the beginning and in the middle of letters that join. 0 is no form.
const (
	final   = 1 // joins the letter before it
	initial = 2 // joins the letter after it
)

// lam and an alef after it are one character.
const lam = '\u0644'

var withLam = map[rune]rune{'\u0622': 0xfef5, '\u0623': 0xfef7, '\u0625': 0xfef9, '\u0627': 0xfefb}

// joining has the forms of each letter for which Unicode has them as characters. The others have no font here, and are
// spelled out.
var joining = func() map[rune][4]rune {
	forms := map[rune][4]rune{'\u0649': {0xfeef, 0xfef0, 0xfbe8, 0xfbe9}} // the only ones that do not follow each other
	for _, l := range letters {
		var of [4]rune
		for i := range l.forms {
			of[i] = l.first + i
		}
		forms[l.letter] = of
	}
	return forms
}()

// letters are the Arabic letters, generated from UnicodeData.txt (version 15): the first form and the number of forms.
var letters = []struct{ letter, first, forms rune }{
	{0x0621, 0xfe80, 1}, {0x0622, 0xfe81, 2}, {0x0623, 0xfe83, 2}, {0x0624, 0xfe85, 2}, {0x0625, 0xfe87, 2},
	{0x0626, 0xfe89, 4}, {0x0627, 0xfe8d, 2}, {0x0628, 0xfe8f, 4}, {0x0629, 0xfe93, 2}, {0x062a, 0xfe95, 4},
	{0x062b, 0xfe99, 4}, {0x062c, 0xfe9d, 4}, {0x062d, 0xfea1, 4}, {0x062e, 0xfea5, 4}, {0x062f, 0xfea9, 2},
	{0x0630, 0xfeab, 2}, {0x0631, 0xfead, 2}, {0x0632, 0xfeaf, 2}, {0x0633, 0xfeb1, 4}, {0x0634, 0xfeb5, 4},
	{0x0635, 0xfeb9, 4}, {0x0636, 0xfebd, 4}, {0x0637, 0xfec1, 4}, {0x0638, 0xfec5, 4}, {0x0639, 0xfec9, 4},
	{0x063a, 0xfecd, 4}, {0x0641, 0xfed1, 4}, {0x0642, 0xfed5, 4}, {0x0643, 0xfed9, 4}, {0x0644, 0xfedd, 4},
	{0x0645, 0xfee1, 4}, {0x0646, 0xfee5, 4}, {0x0647, 0xfee9, 4}, {0x0648, 0xfeed, 2}, {0x064a, 0xfef1, 4},
	{0x0671, 0xfb50, 2}, {0x0679, 0xfb66, 4}, {0x067a, 0xfb5e, 4}, {0x067b, 0xfb52, 4}, {0x067e, 0xfb56, 4},
	{0x067f, 0xfb62, 4}, {0x0680, 0xfb5a, 4}, {0x0683, 0xfb76, 4}, {0x0684, 0xfb72, 4}, {0x0686, 0xfb7a, 4},
	{0x0687, 0xfb7e, 4}, {0x0688, 0xfb88, 2}, {0x068c, 0xfb84, 2}, {0x068d, 0xfb82, 2}, {0x068e, 0xfb86, 2},
	{0x0691, 0xfb8c, 2}, {0x0698, 0xfb8a, 2}, {0x06a4, 0xfb6a, 4}, {0x06a6, 0xfb6e, 4}, {0x06a9, 0xfb8e, 4},
	{0x06ad, 0xfbd3, 4}, {0x06af, 0xfb92, 4}, {0x06b1, 0xfb9a, 4}, {0x06b3, 0xfb96, 4}, {0x06ba, 0xfb9e, 2},
	{0x06bb, 0xfba0, 4}, {0x06be, 0xfbaa, 4}, {0x06c0, 0xfba4, 2}, {0x06c1, 0xfba6, 4}, {0x06c5, 0xfbe0, 2},
	{0x06c6, 0xfbd9, 2}, {0x06c7, 0xfbd7, 2}, {0x06c8, 0xfbdb, 2}, {0x06c9, 0xfbe2, 2}, {0x06cb, 0xfbde, 2},
	{0x06cc, 0xfbfc, 4}, {0x06d0, 0xfbe4, 4}, {0x06d2, 0xfbae, 2}, {0x06d3, 0xfbb0, 2},
}

// joinsBefore reports whether a character joins the one before it, joinsAfter whether the one after it.
func joinsBefore(r rune) bool { return joining[r][final] != 0 || r == tatweel || r == zeroWidthJoiner }

func joinsAfter(r rune) bool { return joining[r][initial] != 0 || r == tatweel || r == zeroWidthJoiner }

// join replaces Arabic letters by the forms in which they join. The text is in the order in which it is read.
func join(text string) string {
	var made []rune
	read := thai([]rune(text))
	open := false // the letter before joins what comes
	for i := 0; i < len(read); i++ {
		r := read[i]
		if unicode.Is(unicode.Mn, r) { // a mark does not part letters
			made = append(made, r)
			continue
		}
		next := i + 1
		for next < len(read) && unicode.Is(unicode.Mn, read[next]) {
			next++
		}
		form, after := 0, rune(0)
		if open && joinsBefore(r) {
			form += final
		}
		if next < len(read) {
			after = read[next]
		}
		if ligature := withLam[after]; r == lam && ligature != 0 {
			made = append(append(made, ligature+rune(form)), read[i+1:next]...)
			i, open = next, false
			continue
		}
		open = joinsAfter(r)
		if open && joinsBefore(after) {
			form += initial
		}
		if forms, ok := joining[r]; ok {
			r = forms[form]
		}
		made = append(made, r)
	}
	return string(made)
}

// The parts of the Thai vowel sara am, and the tones.
const (
	saraAm              = '\u0e33'
	nikhahit            = '\u0e4d'
	saraAa              = '\u0e32'
	firstTone, lastTone = '\u0e48', '\u0e4b'
)

// thai decomposes sara am: its mark is drawn above the consonant, below the tone mark that is written before it.
func thai(text []rune) []rune {
	var made []rune
	for _, r := range text {
		if r != saraAm {
			made = append(made, r)
			continue
		}
		at := len(made)
		for at > 0 && made[at-1] >= firstTone && made[at-1] <= lastTone {
			at--
		}
		made = append(slices.Insert(made, at, nikhahit), saraAa)
	}
	return made
}
