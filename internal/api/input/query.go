package input

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// Bounds of a list query.
const (
	DefaultPerPage = 100
	maxPerPage     = store.LongestPage
	maxPage        = 1_000_000_000 // past the end of any list; the product with maxPerPage is a 64-bit number
	maxFilterItems = 1000          // ids or words in one filter; both engines accept so many in a statement
)

// Query reads the query parameters of a request. Each method reads one parameter and notes its problems. Err
// returns all problems together.
type Query struct {
	values   map[string][]string
	Problems errs.Problems
}

// ReadQuery returns the parameters of an address. Lists may be written as in PHP: name[]=a&name[]=b, name[0]=a&name[1]=b.
func ReadQuery(given url.Values) *Query {
	q := &Query{values: map[string][]string{}}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		plain, index, isList := strings.Cut(name, "[")
		if !isList || !strings.HasSuffix(index, "]") {
			plain = name
		}
		q.values[plain] = append(q.values[plain], given[name]...)
	}
	return q
}

// Err returns all problems together.
func (q *Query) Err() error { return q.Problems.Err() }

// Page reads the page of a list, and what every list can be narrowed and sorted by. orders are the attributes by which
// this list can be sorted besides.
func (q *Query) Page(orders []string) store.Page {
	if q.Text("search") != "" {
		q.Problems.Wrong("search", "This list cannot be searched.")
	}
	return q.SearchedPage(orders)
}

// SearchedPage is Page for a list that can be searched. The caller reads the text.
func (q *Query) SearchedPage(orders []string) store.Page {
	orders = append([]string{store.OrderID, store.OrderModified, store.OrderInclude}, orders...)
	page := store.Page{
		Number:  q.Number("page", 1, 1, maxPage),
		Size:    q.Number("per_page", DefaultPerPage, 1, maxPerPage),
		Offset:  q.Number("offset", -1, 0, maxPage),
		OrderBy: q.One("orderby", store.OrderID, orders),
		Count:   q.Flag("count", true),
		Include: q.Ids("include"), Exclude: q.Ids("exclude"), Modified: q.Span("modified_"),
	}
	page.Descending = q.One("order", "asc", []string{"asc", "desc"}) == "desc"
	if page.OrderBy == store.OrderInclude {
		page.Descending = false // the ids keep the order in which they are listed
		if len(page.Include) == 0 {
			q.Problems.Wrong("orderby", "To sort by include, list the ids in include.")
		}
	}
	if text := q.Text("cursor"); text != "" {
		anchor, err := ParseCursor(text)
		if err != nil {
			q.Problems.Wrong("cursor", "Not a cursor of this list. Take it from the Link header of a page.")
		}
		if page.Offset >= 0 || q.Text("page") != "" {
			q.Problems.Wrong("cursor", "Send either cursor, or page or offset.")
		}
		page.After = &anchor
	}
	return page
}

// Text reads a parameter that is one text.
func (q *Query) Text(name string) string {
	values := q.values[name]
	switch len(values) {
	case 0:
		return ""
	case 1:
		return values[0]
	}
	q.Problems.Wrong(name, "This parameter takes one value.")
	return ""
}

// One reads a word that must be in a list. absent is the default.
func (q *Query) One(name, absent string, allowed []string) string {
	text := q.Text(name)
	switch {
	case text == "":
		return absent
	case !slices.Contains(allowed, text):
		q.Problems.Wrong(name, "Must be one of: %s.", strings.Join(allowed, ", "))
	}
	return text
}

// List reads a parameter that can have several values: with commas, or given several times.
func (q *Query) List(name string) []string {
	var items []string
	for _, value := range q.values[name] {
		for item := range strings.SplitSeq(value, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
	}
	if len(items) > maxFilterItems {
		q.Problems.Wrong(name, "At most %d values are allowed.", maxFilterItems)
		return nil
	}
	return items
}

// Words reads several words that must be in a list.
func Words[T ~string](q *Query, name string, allowed []T) []T {
	var result []T
	for _, item := range q.List(name) {
		if !slices.Contains(allowed, T(item)) {
			names := make([]string, len(allowed))
			for i, a := range allowed {
				names[i] = string(a)
			}
			q.Problems.Wrong(name, "Only these values are allowed: %s.", strings.Join(names, ", "))
			return nil
		}
		result = append(result, T(item))
	}
	return result
}

// Ids reads several ids.
func (q *Query) Ids(name string) []int64 {
	var result []int64
	for _, item := range q.List(name) {
		id, ok := ParseID(item)
		if !ok && IsDigits(item) {
			q.Problems.Wrong(name, "This number is too long to be an id.")
			return nil
		}
		if !ok {
			q.Problems.Wrong(name, "Must be a list of ids.")
			return nil
		}
		result = append(result, id)
	}
	return result
}

// Number reads a whole number between two bounds.
func (q *Query) Number(name string, absent, low, high int) int {
	text := q.Text(name)
	if text == "" {
		return absent
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		q.Problems.Wrong(name, "Must be a whole number between %d and %d.", low, high)
		return absent
	}
	return n
}

// Flag reads true or false.
func (q *Query) Flag(name string, absent bool) bool {
	text := q.Text(name)
	if text == "" {
		return absent
	}
	value, ok := booleans[strings.ToLower(text)]
	if !ok {
		q.Problems.Wrong(name, "Must be true or false.")
	}
	return value
}

// Currency reads a currency code. It returns "" if the parameter is absent or wrong.
func (q *Query) Currency(name string) money.Currency {
	code := q.Text(name)
	if code == "" {
		return ""
	}
	c, err := money.ParseCurrency(code)
	if err != nil {
		q.Problems.Wrong(name, "Must be an ISO 4217 currency code.")
	}
	return c
}

// Day reads a day written as YYYY-MM-DD. It returns civil.NoDay if the parameter is absent or wrong.
func (q *Query) Day(name string) civil.Day {
	text := q.Text(name)
	if text == "" {
		return civil.NoDay
	}
	day, problem := parseDay(text)
	if problem != "" {
		q.Problems.Wrong(name, "%s", problem)
		return civil.NoDay
	}
	return day
}

// isoLayouts are the forms of ISO 8601 that are accepted. Without a zone the time is in GMT.
var isoLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05",
	"2006-01-02T15:04", "2006-01-02",
}

// isoForm is what the layouts have in common. time alone would also take one-digit hours, and fractions anywhere.
var isoForm = regexp.MustCompile(`^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d|T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$`)

// Instant reads an ISO 8601 date, with or without a time of day. It returns nil if the parameter is absent or wrong.
func (q *Query) Instant(name string) *time.Time {
	text := q.Text(name)
	if text == "" {
		return nil
	}
	// A plus sign that was not escaped arrives as a space.
	if at := strings.LastIndexByte(text, ' '); at > len("2006-01-02T") {
		text = text[:at] + "+" + text[at+1:]
	}
	for _, layout := range isoLayouts {
		if !isoForm.MatchString(text) {
			break
		}
		at, err := time.ParseInLocation(layout, text, time.UTC)
		if day := civil.DayOf(at); err == nil && day >= civil.FirstDay && day <= civil.LastDay {
			at = at.UTC()
			return &at
		}
	}
	q.Problems.Wrong(name, "Must be a date or time such as 2024-06-30 or 2024-06-30T12:00:00Z.")
	return nil
}

// CheckQuery checks every parameter of a request before it is used. It refuses card numbers. It also refuses a query
// that cannot be read: a filter that counts as absent would mean "all".
func CheckQuery(u *url.URL) error {
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return errs.WrongField("query", "The query string is malformed.")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if card.HoldsCardNumber(name) {
			return ErrCardNumber("query")
		}
		for _, value := range values[name] {
			if holdsCardNumber(name, value) {
				return ErrCardNumber(name)
			}
			if !Storable(value) {
				return errs.WrongField(name, "Must be UTF-8 without zero bytes.")
			}
		}
	}
	return nil
}

// Storable reports whether a database can store a text and search for it. Texts that are not UTF-8 or have a zero byte
// cannot be stored, and PostgreSQL refuses even to search for them.
func Storable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// Span reads after and before, with a prefix such as modified_.
func (q *Query) Span(prefix string) civil.Span {
	return civil.Span{After: q.InstantOrZero(prefix + "after"), Before: q.InstantOrZero(prefix + "before")}
}

// InstantOrZero reads an instant. It is the zero time when the parameter is absent.
func (q *Query) InstantOrZero(name string) time.Time {
	if at := q.Instant(name); at != nil {
		return *at
	}
	return time.Time{}
}

// Part reads the page of a list inside an answer. Such a list has one order only.
func (q *Query) Part() store.Page {
	return store.Page{
		Number: q.Number("page", 1, 1, maxPage), Size: q.Number("per_page", DefaultPerPage, 1, maxPerPage),
		Offset: q.Number("offset", -1, 0, maxPage), OrderBy: "id", Count: q.Flag("count", true),
	}
}

// ParseID reads an id: digits only, and not too many.
func ParseID(text string) (int64, bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && IsDigits(text)
}

// IsDigits reports whether a text has digits only, and at least one.
func IsDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// MaybeFlag reads true or false. It is nil when the parameter is absent.
func (q *Query) MaybeFlag(name string) *bool {
	if q.Text(name) == "" {
		return nil
	}
	value := q.Flag(name, false)
	return &value
}

// Codes reads a list of country or currency codes. They are stored in capital letters; a caller may use small letters.
func (q *Query) Codes(name string) []string {
	codes := q.List(name)
	for i, code := range codes {
		codes[i] = strings.ToUpper(code)
	}
	return codes
}

// ID reads one id. It is 0 when the parameter is absent or wrong.
func (q *Query) ID(name string) int64 {
	text := q.Text(name)
	if text == "" {
		return 0
	}
	id, ok := ParseID(text)
	switch {
	case !ok && IsDigits(text):
		q.Problems.Wrong(name, "This number is too long to be an id.")
	case !ok || id == 0:
		q.Problems.Wrong(name, "Must be an id.")
	}
	return id
}

// TextsOf gives words as texts.
func TextsOf[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}
