// Package sqltext builds the text of SQL statements. It owns no tables. Start at Where and Rows.
package sqltext

import (
	"strconv"
	"strings"
)

// Numbered gives each "?" of a text its number, in order.
func Numbered(text string) string {
	var numbered strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(text, "?")
		numbered.WriteString(before)
		if !found {
			return numbered.String()
		}
		numbered.WriteString("$" + strconv.Itoa(n))
		text = after
	}
}
