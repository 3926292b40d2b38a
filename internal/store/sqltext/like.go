package sqltext

import "strings"

// Folded is the form of a name that is searched and sorted by: letter case does not count.
func Folded(name string) string { return strings.ToLower(name) }

// Wildcard is the LIKE pattern that finds folded names by a part of them. A * in the part matches any text.
func Wildcard(part string) string {
	return "%" + strings.ReplaceAll(EscapeLike(Folded(part)), "*", "%") + "%"
}

// EscapeLike escapes a text with backslashes, so that it matches literally in a LIKE pattern with ESCAPE '\'.
func EscapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}
