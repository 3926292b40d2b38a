package api

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// Bounds of a list query.
const (
	defaultPerPage = 100
	maxPerPage     = travel.LongestPage
	maxPage        = 1_000_000_000 // past the end of any list; the product with maxPerPage is a 64-bit number
	maxFilterItems = 1000          // ids or words in one filter; both engines accept so many in a statement
)

// query reads the parameters of an address. Each method reads one parameter and notes what is wrong with it. err
// returns all problems together.
type query struct {
	values   map[string][]string
	problems fault.Problems
}

// query returns the parameters of the request. Lists may be written as in PHP: name[]=a&name[]=b, name[0]=a&name[1]=b.
func (c *call) query() *query {
	q := &query{values: map[string][]string{}}
	given := c.r.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		plain, index, isList := strings.Cut(name, "[")
		if !isList || !strings.HasSuffix(index, "]") {
			plain = name
		}
		q.values[plain] = append(q.values[plain], given[name]...)
	}
	return q
}

func (q *query) err() error { return q.problems.Err() }

// page reads the page of a list and its order. orders are the attributes by which the list can be sorted.
func (q *query) page(orders []string) travel.Page {
	page := travel.Page{
		Number:  q.number("page", 1, 1, maxPage),
		Size:    q.number("per_page", defaultPerPage, 1, maxPerPage),
		Offset:  q.number("offset", -1, 0, maxPage),
		OrderBy: q.one("orderby", "id", orders),
		Count:   q.flag("count", true),
	}
	page.Descending = q.one("order", "asc", []string{"asc", "desc"}) == "desc"
	if page.OrderBy == "include" && len(q.list("include")) == 0 {
		q.problems.Wrong("orderby", "To sort by include, name the ids in include.")
	}
	return page
}

// text reads a parameter that is one text. If it is given several times, the last one counts.
func (q *query) text(name string) string {
	values := q.values[name]
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// one reads a word that must be in a list. absent is the default.
func (q *query) one(name, absent string, allowed []string) string {
	text := q.text(name)
	switch {
	case text == "":
		return absent
	case !slices.Contains(allowed, text):
		q.problems.Wrong(name, "This is not one of %s.", strings.Join(allowed, ", "))
	}
	return text
}

// list reads a parameter that can have several values: with commas, or given several times.
func (q *query) list(name string) []string {
	var items []string
	for _, value := range q.values[name] {
		for item := range strings.SplitSeq(value, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
	}
	if len(items) > maxFilterItems {
		q.problems.Wrong(name, "At most %d values are allowed.", maxFilterItems)
		return nil
	}
	return items
}

// words reads several words that must be in a list.
func words[T ~string](q *query, name string, allowed []T) []T {
	var result []T
	for _, item := range q.list(name) {
		if !slices.Contains(allowed, T(item)) {
			names := make([]string, len(allowed))
			for i, a := range allowed {
				names[i] = string(a)
			}
			q.problems.Wrong(name, "Only these values are allowed: %s.", strings.Join(names, ", "))
			return nil
		}
		result = append(result, T(item))
	}
	return result
}

// ids reads several ids.
func (q *query) ids(name string) []int64 {
	var result []int64
	for _, item := range q.list(name) {
		id, ok := parseID(item)
		if !ok && isDigits(item) {
			q.problems.Wrong(name, "This number is too long for an id.")
			return nil
		}
		if !ok {
			q.problems.Wrong(name, "A list of ids is expected.")
			return nil
		}
		result = append(result, id)
	}
	return result
}

// number reads a whole number between two bounds.
func (q *query) number(name string, absent, low, high int) int {
	text := q.text(name)
	if text == "" {
		return absent
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		q.problems.Wrong(name, "A whole number between %d and %d is expected.", low, high)
		return absent
	}
	return n
}

// flag reads true or false.
func (q *query) flag(name string, absent bool) bool {
	text := q.text(name)
	if text == "" {
		return absent
	}
	value, ok := booleans[strings.ToLower(text)]
	if !ok {
		q.problems.Wrong(name, "True or false is expected.")
	}
	return value
}

// currency reads a currency code. It returns "" if the parameter is absent or wrong.
func (q *query) currency(name string) money.Currency {
	code := q.text(name)
	if code == "" {
		return ""
	}
	c, err := money.ParseCurrency(code)
	if err != nil {
		q.problems.Wrong(name, "This is not an ISO 4217 currency.")
	}
	return c
}

// day reads a day written as YYYY-MM-DD. It returns civil.NoDay if the parameter is absent or wrong.
func (q *query) day(name string) civil.Day {
	text := q.text(name)
	if text == "" {
		return civil.NoDay
	}
	day, problem := parseDay(text)
	if problem != "" {
		q.problems.Wrong(name, "%s", problem)
		return civil.NoDay
	}
	return day
}

// isoLayouts are the forms of ISO 8601 that are accepted. Without a zone the time is in GMT.
var isoLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05",
	"2006-01-02T15:04", "2006-01-02",
}

// instant reads an ISO 8601 date, with or without a time of day. It returns nil if the parameter is absent or wrong.
func (q *query) instant(name string) *time.Time {
	text := q.text(name)
	if text == "" {
		return nil
	}
	// A plus sign that was not escaped arrives as a space.
	if at := strings.LastIndexByte(text, ' '); at > len("2006-01-02T") {
		text = text[:at] + "+" + text[at+1:]
	}
	for _, layout := range isoLayouts {
		at, err := time.ParseInLocation(layout, text, time.UTC)
		if day := civil.DayOf(at); err == nil && day >= civil.FirstDay && day <= civil.LastDay {
			at = at.UTC()
			return &at
		}
	}
	q.problems.Wrong(name, "A date or a time is expected, such as 2024-06-30 or 2024-06-30T12:00:00Z.")
	return nil
}

// checkQuery checks every parameter of a request before it is used. It refuses card numbers. It also refuses a query
// that cannot be read: a filter that counts as absent would mean "all".
func checkQuery(u *url.URL) error {
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return fault.WrongField("query", "The query string cannot be read.")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if travel.HoldsCardNumber(name) {
			return errCardNumber("query")
		}
		for _, value := range values[name] {
			if holdsCardNumber(name, value) {
				return errCardNumber(name)
			}
			if !storable(value) {
				return fault.WrongField(name, "A text in UTF-8 without zero bytes is expected.")
			}
		}
	}
	return nil
}

// storable reports whether a database can store a text and search for it. Texts that are not UTF-8 or have a zero byte
// cannot be stored, and PostgreSQL refuses even to search for them.
func storable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }
