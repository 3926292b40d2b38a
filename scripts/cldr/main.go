// Command cldr extracts a JSON file from Unicode's CLDR with the formats of numbers, money and days, and the names of
// countries, in each language of the service. It reads the npm packages cldr-dates-full, cldr-numbers-full and
// cldr-localenames-full, unpacked into one folder. scripts/cldr/fetch downloads them, and compresses the output to
// internal/lib/i18n/cldr.json.gz.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"holdfast/internal/domain/money"
)

// locales are the CLDR names of the languages, and their language tags for pages.
var locales = map[string][2]string{
	"deDE": {"de", "de-DE"}, "enGB": {"en-GB", "en-GB"}, "esES": {"es", "es-ES"}, "frFR": {"fr", "fr-FR"}, "itIT": {"it", "it-IT"},
	"jaJA": {"ja", "ja-JP"}, "kkKK": {"kk", "kk-KZ"}, "koKO": {"ko", "ko-KR"}, "lvLV": {"lv", "lv-LV"}, "ptBR": {"pt", "pt-BR"},
	"roRO": {"ro", "ro-RO"}, "ruRU": {"ru", "ru-RU"}, "ukUK": {"uk", "uk-UA"}, "uzUZ": {"uz", "uz-UZ"}, "zhZH": {"zh", "zh-CN"},
}

// language is the data that the program needs for one language.
type language struct {
	Tag         string            `json:"tag"`
	Name        string            `json:"name"` // of the language, in the language itself
	Decimal     string            `json:"decimal"`
	Group       string            `json:"group"`
	Minus       string            `json:"minus"`
	LeastGroup  int               `json:"least_group"`   // minimum number of digits before the first group separator
	Money       string            `json:"money"`         // {n} is the number, {c} the currency
	MoneyLetter string            `json:"money_letters"` // used if the currency has a letter next to the number
	Symbols     map[string]string `json:"symbols"`       // only those that differ from the code
	Day         string            `json:"day"`
	Ranges      map[string]string `json:"ranges"` // by the largest field that differs: d, M or y
	Months      []string          `json:"months"`
	Moment      string            `json:"moment"` // {1} is the day, {0} the time
	Time        string            `json:"time"`
	Countries   map[string]string `json:"countries"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: cldr FOLDER-OF-PACKAGES FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "cldr:", err)
		os.Exit(1)
	}
}

func run(folder, file string) error {
	found := map[string]language{}
	for code, names := range locales {
		l, err := read(folder, names[0], names[1])
		if err != nil {
			return fmt.Errorf("%s: %w", code, err)
		}
		found[code] = l
	}
	text, err := json.MarshalIndent(found, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// numbers and dates are the parts of CLDR's files that we use.
type numbers struct {
	Numbers struct {
		LeastGroup string `json:"minimumGroupingDigits"`
		Symbols    struct {
			Decimal, Group string
			Minus          string `json:"minusSign"`
		} `json:"symbols-numberSystem-latn"`
		Money struct {
			Standard string
			Letters  string `json:"standard-alphaNextToNumber"`
		} `json:"currencyFormats-numberSystem-latn"`
	}
}

type dates struct {
	Dates struct {
		Calendars struct {
			Gregorian struct {
				Months struct {
					Format struct{ Abbreviated map[string]string }
				}
				Formats struct {
					Medium    string
					Available map[string]string `json:"availableFormats"`
					Intervals map[string]any    `json:"intervalFormats"`
				} `json:"dateTimeFormats"`
			}
		}
	}
}

// read collects CLDR's data about a locale.
func read(folder, locale, tag string) (l language, err error) {
	var n numbers
	if err := load(folder, "cldr-numbers-full", locale, "numbers.json", &n); err != nil {
		return l, err
	}
	l = language{
		Tag: tag, Decimal: n.Numbers.Symbols.Decimal, Group: n.Numbers.Symbols.Group, Minus: n.Numbers.Symbols.Minus,
		Money: amount(n.Numbers.Money.Standard), MoneyLetter: amount(n.Numbers.Money.Letters),
	}
	if l.LeastGroup, err = strconv.Atoi(n.Numbers.LeastGroup); err != nil {
		return l, err
	}
	var d dates
	if err := load(folder, "cldr-dates-full", locale, "ca-gregorian.json", &d); err != nil {
		return l, err
	}
	g := d.Dates.Calendars.Gregorian
	l.Day, l.Moment, l.Time = fields(g.Formats.Available["yMMMd"]), g.Formats.Medium, fields(g.Formats.Available["Hm"])
	for month := 1; month <= 12; month++ {
		l.Months = append(l.Months, g.Months.Format.Abbreviated[strconv.Itoa(month)])
	}
	l.Ranges = map[string]string{}
	patterns, _ := g.Formats.Intervals["yMMMd"].(map[string]any)
	for _, part := range []string{"d", "M", "y"} {
		pattern, ok := patterns[part].(string)
		if !ok {
			return l, fmt.Errorf("no pattern for a range of days in which %s differs", part)
		}
		l.Ranges[part] = fields(pattern)
	}
	return l, names(folder, locale, &l)
}

// names reads the names of countries, currencies and the language itself.
func names(folder, locale string, l *language) error {
	var t struct {
		Names struct{ Territories map[string]string } `json:"localeDisplayNames"`
	}
	if err := load(folder, "cldr-localenames-full", locale, "territories.json", &t); err != nil {
		return err
	}
	l.Countries = t.Names.Territories
	country := regexp.MustCompile(`^[A-Z]{2}$`)
	maps.DeleteFunc(l.Countries, func(code, _ string) bool { return !country.MatchString(code) })
	var c struct {
		Numbers struct {
			Currencies map[string]struct{ Symbol string }
		}
	}
	if err := load(folder, "cldr-numbers-full", locale, "currencies.json", &c); err != nil {
		return err
	}
	l.Symbols = map[string]string{}
	for _, code := range money.Currencies() {
		if symbol := c.Numbers.Currencies[string(code)].Symbol; symbol != "" && symbol != string(code) {
			l.Symbols[string(code)] = symbol
		}
	}
	var own struct {
		Names struct{ Languages map[string]string } `json:"localeDisplayNames"`
	}
	if err := load(folder, "cldr-localenames-full", locale, "languages.json", &own); err != nil {
		return err
	}
	l.Name = own.Names.Languages[l.Tag[:2]]
	return nil
}

// amount converts CLDR's pattern of an amount to our format.
func amount(pattern string) string {
	return strings.NewReplacer("#,##0.00", "{n}", "¤", "{c}").Replace(pattern)
}

// fields converts a date pattern to placeholders in braces. Quoted text is literal. In a range, the second occurrence of
// a field belongs to the last day.
func fields(pattern string) string {
	var b strings.Builder
	seen, second := map[byte]bool{}, false
	for i := 0; i < len(pattern); {
		c := pattern[i]
		switch {
		case c == '\'':
			end := i + 1 + strings.IndexByte(pattern[i+1:], '\'')
			b.WriteString(pattern[i+1 : end])
			i = end + 1
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			n := i
			for n < len(pattern) && pattern[n] == c {
				n++
			}
			second = second || seen[c]
			seen[c] = true
			b.WriteString("{" + pattern[i:n])
			if second {
				b.WriteByte('2')
			}
			b.WriteByte('}')
			i = n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// load reads the part of a file for a locale.
func load(folder, pkg, locale, name string, into any) error {
	text, err := os.ReadFile(filepath.Join(folder, pkg, "main", locale, name))
	if err != nil {
		return err
	}
	var whole struct{ Main map[string]json.RawMessage }
	if err := json.Unmarshal(text, &whole); err != nil {
		return err
	}
	return json.Unmarshal(whole.Main[locale], into)
}
