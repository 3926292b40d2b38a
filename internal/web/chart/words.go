package chart

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"holdfast/internal/domain/money"
)

// em is the size of all text in a drawing, in its units.
const em = 12

// Short formats an amount in minor units for an axis or a bar label: "1.2m", "840k", "-3.4k", "950". It rounds half away
// from zero. bn is 10^9 and tn 10^12. Currency "" formats a count.
func Short(amount int64, c money.Currency) string { return short(amount, -decimals(c), briefly) }

func decimals(c money.Currency) int {
	if c == "" {
		return 0
	}
	return c.Exponent()
}

// precision is the number of decimals of a short form, given the digits before the point.
type precision func(whole int) int

// briefly is for labels: one decimal, and none from a hundred on.
func briefly(whole int) int {
	if whole >= 3 {
		return 0
	}
	return 1
}

// exactly is for ticks: 1.25k is one of them, and no nice number needs more.
func exactly(int) int { return 2 }

// short formats v times ten to the power of exponent.
func short(v int64, exponent int, places precision) string {
	suffixes := []string{"", "k", "m", "bn", "tn"}
	abs := size(v)
	for abs != 0 {
		whole := len(strconv.FormatUint(abs, 10)) + exponent // digits before the point
		group := min(max((whole-1)/3, 0), len(suffixes)-1)
		behind := 3*group - exponent // digits after the point, before rounding
		most := places(whole - 3*group)
		if whole <= 0 { // less than one unit: all its decimals
			most = behind
		}
		if behind > most && behind > 0 {
			drop := uint64(1)
			for range behind - most {
				drop *= 10
			}
			// Rounding may turn 999.9k into 1000k: the next round finds the new suffix.
			abs, exponent = (abs+drop/2)/drop, exponent+behind-most
			continue
		}
		text := decimal(abs, behind) + suffixes[group]
		if v < 0 {
			return "-" + text
		}
		return text
	}
	return "0"
}

// decimal formats digits with this many after the point, without trailing zeros. A negative number adds zeros before the
// point.
func decimal(abs uint64, behind int) string {
	text := strconv.FormatUint(abs, 10)
	if behind <= 0 {
		return grouped(text + strings.Repeat("0", -behind))
	}
	if short := behind + 1 - len(text); short > 0 {
		text = strings.Repeat("0", short) + text
	}
	whole, fraction := text[:len(text)-behind], strings.TrimRight(text[len(text)-behind:], "0")
	if fraction == "" {
		return grouped(whole)
	}
	return grouped(whole) + "." + fraction
}

// grouped adds thousands separators.
func grouped(text string) string {
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// exponent is the power of ten that makes units of plot values.
func (p plot) exponent() int {
	switch {
	case p.Unit == Percent:
		return p.zeros - 2
	case p.Unit == Count:
		return p.zeros
	}
	return p.zeros - decimals(p.Currency)
}

// brief formats a plot value as a bar label.
func (p plot) brief(v int64) string { return short(v, p.exponent(), briefly) + p.suffix() }

// tick formats a plot value as an axis label.
func (p plot) tick(v int64) string { return short(v, p.exponent(), exactly) + p.suffix() }

// changed formats a plot value with its sign.
func (p plot) changed(v int64) string {
	if v > 0 {
		return "+" + p.brief(v)
	}
	return p.brief(v)
}

func (p plot) suffix() string {
	if p.Unit == Percent {
		return "%"
	}
	return ""
}

// full formats a number of the chart, not of the plot, unrounded.
func (p plot) full(v int64) string {
	switch {
	case p.Unit == Percent:
		return money.Format(v, money.EUR) + "%" // two decimals, as a euro has
	case p.Unit == Count || p.Currency == "":
		sign := ""
		if v < 0 {
			sign = "-"
		}
		return sign + grouped(strconv.FormatUint(size(v), 10))
	}
	return money.Format(v, p.Currency)
}

// said is full with the currency, for tooltips and screen readers.
func (p plot) said(v int64) string {
	if unit := p.unit(); unit != "" {
		return p.full(v) + " " + unit
	}
	return p.full(v)
}

// unit is the unit of axis and table: the currency, if any.
func (p plot) unit() string {
	if p.Unit == Amount {
		return string(p.Currency)
	}
	return ""
}

// textWidth is the maximum width of a text in browsers' fonts, in hundredths of a drawing's unit. It is based on DejaVu
// Sans, the widest of them.
func textWidth(text string) unit {
	hundredths := 0
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r >= 0x1f000:
			hundredths += 140
		case r >= 0x1100 && r != '…' && !unicode.IsPunct(r):
			hundredths += 105
		case strings.ContainsRune("mwMW%@+…&—", r):
			hundredths += 100
		case strings.ContainsRune("ijltfrI.,:;'|!()[] -/·", r):
			hundredths += 42
		case r > unicode.MaxASCII || unicode.IsUpper(r):
			hundredths += 80
		default:
			hundredths += 65
		}
	}
	return unit(hundredths * em)
}

// fit truncates a text that is too wide.
func fit(text string, most unit) string {
	if textWidth(text) <= most {
		return text
	}
	cut, used := 0, textWidth("…")
	for at, r := range text {
		if used += textWidth(string(r)); used > most {
			break
		}
		cut = at + utf8.RuneLen(r)
	}
	return strings.TrimRight(text[:cut], " ") + "…"
}
