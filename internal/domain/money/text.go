package money

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Format writes an amount for people: "1,234.50", "-0.05", "350,000". The currency is not part of the text, because
// tables and sentences put it in different places.
func Format(minor int64, c Currency) string {
	sign, whole, fraction := parts(minor, c)
	var b strings.Builder
	b.WriteString(sign)
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(whole[i])
	}
	b.WriteString(fraction)
	return b.String()
}

// FormatPlain writes an amount for files and programs: "1234.50". ParsePlain reads it back.
func FormatPlain(minor int64, c Currency) string {
	sign, whole, fraction := parts(minor, c)
	return sign + whole + fraction
}

// parts cuts an amount into its sign, its whole units, and its fraction with the point. Sign and fraction may be
// empty.
func parts(minor int64, c Currency) (sign, whole, fraction string) {
	negative, abs := magnitude(minor)
	if negative {
		sign = "-"
	}
	exponent := c.Exponent()
	whole = strconv.FormatUint(abs/pow10[exponent], 10)
	if exponent > 0 {
		fraction = fmt.Sprintf(".%0*d", exponent, abs%pow10[exponent])
	}
	return sign, whole, fraction
}

// ParsePlain reads an amount that FormatPlain wrote, in minor units. Missing decimals count as zeros. More decimals
// than the currency has are an error, because to drop them would be to round. The other errors are a text that is no
// amount, and ErrRange.
func ParsePlain(s string, c Currency) (int64, error) {
	exponent := c.Exponent()
	digits, negative := strings.CutPrefix(s, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	if !isDigits(whole) || point && !isDigits(fraction) {
		return 0, fmt.Errorf("%.24q is not an amount such as %s", s, FormatPlain(123450, c))
	}
	if len(fraction) > exponent {
		return 0, fmt.Errorf("%.24q has too many decimals: %s has %d", s, c, exponent)
	}
	padded := whole + fraction + strings.Repeat("0", exponent-len(fraction))
	abs, err := strconv.ParseUint(padded, 10, 64)
	if err != nil { // there are only digits, so the number is too large
		return 0, ErrRange
	}
	return signed(negative, abs)
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// RateString computes forex_rate (section 2.6): how many units of cur were paid for one unit of base, with eight
// decimals. total and sum are the same payment in minor units of each currency. It is "" when sum is zero.
func RateString(total int64, cur Currency, sum int64, base Currency) string {
	const places = 8
	if sum == 0 {
		return ""
	}
	num, den := big.NewInt(total), big.NewInt(sum)
	num.Mul(num, bigPow10(places+base.Exponent())) // from minor units to whole units, on both sides
	den.Mul(den, bigPow10(cur.Exponent()))
	q := roundBig(num, den)
	sign := ""
	if q.Sign() < 0 {
		sign = "-"
	}
	digits := fmt.Sprintf("%0*s", places+1, q.Abs(q).String())
	point := len(digits) - places
	return sign + digits[:point] + "." + digits[point:]
}

// FormatSigned writes an amount with its currency, for sentences: "€1,234.50", "-£0.27", "350.000 KWD". Signs that
// several currencies share are ambiguous, so all but the four below are written with their code.
func FormatSigned(minor int64, c Currency) string {
	text := Format(minor, c)
	switch c {
	case "EUR", "GBP", "JPY", "USD":
		number, negative := strings.CutPrefix(text, "-")
		if text = c.Symbol().Grapheme + number; negative {
			text = "-" + text
		}
		return text
	default:
		return text + " " + string(c)
	}
}
