package pdf

import "golang.org/x/text/unicode/bidi"

// The package bidi returns the class of each character. It does not return levels, which are needed to order numbers,
// and its pairs of brackets never match (version 0.43). So the rules W1 to I2 of Unicode's annex 9 are here. A test
// compares them with that package, for texts without brackets.

// levels are the levels of the characters of a line in the direction base, which is L or R: odd from right to left.
func levels(line []rune, base bidi.Class) []int {
	classes := make([]bidi.Class, len(line))
	for i, r := range line {
		classes[i] = class(r)
	}
	weak(classes, base)
	brackets(line, classes, base)
	neutral(classes, base)
	level := make([]int, len(line))
	for i, c := range classes {
		switch {
		case c == bidi.R:
			level[i] = 1
		case base == bidi.R || c != bidi.L:
			level[i] = 2
		}
	}
	for i := len(line) - 1; i >= 0 && class(line[i]) == bidi.WS; i-- { // rule L1
		level[i] = map[bidi.Class]int{bidi.L: 0, bidi.R: 1}[base]
	}
	return level
}

// weak resolves marks, and what belongs to numbers (rules W1 to W7).
func weak(classes []bidi.Class, base bidi.Class) {
	before, last := base, base
	for i, c := range classes {
		if c == bidi.NSM {
			c = before
		}
		before = c
		switch c {
		case bidi.L, bidi.R, bidi.AL:
			last = c
		case bidi.EN:
			if last == bidi.AL {
				c = bidi.AN
			}
		}
		classes[i] = c
	}
	at := func(i int) bidi.Class {
		if i < 0 || i >= len(classes) {
			return bidi.ON
		}
		return classes[i]
	}
	for i, c := range classes {
		switch sides := at(i - 1); {
		case c == bidi.AL:
			classes[i] = bidi.R
		case sides == at(i+1) && (c == bidi.CS && sides == bidi.AN || (c == bidi.CS || c == bidi.ES) && sides == bidi.EN):
			classes[i] = sides
		}
	}
	for i, c := range classes { // signs of currency, percent and the like belong to the number at either side
		end := i
		for c == bidi.ET && at(end) == bidi.ET {
			end++
		}
		if end > i && (at(i-1) == bidi.EN || at(end) == bidi.EN) {
			for ; i < end; i++ {
				classes[i] = bidi.EN
			}
		}
	}
	last = base
	for i, c := range classes {
		switch c {
		case bidi.L, bidi.R:
			last = c
		case bidi.EN:
			if last == bidi.L {
				classes[i] = bidi.L
			}
		case bidi.ES, bidi.ET, bidi.CS:
			classes[i] = bidi.ON
		}
	}
}

// strong is the direction that a character gives to those without one. Numbers count as from the right.
func strong(c bidi.Class) (of bidi.Class, ok bool) {
	switch c {
	case bidi.L:
		return bidi.L, true
	case bidi.R, bidi.EN, bidi.AN:
		return bidi.R, true
	}
	return bidi.ON, false
}

// mostBrackets is how many open brackets the annex remembers.
const mostBrackets = 63

// brackets gives the two brackets of a pair the same direction (rule N0).
func brackets(line []rune, classes []bidi.Class, base bidi.Class) {
	closing := make([]int, len(line)) // of each opening bracket that has one
	var open []int
	for i, r := range line {
		p, _ := bidi.LookupRune(r)
		switch {
		case !p.IsBracket() || classes[i] != bidi.ON:
		case p.IsOpeningBracket():
			if len(open) == mostBrackets {
				return
			}
			open = append(open, i)
		default:
			for n := len(open) - 1; n >= 0; n-- {
				if mirrored(line[open[n]]) == r {
					closing[open[n]], open = i, open[:n]
					break
				}
			}
		}
	}
	before := base
	for i, end := range closing {
		if end > 0 {
			if of, ok := inside(classes[i+1:end], before, base); ok {
				for _, bracket := range []int{i, end} {
					classes[bracket] = of
					for n := bracket + 1; n < len(line) && class(line[n]) == bidi.NSM; n++ {
						classes[n] = of
					}
				}
			}
		}
		if c, ok := strong(classes[i]); ok {
			before = c
		}
	}
}

// inside is the direction of a pair of brackets, by what is between them and the direction before them.
func inside(between []bidi.Class, before, base bidi.Class) (of bidi.Class, ok bool) {
	for _, c := range between {
		c, found := strong(c)
		if found && c == base {
			return base, true
		}
		ok = ok || found
	}
	return before, ok // everything inside has the other direction, which counts if the text before has it too
}

// neutral gives characters without a direction that of both their neighbours, or of the line (rules N1 and N2).
func neutral(classes []bidi.Class, base bidi.Class) {
	before := base
	for i := 0; i < len(classes); i++ {
		if of, ok := strong(classes[i]); ok {
			before = of
			continue
		}
		end, after := i, base
		for ; end < len(classes); end++ {
			if of, ok := strong(classes[end]); ok {
				after = of
				break
			}
		}
		of := base
		if before == after {
			of = before
		}
		for ; i < end; i++ {
			classes[i] = of
		}
		i--
	}
}
