package money

import (
	"errors"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// FormatPercent formats parts per million as a percentage without its sign, such as "0.25" for 2,500.
func FormatPercent(ppm int64) string {
	text := big.NewRat(ppm, 10_000).FloatString(4)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// percentage matches what ParsePercent reads: four decimals are a whole number of parts per million.
var percentage = regexp.MustCompile(`^([0-9]{1,9})(?:\.([0-9]{1,4}))?$`)

// ParsePercent parses a percentage without its sign as parts per million: 2,500 for "0.25". It takes at most four decimals.
func ParsePercent(text string) (ppm int64, err error) {
	m := percentage.FindStringSubmatch(text)
	if m == nil {
		return 0, errors.New("money: not a percentage with at most four decimals")
	}
	return strconv.ParseInt(m[1]+(m[2] + "0000")[:4], 10, 64)
}
