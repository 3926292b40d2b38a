package money

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Format writes an amount for people to read: "1,234.50", "-0.05", "350,000". The currency is not part of the text,
// because tables and sentences put it in different places.
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

// FormatPlain writes an amount for files and machines, without separators: "1234.50". ParsePlain reads it back.
func FormatPlain(minor int64, c Currency) string {
	sign, whole, fraction := parts(minor, c)
	return sign + whole + fraction
}

// parts cuts an amount into its sign, its whole units and its fraction with the point, each of which may be empty but
// the second.
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

// ParsePlain reads an amount as FormatPlain writes it. Fewer decimals than the currency has are read as if zeros
// followed; more are refused, because dropping them would be a rounding that nobody asked for.
func ParsePlain(s string, c Currency) (int64, error) {
	exponent := c.Exponent()
	digits, negative := strings.CutPrefix(s, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	if !isDigits(whole) || point && !isDigits(fraction) {
		return 0, fmt.Errorf("%.24q is not an amount such as %s", s, FormatPlain(123450, c))
	}
	if len(fraction) > exponent {
		return 0, fmt.Errorf("%.24q has more decimals than %s, which has %d", s, c, exponent)
	}
	padded := whole + fraction + strings.Repeat("0", exponent-len(fraction))
	abs, err := strconv.ParseUint(padded, 10, 64)
	if err != nil { // only digits are left, so that nothing but the range can be wrong
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

// RateString is the forex_rate of the wire: how much of cur was paid for one unit of base, total and sum being the
// same payment in each, as a decimal of eight places. It is empty where sum is zero: no rate follows from nothing.
func RateString(total int64, cur Currency, sum int64, base Currency) string {
	const places = 8
	if sum == 0 {
		return ""
	}
	num, den := big.NewInt(total), big.NewInt(sum)
	num.Mul(num, bigPow10(places+base.Exponent())) // minor units become major ones on both sides
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
