package tabular

import (
	"strings"
	"unicode/utf8"
)

// formulaSigns begin a formula in a spreadsheet. Some programs also accept full-width forms, and skip leading white
// space.
const formulaSigns = "=+-@\t\r\n|%＝＋－＠"

// PlainCell keeps a spreadsheet from running a text as a formula, because merchants and travellers write such texts. Every
// text of every CSV passes through it, or through ShieldCell.
func PlainCell(text string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, " \u00a0\u3000\ufeff"))
	if text != "" && strings.ContainsRune(formulaSigns, first) {
		return "'" + text
	}
	return text
}

// ShieldCell is PlainCell for a file that is imported again: UnshieldCell restores the exact text.
func ShieldCell(text string) string {
	if rest, quoted := strings.CutPrefix(text, "'"); quoted && ShieldCell(rest) != rest {
		return "'" + text
	}
	return PlainCell(text)
}

// UnshieldCell takes back what ShieldCell did.
func UnshieldCell(text string) string {
	if rest, quoted := strings.CutPrefix(text, "'"); quoted && ShieldCell(rest) != rest {
		return rest
	}
	return text
}
