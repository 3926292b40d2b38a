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
	"holdfast/internal/travel"
)

// Bounds of a list query.
const (
	defaultPerPage = 100
	maxPerPage     = 100
	maxPage        = 1_000_000_000 // far past any end, and times maxPerPage still a number
	maxFilterItems = 1000          // ids or words in one filter: within what both engines take in a statement
)

// query reads the parameters of a list. Its methods read one parameter each and note what is wrong; err tells all of
// it at once.
type query struct {
	values   map[string][]string
	problems fault.Problems
}

// query takes the parameters of the request. name[]=a&name[]=b and name[0]=a&name[1]=b are lists, as in PHP.
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

// page reads which page of the list is asked for, and in which order; orders are the attributes that the noun has.
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
		q.problems.Wrong("orderby", "To sort by include, ids to include are needed.")
	}
	return page
}

// text reads a parameter that is one text; the last one counts.
func (q *query) text(name string) string {
	values := q.values[name]
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// one reads a word out of a list of allowed ones.
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

// list reads a parameter that can hold several values, with commas or given repeatedly.
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

// words reads several words out of a list of allowed ones.
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

// day reads a day of the form Y-m-d; civil.NoDay where it is absent or wrong.
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

// isoLayouts are the forms of ISO 8601 that are read; without a zone it is GMT.
var isoLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05",
	"2006-01-02T15:04", "2006-01-02",
}

// instant reads an ISO 8601 date, with or without a time of day; nil where it is absent or wrong.
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
	q.problems.Wrong(name, "An ISO 8601 date is expected.")
	return nil
}

// checkQuery looks at every parameter of a request, before any of it is used: card numbers have no place in it, and
// what cannot be read must not be taken as absent, which would mean "all".
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
			if err := checkCardNumber(name, name, value); err != nil {
				return err
			}
			if !storable(value) {
				return fault.WrongField(name, "A text in UTF-8 without zero bytes is expected.")
			}
		}
	}
	return nil
}

// storable reports whether a text can be kept and looked for: one that is no UTF-8 or holds a zero byte stands in no
// database, and PostgreSQL refuses even to look for it.
func storable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }
