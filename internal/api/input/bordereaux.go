package input

import (
	"strconv"

	"holdfast/internal/domain/terms"
)

// YearOf is the year of account, or nothing.
func YearOf(c terms.Contract) string {
	if c.Year == 0 {
		return ""
	}
	return strconv.FormatInt(c.Year, 10)
}
