package tabular

import "regexp"

var shortened = regexp.MustCompile(`^[+-]?[0-9][.,]?[0-9]*[eE]\+?[0-9]{1,3}$`)

// Shortened reports whether a cell is a long number that a spreadsheet has shortened, such as 5.54E+22: its last digits are lost.
func Shortened(cell string) bool { return shortened.MatchString(cell) }
