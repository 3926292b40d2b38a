package i18n

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
)

// forms is CLDR's data for a language; scripts/cldr writes it.
type forms struct {
	Tag          string            `json:"tag"`
	Name         string            `json:"name"`
	Decimal      string            `json:"decimal"`
	Group        string            `json:"group"`
	Minus        string            `json:"minus"`
	LeastGroup   int               `json:"least_group"` // minimum digits before the first separator
	Money        string            `json:"money"`
	MoneyLetters string            `json:"money_letters"` // if a letter of the currency is next to the number
	Symbols      map[string]string `json:"symbols"`
	Day          string            `json:"day"`
	Ranges       map[string]string `json:"ranges"` // by what differs first: d, M or y
	Months       []string          `json:"months"`
	Moment       string            `json:"moment"`
	Time         string            `json:"time"`
	Countries    map[string]string `json:"countries"`
}

// Amount formats minor units of a currency without its symbol, such as 1.234,50. The decimals are those of ISO 4217 (R0).
func (l Language) Amount(minor int64, c money.Currency) string {
	plain := money.FormatPlain(minor, c)
	if digits, negative := strings.CutPrefix(plain, "-"); negative {
		return l.forms.Minus + l.Decimal(digits)
	}
	return l.Decimal(plain)
}

// Money formats minor units of a currency with its symbol in the language's position, such as 1.234,50 €.
func (l Language) Money(minor int64, c money.Currency) string {
	symbol, ok := l.forms.Symbols[string(c)]
	if !ok {
		symbol = string(c)
	}
	pattern := l.forms.Money
	first, _ := utf8.DecodeRuneInString(symbol)
	last, _ := utf8.DecodeLastRuneInString(symbol)
	if strings.HasPrefix(pattern, "{c}") && unicode.IsLetter(last) || strings.HasSuffix(pattern, "{c}") && unicode.IsLetter(first) {
		pattern = l.forms.MoneyLetters
	}
	amount, negative := strings.CutPrefix(l.Amount(minor, c), l.forms.Minus)
	text := strings.NewReplacer("{n}", amount, "{c}", symbol).Replace(pattern)
	if negative {
		return l.forms.Minus + text
	}
	return text
}

// Number formats a whole number, such as 12.345.
func (l Language) Number(n int64) string {
	digits, negative := strings.CutPrefix(strconv.FormatInt(n, 10), "-")
	if negative {
		return l.forms.Minus + l.Decimal(digits)
	}
	return l.Decimal(digits)
}

// Decimal formats digits with or without a point, such as 1234.50, with the language's separators.
func (l Language) Decimal(plain string) string {
	whole, fraction, point := strings.Cut(plain, ".")
	var b strings.Builder
	grouped := len(whole) >= 3+l.forms.LeastGroup
	for i := range len(whole) {
		if grouped && i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteString(l.forms.Group)
		}
		b.WriteByte(whole[i])
	}
	if point {
		b.WriteString(l.forms.Decimal)
		b.WriteString(fraction)
	}
	return b.String()
}

// Day formats a day, such as 14. Sept. 2026. It is "" for civil.NoDay.
func (l Language) Day(d civil.Day) string {
	if d == civil.NoDay {
		return ""
	}
	return l.days(l.forms.Day, d.Start(), d.Start())
}

// Days formats a range of days, such as 7.–14. Sept. 2026. Without a first day, or if both are the same, it formats only the
// last.
func (l Language) Days(first, last civil.Day) string {
	if first == civil.NoDay || first >= last {
		return l.Day(last)
	}
	from, to := first.Start(), last.Start()
	differs := "d"
	switch {
	case from.Year() != to.Year():
		differs = "y"
	case from.Month() != to.Month():
		differs = "M"
	}
	return l.days(l.forms.Ranges[differs], from, to)
}

// days fills in a pattern of days; placeholders ending in 2 belong to the last day.
func (l Language) days(pattern string, first, last time.Time) string {
	var pairs []string
	for suffix, t := range map[string]time.Time{"": first, "2": last} {
		pairs = append(pairs,
			"{d"+suffix+"}", strconv.Itoa(t.Day()), "{dd"+suffix+"}", t.Format("02"), "{M"+suffix+"}", strconv.Itoa(int(t.Month())),
			"{MMM"+suffix+"}", l.forms.Months[t.Month()-1], "{y"+suffix+"}", strconv.Itoa(t.Year()))
	}
	return strings.NewReplacer(pairs...).Replace(pattern)
}

// Moment formats a time to the minute, in GMT, such as 14. Sept. 2026, 09:05 GMT.
func (l Language) Moment(t time.Time) string {
	t = t.UTC()
	clock := strings.NewReplacer("{HH}", t.Format("15"), "{H}", strconv.Itoa(t.Hour()), "{mm}", t.Format("04")).Replace(l.forms.Time)
	return strings.NewReplacer("{1}", l.days(l.forms.Day, t, t), "{0}", clock).Replace(l.forms.Moment) + " GMT"
}

// Country returns the name of a country by its ISO 3166-1 code, such as Deutschland. A code unknown to CLDR is returned as
// is.
func (l Language) Country(code string) string {
	if name, ok := l.forms.Countries[code]; ok {
		return name
	}
	return code
}
