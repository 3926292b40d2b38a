// Package nearest finds the known word that a mistyped one was probably meant to be.
package nearest

import (
	"slices"
	"strings"
	"unicode"

	"github.com/agnivade/levenshtein"
)

// Of returns the word of a list that is closest to a mistyped one, ignoring case, plurals and the order of its parts. It
// returns "" if none is close: more than a third of the letters would have to change.
func Of(word string, list []string) string {
	const longest = 64 // longer words are not typing errors, and the distance takes time
	if len(word) > longest {
		return ""
	}
	plain := letters(word)
	best, least := "", len([]rune(plain))/3+1
	for _, candidate := range list {
		other := letters(candidate)
		d := levenshtein.ComputeDistance(plain, other)
		if d == 2 && anagrams(plain, other) { // two letters were swapped, or one was moved
			d = 1
		}
		if d < least {
			best, least = candidate, d
		}
	}
	return best
}

// anagrams reports whether two words have the same letters.
func anagrams(a, b string) bool {
	one, other := []rune(a), []rune(b)
	slices.Sort(one)
	slices.Sort(other)
	return slices.Equal(one, other)
}

// letters are the parts of a word in one order, in lower case and in the singular.
func letters(word string) string {
	parts := strings.FieldsFunc(strings.ToLower(word), func(r rune) bool { return r == '_' || r == '-' || unicode.IsSpace(r) })
	slices.Sort(parts)
	word = strings.Join(parts, "")
	if stem, ok := strings.CutSuffix(word, "ies"); ok {
		return stem + "y"
	}
	return strings.TrimSuffix(word, "s")
}
